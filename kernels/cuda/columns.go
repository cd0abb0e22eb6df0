package cuda

import (
	"math"
	"slices"

	"github.com/skua-data/skua/kernels"
)

// column is a column of a row group with the leaves that the kernels decode for it.
type column struct {
	node   *kernels.Node
	leaves []*leaf
}

// nesting is where a leaf inside of something lies: for each depth, the definition level from which on an entry is a slot there. At depth 0 slots
// are rows, at each further depth entries of the lists or maps of the one before.
type nesting struct{ ancestors []int16 }

// lists says whether the leaf is in a list or a map.
func (l *leaf) lists() bool { return l.nest != nil && len(l.nest.ancestors) > 1 }

// newColumn looks at a column; it says why the kernels cannot decode it.
func newColumn(rg *kernels.RowGroup, n *kernels.Node) (*column, string) {
	c := &column{node: n}
	if n.Kind == kernels.Leaf {
		f, reason := newLeaf(rg, n)
		if reason == "" {
			c.leaves = append(c.leaves, f)
		}
		return c, reason
	}
	if n.Kind == kernels.Missing {
		return nil, "the file lacks it"
	}
	if reason := c.add(rg, n, []int16{0}); reason != "" {
		return nil, reason
	}
	return c, c.complete(n)
}

// add collects the leaves below a node, whose slots are at the last depth of path.
func (c *column) add(rg *kernels.RowGroup, n *kernels.Node, path []int16) string {
	if n.Kind == kernels.Missing {
		return ""
	}
	if int(n.Rep) != len(path)-1 || n.Ancestor != path[n.Rep] || n.Def < n.Ancestor || n.Def > math.MaxInt8 {
		return "an odd nested column"
	}
	switch n.Kind {
	case kernels.Leaf:
		if c.leaf(n.Leaf) != nil {
			return "a field that is wanted twice"
		}
		f, reason := leafOf(rg, n, int(n.Rep))
		if reason == "" {
			f.nest = &nesting{path}
			c.leaves = append(c.leaves, f)
		}
		return reason
	case kernels.Map:
		if n.Children[0].Kind != kernels.Leaf {
			return "a map whose keys are nested"
		}
		fallthrough
	case kernels.List:
		path = append(slices.Clip(path), n.Def+1)
	}
	for i := range n.Children {
		if reason := c.add(rg, &n.Children[i], path); reason != "" {
			return reason
		}
	}
	return ""
}

// complete says why the levels of what is nested cannot be told: those of a leaf that is not wanted itself tell them.
func (c *column) complete(n *kernels.Node) string {
	if n.Kind != kernels.Missing && c.leaf(n.Leaf) == nil {
		return "levels of a field that is not wanted"
	}
	for i := range n.Children {
		if reason := c.complete(&n.Children[i]); reason != "" {
			return reason
		}
	}
	return ""
}

// leaf finds a leaf by its index in the file.
func (c *column) leaf(index int) *leaf {
	if i := slices.IndexFunc(c.leaves, func(f *leaf) bool { return f.index == index }); i >= 0 {
		return c.leaves[i]
	}
	return nil
}

// leavesBelow lists the indexes of the leaves below a node.
func leavesBelow(n *kernels.Node) (out []int) {
	if n.Kind == kernels.Leaf {
		return []int{n.Leaf}
	}
	for i := range n.Children {
		out = append(out, leavesBelow(&n.Children[i])...)
	}
	return out
}

// estimate is what the leaves cost together.
func (c *column) estimate(costs *Costs, rows, keep int64) (sum estimate) {
	for _, f := range c.leaves {
		sum.add(costs.estimate(f, rows, keep))
	}
	return sum
}

// never says why the column is not sent in any batch of which keep rows come back; "" where the costs decide.
func (c *column) never(keep int64) string {
	for _, f := range c.leaves {
		if reason := f.never(keep); reason != "" {
			return reason
		}
	}
	return ""
}
