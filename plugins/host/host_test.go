package host_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/host"
)

func TestAPluginServesAndEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("SKUA_CONF_OTHER_PASSWORD", "of another catalog")
	t.Run("life", func(t *testing.T) {
		w := newWorld(t)
		catalog := w.open(t, "good")
		if !catalog.Capabilities().NestedNamespaces {
			t.Error("capabilities are lost")
		}
		properties, err := catalog.LoadNamespace(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if properties["type"] != "good" || properties["name"] != "prod" || properties["warehouse"] != "/w" || properties["args"] != "good" {
			t.Errorf("got %v", properties)
		}
		for _, secret := range []string{"hunter22", "of another catalog"} {
			if strings.Contains(properties["args"]+properties["environment"], secret) {
				t.Errorf("%q is in the arguments or the environment", secret)
			}
		}
		process := pid(t, catalog)
		if process != pid(t, catalog) || process == os.Getpid() {
			t.Error("one process of its own serves a catalog")
		}
		if err := catalog.Close(); err != nil {
			t.Error(err)
		}
		gone(t, process)
		if err := load(t, catalog, "x"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after Close: %v", err)
		}
		if err := catalog.Close(); err != nil {
			t.Error(err)
		}
		w.log.await(t, "version=9.9")
	})
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	eventually(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

func TestHostCloseEndsAll(t *testing.T) {
	w := newWorld(t)
	var processes []int
	for range 3 {
		processes = append(processes, pid(t, w.open(t, "good")))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, process := range processes {
		if alive(process) {
			t.Errorf("process %d lives", process)
		}
	}
	if _, err := w.Open(t.Context(), definition("good"), nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Open after Close: %v", err)
	}
}

func TestADeathFailsItsCallsAndTheNextRelaunches(t *testing.T) {
	for _, c := range []struct {
		name string
		die  func(t *testing.T, w *world, catalog catalogs.Catalog) error
		want string
	}{
		{"exit", func(t *testing.T, _ *world, catalog catalogs.Catalog) error { return load(t, catalog, "crash") }, "exit status 7"},
		{"panic", func(t *testing.T, _ *world, catalog catalogs.Catalog) error { return load(t, catalog, "panic") }, "exit status 2"},
		{"kill", func(t *testing.T, w *world, catalog catalogs.Catalog) error {
			go func() { // also the process on which the call is made once more
				for n := range 2 {
					eventually(t, "the call to wait", func() bool { return strings.Count(w.log.String(), "waiting") > n })
					_ = syscall.Kill(pid(t, catalog), syscall.SIGKILL)
				}
			}()
			return load(t, catalog, "wait")
		}, "signal: killed"},
		{"in a listing", func(t *testing.T, _ *world, catalog catalogs.Catalog) error {
			for _, err := range catalog.Tables(t.Context(), table.Identifier{"crash"}) {
				if err != nil {
					return err
				}
			}
			return nil
		}, "exit status 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			catalog := w.open(t, "good")
			process := pid(t, catalog)
			err := c.die(t, w, catalog)
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "catalog prod") || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
			w.pass(time.Second) // it died twice
			if next := pid(t, catalog); next == process {
				t.Error("the process must be another")
			}
			gone(t, process)
			w.log.await(t, "plugin died")
		})
	}
}

func TestADeathBetweenCallsIsNotSeen(t *testing.T) {
	w := newWorld(t)
	catalog := w.open(t, "good")
	_ = syscall.Kill(pid(t, catalog), syscall.SIGKILL)
	w.log.await(t, "plugin died")
	if err := load(t, catalog, "x"); err != nil {
		t.Error(err)
	}
}

func TestDeathsInARowBackOff(t *testing.T) {
	w := newWorld(t)
	catalog := w.open(t, "good")
	// The first call kills the process on which it is made once more, too.
	for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
		if err := load(t, catalog, "crash"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "during the call") {
			t.Fatalf("got %v", err)
		}
		if wait > 0 {
			w.pass(wait - time.Millisecond)
			started := time.Now()
			err := load(t, catalog, "x")
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "tried again in 1ms") || !strings.Contains(err.Error(), "exit status 7") {
				t.Errorf("after %s: %v", wait, err)
			}
			if time.Since(started) > time.Second {
				t.Error("a call during the back-off must fail at once")
			}
			w.pass(time.Millisecond)
		}
		if err := load(t, catalog, "x"); err != nil {
			t.Errorf("after the back-off of %s: %v", wait, err)
		}
	}
	w.pass(10*time.Second - 1) // not long enough to be well
	_ = load(t, catalog, "crash")
	if err := load(t, catalog, "x"); err == nil || !strings.Contains(err.Error(), "tried again in 4s") {
		t.Errorf("a death after a short life: %v", err)
	}
	w.pass(4 * time.Second)
	if err := load(t, catalog, "x"); err != nil {
		t.Fatal(err)
	}
	for _, life := range []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second, time.Hour} {
		w.pass(life)
		if err := once(t, catalog); err != nil {
			t.Errorf("a death after %s: %v", life, err)
		}
	}
}

// once loads what ends the process the first time.
func once(t *testing.T, catalog catalogs.Catalog) error {
	t.Helper()
	_, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"once", filepath.Join(t.TempDir(), "crashed")}})
	return err
}

func TestACallIsMadeOnceMoreWhereItsProcessDies(t *testing.T) {
	w := newWorld(t)
	catalog := w.open(t, "good")
	first := pid(t, catalog)
	if err := once(t, catalog); err != nil {
		t.Errorf("a load: %v", err)
	}
	second := pid(t, catalog)
	if second == first {
		t.Error("the process must be another")
	}
	w.pass(10 * time.Second)
	n := 0
	for _, err := range catalog.Tables(t.Context(), table.Identifier{"once", filepath.Join(t.TempDir(), "crashed")}) {
		if n++; err != nil {
			t.Errorf("a listing: %v", err)
		}
	}
	if n != 1 || pid(t, catalog) == second {
		t.Errorf("%d entries", n)
	}
	if err := once(t, catalog); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "during the call") {
		t.Errorf("a death soon after another: %v", err)
	}
}

func TestAStormSurvivesKills(t *testing.T) {
	w := newWorld(t)
	catalog := w.open(t, "good")
	ctx, cancel := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	var mu sync.Mutex
	var bad []error
	for range 16 {
		storm.Go(func() {
			for ctx.Err() == nil {
				_, err := catalog.Load(ctx, catalogs.LoadRequest{Identifier: table.Identifier{"x"}})
				if err != nil && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Canceled) {
					mu.Lock()
					bad = append(bad, err)
					mu.Unlock()
				}
			}
		})
	}
	var processes []int
	for range 3 {
		eventually(t, "a process that answers", func() bool {
			properties, err := catalog.LoadNamespace(t.Context(), nil)
			if err != nil {
				w.pass(time.Second)
				return false
			}
			process, _ := strconv.Atoi(properties["pid"])
			processes = append(processes, process)
			return syscall.Kill(process, syscall.SIGKILL) == nil
		})
	}
	eventually(t, "the last one", func() bool { w.pass(time.Second); return load(t, catalog, "x") == nil })
	cancel()
	storm.Wait()
	for _, err := range bad {
		t.Errorf("a client saw %s: %v", fault.KindOf(err), err)
	}
	for _, process := range processes {
		gone(t, process)
	}
}

func TestAKilledServerLeavesNoPlugin(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	server := exec.Command(program)
	server.Env = append(os.Environ(), hostRole+"="+folder(t, "skua-catalog"), "TMPDIR="+temp)
	server.Stderr = os.Stderr
	printed, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	process, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || !alive(process) {
		t.Fatalf("no plugin: %q %v", line, err)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	gone(t, process)
	eventually(t, "the socket to be removed", func() bool {
		left, err := filepath.Glob(filepath.Join(temp, "*"))
		return err == nil && len(left) == 0
	})
}

func TestLogLinesComeUnderTheCatalogsName(t *testing.T) {
	w := newWorld(t)
	if err := load(t, w.open(t, "good"), "log"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`level=DEBUG msg="fine print" catalog=prod`,
		`level=WARN msg="password is [redacted]" catalog=prod n=3 uri=x://[redacted]@h`,
		`level=INFO msg="printed to stderr" catalog=prod`,
		`level=INFO msg="printed to stdout" catalog=prod`,
		`level=INFO msg="written by a driver" catalog=prod`,
		`level=INFO msg="{\"@message\": 1, \"@level\": []}" catalog=prod`,
		`level=ERROR msg="from hclog" catalog=prod k="{\"a\":[1]}"`,
	} {
		w.log.await(t, want)
	}
}

func TestErrorsComeWithoutSecrets(t *testing.T) {
	w := newWorld(t)
	err := load(t, w.open(t, "good"), "fail")
	if !fault.Is(err, fault.Denied) || err.Error() != "login as [redacted] at jdbc://[redacted]@h failed" {
		t.Errorf("got %v", err)
	}
}

func TestBigMetadataCrossesProcesses(t *testing.T) {
	w := newWorld(t)
	loaded, err := w.open(t, "good").Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"big"}})
	if err != nil || len(loaded.Metadata) != 64<<20 {
		t.Fatalf("got %d bytes, %v", len(loaded.Metadata), err)
	}
}

func TestContextsCrossProcesses(t *testing.T) {
	w := newWorld(t)
	catalog := w.open(t, "good")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { w.log.await(t, "waiting"); cancel() }()
	if _, err := catalog.Load(ctx, catalogs.LoadRequest{Identifier: table.Identifier{"wait"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	w.log.await(t, "waited")
	for _, err := range catalog.Tables(t.Context(), nil) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	w.log.await(t, "listing stopped")
}

func TestBadPluginsAreNamed(t *testing.T) {
	for _, c := range []struct {
		typ  string
		kind fault.Kind
		want []string
	}{
		{"garbage", fault.Unavailable, []string{"is no catalog plugin", `"Usage: garbage [flags] token=[redacted]"`}},
		{"flood", fault.Unavailable, []string{"ended before the handshake"}},
		{"exits", fault.Unavailable, []string{"ended before the handshake (exit status 3)", "it printed: cannot find libhive.so, asked with [redacted]"}},
		{"hangs", fault.Unavailable, []string{"did not start within 500ms"}},
		{"old", fault.Unavailable, []string{"speaks another protocol", "Plugin version: 7", "this server speaks version 1"}},
		{"refuses", fault.Invalid, []string{"no warehouse in map[jdbc.password:[redacted] warehouse:/w]"}},
		{"dies", fault.Unavailable, []string{"ended while it opened the catalog (exit status 2)", "driver bug near [redacted]"}},
		{"sleeps", fault.Unavailable, []string{"did not start within 500ms"}},
	} {
		t.Run(c.typ, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(config *host.Config) {
				if c.typ == "hangs" || c.typ == "sleeps" {
					config.StartTimeout = 500 * time.Millisecond
				}
			})
			started := time.Now()
			_, err := w.Open(t.Context(), definition(c.typ), nil)
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), "open catalog prod") || strings.Contains(err.Error(), "hunter22") {
				t.Fatalf("got %s: %v", fault.KindOf(err), err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
			if took := time.Since(started); took > 8*time.Second {
				t.Errorf("took %s", took)
			}
			// The second try is immediate, the third waits.
			if _, err := w.Open(t.Context(), definition(c.typ), nil); err == nil || strings.Contains(err.Error(), "tried again") {
				t.Errorf("second: %v", err)
			}
			if _, err := w.Open(t.Context(), definition(c.typ), nil); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), "tried again in 1s") {
				t.Errorf("third: %v", err)
			}
		})
	}
}

func TestStoppingWhileAPluginStarts(t *testing.T) {
	for name, stop := range map[string]func(*world, context.CancelFunc){
		"host closes":      func(w *world, _ context.CancelFunc) { _ = w.Close() },
		"caller goes away": func(_ *world, cancel context.CancelFunc) { cancel() },
	} {
		for _, typ := range []string{"hangs", "sleeps"} {
			t.Run(name+" "+typ, func(t *testing.T) {
				before := runtime.NumGoroutine()
				w := newWorld(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(100*time.Millisecond, func() { stop(w, cancel) })
				started := time.Now()
				if _, err := w.Open(ctx, definition(typ), nil); err == nil || time.Since(started) > 8*time.Second {
					t.Errorf("got %v after %s", err, time.Since(started))
				}
				_ = w.Close()
				eventually(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
			})
		}
	}
}

func TestAStoppedPluginIsKilledOnClose(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a process that does not answer")
	}
	w := newWorld(t)
	process := pid(t, w.open(t, "good"))
	if err := syscall.Kill(process, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	_ = w.Close()
	if took := time.Since(started); took > 8*time.Second || alive(process) {
		t.Errorf("took %s, alive: %t", took, alive(process))
	}
}

func TestOutsidePluginsAreFoundByName(t *testing.T) {
	for _, c := range []struct {
		name, impl string
		files      []string
		want       string // the program; empty: refused
		kind       fault.Kind
		text       string
	}{
		{"class name", "com.my.custom.CatalogImpl", []string{"com.my.custom.CatalogImpl"}, "com.my.custom.CatalogImpl", 0, ""},
		{"prefix and class name", "com.my.custom.CatalogImpl", []string{"skua-catalog-com.my.custom.CatalogImpl"}, "skua-catalog-com.my.custom.CatalogImpl", 0, ""},
		{"prefix and simple name", "com.my.custom.CatalogImpl", []string{"skua-catalog-CatalogImpl"}, "skua-catalog-CatalogImpl", 0, ""},
		{"the first of several", "x.Y", []string{"skua-catalog-Y", "skua-catalog-x.Y"}, "skua-catalog-x.Y", 0, ""},
		{"plain name", "mine", []string{"skua-catalog-mine"}, "skua-catalog-mine", 0, ""},
		{"missing", "x.Y", []string{"other"}, "", fault.Unavailable, "has none of the files x.Y, skua-catalog-x.Y, skua-catalog-Y"},
		{"path", "../x", []string{"x"}, "", fault.Invalid, "never a path"},
		{"absolute", "/bin/sh", nil, "", fault.Invalid, "never a path"},
		{"dots", "x..y", nil, "", fault.Invalid, "never a path"},
		{"dot", ".x", []string{".x"}, "", fault.Invalid, "never a path"},
		{"flag", "-x", nil, "", fault.Invalid, "never a path"},
		{"backslash", `a\b`, nil, "", fault.Invalid, "never a path"},
		{"NUL", "a\x00b", nil, "", fault.Invalid, "never a path"},
		{"the bundled program", "skua-catalog", nil, "", fault.Invalid, "never a path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, func(config *host.Config) { config.Folder = folder(t, append(c.files, "skua-catalog")...) })
			catalog, err := w.Open(t.Context(), catalogs.Definition{Name: "prod", Impl: c.impl, Properties: iceberg.Properties{}}, nil)
			if c.want == "" {
				if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "Cannot initialize Catalog implementation "+c.impl) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			properties, err := catalog.LoadNamespace(t.Context(), nil)
			if err != nil || properties["type"] != c.impl || properties["args"] != "" {
				t.Errorf("got %v, %v", properties, err)
			}
			w.log.await(t, "/"+c.want+" ")
		})
	}
}

func TestProgramsThatCannotRun(t *testing.T) {
	write := func(mode os.FileMode, text string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(text), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"missing", func(*testing.T, string) {}, "does not exist; `make build` puts it beside the server, or set the folder; see the setting skua.plugin.folder"},
		{"not executable", write(0o644, "x"), "no execute permission"},
		{"folder", func(t *testing.T, path string) { _ = os.Mkdir(path, 0o755) }, "not a file"},
		{"no program", write(0o755, "\x7fELF"), "exec format error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			bin := t.TempDir()
			c.make(t, filepath.Join(bin, "skua-catalog"))
			w := newWorld(t, func(config *host.Config) { config.Folder = bin })
			_, err := w.Open(t.Context(), definition("good"), nil)
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "catalog prod") {
				t.Errorf("got %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	w := newWorld(t)
	for _, typ := range []string{"", "--help", "a b", "Hive/../x"} {
		if _, err := w.Open(t.Context(), definition(typ), nil); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "Unknown catalog type: "+typ) {
			t.Errorf("type %q: %v", typ, err)
		}
	}
}

func TestATemporaryFolderThatIsTooDeepForASocketIsTold(t *testing.T) {
	deep := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	if err := os.Mkdir(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", deep)
	_, err := newWorld(t).Open(t.Context(), definition("good"), nil)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "plugin init error listen unix "+deep) {
		t.Errorf("got %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := host.New(host.Config{StartTimeout: -1}); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
	if h, err := host.New(host.Config{}); err != nil || h.Close() != nil {
		t.Errorf("the zero Config must work: %v", err)
	}
}
