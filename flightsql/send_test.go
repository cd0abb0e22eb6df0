package flightsql

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// messages gives the sizes of a stream's record batches.
func (c *client) messages(ticket *flight.Ticket) (sizes []int) {
	c.t.Helper()
	stream, err := c.Client.Client.DoGet(c.ctx, ticket)
	check(c.t, err)
	for {
		d, err := stream.Recv()
		if err == io.EOF {
			return sizes
		}
		check(c.t, err)
		sizes = append(sizes, len(d.DataBody))
	}
}

func TestBatchesAreCutToMessagesThatClientsTake(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	for _, sql := range []string{"WIDE 10 1000000", "WIDE 10000 1000", "WIDE 500000 10"} {
		info, err := c.Execute(c.ctx, sql)
		check(t, err)
		sizes := c.messages(info.Endpoint[0].Ticket)
		if len(sizes) < 4 {
			t.Errorf("%s: %d messages", sql, len(sizes))
		}
		for _, n := range sizes {
			if n > batchBytes+4096 {
				t.Errorf("%s: a message of %d bytes", sql, n)
			}
		}
	}
	info, err := c.Execute(c.ctx, "WIDE 3 3000000")
	check(t, err)
	if sizes := c.messages(info.Endpoint[0].Ticket); len(sizes) != 4 { // the schema, and a row each
		t.Errorf("messages %v", sizes)
	}
}

// TestARowThatTheClientDoesNotTakeIsRefusedByName: ADBC takes messages of 16 MiB, unless it says that it takes more; others take any.
func TestARowThatTheClientDoesNotTakeIsRefusedByName(t *testing.T) {
	w := start(t, nil)
	const adbc, large = "ADBC Flight SQL Driver v1.13.0", "WIDE 2 20000000"
	for _, c := range []struct {
		agent, setting, sql, fails string
	}{
		{adbc, "", "WIDE 2 15000000", ""},
		{adbc, "", large, `20000004 of them in column "v", and the client takes messages of 16777216`},
		{adbc, "64m", large, ""},
		{adbc, "18m", large, "takes messages of 18874368"},
		{"grpc-java-netty/1.71.0", "", large, ""},
		{"grpc-java-netty/1.71.0", "18m", large, messageOption},
	} {
		u := w.withAgent(c.agent)
		if c.setting != "" {
			u.query("SET " + messageOption + "=" + c.setting)
		}
		info, err := u.Execute(u.ctx, c.sql)
		check(t, err)
		n := 0
		stream, err := u.Client.Client.DoGet(u.ctx, info.Endpoint[0].Ticket, grpc.MaxCallRecvMsgSize(64<<20))
		check(t, err)
		for err == nil {
			if _, err = stream.Recv(); err == nil {
				n++
			}
		}
		switch {
		case c.fails != "":
			wantCode(t, err, codes.ResourceExhausted, c.fails)
		case err != io.EOF || n != 3: // the schema, and a row each
			t.Errorf("%s, %s, %s: %d messages, %v", c.agent, c.setting, c.sql, n, err)
		}
	}
	w.connect().query("SELECT 1")
}

func TestASlowClientSlowsTheReaderAndOneThatLeavesStopsIt(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	info, err := c.Execute(c.ctx, "ENDLESS")
	check(t, err)
	ctx, leave := context.WithCancel(c.ctx)
	stream, err := c.Client.Client.DoGet(ctx, info.Endpoint[0].Ticket)
	check(t, err)
	_, err = stream.Recv()
	check(t, err)
	steady := int64(-1)
	for n := w.engine.batches.Load(); n != steady; n = w.engine.batches.Load() {
		steady = n
		time.Sleep(100 * time.Millisecond)
	}
	if steady > 16 { // 256 KiB each; the rest is in the transport's windows
		t.Errorf("%d batches were read for a client that takes none", steady)
	}
	leave()
	deadline := time.Now().Add(5 * time.Second)
	for w.server.running.open() > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if w.server.running.open() != 0 || w.engine.closedReaders.Load() != 1 {
		t.Error("the reader goes on after the client left")
	}
}

func TestAPanicCostsItsCallAndNothingElse(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	_, err := c.Execute(c.ctx, "PANIC")
	wantCode(t, err, codes.Internal, "internal error")
	if strings.Contains(err.Error(), "boom") {
		t.Error("the panic's text went out")
	}
	info, err := c.Execute(c.ctx, "PANIC LATE")
	check(t, err)
	_, err = c.read(info.Endpoint[0].Ticket, info.Schema)
	wantCode(t, err, codes.Internal, "internal error")
	_, err = c.Prepare(c.ctx, "PANIC")
	wantCode(t, err, codes.Internal, "internal error")
	c.query("SELECT 1")
}

func TestAnEmptyResultHasItsSchema(t *testing.T) {
	c := start(t, nil).connect()
	rows, info := c.query("ROWS 0 0")
	if len(rows) != 0 || len(info.Endpoint) != 1 || info.TotalRecords != 0 {
		t.Errorf("%d rows, %v", len(rows), info)
	}
}

func TestSizesOfSlicesAreThoseOfTheirRows(t *testing.T) {
	mem := memory.DefaultAllocator
	item := arrow.StructOf(arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64})
	schema := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOf(item)}, {Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)},
		{Name: "f", Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int16)}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean}}, nil)
	b := array.NewRecordBuilder(mem, schema)
	for i := range 100 {
		l := b.Field(0).(*array.ListBuilder)
		l.Append(true)
		s := l.ValueBuilder().(*array.StructBuilder)
		for range i {
			s.Append(true)
			s.FieldBuilder(0).(*array.StringBuilder).Append(strings.Repeat("y", i))
			s.FieldBuilder(1).(*array.Int64Builder).Append(1)
		}
		m := b.Field(1).(*array.MapBuilder)
		m.Append(true)
		m.KeyBuilder().(*array.StringBuilder).Append("key")
		m.ItemBuilder().(*array.Int32Builder).Append(1)
		f := b.Field(2).(*array.FixedSizeListBuilder)
		f.Append(true)
		f.ValueBuilder().(*array.Int16Builder).AppendValues([]int16{1, 2, 3}, nil)
		b.Field(3).(*array.BooleanBuilder).Append(true)
	}
	whole := b.NewRecordBatch()
	row := func(i int64) int64 { // list offset, i structs; map offset, key and value; three int16; a bit
		return 4 + i*(4+i+8) + 4 + 4 + 3 + 4 + 6 + 1
	}
	for _, offset := range []int64{0, 7} {
		part := whole.NewSlice(offset, 100)
		for _, i := range []int64{0, 1, 50, 92} {
			if got := batchSize(part, i, i+1); got != row(i+offset) {
				t.Errorf("row %d at offset %d: %d bytes, want %d", i, offset, got, row(i+offset))
			}
		}
		sum, last := int64(0), int64(-1)
		for from := int64(0); from < part.NumRows(); from += sum {
			sum = rowsWithin(part, from, 20_000)
			if sum < 1 || from <= last {
				t.Fatalf("no progress at row %d", from)
			}
			last = from
			if size := batchSize(part, from, from+sum); sum > 1 && size > 20_000 {
				t.Errorf("rows %d to %d have %d bytes", from, from+sum, size)
			}
		}
	}
}

func TestTypesThatDriversMisreadAreRefused(t *testing.T) {
	for _, typ := range []arrow.DataType{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
		arrow.BinaryTypes.StringView, arrow.ListOf(arrow.BinaryTypes.BinaryView), arrow.StructOf(arrow.Field{Name: "h", Type: arrow.FixedWidthTypes.Float16})} {
		if _, err := wireSchema(arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ}}, nil)); err == nil || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%s: %v", typ, err)
		}
	}
	if _, err := wireSchema(arrow.NewSchema(nil, nil)); err == nil {
		t.Error("a result without columns passes")
	}
}
