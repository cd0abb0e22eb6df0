package inprocess

import (
	"bytes"
	"context"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// valueFaults are faults of single values, and of what metadata says of them.
var valueFaults = []planted{
	{layer: "scan", first: "reading", what: "a count from metadata is one too many", source: plans(func(p scan.Plan) scan.Plan { return miscounted{p} })},
	{layer: "scan", first: "command", what: "ids of rows are one too high", source: plans(func(p scan.Plan) scan.Plan { return renumbered{p} })},
	{layer: "scan", first: "deletes", what: "the position of a row in its file is one too high", source: plans(func(p scan.Plan) scan.Plan { return replaced{p, "_pos"} })},
	{layer: "manifests", first: "deletes", what: "deletes have the sequence number of the first commit", warehouse: sequences(false)},
	{layer: "manifests", first: "deletes", what: "data has the sequence number of the first commit", warehouse: sequences(true)},
	{layer: "metadata", first: "pyiceberg", what: "a name mapping is not seen", warehouse: metadataOf("pyiceberg/mapped", `schema\.name-mapping\.default`, "nothing")},
	{layer: "metadata", first: "evolve", what: "initial defaults are not seen", warehouse: metadataOf("evolve/defaults_v3", `"initial-default"`, `"no-default"`)},
	{layer: "metadata", first: "evolve", what: "the first schema is taken for the current one", warehouse: metadataOf("evolve/readd", `"current-schema-id":\d+`, `"current-schema-id":0`)},
	{layer: "decoder", first: "filter", what: "the last row that a filter keeps is lost", decode: func(d kernels.Decoder) kernels.Decoder { return lossy{d} }},
	{layer: "decoder", first: "types", what: "a decimal has another scale", decode: columns(each(scaled))},
	{layer: "decoder", first: "types", what: "texts come from the dictionary of another chunk", decode: columns(each(rotated))},
	{layer: "decoder", first: "types", what: "days before 1970 are one off", decode: columns(each(earlyDays))},
	{layer: "decoder", first: "types", what: "bytes of fixed length are in reverse", decode: columns(each(reversedBytes))},
	{layer: "decoder", first: "types", what: "a struct that is NULL is one of NULLs", decode: columns(each(filledStructs))},
	{layer: "decoder", first: "types", what: "the sign of zero is lost", decode: columns(each(unsignedZero))},
	{layer: "SQL", first: "sql", what: "nulls are sorted to the other end", client: asking(otherNulls)},
	{layer: "SQL", first: "sql", what: "descending is not seen", client: asking(replacing(" DESC", ""))},
	{layer: "SQL", first: "sql", what: "an offset is not seen", client: asking(withoutOffset)},
	{layer: "session", first: "session", what: "a session begins with what the last one set", client: inherited},
	{layer: "session", first: "override", what: "keys are taken in any case", client: asking(lowerKeys)},
}

// miscounted knows of a row more.
type miscounted struct{ scan.Plan }

func (m miscounted) Rows() (int64, bool) {
	n, known := m.Plan.Rows()
	return n + 1, known
}

// replaced adds one to a column of whole numbers.
type replaced struct {
	scan.Plan
	column string
}

func (r replaced) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	stream, err := r.Plan.Open(ctx, from, to)
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	var batches []arrow.RecordBatch
	for stream.Next() {
		b := stream.RecordBatch()
		columns := slices.Clone(b.Columns())
		for _, i := range b.Schema().FieldIndices(r.column) {
			if v, ok := columns[i].(*array.Int64); ok {
				columns[i] = rebuilt(array.NewInt64Builder(memory.DefaultAllocator), v.Len(), func(i int) (int64, bool) { return v.Value(i) + 1, v.IsValid(i) })
			}
		}
		batches = append(batches, array.NewRecordBatch(b.Schema(), columns, b.NumRows()))
	}
	if stream.Err() != nil {
		return nil, stream.Err()
	}
	return array.NewRecordReader(r.Schema(), batches)
}

// renumbered gives rows other ids.
type renumbered struct{ scan.Plan }

func (r renumbered) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	return replaced{r.Plan, "_row_id"}.Open(ctx, from, to)
}

// sequences writes the manifest lists of a table with deletes again: manifests of data, or of deletes, have the number 1.
func sequences(ofData bool) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		relist(t, dir, "eq_v2", func(files []iceberg.ManifestFile) []iceberg.ManifestFile {
			for i, f := range files {
				if (f.ManifestContent() == iceberg.ManifestContentData) == ofData {
					files[i] = iceberg.NewManifestFile(2, f.FilePath(), f.Length(), f.PartitionSpecID(), f.SnapshotID()).Content(f.ManifestContent()).SequenceNum(1, 1).
						AddedFiles(f.AddedDataFiles()).ExistingFiles(f.ExistingDataFiles()).DeletedFiles(f.DeletedDataFiles()).
						AddedRows(f.AddedRows()).ExistingRows(f.ExistingRows()).DeletedRows(f.DeletedRows()).Partitions(f.Partitions()).Build()
				}
			}
			return files
		})
	}
}

// metadataOf changes the text of a table's metadata.
func metadataOf(table, from, to string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(table), "metadata", "v*.metadata.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no metadata of %s: %v", table, err)
		}
		found := false
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			changed := regexp.MustCompile(from).ReplaceAll(data, []byte(to))
			found = found || !bytes.Equal(data, changed)
			if err := os.WriteFile(file, changed, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !found {
			t.Fatalf("the metadata of %s does not hold %s", table, from)
		}
	}
}

// lossy is a decoder whose filters keep a row too few.
type lossy struct{ kernels.Decoder }

type lossyReader struct{ kernels.Reader }

func (l lossy) Open(ctx context.Context, g *kernels.RowGroup) (kernels.Reader, error) {
	r, err := l.Decoder.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	return lossyReader{r}, nil
}

func (l lossyReader) Select(ctx context.Context, p predicate.Expr, s *kernels.Selection) (predicate.Expr, *kernels.Selection, error) {
	rest, kept, err := l.Reader.Select(ctx, p, s)
	if err == nil && kept.Count() > 1 && kept.Count() < s.Count() {
		kept = kept.Slice(0, kept.Count()-1)
	}
	return rest, kept, err
}

func scaled(a arrow.Array) arrow.Array {
	v, ok := a.(*array.Decimal128)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewDecimal128Builder(memory.DefaultAllocator, v.DataType().(*arrow.Decimal128Type)), v.Len(), func(i int) (decimal128.Num, bool) {
		n := v.Value(i).BigInt()
		return decimal128.FromBigInt(n.Quo(n, big.NewInt(10))), v.IsValid(i)
	})
}

func rotated(a arrow.Array) arrow.Array {
	v, ok := a.(*array.String)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewStringBuilder(memory.DefaultAllocator), v.Len(), func(i int) (string, bool) { return v.Value((i + 1) % v.Len()), v.IsValid(i) })
}

func earlyDays(a arrow.Array) arrow.Array {
	v, ok := a.(*array.Date32)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewDate32Builder(memory.DefaultAllocator), v.Len(), func(i int) (arrow.Date32, bool) {
		d := v.Value(i)
		if d < 0 {
			d++
		}
		return d, v.IsValid(i)
	})
}

func reversedBytes(a arrow.Array) arrow.Array {
	v, ok := a.(*array.FixedSizeBinary)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, v.DataType().(*arrow.FixedSizeBinaryType)), v.Len(), func(i int) ([]byte, bool) {
		b := slices.Clone(v.Value(i))
		slices.Reverse(b)
		return b, v.IsValid(i)
	})
}

func filledStructs(a arrow.Array) arrow.Array {
	v, ok := a.(*array.Struct)
	if !ok {
		return same(a)
	}
	data := array.NewData(v.DataType(), v.Len(), []*memory.Buffer{nil}, v.Data().Children(), 0, v.Data().Offset())
	defer data.Release()
	return array.NewStructData(data)
}

func unsignedZero(a arrow.Array) arrow.Array {
	v, ok := a.(*array.Float64)
	if !ok {
		return same(a)
	}
	return rebuilt(array.NewFloat64Builder(memory.DefaultAllocator), v.Len(), func(i int) (float64, bool) { return v.Value(i) + 0, v.IsValid(i) })
}

// replacing replaces text in questions.
func replacing(from, to string) func(conformance.Question) conformance.Question {
	return func(q conformance.Question) conformance.Question {
		q.SQL = strings.ReplaceAll(q.SQL, from, to)
		return q
	}
}

func otherNulls(q conformance.Question) conformance.Question {
	q.SQL = strings.NewReplacer("NULLS FIRST", "NULLS LAST", "NULLS LAST", "NULLS FIRST").Replace(q.SQL)
	return q
}

var anOffset = regexp.MustCompile(` OFFSET \d+`)

func withoutOffset(q conformance.Question) conformance.Question {
	q.SQL = anOffset.ReplaceAllString(q.SQL, "")
	return q
}

var aSetting = regexp.MustCompile(`^SET (spark\.rapids\.iceberg\.[^ =]+)`)

func lowerKeys(q conformance.Question) conformance.Question {
	q.SQL = aSetting.ReplaceAllStringFunc(q.SQL, strings.ToLower)
	return q
}

// inherited gives each session what earlier ones set.
func inherited(connect conformance.Connector) conformance.Connector {
	var settings []string
	return func(ctx context.Context) (conformance.Session, error) {
		s, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		for _, sql := range settings {
			if err := s.Effect(ctx, conformance.PathUpdate, sql); err != nil {
				return nil, err
			}
		}
		return changed{s, func(q conformance.Question) conformance.Question {
			if strings.HasPrefix(q.SQL, "SET ") && strings.Contains(q.SQL, "=") {
				settings = append(settings, q.SQL)
			}
			return q
		}}, nil
	}
}
