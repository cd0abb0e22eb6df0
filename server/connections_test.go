package server

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
)

func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	bounded := newBoundedListener(inner, 3, slog.New(slog.NewTextHandler(&log, nil)))
	accepted := make(chan net.Conn, 8)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := bounded.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	refused := func(c net.Conn) {
		t.Helper()
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection over the bound: %v", err)
		}
	}
	var held []net.Conn
	for range 3 {
		dial()
		held = append(held, <-accepted)
	}
	for range 5 {
		refused(dial())
	}
	held[0].Close()
	held[0].Close() // counts once
	c := dial()
	server := <-accepted
	if _, err := server.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Errorf("a connection after one was closed: %v", err)
	}
	refused(dial())
	bounded.Close()
	<-done
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a closed listener still waits for a client: %v", err)
	}
	if strings.Count(log.String(), "turned away") != 1 {
		t.Errorf("the log says %q", log.String())
	}
}

func TestAClientThatSaysNothingDoesNotHoldUpTheEnd(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{}, 2)
	g := grpc.NewServer(grpc.WaitForHandlers(true))
	served := make(chan error, 1)
	go func() {
		served <- g.Serve(arrivals{newBoundedListener(inner, 10, slog.New(slog.DiscardHandler)), accepted})
	}()
	for _, hello := range []string{"", "PRI * HT"} {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, hello); err != nil {
			t.Fatal(err)
		}
		<-accepted
	}
	started := time.Now()
	g.Stop()
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("the end took %s", took)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// arrivals tells of every connection that comes in.
type arrivals struct {
	net.Listener
	came chan<- struct{}
}

func (a arrivals) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err == nil {
		a.came <- struct{}{}
	}
	return c, err
}

func TestThePoolOfConnectionsLeavesFilesToTables(t *testing.T) {
	if most, files := maxConnections(), openFiles(); most < 16 || files > 100 && most > files/2 {
		t.Errorf("%d connections of %d files", most, files)
	}
}
