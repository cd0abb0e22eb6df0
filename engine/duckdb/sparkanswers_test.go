//go:build cgo

package duckdb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
	"github.com/skua-data/skua/storage"
)

// sparkAnswer is what Spark says to a statement, as testdata/spark/make.py records it.
type sparkAnswer struct {
	SQL   string   `json:"sql"`
	Zone  string   `json:"zone"`
	Error string   `json:"error"`
	State string   `json:"state"`
	Names []string `json:"names"`
	Types []string `json:"types"`
	Rows  [][]any  `json:"rows"`
}

// same says how what came differs from the answer; nothing: it does not.
func (a sparkAnswer) same(got sparkAnswer) string {
	switch {
	case a.Error != got.Error:
		return fmt.Sprintf("%s, Spark has %s", or(got.Error, "rows"), or(a.Error, "rows"))
	case a.Error != "" && a.State != "" && a.State != got.State:
		return fmt.Sprintf("SQLSTATE %s, Spark has %s", got.State, a.State)
	case a.Error != "":
		return ""
	case !slices.Equal(a.Types, got.Types):
		return fmt.Sprintf("types %q, Spark has %q", got.Types, a.Types)
	case len(a.Rows) != len(got.Rows):
		return fmt.Sprintf("%d rows, Spark has %d", len(got.Rows), len(a.Rows))
	}
	for i, row := range a.Rows {
		if want, have := asJSON(shortFloats(a.Types, row)), asJSON(got.Rows[i]); want != have {
			return fmt.Sprintf("row %d is %s, Spark has %s", i, have, want)
		}
	}
	if !slices.Equal(a.Names, got.Names) {
		return fmt.Sprintf("names %q, Spark has %q", got.Names, a.Names)
	}
	return ""
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// overRows is an Executor for which the name t is a table.
type overRows struct {
	engine.Executor
	table scan.Source
}

// Compile binds a statement over the table.
func (o overRows) Compile(ctx context.Context, q engine.Query) (engine.Program, error) {
	resolve := q.Resolve
	q.Resolve = func(ctx context.Context, ref syntax.TableRef) (engine.Table, error) {
		if name := ref.Name[len(ref.Name)-1].Text; len(ref.Name) == 1 && strings.EqualFold(name, "t") {
			return engine.Table{Name: name, Parts: []string{name}, Source: o.table}, nil
		}
		return resolve(ctx, ref)
	}
	return o.Executor.Compile(ctx, q)
}

// sparkEngine is an engine in Spark's dialect with the table t and nothing else.
type sparkEngine struct {
	engine *engine.Engine
	zones  map[string]*session.Session
}

func newSparkEngine(t *testing.T, table scan.Source) *sparkEngine {
	t.Helper()
	executor, err := New(Config{Threads: 1, Memory: 512 << 20, Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	none, err := catalogs.NewSet(catalogs.SetConfig{Open: func(context.Context, catalogs.Definition, storage.Map) (catalogs.Catalog, error) {
		return nil, errors.ErrUnsupported // there are none
	}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{Catalogs: none, Scanner: &scan.Scanner{}, Executor: overRows{executor, table}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []interface{ Close() error }{e, none, executor} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return &sparkEngine{engine: e, zones: map[string]*session.Session{}}
}

// in gives the session of a zone. That t is a temporary view there lets every statement over it come to the executor.
func (s *sparkEngine) in(zone string) *session.Session {
	if s.zones[zone] == nil {
		s.zones[zone] = session.New(zone, "somebody", session.State{Startup: session.NewConf(map[string]string{"skua.sql.dialect": "spark", "spark.sql.session.timeZone": zone}),
			Objects: session.Objects{}.WithView(session.View{Name: "t", Text: "SELECT 1 AS id", Dialect: "spark"})}, time.Now())
	}
	return s.zones[zone]
}

// ask gives what a statement has, or the condition of its error; its text, too, as a second result.
func (s *sparkEngine) ask(ctx context.Context, sql, zone string) (sparkAnswer, error) {
	got, err := s.rows(ctx, sql, or(zone, "UTC"))
	if err == nil {
		return got, nil
	}
	var f *fault.Error
	if errors.As(err, &f) && f.Condition != "" {
		return sparkAnswer{Error: f.Condition, State: f.SQLState}, err
	}
	return sparkAnswer{Error: "no condition: " + err.Error()}, err
}

func (s *sparkEngine) rows(ctx context.Context, sql, zone string) (sparkAnswer, error) {
	p, err := s.engine.Prepare(ctx, engine.Call{Session: s.in(zone), Text: sql})
	if err != nil {
		return sparkAnswer{}, err
	}
	defer p.Close()
	r, err := p.Run(ctx, nil)
	if err != nil {
		return sparkAnswer{}, err
	}
	defer r.Close()
	rows, err := r.Open(ctx, 0, r.Parts())
	if err != nil {
		return sparkAnswer{}, err
	}
	defer rows.Release()
	out := sparkAnswer{Rows: [][]any{}}
	for _, f := range rows.Schema().Fields() {
		out.Names, out.Types = append(out.Names, f.Name), append(out.Types, sparkType(f.Type))
	}
	for rows.Next() {
		b := rows.RecordBatch()
		for i := range int(b.NumRows()) {
			row := make([]any, b.NumCols())
			for c, column := range b.Columns() {
				row[c] = sparkValue(column, i)
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return out, rows.Err()
}

// readSparkAnswers reads lines of JSON.
func readSparkAnswers(t *testing.T, file string) (out []sparkAnswer) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for d.More() {
		var a sparkAnswer
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// sparkTable is the table t with the rows that Spark was asked over.
func sparkTable(t *testing.T) *memoryTable {
	a := readSparkAnswers(t, "testdata/spark/table.json")[0]
	var fields []arrow.Field
	for i, name := range a.Names {
		fields = append(fields, arrow.Field{Name: name, Type: arrowType(t, a.Types[i])})
	}
	return newTableOf(t, a.Rows, fields...)
}
