package inprocess

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/feature"
	"github.com/skua-data/skua/conformance/report"
)

// full reports whether the whole matrix is wanted, which takes minutes: make conformance sets the variable.
func full() bool { return os.Getenv("SKUA_CONFORMANCE") == "full" }

// environments are the places of the matrix beside its base, each off it along one dimension or a few.
func environments() (out []conformance.Cell) {
	at := conformance.Cell{}
	for _, decoder := range []string{"fallback", "gpu-simulated", "gpu"} {
		out = append(out, at.With(conformance.Decoder, decoder))
	}
	for _, catalog := range []string{"static", "jdbc", "rest", "hive", "glue", "nessie"} {
		out = append(out, at.With(conformance.Catalog, catalog))
	}
	for _, store := range []string{"s3", "gcs", "adls"} {
		out = append(out, at.With(conformance.Store, store))
	}
	return append(out, at.With(conformance.Catalog, "rest").With(conformance.Store, "s3"),
		at.With(conformance.Catalog, "jdbc").With(conformance.Store, "gcs").With(conformance.Decoder, "fallback"),
		at.With(conformance.Catalog, "static").With(conformance.Store, "adls"))
}

// TestMatrix runs the scripts. Everyday: every case on the query path, a sample (the smoke profile) everywhere else. With SKUA_CONFORMANCE=full: every
// case in every cell that it declares. What cannot run is skipped with the reason.
func TestMatrix(t *testing.T) {
	scripts, err := conformance.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	target := start(t, lake(t)).Target()
	var all []conformance.Outcome
	for _, path := range conformance.Paths() {
		for _, cookies := range []bool{false, true} {
			target.Cookies = cookies
			smoke := !full() && (path != conformance.PathQuery || cookies)
			all = append(all, cell(t, conformance.Config{Connect: target.Sessions(), Cell: conformance.Cell{Path: path, Cookies: cookies}, Smoke: smoke}, scripts)...)
		}
	}
	for _, e := range environments() {
		all = append(all, elsewhere(t, e, scripts)...)
	}
	t.Logf("%s in %s", report.Count(all), time.Since(started).Round(time.Second))
	writeResults(t, report.Run{Title: "Skua, in process", Profile: "reference", Started: started, Outcomes: all})
	checkFeatures(t, scripts, all)
}

// cell runs scripts in one cell and reports the failures.
func cell(t *testing.T, config conformance.Config, scripts []*conformance.Script) (out []conformance.Outcome) {
	t.Run(strings.ReplaceAll(config.Cell.String(), " ", "/"), func(t *testing.T) {
		config.StepTimeout, config.CaseTimeout = 3*time.Minute, 5*time.Minute // of busy machines, too
		out = conformance.Run(t.Context(), config, scripts...)
		if c := report.Count(out); c.Failed > 0 {
			var text bytes.Buffer
			report.WriteText(&text, report.Run{Outcomes: out})
			t.Error(text.String())
		}
	})
	return out
}

// elsewhere runs scripts off the base. A place that is not there skips all of its cases.
func elsewhere(t *testing.T, e conformance.Cell, scripts []*conformance.Script) (out []conformance.Outcome) {
	settings, missing := environment(t, e)
	paths := []conformance.Path{conformance.PathQuery}
	if full() {
		paths = append(paths, conformance.PathTwice)
	}
	var target conformance.Target
	if missing == "" {
		target = start(t, settings).Target()
	}
	for _, path := range paths {
		e.Path = path
		config := conformance.Config{Connect: target.Sessions(), Cell: e, Smoke: !full()}
		if missing != "" {
			config.Profile = conformance.Reference()
			config.Profile.Skip = []conformance.Skip{{Pattern: "*/*", Reason: missing}}
		}
		out = append(out, cell(t, config, scripts)...)
	}
	return out
}

// writeResults writes the results in every form into the folder that SKUA_CONFORMANCE_OUT names.
func writeResults(t *testing.T, r report.Run) {
	t.Helper()
	dir := os.Getenv("SKUA_CONFORMANCE_OUT")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{
		"results.txt":  func(w io.Writer) error { report.WriteText(w, r); return nil },
		"results.xml":  func(w io.Writer) error { return report.WriteJUnit(w, r) },
		"results.json": func(w io.Writer) error { return report.WriteJSON(w, r) },
		"results.html": func(w io.Writer) error { return report.WritePage(w, r, feature.Title) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFeatures compares docs/features.md with what the outcomes prove; -update writes it.
func checkFeatures(t *testing.T, scripts []*conformance.Script, outcomes []conformance.Outcome) {
	t.Helper()
	refusals := map[string]bool{}
	for _, s := range scripts {
		for i := range s.Cases {
			refusals[strings.TrimSuffix(s.Name, ".test")+"/"+s.Cases[i].Name] = s.Cases[i].Refusal()
		}
	}
	var proven []conformance.Outcome
	for _, o := range outcomes {
		if o.Cell.Environment() == "" {
			proven = append(proven, o)
		}
	}
	proven = append(append(proven, recordedOutcomes(t)...), placesOf(outcomes)...)
	var page bytes.Buffer
	feature.WritePage(&page, proven, func(id string) bool { return refusals[id] })
	const file = "../../docs/features.md"
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, page.Bytes()) {
		t.Errorf("docs/features.md does not tell what the results prove; go test ./conformance/inprocess -run Matrix -update writes it%s", firstDifference(committed, page.Bytes()))
	}
}

// firstDifference shows the first lines that differ.
func firstDifference(have, want []byte) string {
	a, b := strings.Split(string(have), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf(":\n  it says %s\n  proven  %s", a[i], b[i])
		}
	}
	return ""
}

// placesOf gives an outcome for the base and for each place off it along one dimension: whether all that was run there passed.
func placesOf(outcomes []conformance.Outcome) (out []conformance.Outcome) {
	at := map[string]int{}
	for _, o := range outcomes {
		place := o.Cell.Environment()
		features := []string{"catalog.hadoop", "store.local", "files.parquet"}
		if place == "" {
			place = "base"
		}
		if strings.Contains(place, " ") || o.Status == conformance.Skipped {
			continue
		}
		i, ok := at[place]
		if !ok {
			i = len(out)
			at[place] = i
			kind, value, _ := strings.Cut(place, "=") // the base has neither
			if f := map[string]string{"catalog": "catalog." + value, "store": "store." + value, "decoder": "files.parquet"}[kind]; f != "" {
				features = []string{f}
			}
			out = append(out, conformance.Outcome{Script: "matrix", Case: place, Features: features, Status: conformance.Passed})
		}
		if o.Status == conformance.Failed {
			out[i].Status = conformance.Failed
		}
	}
	return out
}

func gunzipped(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
