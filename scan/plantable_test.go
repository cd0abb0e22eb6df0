package scan

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// TestPlanOfATable plans scans of the table whose metadata file SKUA_PLAN_TABLE names, first and again, and tells CPU seconds, the process's peak memory
// and how many files are left. SKUA_PLAN_FILTER is a column and a number that it is below, such as id<200000; SKUA_PLAN_PROFILE a file for the profile.
func TestPlanOfATable(t *testing.T) {
	location := os.Getenv("SKUA_PLAN_TABLE")
	if location == "" {
		t.Skip("SKUA_PLAN_TABLE is not set")
	}
	if path := os.Getenv("SKUA_PLAN_PROFILE"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			t.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	idle := peakRSS()
	used := spent()
	source := wideSource(t, location, 0)
	filter := below(t, source, os.Getenv("SKUA_PLAN_FILTER"))
	for _, name := range []string{"first", "again", "again"} {
		began := time.Now()
		ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: runtime.GOMAXPROCS(0)}).NewStatement("s"))
		plan, err := source.Plan(ctx, Request{Fields: []int{1}, Filter: filter, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		p := plan.(*tablePlan)
		after := spent()
		t.Logf("%s: %.3f CPU s, %.3f s, peak %d MiB (idle %d), %d splits, manifests %v, files %v", name, (after - used).Seconds(), time.Since(began).Seconds(),
			peakRSS()>>20, idle>>20, p.Splits(), p.found.manifests, p.found.files)
		used = after
	}
}

// below makes a filter of a text such as id<5.
func below(t *testing.T, s Source, text string) predicate.Expr {
	t.Helper()
	name, number, ok := strings.Cut(text, "<")
	if !ok {
		return nil
	}
	at := s.Schema().FieldIndices(name)
	if len(at) == 0 {
		t.Fatalf("no column %s", name)
	}
	f := s.Schema().Field(at[0])
	var n int64
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatal(err)
	}
	var value any = n
	if arrow.IsFloating(f.Type.ID()) {
		value = float64(n)
	}
	return predicate.Comparison{Op: predicate.Lt, Field: predicate.Field{ID: FieldID(f), Path: []string{name}, Type: f.Type}, Value: predicate.Literal{Type: f.Type, Value: value}}
}

func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func peakRSS() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Maxrss << 10
}

// TestCountOfATable counts the rows of the table that SKUA_COUNT_TABLE names, and tells CPU seconds and bytes.
func TestCountOfATable(t *testing.T) {
	location := os.Getenv("SKUA_COUNT_TABLE")
	if location == "" {
		t.Skip("SKUA_COUNT_TABLE is not set")
	}
	for _, name := range []string{"first", "again"} {
		used, began := spent(), time.Now()
		statement := resource.NewPool(resource.Config{Cores: runtime.GOMAXPROCS(0)}).NewStatement("s")
		got, err := readAll(resource.With(t.Context(), statement), wideSource(t, location, 0), Request{Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}})
		if err != nil {
			t.Fatal(err)
		}
		c := &statement.Counters
		t.Logf("%s: %d rows, %.3f CPU s, %.3f s, %d bytes of data, %d of deletes, peak %d MiB", name, got.NumRows(), (spent() - used).Seconds(), time.Since(began).Seconds(),
			c.DataBytes.Load(), c.DeleteBytes.Load(), peakRSS()>>20)
		got.Release()
	}
}
