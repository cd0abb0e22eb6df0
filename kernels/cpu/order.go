package cpu

import (
	"fmt"
	"slices"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
)

// test is a part of a filter that reads one set of fields, with what reading them costs.
type test struct {
	expr   predicate.Expr
	fields string // names the set
	cost   int64  // bytes to decode
	judge  *judge // nil: values are read
}

// order joins conjuncts that read the same fields and puts those first that cost least: what they drop is not read for the others.
func (f *filter) order(conjuncts []predicate.Expr) []test {
	var out []test
	for _, e := range conjuncts {
		t := test{expr: e}
		var ids []int
		for _, field := range predicate.Fields(e) {
			ids = append(ids, field.ID)
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		t.fields = fmt.Sprint(ids)
		for _, id := range ids {
			t.cost += f.cost(f.node(id))
		}
		if at := slices.IndexFunc(out, func(o test) bool { return o.fields == t.fields }); at >= 0 {
			out[at].expr = predicate.And{Left: out[at].expr, Right: e}
			continue
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b test) int { return int(min(max(a.cost-b.cost, -1), 1)) })
	return out
}

// cost is how many bytes the chunks below a node have when they are unpacked.
func (f *filter) cost(n *kernels.Node) int64 {
	if n.Kind == kernels.Missing {
		return 0
	}
	columns := f.reader.rg.Metadata.RowGroups[f.reader.rg.Ordinal].Columns
	return max(0, columns[n.Leaf].MetaData.TotalUncompressedSize)
}
