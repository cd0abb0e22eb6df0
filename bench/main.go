// Command bench measures Skua through Flight beside iceberg-go's own reader on one generated table, in interleaved runs: CPU seconds and
// peak memory of a full scan, a projection of three columns, and a filter that keeps one row in a hundred. Every figure is the minimum of the
// rounds; ratios come from one run of the program and are what to quote.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// work is one thing to read.
type work struct {
	name string
	sql  string // through Flight; %s is the table, the numbers are the filter's range
}

// keys is the range of a filter that keeps one row in a hundred of the table.
func keys(rows int) (from, to int64) { return int64(rows / 2), int64(rows/2 + rows/100) }

var works = []work{
	{"full", "SELECT * FROM %s"},
	{"proj3", "SELECT orderkey, quantity, shipdate FROM %s"},
	{"filter1pct", "SELECT * FROM %s WHERE orderkey >= %d AND orderkey < %d"},
}

// sample is what one run cost.
type sample struct {
	Rows   int64         `json:"rows"`
	Bytes  int64         `json:"bytes"` // Arrow bytes received
	CPU    time.Duration `json:"cpu"`   // user and system, of the child
	Server time.Duration `json:"server"`
	Wall   time.Duration `json:"wall"`
	Peak   int64         `json:"peak"` // bytes, of the child for iceberg-go, of the server for Skua
}

func main() {
	rows := flag.Int("rows", 5_000_000, "rows of the table")
	dir := flag.String("dir", filepath.Join(os.TempDir(), "skua-bench"), "where the table is kept between runs")
	rounds := flag.Int("rounds", 3, "interleaved rounds")
	skua := flag.String("skua", "bin/skua", "the server's binary")
	child := flag.String("child", "", "internal: run one reader and print its sample")
	name := flag.String("work", "", "internal")
	address := flag.String("address", "", "internal")
	flag.Parse()
	if err := run(context.Background(), *rows, *dir, *rounds, *skua, *child, *name, *address); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, rows int, dir string, rounds int, skua, child, name, address string) error {
	for _, w := range works {
		if child != "" && w.name == name {
			return runChild(ctx, child, dir, w, address, rows)
		}
	}
	if err := makeTable(ctx, dir, rows); err != nil {
		return err
	}
	server, err := startServer(ctx, skua, dir)
	if err != nil {
		return err
	}
	defer server.stop()
	fmt.Printf("%d rows, %d rounds, %s %s/%s, %d cores\n", rows, rounds, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	best := map[string]sample{}
	for round := range rounds {
		for _, w := range works {
			for _, reader := range []string{"iceberg-go", "skua"} {
				s, err := measure(ctx, reader, dir, w, rows, server)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", reader, w.name, err)
				}
				fmt.Fprintf(os.Stderr, "round %d %-10s %-10s cpu %6.2f s server %6.2f s wall %6.2f s\n", round+1, w.name, reader, s.CPU.Seconds(), s.Server.Seconds(), s.Wall.Seconds())
				best[reader+w.name] = least(best[reader+w.name], s)
			}
		}
	}
	return report(best)
}

// least keeps the cheaper of two runs by CPU; rows must not differ.
func least(a, b sample) sample {
	if a.Rows == 0 || b.CPU+b.Server < a.CPU+a.Server {
		return b
	}
	return a
}

// measure runs one reader in a process of its own; Skua's server is charged by what it used meanwhile.
func measure(ctx context.Context, reader, dir string, w work, rows int, s *server) (sample, error) {
	before, err := s.usage()
	if err != nil {
		return sample{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	command := exec.CommandContext(ctx, self, "-child", reader, "-dir", dir, "-work", w.name, "-rows", strconv.Itoa(rows), "-address", s.address)
	command.Stderr = os.Stderr
	started := time.Now()
	out, err := command.Output()
	if err != nil {
		return sample{}, err
	}
	var result sample
	if err := json.Unmarshal(out, &result); err != nil {
		return sample{}, err
	}
	result.Wall = time.Since(started)
	result.CPU = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	if reader != "skua" {
		return result, nil
	}
	after, err := s.usage()
	result.Server, result.Peak = after.cpu-before.cpu, after.peak
	return result, err
}

func report(best map[string]sample) error {
	fmt.Printf("\n%-11s %10s | %9s %9s | %9s %9s %9s %9s | %8s %8s\n", "work", "rows", "ice cpu", "ice peak", "srv cpu", "cli cpu", "sum", "srv peak", "srv/ice", "sum/ice")
	for _, w := range works {
		ice, skua := best["iceberg-go"+w.name], best["skua"+w.name]
		if ice.Rows != skua.Rows {
			return fmt.Errorf("%s: iceberg-go read %d rows, Skua %d", w.name, ice.Rows, skua.Rows)
		}
		sum := skua.Server + skua.CPU
		fmt.Printf("%-11s %10d | %7.2f s %6d MB | %7.2f s %7.2f s %7.2f s %6d MB | %8.2f %8.2f\n", w.name, ice.Rows, ice.CPU.Seconds(), ice.Peak>>20,
			skua.Server.Seconds(), skua.CPU.Seconds(), sum.Seconds(), skua.Peak>>20, skua.Server.Seconds()/ice.CPU.Seconds(), sum.Seconds()/ice.CPU.Seconds())
	}
	fmt.Println("ice: iceberg-go reading the files in its own process; srv: Skua's server with its plugin; cli: a Go Flight client that receives every batch")
	return nil
}
