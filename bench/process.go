package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cost is what one read of a table cost a process. Programs print it as a line of JSON.
type cost struct {
	Rows      int64   `json:"rows"`
	Bytes     int64   `json:"bytes"` // Arrow bytes
	Wall      float64 `json:"wall"`  // seconds, as are User and System
	User      float64 `json:"user"`
	System    float64 `json:"sys"`
	Peak      int64   `json:"peak_kb"` // of the process, since it began; of the server, since the read began
	ReadBytes int64   `json:"read_bytes"`
	Reads     int64   `json:"reads"`            // calls to read
	Client    float64 `json:"client,omitempty"` // CPU seconds of the client, where User and System are the server's
}

func (c cost) cpu() float64 { return c.User + c.System }

// all is the processor time with the client's.
func (c cost) all() float64 { return c.cpu() + c.Client }

// reads is what a process has read so far, from files and from sockets.
type reads struct{ bytes, calls int64 }

// readsOf takes a process's id, or self.
func readsOf(process string) (out reads, err error) {
	text, err := os.ReadFile("/proc/" + process + "/io")
	if err != nil {
		return out, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "rchar":
			out.bytes = n
		case "syscr":
			out.calls = n
		}
	}
	return out, nil
}

// usage is what a running process has used so far.
type usage struct {
	user, system time.Duration
	peak         int64 // KiB, since the last call
	reads        reads
}

// clockTick is the unit of /proc/PID/stat on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usageOf reads a process's own figures; writing 5 to clear_refs starts the peak anew.
func usageOf(process string) (out usage, err error) {
	stat, err := os.ReadFile("/proc/" + process + "/stat")
	if err != nil {
		return out, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for i, into := range map[int]*time.Duration{11: &out.user, 12: &out.system} { // counted after the name
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return out, err
		}
		*into = time.Duration(n) * clockTick
	}
	status, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return out, err
	}
	if out.peak, err = peakOf(string(status)); err != nil {
		return out, err
	}
	if out.reads, err = readsOf(process); err != nil {
		return out, err
	}
	return out, os.WriteFile("/proc/"+process+"/clear_refs", []byte("5"), 0)
}

// peakOf is the highest resident size in KiB.
func peakOf(status string) (int64, error) {
	_, rest, ok := strings.Cut(status, "VmHWM:")
	if !ok {
		return 0, fmt.Errorf("no VmHWM in the process's status")
	}
	return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
}
