package scan

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
)

// TestScansOfOneTableAreTheirOwn reads a table at once by several filters and projections through one cache: none gives another's rows.
func TestScansOfOneTableAreTheirOwn(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"p","type":"long","required":false},{"id":2,"name":"v","type":"long","required":false}`)
	m.specs = []string{`{"name":"p","transform":"identity","source-id":1,"field-id":1000}`}
	fields := []arrow.Field{withID(1, "p", arrow.PrimitiveTypes.Int64), withID(2, "v", arrow.PrimitiveTypes.Int64)}
	for p := range 4 {
		m.commit(madeFile{fields: fields, rows: fmt.Sprintf(`[{"p": %d, "v": %d}]`, p, 10+p), partition: map[int]any{1000: int64(p)}})
	}
	source, err := m.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for i := range 32 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			p, want := i%4, []string{}
			request := Request{Fields: [][]int{{2}, {1}, {2, 1}, {1, 2}}[i/4%4], Limit: -1}
			if request.Filter = equals("p", 1, int64(p)); i >= 16 {
				request.Filter = predicate.Not{Expr: request.Filter}
			}
			for q := range 4 {
				if (q == p) == (i < 16) {
					values := map[int]string{1: fmt.Sprintf(`"%d"`, q), 2: fmt.Sprintf(`"%d"`, 10+q)}
					var row []string
					for _, id := range request.Fields {
						row = append(row, values[id])
					}
					want = append(want, "["+strings.Join(row, ",")+"]")
				}
			}
			batch, err := readAll(t.Context(), source, request)
			if err != nil {
				t.Error(err)
				return
			}
			defer batch.Release()
			got := rowsOf(batch)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%v by %v: %v, want %v", request.Fields, request.Filter, got, want)
			}
		}()
	}
	workers.Wait()
}

// TestAPlanKeepsItsSnapshot commits deletes and files between the plan of a scan and its reading.
func TestAPlanKeepsItsSnapshot(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"id","type":"long","required":false}`)
	fields := []arrow.Field{withID(1, "id", arrow.PrimitiveTypes.Int64)}
	m.commit(madeFile{fields: fields, rows: `[{"id": 1}, {"id": 2}]`})
	before, err := m.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := before.Plan(t.Context(), Request{Fields: []int{1}, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	m.manifests = slices.Clone(m.manifests)
	m.commit(madeFile{fields: fields, rows: `[{"id": 1}]`, keys: []int{1}}, madeFile{fields: fields, rows: `[{"id": 3}]`})
	m.want("id", `["2"]`, `["3"]`)
	reader, err := plan.Open(t.Context(), 0, plan.Splits())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Release()
	var rows []string
	for reader.Next() {
		rows = append(rows, rowsOf(reader.RecordBatch())...)
	}
	slices.Sort(rows)
	if reader.Err() != nil || strings.Join(rows, " ") != `["1"] ["2"]` {
		t.Errorf("%v, %v", rows, reader.Err())
	}
}
