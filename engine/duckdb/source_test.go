//go:build cgo

package duckdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// memory table: batches in memory, filtered exactly, with a record of what was asked.
type memoryTable struct {
	schema  *arrow.Schema
	batches []arrow.RecordBatch
	fail    error // of reading

	mu       sync.Mutex
	requests []scan.Request // of scans that were opened
	open     int
	gave     int64 // rows
}

// newTable makes a table of JSON rows, cut into batches of a few rows.
func newTable(t testing.TB, rows string, perBatch int64, fields ...arrow.Field) *memoryTable {
	t.Helper()
	for i := range fields {
		fields[i].Metadata = arrow.NewMetadata([]string{scan.FieldIDKey}, []string{strconv.Itoa(i + 1)})
		fields[i].Nullable = true
	}
	m := &memoryTable{schema: arrow.NewSchema(fields, nil)}
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, m.schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < b.NumRows(); at += perBatch {
		m.add(b.NewSlice(at, min(at+perBatch, b.NumRows())))
	}
	return m
}

// add gives the table a batch, which statements may read side by side: Arrow counts a slice's nulls when it is first asked, and not for two at once.
func (m *memoryTable) add(b arrow.RecordBatch) {
	for _, c := range b.Columns() {
		countNulls(c)
	}
	m.batches = append(m.batches, b)
}

func countNulls(a arrow.Array) {
	a.NullN()
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			countNulls(a.Field(i))
		}
	case array.ListLike:
		countNulls(a.ListValues())
	}
}

func (m *memoryTable) Schema() *arrow.Schema          { return m.schema }
func (m *memoryTable) MetadataColumns() *arrow.Schema { return arrow.NewSchema(nil, nil) }

func (m *memoryTable) Plan(_ context.Context, r scan.Request) (scan.Plan, error) {
	var fields []arrow.Field
	for _, id := range r.Fields {
		fields = append(fields, m.schema.Field(id-1))
	}
	return &memoryPlan{table: m, request: r, schema: arrow.NewSchema(fields, nil)}, nil
}

type memoryPlan struct {
	table   *memoryTable
	request scan.Request
	schema  *arrow.Schema
}

func (p *memoryPlan) Schema() *arrow.Schema { return p.schema }
func (p *memoryPlan) Splits() int           { return 1 }
func (p *memoryPlan) Rows() (int64, bool)   { return 0, false }
func (p *memoryPlan) Explain() *scan.Explanation {
	e := &scan.Explanation{Source: "memory", Kind: "table"}
	for _, b := range p.table.batches {
		e.Splits = append(e.Splits, scan.SplitInfo{Tasks: []scan.TaskInfo{{Rows: b.NumRows()}}})
	}
	return e
}

// columns gives a batch's columns to a filter.
type columns struct{ arrow.RecordBatch }

func (c columns) Column(f predicate.Field) (arrow.Array, error) {
	return c.RecordBatch.Column(f.ID - 1), nil
}

func (p *memoryPlan) Open(ctx context.Context, _, _ int) (array.RecordReader, error) {
	p.table.mu.Lock()
	p.table.requests = append(p.table.requests, p.request)
	p.table.open++
	p.table.mu.Unlock()
	return &memoryReader{plan: p, ctx: ctx}, nil
}

type memoryReader struct {
	plan  *memoryPlan
	ctx   context.Context
	next  int
	batch arrow.RecordBatch
	err   error
}

func (r *memoryReader) Schema() *arrow.Schema          { return r.plan.schema }
func (r *memoryReader) RecordBatch() arrow.RecordBatch { return r.batch }
func (r *memoryReader) Record() arrow.RecordBatch      { return r.batch }
func (r *memoryReader) Err() error                     { return r.err }
func (r *memoryReader) Retain()                        {}
func (r *memoryReader) Release() {
	r.plan.table.mu.Lock()
	defer r.plan.table.mu.Unlock()
	r.plan.table.open--
}

func (r *memoryReader) Next() bool {
	if r.err = r.ctx.Err(); r.err != nil || r.next == len(r.plan.table.batches) {
		return false
	}
	b := r.plan.table.batches[r.next]
	r.next++
	if r.next == 2 && r.plan.table.fail != nil {
		r.err = r.plan.table.fail
		return false
	}
	filter := r.plan.request.Filter
	if best := r.plan.request.Best; best != nil {
		if bound, _ := best.Bound(); bound != nil {
			filter = both(filter, bound)
		}
	}
	if filter != nil {
		mask, err := predicate.Evaluate(filter, int(b.NumRows()), columns{b}, memory.DefaultAllocator)
		if err != nil {
			r.err = err
			return false
		}
		if b, err = compute.FilterRecordBatch(context.Background(), b, mask, compute.DefaultFilterOptions()); err != nil {
			r.err = err
			return false
		}
	}
	r.plan.table.mu.Lock()
	r.plan.table.gave += b.NumRows()
	r.plan.table.mu.Unlock()
	var out []arrow.Array
	for _, id := range r.plan.request.Fields {
		out = append(out, b.Column(id-1))
	}
	r.batch = array.NewRecordBatch(r.plan.schema, out, b.NumRows())
	return true
}

// fixtureClock is the time of its statements.
var fixtureClock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fixture is an executor with tables.
type fixture struct {
	t      testing.TB
	run    engine.Executor
	tables map[string]*memoryTable
	spark  bool
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	run, err := New(Config{Threads: 2, Memory: 512 << 20, Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, run: run, tables: map[string]*memoryTable{}}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		for name, m := range f.tables {
			if m.open != 0 {
				t.Errorf("%s: %d readers were not released", name, m.open)
			}
		}
	})
	var orders strings.Builder
	for i := range 5000 {
		if i > 0 {
			orders.WriteByte(',')
		}
		price := strconv.Itoa(i%100) + "." + fmt.Sprintf("%02d", i%90)
		status := []string{`"open"`, `"shipped"`, "null"}[i%3]
		fmt.Fprintf(&orders, `{"id":%d,"customer":%d,"price":"%s","status":%s,"day":"2024-%02d-%02d"}`, i, i%50, price, status, i%12+1, i%28+1)
	}
	f.tables["orders"] = newTable(t, "["+orders.String()+"]", 700, arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "customer", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "price", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}},
		arrow.Field{Name: "status", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "day", Type: arrow.FixedWidthTypes.Date32})
	f.tables["customers"] = newTable(t, `[{"id":1,"name":"Ann","tags":["a","b"],"at":{"city":"Oslo","zip":1}},{"id":2,"name":"Bob","tags":[],"at":{"city":"Rome","zip":2}},
		{"id":3,"name":null,"tags":null,"at":null},{"id":null,"name":"Zoe","tags":["c"],"at":{"city":null,"zip":4}}]`, 2,
		arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "name", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String)},
		arrow.Field{Name: "at", Type: arrow.StructOf(arrow.Field{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "zip", Type: arrow.PrimitiveTypes.Int32, Nullable: true})})
	return f
}

func (f *fixture) query(sql string, args arrow.RecordBatch) engine.Query {
	q := engine.Query{Text: sql, Zone: time.UTC, Clock: fixtureClock, Dialect: "ansi", Arguments: args,
		Constants: map[string]string{"current_user": "ann", "user": "ann", "version": "9"},
		Resolve: func(_ context.Context, ref syntax.TableRef) (engine.Table, error) {
			last := ref.Name[len(ref.Name)-1].Text
			m, ok := f.tables[strings.ToLower(last)]
			if !ok {
				return engine.Table{}, fault.New(fault.NotFound, "no table %s", last)
			}
			return engine.Table{Name: last, Parts: []string{"cat", "ns", "deep", last}, Source: m}, nil
		}}
	if f.spark {
		q.Dialect = "spark"
	}
	return q
}

// rows runs a statement and gives its rows as JSON, joined by spaces.
func (f *fixture) rows(ctx context.Context, sql string) (string, error) {
	p, err := f.run.Compile(ctx, f.query(sql, nil))
	if err != nil {
		return "", err
	}
	r, err := p.Open(ctx)
	if err != nil {
		return "", err
	}
	defer r.Release()
	var out []string
	for r.Next() {
		text, err := r.RecordBatch().MarshalJSON()
		if err != nil {
			return "", err
		}
		out = append(out, strings.TrimSpace(string(text)))
	}
	return strings.Join(out, " "), r.Err()
}
