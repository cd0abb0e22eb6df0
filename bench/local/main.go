// Command local reads an Iceberg table with Skua's scan inside its own process, without a server or a wire, and prints what that cost as one
// line of JSON: rows, Arrow bytes, wall, user and system seconds, peak memory. It speaks the protocol of a compiled peer of a benchmark
// harness, so that Skua's reader can be measured beside others on the same tables:
//
//	local skua METADATA (scan|count|plan) COLUMNS FILTER [STREAM]
//
// COLUMNS is * or a,b,c; FILTER is - or column<integer; STREAM is a file for the rows as an Arrow stream. SKUA_CPUPROFILE names a file for a
// profile of the process (of its allocations, where SKUA_PROFILE is allocations), SKUA_REPEAT reads that many times, and SKUA_DECODER=fallback reads every column with the fallback decoder.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is the line that is printed.
type cost struct {
	Rows   int64   `json:"rows"`
	Bytes  int64   `json:"bytes"`
	Wall   float64 `json:"wall"`
	User   float64 `json:"user"`
	System float64 `json:"sys"`
	Peak   int64   `json:"peak_kb"`
	// Of the process, from files alone, since it has no sockets: bytes and calls.
	ReadBytes int64 `json:"read_bytes"`
	Reads     int64 `json:"reads"`
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "local: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) < 5 || args[0] != "skua" {
		return errors.New("usage: local skua METADATA (scan|count|plan) COLUMNS FILTER [STREAM]")
	}
	j := job{metadata: args[1], operation: args[2], columns: args[3], filter: args[4]}
	if len(args) > 5 {
		j.stream = args[5]
	}
	stop, err := profile()
	if err != nil {
		return err
	}
	defer stop()
	repeat, _ := strconv.Atoi(os.Getenv("SKUA_REPEAT"))
	t := newTable(os.Getenv("SKUA_DECODER"))
	defer t.close()
	for range max(repeat, 1) {
		c, err := measure(func(c *cost) error { return t.do(ctx, j, c) })
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(c); err != nil {
			return err
		}
	}
	return nil
}

// profile starts a profile if one is asked for.
func profile() (stop func(), err error) {
	name := os.Getenv("SKUA_CPUPROFILE")
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if os.Getenv("SKUA_PROFILE") == "allocations" {
		runtime.MemProfileRate = 8 << 10
		return func() {
			_ = pprof.Lookup("allocs").WriteTo(f, 0)
			f.Close()
		}, nil
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, pprof.StartCPUProfile(f)
}

// measure runs do and gives what it cost the process.
func measure(do func(*cost) error) (cost, error) {
	var c cost
	bytes, calls := reads()
	before, start := usage(), time.Now()
	if err := do(&c); err != nil {
		return c, err
	}
	c.Wall = time.Since(start).Seconds()
	after := usage()
	c.User, c.System, c.Peak = seconds(after.Utime)-seconds(before.Utime), seconds(after.Stime)-seconds(before.Stime), peak(after.Maxrss)
	c.ReadBytes, c.Reads = reads()
	c.ReadBytes, c.Reads = c.ReadBytes-bytes, c.Reads-calls
	return c, nil
}

// peak is the highest resident size in KiB. What getrusage tells instead is at least that of the process which started this one.
func peak(otherwise int64) int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if fields := strings.Fields(rest); len(fields) > 0 {
		if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			return n
		}
	}
	return otherwise
}

// reads is what the process has read so far; nothing where the system does not tell.
func reads() (bytes, calls int64) {
	text, _ := os.ReadFile("/proc/self/io")
	_, _ = fmt.Sscanf(string(text), "rchar: %d\nwchar: %d\nsyscr: %d", &bytes, new(int64), &calls)
	return bytes, calls
}

func usage() syscall.Rusage {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
