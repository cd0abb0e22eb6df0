package inprocess

import (
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
)

// TestPluginKilled: the plugin dies by SIGKILL amid scans. Each scan is whole or fails as UNAVAILABLE, and later ones work, with another process.
func TestPluginKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it scans for seconds")
	}
	noLeaks(t)
	settings := maps.Clone(lake(t))
	settings["spark.sql.catalog.lake.cache-enabled"] = "false" // so that every statement asks the plugin
	log := newJournal()
	r := startWith(t, Config{Settings: settings, Log: log.logger()})
	storm := newStorm(t, r.Target())
	storm.reach(20)
	if n, err := ask(t, connect(t, r.Target()), stormScan); err != nil || n != stormRows {
		t.Fatalf("%d rows before: %v", n, err)
	}
	kill(t, log, 1)
	log.wait(t, 2, says("plugin started"))
	storm.reach(storm.done.Load() + 20)
	storm.end()
	if n, err := ask(t, connect(t, r.Target()), stormScan); err != nil || n != stormRows {
		t.Errorf("%d rows after: %v", n, err)
	}
	t.Logf("%d scans, of which %d failed as UNAVAILABLE", storm.done.Load(), storm.failed.Load())
}

// kill kills the plugin that was started n-th.
func kill(t *testing.T, log *journal, n int) {
	t.Helper()
	started := log.wait(t, n, says("plugin started"))
	if err := syscall.Kill(pid(t, started[n-1]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// pid is the process that a log line tells of.
func pid(t *testing.T, e entry) int {
	t.Helper()
	n, err := strconv.Atoi(e.attrs["pid"].String())
	if err != nil || n <= 1 {
		t.Fatalf("the process is %v", e.attrs["pid"])
	}
	return n
}

const (
	stormScan = "SELECT * FROM lake.deletes.pos_v2"
	stormRows = 36
)

// storm is clients that scan without pause.
type storm struct {
	t            *testing.T
	once         sync.Once
	stop         chan struct{}
	progress     chan struct{}
	clients      sync.WaitGroup
	done, failed atomic.Int64
}

func newStorm(t *testing.T, target conformance.Target) *storm {
	s := &storm{t: t, stop: make(chan struct{}), progress: make(chan struct{}, 1)}
	for range 4 {
		client := connect(t, target)
		s.clients.Go(func() { s.scan(client) })
	}
	t.Cleanup(s.end) // before the clients are closed
	return s
}

func (s *storm) scan(client *conformance.Client) {
	for {
		select {
		case <-s.stop:
			return
		default:
		}
		n, err := ask(s.t, client, stormScan)
		switch {
		case err == nil && n != stormRows:
			s.t.Errorf("a scan gave %d of %d rows", n, stormRows)
		case err != nil && status.Code(err) != codes.Unavailable:
			s.t.Errorf("a scan failed with %v", err)
		case err != nil:
			s.failed.Add(1)
		}
		s.done.Add(1)
		select {
		case s.progress <- struct{}{}:
		default:
		}
	}
}

// reach waits until so many scans are over.
func (s *storm) reach(n int64) {
	for s.done.Load() < n {
		<-s.progress
	}
}

func (s *storm) end() {
	s.once.Do(func() { close(s.stop) })
	s.clients.Wait()
}

// TestServerLeavesNoPlugin: when a server ends, so do the processes it started.
func TestServerLeavesNoPlugin(t *testing.T) {
	noLeaks(t)
	log := newJournal()
	r := startWith(t, Config{Settings: lake(t), Log: log.logger()})
	if _, err := ask(t, connect(t, r.Target()), stormScan); err != nil {
		t.Fatal(err)
	}
	plugin := pid(t, log.wait(t, 1, says("plugin started"))[0])
	if err := syscall.Kill(plugin, 0); err != nil {
		t.Fatalf("the plugin is not there: %v", err)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(plugin, 0); err == nil {
		t.Errorf("process %d is left", plugin)
	}
}
