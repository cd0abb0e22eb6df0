package kernels

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// fakeDecoder takes the columns that it names.
type fakeDecoder struct {
	name    string
	number  int32
	takes   string
	fail    error
	readers []*fakeReader
	closed  bool
}

func (f *fakeDecoder) Route(rg *RowGroup) []Route {
	out := make([]Route, len(rg.Columns))
	for i, c := range rg.Columns {
		out[i] = Route{Decoder: f.name, Taken: strings.Contains(f.takes, c.Field.Name), Reason: f.name + " says so"}
	}
	return out
}

func (f *fakeDecoder) Open(context.Context, *RowGroup) (Reader, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	r := &fakeReader{name: f.number, mem: memory.DefaultAllocator}
	f.readers = append(f.readers, r)
	return r, nil
}

func (f *fakeDecoder) Close() error { f.closed = true; return nil }

func TestPreferReadsEachColumnWithTheFirstThatTakesIt(t *testing.T) {
	first, second, idle := &fakeDecoder{name: "x", number: 1, takes: "b"}, &fakeDecoder{name: "y", number: 2, takes: "abc"}, &fakeDecoder{name: "z", number: 3, takes: "abc"}
	rg := &RowGroup{Name: "f.parquet"}
	for _, name := range []string{"a", "b", "c"} {
		rg.Columns = append(rg.Columns, Column{Field: arrow.Field{Name: name}})
	}
	d := Prefer(first, second, idle)
	if got := fmt.Sprint(d.Route(rg)); got != "[{y true y says so; not x: x says so false} {x true x says so false} {y true y says so; not x: x says so false}]" {
		t.Error(got)
	}
	r, err := d.Open(context.Background(), rg)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := r.Read(context.Background(), []int{0, 1, 2}, All(1), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int32{200, 101, 202} {
		if got := batch.Column(i).(*array.Int32).Value(0); got != want {
			t.Errorf("column %d holds %d, want %d", i, got, want)
		}
	}
	batch.Release()
	if err := errors.Join(r.Close(), d.Close()); err != nil || !first.readers[0].closed || !second.readers[0].closed || !idle.closed || len(idle.readers) > 0 {
		t.Errorf("closed %+v %+v %+v: %v", first, second, idle, err)
	}
	if _, err := Prefer(first).Open(context.Background(), rg); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "column a of f.parquet is not supported") {
		t.Errorf("%v", err)
	}
	second.fail = fault.New(fault.Corrupt, "broken")
	if _, err := Prefer(&fakeDecoder{name: "w", takes: "a"}, second).Open(context.Background(), rg); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%v", err)
	}
}
