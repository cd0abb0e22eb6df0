package cpu

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// column reads the values of one node with everything below it, forward from the row group's first row.
type column struct {
	reader   *reader
	node     *kernels.Node
	leaves   map[int]*leaf // nil: not open
	order    []*leaf
	position int64 // row ordinal that comes next
}

func (c *column) open() error {
	if c.leaves != nil {
		return nil
	}
	c.leaves, c.position = map[int]*leaf{}, 0
	return c.openLeaves(c.node)
}

func (c *column) openLeaves(n *kernels.Node) error {
	if n.Kind == kernels.Missing {
		return nil
	}
	l := c.leaves[n.Leaf]
	if l == nil {
		var err error
		if l, err = c.reader.openLeaf(n.Leaf, c.node.Kind != kernels.Leaf); err != nil {
			return err
		}
		c.leaves[n.Leaf], c.order = l, append(c.order, l)
	}
	if n.Kind == kernels.Leaf {
		if err := l.want(n, c.reader); err != nil {
			return err
		}
	}
	for i := range n.Children {
		if err := c.openLeaves(&n.Children[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *column) close() {
	for _, l := range c.order {
		l.close()
	}
	c.leaves, c.order, c.position = nil, nil, 0
}

// flat says whether all leaves are outside of lists, so that pages without wanted rows need not be unpacked.
func (c *column) flat() bool {
	for _, l := range c.order {
		if l.maxRep > 0 {
			return false
		}
	}
	return true
}

// survivors reads the rows of a selection. After an error, or a panic, the column starts again at the first row.
func (c *column) survivors(ctx context.Context, rows *kernels.Selection) (_ arrow.Array, err error) {
	runs := rows.Runs()
	if c.node.Kind == kernels.Missing {
		return kernels.Nulls(c.reader.mem.Allocator, c.node.Field.Type, int(rows.Count())), nil
	}
	if len(runs) > 0 && runs[0].From < c.position {
		c.close() // a caller went back: start again rather than give other rows
	}
	whole := false
	defer func() {
		if !whole {
			c.close()
		}
	}()
	if err := c.open(); err != nil {
		return nil, err
	}
	for _, l := range c.order {
		if err := c.load(ctx, l, rows); err != nil {
			return nil, err
		}
	}
	if len(runs) > 0 {
		c.position = runs[len(runs)-1].To
	}
	out, err := c.assemble(c.node, int(rows.Count()))
	if err != nil {
		return nil, err
	}
	for _, l := range c.order {
		l.drop()
	}
	whole = true
	return out, nil
}

// load collects the rows of a leaf.
func (c *column) load(ctx context.Context, l *leaf, rows *kernels.Selection) error {
	l.reserve(int(rows.Count()))
	position := c.position
	for i, run := range rows.Runs() {
		if i&0xff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if run.From > position {
			if err := l.skip(run.From - position); err != nil {
				return err
			}
		}
		if err := l.read(run.To - run.From); err != nil {
			return err
		}
		position = run.To
	}
	return nil
}

// assemble gives a node's n slots of the rows loaded. Lengths are compared at every step: leaves of a damaged file may disagree.
func (c *column) assemble(n *kernels.Node, slots int) (arrow.Array, error) {
	var out arrow.Array
	var err error
	switch n.Kind {
	case kernels.Missing:
		return kernels.Nulls(c.reader.mem.Allocator, n.Field.Type, slots), nil
	case kernels.Leaf:
		out = c.leaves[n.Leaf].array()
	case kernels.Struct:
		out, err = c.structs(n, slots)
	default:
		out, err = c.lists(n, slots)
	}
	if err != nil {
		return nil, err
	}
	if out.Len() != slots {
		length := out.Len()
		out.Release()
		return nil, fault.New(fault.Corrupt, "%d values where the levels have %d", length, slots)
	}
	return out, nil
}
