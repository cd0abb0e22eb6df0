package cpu

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/nested"
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
	out, err := c.assembler().Assemble(c.node, int(rows.Count()))
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

// assembler builds what is nested of the leaves' slots and levels.
func (c *column) assembler() *nested.Assembler[uint8] {
	return &nested.Assembler[uint8]{Leaves: c, Memory: c.reader.mem, Cleared: c.reader.mem.Allocator}
}

// Array gives what was collected of a leaf.
func (c *column) Array(leaf int) (arrow.Array, error) { return c.leaves[leaf].array(), nil }

// Levels gives the levels that were collected of a leaf.
func (c *column) Levels(leaf int) (def, rep []uint8) {
	v := c.leaves[leaf].levels
	return v.def, v.rep
}
