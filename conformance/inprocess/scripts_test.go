package inprocess

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/hadoop"
	"github.com/skua-data/skua/catalogs/hive"
	"github.com/skua-data/skua/catalogs/jdbc"
	"github.com/skua-data/skua/catalogs/rest"
	"github.com/skua-data/skua/catalogs/static"
	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/sdk"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/adls"
	"github.com/skua-data/skua/storage/gcs"
	"github.com/skua-data/skua/storage/local"
	"github.com/skua-data/skua/storage/s3"
)

var update = flag.Bool("update", false, "write what came into the scripts as what is expected")

// pluginName is what the test binary is called when the host launches it as the plugin.
const pluginName = "skua-catalog"

// TestMain lets this binary be the plugin too, so that the tests need no other program.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == pluginName {
		kinds := []storage.Kind{local.Kind, s3.Kind, gcs.Kind, adls.Kind}
		sdk.Serve(func(name string) (catalogs.Constructor, error) {
			switch name {
			case "hadoop":
				return hadoop.New(kinds), nil
			case "hive":
				return hive.New(kinds), nil
			case "jdbc":
				return jdbc.New(kinds), nil
			case "static":
				return static.New(kinds), nil
			case "rest":
				return rest.New(kinds), nil
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

// TestCompleteScripts writes what came into the scripts, where -update says so.
func TestCompleteScripts(t *testing.T) {
	if !*update {
		t.Skip("it writes with -update only")
	}
	target := start(t, lake(t)).Target()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "*.test"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		complete(t, file, target)
	}
}

func complete(t *testing.T, file string, target conformance.Target) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script, err := conformance.Parse(filepath.Base(file), bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := conformance.Complete(t.Context(), conformance.Config{Connect: target.Sessions()}, script); err != nil {
		t.Error(err)
	}
	var out bytes.Buffer
	if err := conformance.Write(&out, script); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
