// Package cpu decodes Parquet column chunks in plain Go, straight into final Arrow buffers: a page's values go from its bytes to the
// place where the batch has them, a dictionary is converted once and then gathered, and pages without wanted rows are never unpacked.
// Each encoding has a file of its own and a row in the table of encoding.go. It knows nothing of files' footers, tables or deletes, and
// leaves to others the columns for which it has no kernel: Route tells which.
package cpu

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
)

const (
	decoderName = "cpu"
	mostLevels  = 120 // definition and repetition levels fit a byte
)

// Decoder is the decoder in plain Go. It starts no goroutines. Between row groups it keeps scratch memory, which is bounded.
type Decoder struct {
	codecs codecs
	pool   pool
	near   int64 // bytes to read at least of a file that is near
}

var _ kernels.Decoder = (*Decoder)(nil)

// New makes a decoder.
func New() *Decoder { return &Decoder{near: nearRead} }

// Close gives the scratch memory back; all readers are closed before.
func (d *Decoder) Close() error {
	d.codecs.close()
	d.pool.drop()
	return nil
}

// Route takes the columns all of whose leaves have a codec, encodings and a conversion that are here.
func (d *Decoder) Route(rg *kernels.RowGroup) []kernels.Route {
	out := make([]kernels.Route, len(rg.Columns))
	for i := range out {
		out[i] = kernels.Route{Decoder: decoderName, Taken: true, Reason: "every encoding and type is known", Skips: true}
		if reason := refuse(rg, &rg.Columns[i].Node); reason != "" {
			out[i].Taken, out[i].Reason = false, reason
		}
	}
	return out
}

// refuse says why a node cannot be read here, or "".
func refuse(rg *kernels.RowGroup, n *kernels.Node) string {
	if rg.Ordinal < 0 || rg.Ordinal >= len(rg.Metadata.RowGroups) {
		return "no such row group"
	}
	if n.Kind == kernels.Missing {
		return ""
	}
	group := rg.Metadata.RowGroups[rg.Ordinal]
	if n.Leaf < 0 || n.Leaf >= len(group.Columns) || group.Columns[n.Leaf].MetaData == nil {
		return "no such column chunk"
	}
	chunk := group.Columns[n.Leaf].MetaData
	if reason := refuseLeaf(rg.Metadata.Schema.Column(n.Leaf), chunk.Codec, chunk.Encodings, n); reason != "" {
		return reason
	}
	for i := range n.Children {
		if reason := refuse(rg, &n.Children[i]); reason != "" {
			return reason
		}
	}
	return ""
}

// refuseLeaf looks at a column chunk. Levels' encodings are among its own and decide nothing.
func refuseLeaf[Codec, Encoding ~int32 | ~int64](c *schema.Column, codec Codec, encodings []Encoding, n *kernels.Node) string {
	switch {
	case c.MaxDefinitionLevel() > mostLevels || c.MaxRepetitionLevel() > mostLevels:
		return "too many levels"
	case codecOf(compress.Compression(codec)) == nil:
		return "codec " + compress.Compression(codec).String()
	case n.Kind != kernels.Leaf:
		return ""
	}
	v := conversionOf(c, n.Field.Type)
	if v == nil {
		return c.PhysicalType().String() + " as " + n.Field.Type.String()
	}
	for _, e := range encodings {
		id := parquet.Encoding(e)
		if isDictionary(id) || id == parquet.Encodings.RLE || id == parquet.Encodings.BitPacked {
			continue
		}
		if _, err := encodingOf(id, v.stored); err != nil {
			return "encoding " + id.String()
		}
	}
	return ""
}

// Open opens a row group; it reads nothing yet.
func (d *Decoder) Open(ctx context.Context, rg *kernels.RowGroup) (_ kernels.Reader, err error) {
	defer fault.Recover(&err, fault.Corrupt, "open row group %d of %s", rg.Ordinal, rg.Name)
	if rg.Ordinal < 0 || rg.Ordinal >= len(rg.Metadata.RowGroups) {
		return nil, fault.New(fault.Internal, "row group %d of the %d of %s", rg.Ordinal, len(rg.Metadata.RowGroups), rg.Name)
	}
	statement := resource.From(ctx)
	return &reader{decoder: d, rg: rg, mem: overwritten{statement.Allocator()}, over: statement.Err, scratch: &scratch{&d.pool, statement}, columns: make([]*column, len(rg.Columns))}, nil
}

// typeError says that a column is not for this decoder.
func typeError(physical parquet.Type, target arrow.DataType) error {
	return fault.New(fault.Unsupported, "reading %s as %s is not supported", physical, target)
}
