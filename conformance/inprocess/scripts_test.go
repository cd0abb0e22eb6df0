package inprocess

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/hadoop"
	"github.com/skua-data/skua/catalogs/jdbc"
	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/sdk"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

var update = flag.Bool("update", false, "write what came into the scripts as what is expected")

// pluginName is what the test binary is called when the host launches it as the plugin.
const pluginName = "skua-catalog"

// TestMain lets this binary be the plugin too, so that the tests need no other program.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == pluginName {
		kinds := []storage.Kind{local.Kind}
		sdk.Serve(func(name string) (catalogs.Constructor, error) {
			switch name {
			case "hadoop":
				return hadoop.New(kinds), nil
			case "jdbc":
				return jdbc.New(kinds), nil
			}
			return nil, fault.New(fault.Unsupported, "catalog type %s is not supported here", name)
		})
		return
	}
	os.Exit(m.Run())
}

// pluginFolder makes a folder that holds this test binary under the plugin's name.
func pluginFolder(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, pluginName)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lake is the configuration of the fixture warehouse as catalog lake.
func lake(t testing.TB) map[string]string {
	t.Helper()
	data, err := filepath.Abs(filepath.Join("..", "testdata", "warehouse"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"skua.plugin.folder":               pluginFolder(t),
		"spark.sql.catalog.lake":           "com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog",
		"spark.sql.catalog.lake.type":      "hadoop",
		"spark.sql.catalog.lake.warehouse": "file:///skua-oracle/warehouse",
		"skua.location-map.short.from":     "file:/skua-oracle/warehouse",
		"skua.location-map.short.to":       data,
		"skua.location-map.long.from":      "file:///skua-oracle/warehouse",
		"skua.location-map.long.to":        data,
	}
}

// fixtureTime lies after everything that the fixtures hold, whatever the clock of this machine says.
var fixtureTime = time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)

func start(t testing.TB, settings map[string]string) *Running {
	t.Helper()
	began := time.Now()
	return startWith(t, Config{Settings: settings, Now: func() time.Time { return fixtureTime.Add(time.Since(began)) }})
}

func startWith(t testing.TB, c Config) *Running {
	t.Helper()
	r, err := Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestScripts runs every script on every path, with and without cookies.
func TestScripts(t *testing.T) {
	target := start(t, lake(t)).Target()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "*.test"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		script := read(t, file)
		if *update {
			complete(t, file, script, target)
			continue
		}
		for _, path := range conformance.Paths() {
			for _, cookies := range []bool{false, true} {
				target.Cookies = cookies
				t.Run(fmt.Sprintf("%s/%s/cookies=%t", strings.TrimSuffix(filepath.Base(file), ".test"), path, cookies), func(t *testing.T) {
					var report bytes.Buffer
					outcomes := conformance.Run(t.Context(), conformance.Config{Target: target, Path: path}, script)
					if _, failed := conformance.Report(&report, outcomes); failed > 0 {
						t.Error(report.String())
					}
				})
			}
		}
	}
}

func read(t *testing.T, file string) *conformance.Script {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	script, err := conformance.Parse(filepath.Base(file), f)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func complete(t *testing.T, file string, script *conformance.Script, target conformance.Target) {
	t.Helper()
	if err := conformance.Complete(t.Context(), conformance.Config{Target: target, Path: conformance.PathQuery}, script); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := conformance.Write(&out, script); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
