//go:build cgo

package duckdb

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// recordedFile names a file of recorded answers that is asked alone.
var recordedFile = flag.String("recorded", "", "a file of Spark's answers to ask alone")

// recorded is a line of testdata/recorded: a table with its rows, or a statement with what Spark 4.1 answers.
type recorded struct {
	Table   string      `json:"table"`
	SQL     string      `json:"sql"`
	Schema  [][2]string `json:"schema"` // names and types
	Rows    [][]any     `json:"rows"`
	Error   string      `json:"error"` // the condition
	State   string      `json:"state"`
	Refused string      `json:"refused"` // what Skua says where it gives no answer by decision
}

// TestRecordedAnswers: over columns of tables, Spark's dialect gives the rows, the types, the names and the errors that Spark gave.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded answers: %v", err)
	}
	if *recordedFile != "" {
		files = []string{*recordedFile}
	}
	f := newFixture(t)
	template := sparkQuery(t, f.run)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			for _, r := range readRecorded(t, file) {
				if r.Table != "" {
					f.tables[r.Table] = r.table(t)
					continue
				}
				q := template
				q.Text, q.Resolve = r.SQL, f.query(r.SQL, nil).Resolve
				if problem := r.differs(askedAsSpark(t.Context(), f.run, q)); problem != "" {
					t.Errorf("%s\n\t%s", r.SQL, problem)
				}
			}
		})
	}
}

func readRecorded(t *testing.T, file string) (out []recorded) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		r := recorded{}
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%s: %v in %s", file, err, lines.Text())
		}
		out = append(out, r)
	}
	return out
}

// capturing keeps what the engine asks of an executor.
type capturing struct {
	engine.Executor
	query engine.Query
}

func (c *capturing) Compile(ctx context.Context, q engine.Query) (engine.Program, error) {
	c.query = q
	return c.Executor.Compile(ctx, q)
}

// sparkQuery gives a query as the engine asks it for a session in Spark's dialect.
func sparkQuery(t *testing.T, executor engine.Executor) engine.Query {
	t.Helper()
	kept := &capturing{Executor: executor}
	e := emptyEngine(t, kept)
	in := session.New("spark", "somebody", session.State{Startup: session.NewConf(map[string]string{"skua.sql.dialect": "spark", "spark.sql.session.timeZone": "UTC"})}, fixtureClock)
	if _, err := firstValue(t.Context(), e, in, "SELECT a FROM (VALUES (1)) t(a) ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	return kept.query
}

// given is what Skua answers.
type given struct {
	schema [][2]string
	rows   [][]any
	err    error
}

func askedAsSpark(ctx context.Context, run engine.Executor, q engine.Query) (out given) {
	p, err := run.Compile(ctx, q)
	if err != nil {
		return given{err: err}
	}
	for _, f := range p.Schema().Fields() {
		out.schema = append(out.schema, [2]string{f.Name, recordedType(f.Type)})
	}
	r, err := p.Open(ctx)
	if err != nil {
		return given{err: err}
	}
	defer r.Release()
	for r.Next() {
		b := r.RecordBatch()
		for i := range int(b.NumRows()) {
			row := make([]any, b.NumCols())
			for c := range row {
				row[c] = recordedValue(b.Column(c).GetOneForMarshal(i), b.Column(c).DataType())
			}
			out.rows = append(out.rows, row)
		}
	}
	out.err = r.Err()
	return out
}

// differs tells how an answer differs from the recorded one; empty: it does not.
func (r recorded) differs(got given) string {
	var f *fault.Error
	switch {
	case r.Refused != "":
		if got.err == nil || !strings.Contains(got.err.Error(), r.Refused) {
			return "not refused with " + r.Refused + ": " + got.String()
		}
		return ""
	case r.Error != "":
		if !errors.As(got.err, &f) || f.Condition != r.Error || r.State != "" && f.SQLState != r.State {
			return "got  " + got.String() + "\n\twant " + r.Error + " " + r.State
		}
		return ""
	}
	want := given{schema: r.Schema}
	for _, row := range r.Rows {
		next := make([]any, len(row))
		for c := range row {
			next[c] = recordedValue(row[c], typeOfRecorded(r.Schema[c][1]))
		}
		want.rows = append(want.rows, next)
	}
	if !ordersRows(r.SQL) {
		got.sort()
		want.sort()
	}
	if got.err != nil || !slices.Equal(got.schema, want.schema) || !sameRows(got.rows, want.rows) {
		return "got  " + got.String() + "\n\twant " + want.String()
	}
	return ""
}

// ordersRows reports whether a statement says how its rows are ordered.
func ordersRows(sql string) bool {
	tokens, err := syntax.Tokens(sql)
	depth := 0
	for i, t := range tokens {
		switch {
		case t.Is("("):
			depth++
		case t.Is(")"):
			depth--
		case depth == 0 && (t.Is("ORDER") || t.Is("SORT")) && i+1 < len(tokens) && tokens[i+1].Is("BY"):
			return err == nil
		}
	}
	return false
}

func (g given) sort() {
	slices.SortStableFunc(g.rows, func(a, b []any) int { return strings.Compare(asJSON(a), asJSON(b)) })
}

func sameRows(a, b [][]any) bool {
	return slices.EqualFunc(a, b, func(a, b []any) bool { return sameRecorded(a, b) })
}

func (g given) String() string {
	var f *fault.Error
	switch {
	case errors.As(g.err, &f):
		return "[" + f.Condition + " " + f.SQLState + "] " + g.err.Error()
	case g.err != nil:
		return g.err.Error()
	}
	return asJSON(g.schema) + " " + asJSON(g.rows)
}

func asJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// table makes a table of the recorded rows.
func (r recorded) table(t *testing.T) *memoryTable {
	t.Helper()
	var fields []arrow.Field
	for _, column := range r.Schema {
		fields = append(fields, arrow.Field{Name: column[0], Type: typeOfRecorded(column[1])})
	}
	rows := []map[string]any{}
	for _, row := range r.Rows {
		next := map[string]any{}
		for i, column := range r.Schema {
			next[column[0]] = readableByArrow(row[i], fields[i].Type)
		}
		rows = append(rows, next)
	}
	return newTable(t, asJSON(rows), 4, fields...)
}
