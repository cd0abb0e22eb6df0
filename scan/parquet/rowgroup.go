package parquet

import (
	"fmt"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
)

// Group is one row group of a file.
type Group struct {
	Ordinal        int
	FirstRow, Rows int64
	Pruned         string // why statistics rule it out; empty: read it
}

// RowGroups lists the row groups that start in [start, start+length) and have rows. A row group starts at its first column's first page, so
// that ranges which tile a file read each row group once. With a filter, Pruned tells where statistics prove that no row passes; matches
// says where a field is in the file, false where it takes its values from elsewhere (then nothing is proved of it). For a field inside
// structs, the match of the field itself or of its top-level column will do.
func (f *File) RowGroups(start, length int64, filter predicate.Expr, matches func(fieldID int) (Match, bool)) []Group {
	if filter != nil {
		filter = predicate.Simplify(filter)
	}
	var out []Group
	for i, at := range f.start {
		rows := f.metadata.RowGroups[i].NumRows
		if at < start || at-start >= length || rows == 0 {
			continue
		}
		g := Group{Ordinal: i, FirstRow: f.first[i], Rows: rows}
		if filter != nil {
			g.Pruned = f.prune(i, filter, matches)
		}
		out = append(out, g)
	}
	return out
}

// prune gives the part of a filter that no row of a row group can pass, in words.
func (f *File) prune(ordinal int, filter predicate.Expr, matches func(int) (Match, bool)) (reason string) {
	defer func() {
		if recover() != nil {
			reason = "" // statistics that cannot be read prove nothing
		}
	}()
	if failed := f.pruner(ordinal, matches).impossible(filter); failed != nil {
		return fmt.Sprintf("statistics: %s", failed)
	}
	return ""
}

// pruner knows what the footer and the Bloom filters say of a row group. A field's are looked at once.
func (f *File) pruner(ordinal int, matches func(int) (Match, bool)) pruner {
	known := map[int]bounds{}
	return pruner{bounds: func(field predicate.Field) (bounds, bool) {
		m, ok := matches(field.ID)
		if !ok || !m.Present {
			return bounds{}, false
		}
		n := m.Column.Node.Find(field.ID)
		if n == nil || n.Kind != kernels.Leaf || n.Rep > 0 {
			return bounds{}, false
		}
		if b, ok := known[field.ID]; ok {
			return b, true
		}
		b := f.bounds(ordinal, n, field)
		b.absent = f.absence(ordinal, n, field.Type)
		known[field.ID] = b
		return b, true
	}}
}
