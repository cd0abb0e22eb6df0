package inprocess

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/hadoop"
	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/server"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// planted is a fault that is laid over one layer of a server, or between it and its client. Nothing of it is in the server's own code.
type planted struct {
	layer, what string
	first       string // the script to run first; empty: in the order of names
	decode      func(kernels.Decoder) kernels.Decoder
	source      func(scan.Source) scan.Source
	catalog     func(catalogs.Catalog) catalogs.Catalog
	warehouse   func(t *testing.T, dir string)                    // spoils a copy of it
	client      func(conformance.Connector) conformance.Connector // between the runner and its client
	dial        []grpc.DialOption                                 // on the wire
}

var faults = []planted{
	{layer: "scan", first: "option", what: "the last split of a scan is dropped", source: plans(func(p scan.Plan) scan.Plan { return droppedSplit{p} })},
	{layer: "scan", first: "option", what: "the row at a split's end comes twice", source: plans(func(p scan.Plan) scan.Plan { return twiceAtBorder{p} })},
	{layer: "scan", first: "filter", what: "a filter is forgotten", source: requests(func(r *scan.Request) { r.Filter = nil })},
	{layer: "scan", first: "filter", what: "a filter keeps rows for which it is NULL", source: requests(keepNulls)},
	{layer: "scan", first: "filter", what: "the limit is applied before the filter", client: limitFirst},
	{layer: "scan", what: "a read option of the statement is lost", source: requests(withoutScope("explicit"))},
	{layer: "overrides", first: "override", what: "a key of the table's scope is not seen, so that the property wins", source: requests(withoutScope("table"))},
	{layer: "overrides", first: "override", what: "a key of the global scope wins over the table's", client: asking(swapScopes)},
	{layer: "manifests", first: "deletes", what: "delete manifests are left out, so that deleted rows come back", warehouse: withoutDeletes},
	{layer: "decoder", what: "deleted positions are ignored", decode: func(d kernels.Decoder) kernels.Decoder { return deaf{d} }},
	{layer: "decoder", first: "types", what: "two columns of one type are swapped", decode: columns(swapColumns)},
	{layer: "decoder", first: "types", what: "texts are cut", decode: columns(each(cutText))},
	{layer: "decoder", what: "NULL becomes a value", decode: columns(each(fillNulls))},
	{layer: "decoder", what: "long values wrap to 32 bits", decode: columns(each(wrapLongs))},
	{layer: "decoder", first: "types", what: "timestamps with a zone are an hour off", decode: columns(each(shiftZoned))},
	{layer: "decoder", first: "types", what: "NaN becomes NULL", decode: columns(each(dropNaN))},
	{layer: "catalog", first: "reading", what: "metadata is one commit old", catalog: func(c catalogs.Catalog) catalogs.Catalog { return stale{c} }},
	{layer: "catalog", what: "the last table of a namespace is not listed", catalog: func(c catalogs.Catalog) catalogs.Catalog { return forgetful{c} }},
	{layer: "session", first: "session", what: "sessions leak: every client has the same", client: shared},
	{layer: "session", first: "session", what: "what a client sets is forgotten at once", client: amnesia},
	{layer: "wire", what: "the last endpoint is not told", dial: []grpc.DialOption{grpc.WithUnaryInterceptor(fewerEndpoints)}},
	{layer: "wire", what: "errors lose their codes", dial: []grpc.DialOption{grpc.WithChainUnaryInterceptor(codeless), grpc.WithChainStreamInterceptor(codelessStream)}},
	{layer: "wire", what: "bound values come in reverse order", client: reversedValues},
}

// mostCaught is after how many catching cases a fault needs no more.
const mostCaught = 3

// everyFault is how many faults are planted on most days: one of so many.
const everyFault = 6

// TestPlantedFaultsAreCaught plants each fault and runs the scripts until some cases have caught it; unless the whole matrix is wanted, one fault of
// every six. The table of faults and of the cases that catch them is part of docs/conformance.md; -update writes it.
func TestPlantedFaultsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server for each fault")
	}
	scripts, err := conformance.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("| layer | fault | caught by |\n| --- | --- | --- |\n")
	whole := full() || *update
	if whole {
		if failing := (planted{}).run(t, scripts); len(failing) > 0 {
			t.Fatalf("without any fault these fail: %v", failing)
		}
	}
	for i, f := range slices.Concat(faults, valueFaults) {
		if !whole && i%everyFault != 0 {
			continue
		}
		caught := f.run(t, scripts)
		if len(caught) == 0 {
			t.Errorf("%s: %s: no case catches it", f.layer, f.what)
		}
		fmt.Fprintf(&text, "| %s | %s | `%s` |\n", f.layer, f.what, strings.Join(caught, "`, `"))
	}
	if whole {
		tableInPage(t, "../../docs/conformance.md", "faults", text.String())
	}
}

// run gives the first cases that fail with the fault in place.
func (f planted) run(t *testing.T, scripts []*conformance.Script) (caught []string) {
	t.Helper()
	settings := lake(t)
	if f.warehouse != nil {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(warehouse)); err != nil {
			t.Fatal(err)
		}
		f.warehouse(t, dir)
		settings["skua.location-map.short.to"], settings["skua.location-map.long.to"] = dir, dir
	}
	began := time.Now()
	r := startWith(t, Config{Settings: settings, Now: func() time.Time { return fixtureTime.Add(time.Since(began)) },
		Parts: server.Parts{Open: f.opener(), Decoder: f.decode, Source: f.source}})
	target := r.Target()
	target.Options = f.dial
	connect := target.Sessions()
	if f.client != nil {
		connect = f.client(connect)
	}
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	scripts = slices.Clone(scripts)
	slices.SortStableFunc(scripts, func(a, b *conformance.Script) int { return strings.Compare(f.rank(a), f.rank(b)) })
	for _, s := range scripts {
		if len(caught) >= mostCaught {
			break
		}
		for i := range s.Cases {
			one := &conformance.Script{Name: s.Name, All: s.All, Cases: s.Cases[i : i+1]}
			for _, o := range conformance.Run(ctx, conformance.Config{Connect: connect, StepTimeout: 3 * time.Minute, CaseTimeout: 5 * time.Minute}, one) {
				if o.Status == conformance.Failed && len(caught) < mostCaught {
					caught = append(caught, o.ID())
				}
			}
			if len(caught) >= mostCaught {
				break
			}
		}
	}
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	return caught
}

// rank puts the script that the fault names first.
func (f planted) rank(s *conformance.Script) string {
	if strings.TrimSuffix(s.Name, ".test") == f.first {
		return ""
	}
	return s.Name
}

// opener opens catalogs in this process, with the fault laid over them.
func (f planted) opener() catalogs.Opener {
	return func(ctx context.Context, d catalogs.Definition, locations storage.Map) (catalogs.Catalog, error) {
		c, err := hadoop.New([]storage.Kind{local.Kind})(ctx, catalogs.Config{Name: d.Name, Properties: d.Properties, Locations: locations})
		if err != nil || f.catalog == nil {
			return c, err
		}
		return f.catalog(c), nil
	}
}

// overlaid is a source with something laid over its requests and plans.
type overlaid struct {
	scan.Source
	request func(*scan.Request)
	plan    func(scan.Plan) scan.Plan
}

func (o overlaid) Plan(ctx context.Context, r scan.Request) (scan.Plan, error) {
	if o.request != nil {
		o.request(&r)
	}
	p, err := o.Source.Plan(ctx, r)
	if err != nil || o.plan == nil {
		return p, err
	}
	return o.plan(p), nil
}

func requests(change func(*scan.Request)) func(scan.Source) scan.Source {
	return func(s scan.Source) scan.Source { return overlaid{Source: s, request: change} }
}

func plans(change func(scan.Plan) scan.Plan) func(scan.Source) scan.Source {
	return func(s scan.Source) scan.Source { return overlaid{Source: s, plan: change} }
}

type droppedSplit struct{ scan.Plan }

func (d droppedSplit) Rows() (int64, bool) { return 0, false }

func (d droppedSplit) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	if last := d.Splits() - 1; last > 0 {
		from, to = min(from, last), min(to, last)
	}
	return d.Plan.Open(ctx, from, to)
}

type twiceAtBorder struct{ scan.Plan }

func (d twiceAtBorder) Rows() (int64, bool) { return 0, false }

func (d twiceAtBorder) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	r, err := d.Plan.Open(ctx, from, to)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var batches []arrow.RecordBatch
	for r.Next() {
		b := r.RecordBatch()
		b.Retain()
		batches = append(batches, b)
	}
	if n := len(batches); n > 0 && batches[n-1].NumRows() > 0 {
		batches = append(batches, batches[n-1].NewSlice(batches[n-1].NumRows()-1, batches[n-1].NumRows()))
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	return array.NewRecordReader(d.Schema(), batches)
}

func keepNulls(r *scan.Request) {
	if r.Filter == nil {
		return
	}
	conjuncts := predicate.Conjuncts(r.Filter)
	for i, c := range conjuncts {
		if f, ok := c.(predicate.Comparison); ok {
			conjuncts[i] = predicate.Or{Left: c, Right: predicate.IsNull{Field: f.Field}}
		}
	}
	r.Filter = predicate.Join(conjuncts)
}

func withoutScope(scope string) func(*scan.Request) {
	return func(r *scan.Request) {
		r.Options = slices.DeleteFunc(slices.Clone(r.Options), func(o scan.Option) bool { return o.Scope == scope })
	}
}

// withoutDeletes writes the manifest lists of the tables with deletes again, data manifests only.
func withoutDeletes(t *testing.T, dir string) {
	t.Helper()
	relist(t, dir, "*_v2", func(files []iceberg.ManifestFile) []iceberg.ManifestFile {
		return slices.DeleteFunc(files, func(f iceberg.ManifestFile) bool { return f.ManifestContent() != iceberg.ManifestContentData })
	})
}

// relist writes the manifest lists of some tables with deletes again.
func relist(t *testing.T, dir, tables string, change func([]iceberg.ManifestFile) []iceberg.ManifestFile) {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join(dir, "deletes", tables, "metadata", "snap-*.avro"))
	if err != nil || len(lists) == 0 {
		t.Fatalf("no manifest lists: %v", err)
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		files, err := iceberg.ReadManifestList(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		id, err := strconv.ParseInt(strings.Split(filepath.Base(list), "-")[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sequence := int64(100)
		var out bytes.Buffer
		if err := iceberg.WriteManifestList(2, &out, id, nil, &sequence, 0, change(files)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(list, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// spoiled is a decoder whose batches are changed.
type spoiled struct {
	kernels.Decoder
	change func(arrow.RecordBatch) arrow.RecordBatch
}

type spoiledReader struct {
	kernels.Reader
	change func(arrow.RecordBatch) arrow.RecordBatch
}

func columns(change func(arrow.RecordBatch) arrow.RecordBatch) func(kernels.Decoder) kernels.Decoder {
	return func(d kernels.Decoder) kernels.Decoder {
		return spoiled{d, change}
	}
}

func (s spoiled) Open(ctx context.Context, g *kernels.RowGroup) (kernels.Reader, error) {
	r, err := s.Decoder.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	return spoiledReader{r, s.change}, nil
}

func (s spoiledReader) Read(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) (arrow.RecordBatch, error) {
	b, err := s.Reader.Read(ctx, columns, sel, from, n)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	return s.change(b), nil
}

func swapColumns(b arrow.RecordBatch) arrow.RecordBatch {
	columns := slices.Clone(b.Columns())
	for i := range columns {
		for j := i + 1; j < len(columns); j++ {
			if arrow.TypeEqual(columns[i].DataType(), columns[j].DataType()) {
				columns[i], columns[j] = columns[j], columns[i]
				return array.NewRecordBatch(b.Schema(), columns, b.NumRows())
			}
		}
	}
	b.Retain()
	return b
}

// each changes the columns one by one.
func each(change func(arrow.Array) arrow.Array) func(arrow.RecordBatch) arrow.RecordBatch {
	return func(b arrow.RecordBatch) arrow.RecordBatch {
		columns := make([]arrow.Array, b.NumCols())
		for i, c := range b.Columns() {
			columns[i] = change(c)
			defer columns[i].Release()
		}
		return array.NewRecordBatch(b.Schema(), columns, b.NumRows())
	}
}

// rebuilt makes an array of the same type, value by value; change gives null where there is none.
func rebuilt[V any, B interface {
	Append(V)
	AppendNull()
	NewArray() arrow.Array
	Release()
}](b B, n int, value func(i int) (V, bool)) arrow.Array {
	defer b.Release()
	for i := range n {
		if v, ok := value(i); ok {
			b.Append(v)
			continue
		}
		b.AppendNull()
	}
	return b.NewArray()
}

func same(a arrow.Array) arrow.Array {
	a.Retain()
	return a
}

func cutText(a arrow.Array) arrow.Array {
	s, ok := a.(*array.String)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewStringBuilder(memory.DefaultAllocator), s.Len(), func(i int) (string, bool) {
		runes := []rune(s.Value(i))
		return string(runes[:min(len(runes), 3)]), s.IsValid(i)
	})
}

func fillNulls(a arrow.Array) arrow.Array {
	switch v := a.(type) {
	case *array.Int32:
		return rebuilt(array.NewInt32Builder(memory.DefaultAllocator), v.Len(), func(i int) (int32, bool) { return v.Value(i), true })
	case *array.String:
		return rebuilt(array.NewStringBuilder(memory.DefaultAllocator), v.Len(), func(i int) (string, bool) { return v.Value(i), true })
	}
	return same(a)
}

func wrapLongs(a arrow.Array) arrow.Array {
	v, ok := a.(*array.Int64)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewInt64Builder(memory.DefaultAllocator), v.Len(), func(i int) (int64, bool) { return int64(int32(v.Value(i))), v.IsValid(i) })
}

func shiftZoned(a arrow.Array) arrow.Array {
	v, ok := a.(*array.Timestamp)
	if !ok || v.DataType().(*arrow.TimestampType).TimeZone == "" {
		return same(a)
	}
	return rebuilt(array.NewTimestampBuilder(memory.DefaultAllocator, v.DataType().(*arrow.TimestampType)), v.Len(), func(i int) (arrow.Timestamp, bool) {
		return v.Value(i) + 3600e6, v.IsValid(i)
	})
}

func dropNaN(a arrow.Array) arrow.Array {
	v, ok := a.(*array.Float64)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewFloat64Builder(memory.DefaultAllocator), v.Len(), func(i int) (float64, bool) { return v.Value(i), v.IsValid(i) && v.Value(i) == v.Value(i) })
}

// deaf is a decoder that reads on where rows are left out.
type deaf struct{ kernels.Decoder }

type deafReader struct {
	kernels.Reader
	rows int64
	told bool // Select was asked: what it left out was left out by a filter
}

func (d deaf) Open(ctx context.Context, g *kernels.RowGroup) (kernels.Reader, error) {
	r, err := d.Decoder.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	return &deafReader{Reader: r, rows: g.Rows}, nil
}

func (d *deafReader) Select(ctx context.Context, p predicate.Expr, _ *kernels.Selection) (predicate.Expr, *kernels.Selection, error) {
	d.told = true
	return d.Reader.Select(ctx, p, kernels.All(d.rows))
}

func (d *deafReader) Read(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) (arrow.RecordBatch, error) {
	if !d.told {
		sel = kernels.All(d.rows).Slice(0, sel.Count())
	}
	return d.Reader.Read(ctx, columns, sel, from, n)
}

// stale is a catalog that gives the metadata before the current one.
type stale struct{ catalogs.Catalog }

var version = regexp.MustCompile(`/v(\d+)(\.[a-z.]*metadata\.json.*)$`)

func (s stale) Load(ctx context.Context, r catalogs.LoadRequest) (*catalogs.Table, error) {
	r.Held = ""
	loaded, err := s.Catalog.Load(ctx, r)
	if err != nil {
		return nil, err
	}
	m := version.FindStringSubmatch(loaded.MetadataLocation)
	if n := 0; m != nil {
		if n, _ = strconv.Atoi(m[1]); n > 2 {
			loaded.MetadataLocation = version.ReplaceAllString(loaded.MetadataLocation, fmt.Sprintf("/v%d$2", n-1))
			loaded.Metadata = nil
		}
	}
	return loaded, nil
}

// forgetful is a catalog that lists all tables but the last.
type forgetful struct{ catalogs.Catalog }

func (f forgetful) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		var all []catalogs.Entry
		for e, err := range f.Catalog.Tables(ctx, ns) {
			if err != nil {
				yield(e, err)
				return
			}
			all = append(all, e)
		}
		for _, e := range all[:max(len(all)-1, 0)] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// changed is a session whose questions are changed.
type changed struct {
	conformance.Session
	question func(conformance.Question) conformance.Question
}

func (c changed) Ask(ctx context.Context, q conformance.Question) (*conformance.Answer, error) {
	return c.Session.Ask(ctx, c.question(q))
}

func (c changed) Effect(ctx context.Context, path conformance.Path, sql string) error {
	return c.Session.Effect(ctx, path, c.question(conformance.Question{SQL: sql}).SQL)
}

func asking(change func(conformance.Question) conformance.Question) func(conformance.Connector) conformance.Connector {
	return func(connect conformance.Connector) conformance.Connector {
		return func(ctx context.Context) (conformance.Session, error) {
			s, err := connect(ctx)
			if err != nil {
				return nil, err
			}
			return changed{s, change}, nil
		}
	}
}

var anyScope = regexp.MustCompile(`(global-setting|table-setting\.lake\.deletes\.pos_v2)\.read`)

// swapScopes sets for the one scope what is meant for the other.
func swapScopes(q conformance.Question) conformance.Question {
	if !strings.HasPrefix(q.SQL, "SET ") {
		return q
	}
	q.SQL = anyScope.ReplaceAllStringFunc(q.SQL, func(found string) string {
		if strings.HasPrefix(found, "global") {
			return "table-setting.lake.deletes.pos_v2.read"
		}
		return "global-setting.read"
	})
	return q
}

var limited = regexp.MustCompile(`(?s)^(SELECT .*) FROM (lake\.\S+) WHERE (.*) LIMIT (\d+)( OFFSET \d+)?$`)

// limitFirst limits the table, then filters.
func limitFirst(connect conformance.Connector) conformance.Connector {
	return asking(func(q conformance.Question) conformance.Question {
		q.SQL = limited.ReplaceAllString(q.SQL, "$1 FROM (SELECT * FROM $2 LIMIT $4) x WHERE $3 LIMIT $4$5")
		return q
	})(connect)
}

func reversedValues(connect conformance.Connector) conformance.Connector {
	return asking(func(q conformance.Question) conformance.Question {
		if q.Arguments == nil {
			return q
		}
		columns := slices.Clone(q.Arguments.Columns())
		fields := slices.Clone(q.Arguments.Schema().Fields())
		slices.Reverse(columns)
		slices.Reverse(fields)
		q.Arguments = array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, q.Arguments.NumRows())
		return q
	})(connect)
}

// kept is a session that outlives its case.
type kept struct{ conformance.Session }

func (kept) Close() error { return nil }

// shared gives everybody the same session, as a proxy does that pools connections.
func shared(connect conformance.Connector) conformance.Connector {
	var one conformance.Session
	return func(ctx context.Context) (conformance.Session, error) {
		if one == nil {
			s, err := connect(context.WithoutCancel(ctx))
			if err != nil {
				return nil, err
			}
			one = s
		}
		return kept{one}, nil
	}
}

// fresh asks each question on a connection of its own.
type fresh struct{ connect conformance.Connector }

func amnesia(connect conformance.Connector) conformance.Connector {
	return func(context.Context) (conformance.Session, error) { return fresh{connect}, nil }
}

func (f fresh) Ask(ctx context.Context, q conformance.Question) (*conformance.Answer, error) {
	s, err := f.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Ask(ctx, q)
}

func (f fresh) Effect(ctx context.Context, path conformance.Path, sql string) error {
	s, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Effect(ctx, path, sql)
}

func (f fresh) Call(ctx context.Context, name string, args []string) (*conformance.Answer, error) {
	s, err := f.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Call(ctx, name, args)
}

func (f fresh) Close() error { return nil }

func fewerEndpoints(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	if info, ok := reply.(*flight.FlightInfo); ok && err == nil && len(info.Endpoint) > 1 {
		info.Endpoint = info.Endpoint[:len(info.Endpoint)-1]
	}
	return err
}

func withoutCode(err error) error {
	if s, ok := status.FromError(err); ok && s.Code() != codes.OK {
		return status.Error(codes.Unknown, s.Message())
	}
	return err
}

func codeless(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return withoutCode(invoke(ctx, method, req, reply, cc, opts...))
}

type codelessCall struct{ grpc.ClientStream }

func (c codelessCall) RecvMsg(m any) error { return withoutCode(c.ClientStream.RecvMsg(m)) }

func codelessStream(ctx context.Context, d *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, d, cc, method, opts...)
	if err != nil {
		return nil, withoutCode(err)
	}
	return codelessCall{s}, nil
}

// tableInPage compares what stands between the marks of a page with a text; -update writes it.
func tableInPage(t *testing.T, file, name, text string) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": written by a test -->\n", "<!-- end of "+name+" -->"
	head, rest, ok := strings.Cut(string(page), begin)
	old, foot, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no marks for %s", file, name)
	}
	if *update {
		if err := os.WriteFile(file, []byte(head+begin+text+end+foot), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != text {
		t.Errorf("%s does not tell what came; -update writes it%s", file, firstDifference([]byte(old), []byte(text)))
	}
}

// TestFixturesHaveTheirManifest: every table is told of, none needs a folder of this machine, and all of them stay small.
func TestFixturesHaveTheirManifest(t *testing.T) {
	told, err := os.ReadFile("../testdata/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range references(t) {
		if name := strings.Join(r.name, "."); !strings.Contains(string(told), "| "+name+" |") {
			t.Errorf("testdata/README.md does not tell of %s", name)
		}
	}
	var size int64
	err = filepath.Walk("../testdata", func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		size += info.Size()
		if !strings.HasSuffix(path, ".metadata.json") || strings.HasSuffix(path, ".gz.metadata.json") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, location := range regexp.MustCompile(`"(?:location|manifest-list|metadata-file)"\s*:\s*"([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(location[1], "file:/skua-oracle/warehouse/") && !strings.HasPrefix(location[1], "file:///skua-oracle/warehouse/") {
				t.Errorf("%s names %s, which is not relocatable", path, location[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size > 20<<20 {
		t.Errorf("the fixtures have %d bytes", size)
	}
}
