package main

import (
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

// process is the id of the server's process. Its catalog's plugin, which does little, is another.
func (s *server) process() string { return strconv.Itoa(s.command.Process.Pid) }
