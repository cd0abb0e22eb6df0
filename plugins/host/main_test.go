package host_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/hashicorp/go-plugin"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/host"
	"github.com/skua-data/skua/plugins/sdk"
)

// hostRole makes the test binary a server that opens a catalog and waits to be killed.
const hostRole = "PLUGINS_HOST_TEST_FOLDER"

// TestMain lets the test binary be its own plugin, and its own server.
func TestMain(m *testing.M) {
	switch {
	case sdk.Launched():
		bePlugin(filepath.Base(os.Args[0]), os.Args[1:])
	case os.Getenv(hostRole) != "":
		beServer(os.Getenv(hostRole))
	default:
		os.Exit(m.Run())
	}
}

// bePlugin behaves as the catalog type says.
func bePlugin(name string, args []string) {
	mode := name
	if len(args) > 0 {
		mode = args[0]
	}
	switch mode {
	case "garbage":
		fmt.Println("Usage: garbage [flags] token=hunter22")
		select {}
	case "flood":
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				os.Exit(1)
			}
		}
	case "exits":
		fmt.Fprintln(os.Stderr, "cannot find libhive.so, asked with hunter22")
		os.Exit(3)
	case "hangs":
		time.Sleep(time.Hour)
	case "old":
		plugin.Serve(&plugin.ServeConfig{
			HandshakeConfig: plugin.HandshakeConfig{ProtocolVersion: 7, MagicCookieKey: "PATH", MagicCookieValue: os.Getenv("PATH")},
			Plugins:         plugin.PluginSet{}, GRPCServer: plugin.DefaultGRPCServer,
		})
	default:
		sdk.Serve(func(typ string) (catalogs.Constructor, error) { return constructor(typ), nil }, sdk.WithVersion("9.9"), sdk.WithLogLevel(slog.LevelDebug))
	}
}

func constructor(typ string) catalogs.Constructor {
	return func(ctx context.Context, config catalogs.Config) (catalogs.Catalog, error) {
		switch typ {
		case "refuses":
			return nil, fault.New(fault.Invalid, "no warehouse in %v", config.Properties).Change("warehouse")
		case "dies":
			panicLater()
			<-ctx.Done()
		case "sleeps":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return actor{typ, config}, nil
	}
}

// panicLater ends the process as a bug in a goroutine of a driver would.
func panicLater() { go func() { panic("driver bug near hunter22") }() }

// actor is a catalog whose tables are things to do.
type actor struct {
	typ    string
	config catalogs.Config
}

func (a actor) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: true}
}
func (a actor) Close() error { return nil }

func (a actor) LoadNamespace(context.Context, table.Identifier) (iceberg.Properties, error) {
	return iceberg.Properties{"type": a.typ, "name": a.config.Name, "warehouse": a.config.Properties["warehouse"], "pid": strconv.Itoa(os.Getpid()),
		"args": strings.Join(os.Args[1:], " "), "environment": strings.Join(os.Environ(), "\n")}, nil
}

func (a actor) Namespaces(_ context.Context, _ table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		for i := range 3 {
			if !yield(table.Identifier{fmt.Sprintf("n%d", i)}, nil) {
				return
			}
		}
	}
}

func (a actor) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		if len(ns) == 2 && ns[0] == "once" {
			crashOnce(ns[1])
			yield(catalogs.Entry{Identifier: append(slices.Clone(ns), "t")}, nil)
			return
		}
		for i := 0; ctx.Err() == nil; i++ {
			if len(ns) == 1 && ns[0] == "crash" && i == 500 {
				os.Exit(7)
			}
			if !yield(catalogs.Entry{Identifier: append(slices.Clone(ns), "t")}, nil) {
				break
			}
		}
		slog.Info("listing stopped")
	}
}

// crashOnce ends the process unless a file is there, which it makes first.
func crashOnce(file string) {
	if made, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = made.Close()
		os.Exit(7)
	}
}

func (a actor) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	switch req.Identifier[0] {
	case "once":
		crashOnce(req.Identifier[1])
	case "gulp":
		gulp := make([]byte, 6<<30) // of address space: nothing of it is touched
		slog.Info("gulped", "bytes", len(gulp))
		runtime.KeepAlive(gulp)
	case "fork":
		child := exec.Command("sleep", "3600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr // it keeps the pipes open, too
		if err := child.Start(); err != nil {
			return nil, err
		}
		return &catalogs.Table{Identifier: req.Identifier, MetadataLocation: strconv.Itoa(child.Process.Pid)}, nil
	case "crash":
		os.Exit(7)
	case "panic":
		panicLater()
		<-ctx.Done()
	case "wait":
		slog.Info("waiting")
		<-ctx.Done()
		slog.Info("waited")
		return nil, ctx.Err()
	case "hang":
		select {}
	case "eat":
		eaten := make([]byte, 600<<20)
		for i := range eaten {
			eaten[i] = byte(i)
		}
		<-ctx.Done()
		runtime.KeepAlive(eaten)
	case "flood":
		lines := strings.Repeat("flood hunter22\n", 10) // short ones use the budget up soonest
		for range 6000 {
			fmt.Fprint(os.Stderr, lines)
		}
	case "big":
		return &catalogs.Table{Metadata: bytes.Repeat([]byte("x"), 64<<20)}, nil
	case "fail":
		return nil, fault.New(fault.Denied, "login as %s at jdbc://u:pw@h failed", a.config.Properties["jdbc.password"])
	case "log":
		slog.Debug("fine print")
		slog.Warn("password is "+a.config.Properties["jdbc.password"], "uri", "x://u:pw@h", "n", 3)
		fmt.Fprintln(os.Stderr, "printed to stderr")
		fmt.Println("printed to stdout")
		syscall.Write(2, []byte("written by a driver\n{\"@message\": 1, \"@level\": []}\n{\"@message\":\"from hclog\",\"@level\":\"error\",\"k\":{\"a\":[1]}}\n"))
	}
	return &catalogs.Table{Identifier: req.Identifier, MetadataLocation: "m"}, nil
}

// beServer opens a catalog, tells the plugin's pid, and waits.
func beServer(folder string) {
	h, err := host.New(host.Config{Folder: folder})
	if err != nil {
		panic(err)
	}
	catalog, err := h.Open(context.Background(), definition("good"), nil)
	if err != nil {
		panic(err)
	}
	properties, err := catalog.LoadNamespace(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(properties["pid"])
	select {}
}

func definition(typ string) catalogs.Definition {
	return catalogs.Definition{Name: "prod", Type: typ, Properties: iceberg.Properties{"warehouse": "/w", "jdbc.password": "hunter22"}}
}

// folder has the test binary under each name.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(program, filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// world is a host with a log and a clock that a test reads and turns.
type world struct {
	*host.Host
	log lines

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T, change ...func(*host.Config)) *world {
	t.Helper()
	w := &world{now: time.Now()}
	config := host.Config{Folder: folder(t, "skua-catalog"), Log: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Backoff: time.Second, MaxBackoff: 4 * time.Second, Wait: -1, Now: func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }}
	for _, c := range change {
		c(&config)
	}
	var err error
	if w.Host, err = host.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if text := w.log.String(); strings.Contains(text, "hunter22") {
			t.Errorf("the log holds a secret:\n%s", text)
		}
	})
	return w
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) open(t *testing.T, typ string) catalogs.Catalog {
	t.Helper()
	catalog, err := w.Open(t.Context(), definition(typ), nil)
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// lines is a log that a test waits for.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) await(t *testing.T, want string) {
	t.Helper()
	eventually(t, "log line "+want, func() bool { return strings.Contains(l.String(), want) })
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("timed out waiting for %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func load(t *testing.T, catalog catalogs.Catalog, what string) error {
	t.Helper()
	_, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{what}})
	return err
}

// pid asks the plugin for its process.
func pid(t *testing.T, catalog catalogs.Catalog) int {
	t.Helper()
	properties, err := catalog.LoadNamespace(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(properties["pid"])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// alive is false for a process that nobody has waited for yet, too.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("process %d to be gone", pid), func() bool { return !alive(pid) })
}
