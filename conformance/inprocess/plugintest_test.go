package inprocess

import (
	"path/filepath"
	"testing"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/plugintest"
	"github.com/skua-data/skua/storage"
)

// TestAPluginsBinaryIsHeldAgainstTheSuite runs the suite for catalogs over this binary as a plugin, and over one that does not start.
func TestAPluginsBinaryIsHeldAgainstTheSuite(t *testing.T) {
	data, err := filepath.Abs(warehouse)
	if err != nil {
		t.Fatal(err)
	}
	locations, err := storage.NewMap([]storage.Mapping{{From: "file:/skua-oracle/warehouse", To: data}, {From: "file:///skua-oracle/warehouse", To: data}})
	if err != nil {
		t.Fatal(err)
	}
	config := plugintest.Config{Plugin: filepath.Join(pluginFolder(t), pluginName), Type: "hadoop", Locations: locations, Properties: map[string]string{"warehouse": "file:///skua-oracle/warehouse"}}
	outcomes, err := plugintest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if len(outcomes) < 10 {
		t.Errorf("%d tests ran", len(outcomes))
	}
	for _, o := range outcomes {
		if o.Status != conformance.Passed {
			t.Errorf("%s: %s %s %v", o.Case, o.Status, o.Reason, o.Failures)
		}
	}
	config.Type = "nonsense"
	if outcomes, err := plugintest.Run(t.Context(), config); err == nil {
		t.Errorf("a type that the plugin does not serve: %d outcomes", len(outcomes))
	}
}
