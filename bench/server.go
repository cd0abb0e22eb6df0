package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a Skua process under measurement.
type server struct {
	command *exec.Cmd
	address string
}

func startServer(ctx context.Context, binary, dir string) (*server, error) {
	ready := filepath.Join(dir, "address")
	if err := os.RemoveAll(ready); err != nil {
		return nil, err
	}
	const catalog = "spark.sql.catalog.bench"
	command := exec.CommandContext(ctx, binary, "serve", "--listen", "127.0.0.1:0", "--ready-file", ready,
		"--conf", catalog+"=org.apache.iceberg.spark.SparkCatalog", "--conf", catalog+".type=hadoop",
		"--conf", catalog+".warehouse=file://"+filepath.Join(dir, "warehouse"), "--conf", "skua.log.level=warn")
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s (make build makes it): %w", binary, err)
	}
	for range 600 {
		if data, err := os.ReadFile(ready); err == nil {
			return &server{command, strings.TrimSpace(string(data))}, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = command.Process.Kill()
	return nil, fmt.Errorf("%s did not get ready", binary)
}

func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	_ = s.command.Wait()
}

// usage is the CPU time of a process so far and its peak memory since the last call.
type usage struct {
	cpu  time.Duration
	peak int64
}

// clockTick is the unit of /proc/PID/stat on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usage reads the server's own figures; writing 5 to clear_refs starts the peak anew.
func (s *server) usage() (usage, error) {
	proc := fmt.Sprintf("/proc/%d/", s.command.Process.Pid)
	stat, err := os.ReadFile(proc + "stat")
	if err != nil {
		return usage{}, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int64
	for _, i := range []int{11, 12} { // utime and stime, counted after the name
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return usage{}, err
		}
		ticks += n
	}
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		return usage{}, err
	}
	peak, err := peakOf(string(status))
	if err != nil {
		return usage{}, err
	}
	return usage{time.Duration(ticks) * clockTick, peak}, os.WriteFile(proc+"clear_refs", []byte("5"), 0)
}

func peakOf(status string) (int64, error) {
	_, rest, ok := strings.Cut(status, "VmHWM:")
	if !ok {
		return 0, fmt.Errorf("no VmHWM in the process's status")
	}
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kilobytes << 10, err
}
