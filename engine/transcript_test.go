package engine

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestTranscripts runs testdata/*.txt: a line "> SQL" asks, the lines up to an empty one are the answer, "@name" goes on in another
// session. Every result is also resumed from its pin, as it goes through a ticket, and must be the same.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var more []catalogs.Definition
			if strings.HasPrefix(filepath.Base(file), "override") {
				more = append(more, sessionCatalogDefinition())
			}
			w, e := newWorld(t, more...)
			if strings.HasPrefix(filepath.Base(file), "tempview") {
				e.config.Executor = fakeExecutor{}
			}
			got := transcript(t, w, e, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(want) && !*update {
				t.Errorf("the transcript differs:\n%s", difference(string(want), got))
			}
		})
	}
}

// difference shows the lines that are in one text only, in order.
func difference(want, got string) string {
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, c := "", ""
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			c = g[i]
		}
		if a != c {
			fmt.Fprintf(&b, "line %d\n- %s\n+ %s\n", i+1, a, c)
			return b.String()
		}
	}
	return b.String()
}

func transcript(t *testing.T, w *world, e *Engine, text string) string {
	sessions := map[string]*session.Session{}
	current := ""
	var out []string
	skipping := false
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "> "):
			out, skipping = append(out, line), true
			if sessions[current] == nil {
				sessions[current] = w.session(t, e, "session-"+current)
			}
			out = append(out, strings.TrimRight(ask(t, e, sessions[current], line[2:]), "\n"))
		case line == "":
			out, skipping = append(out, line), false
		case strings.HasPrefix(line, "@"):
			out, current = append(out, line), line[1:]
		case !skipping:
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// ask runs a statement and spells its outcome.
func ask(t *testing.T, e *Engine, s *session.Session, sql string) string {
	ctx := context.Background()
	p, err := e.Prepare(ctx, Call{Session: s, Principal: "ann", Text: sql})
	if err != nil {
		return spell(err)
	}
	defer p.Close()
	if p.Parameters() == nil {
		t.Errorf("%s: no parameter schema", sql)
	}
	r, err := p.Run(ctx, nil)
	if err != nil {
		return spell(err)
	}
	defer r.Close()
	noRows := p.Schema() == nil // a SET k=v is an update that has some
	if noRows && !p.IsUpdate() || !noRows && p.IsUpdate() && !p.Schema().Equal(keyValue) || p.IsUpdate() != (r.Updated() >= 0) {
		t.Errorf("%s: update %v, prepared schema %v, updated %d", sql, p.IsUpdate(), p.Schema(), r.Updated())
	}
	if p.Schema() != nil && !p.Schema().Equal(r.Schema()) {
		t.Errorf("%s: prepared as %s, runs as %s", sql, p.Schema(), r.Schema())
	}
	first := tableText(t, r)
	if again := resume(t, e, r); again != first {
		t.Errorf("%s: resumed\n%s\nfirst\n%s", sql, again, first)
	}
	if p.IsUpdate() {
		return "update\n" + first
	}
	return first
}

func spell(err error) string {
	return "error " + fault.KindOf(err).String() + ": " + err.Error()
}

// resume gives a result's rows from its pin.
func resume(t *testing.T, e *Engine, r Result) string {
	text, err := json.Marshal(r.Pin())
	if err != nil {
		t.Fatal(err)
	}
	var pin Pin
	if err := json.Unmarshal(text, &pin); err != nil {
		t.Fatal(err)
	}
	e.plans = newPlanCache(maxPlans) // so that it is planned anew
	again, err := e.Resume(context.Background(), pin)
	if err != nil {
		return spell(err)
	}
	defer again.Close()
	return tableText(t, again)
}

// tableText spells a result: columns with types, then rows.
func tableText(t *testing.T, r Result) string {
	var b strings.Builder
	for i, f := range r.Schema().Fields() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name + " " + sparkType(f.Type))
		if !f.Nullable {
			b.WriteString("!")
		}
		for _, key := range f.Metadata.Keys() {
			if key != CatalogKey && key != SchemaKey && key != TableKey {
				t.Errorf("column %s has metadata %s", f.Name, f.Metadata)
			}
		}
	}
	b.WriteString("\n")
	reader, err := r.Open(context.Background(), 0, r.Parts())
	if err != nil {
		return b.String() + spell(err)
	}
	defer reader.Release()
	rows := int64(0)
	for reader.Next() {
		batch := reader.RecordBatch()
		rows += batch.NumRows()
		if err := array.ValidateRecordFull(batch); err != nil {
			t.Error(err)
		}
		for i := range int(batch.NumRows()) {
			b.WriteString(rowText(batch, i) + "\n")
		}
	}
	if reader.Err() != nil {
		return b.String() + spell(reader.Err())
	}
	if known := r.Rows(); known >= 0 && known != rows {
		t.Errorf("%d rows, %d announced", rows, known)
	}
	return b.String()
}

// peakMemory is the one number of EXPLAIN ANALYZE that is Arrow's affair.
var peakMemory = regexp.MustCompile(`(memory:|"peak_memory_bytes":) \d+`)

func rowText(batch arrow.RecordBatch, i int) string {
	var cells []string
	for _, c := range batch.Columns() {
		cell := c.ValueStr(i)
		if c.IsNull(i) {
			cell = "NULL"
		}
		cells = append(cells, peakMemory.ReplaceAllString(strings.ReplaceAll(cell, "\n", "\\n"), "$1 N"))
	}
	return strings.Join(cells, " | ")
}
