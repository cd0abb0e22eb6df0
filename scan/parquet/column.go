package parquet

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
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

func (r *reader) newColumn(n *kernels.Node) *column { return &column{reader: r, node: n} }

func (c *column) open() error {
	if c.leaves != nil {
		return nil
	}
	c.leaves, c.position = map[int]*leaf{}, 0
	return c.openLeaves(c.node)
}

func (c *column) openLeaves(n *kernels.Node) error {
	l := c.leaves[n.Leaf]
	if l == nil {
		var err error
		if l, err = c.reader.openLeaf(n.Leaf); err != nil {
			return err
		}
		c.leaves[n.Leaf], c.order = l, append(c.order, l)
	}
	if n.Kind == kernels.Leaf {
		if l.target != nil && !arrow.TypeEqual(l.target, n.Field.Type) {
			return fault.New(fault.Internal, "a column is wanted as %s and as %s", l.target, n.Field.Type)
		}
		l.want(n.Field.Type)
	}
	for i := range n.Children {
		if n.Children[i].Kind != kernels.Missing {
			if err := c.openLeaves(&n.Children[i]); err != nil {
				return err
			}
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

// survivors reads the rows of a selection. Contiguous rows come as they are decoded; gaps are decoded and dropped, a window at a time, so
// that what is held is bounded by what is asked for. After an error the column starts again at the first row.
func (c *column) survivors(ctx context.Context, rows *kernels.Selection) (arrow.Array, error) {
	runs := rows.Runs()
	if len(runs) == 0 {
		return emptyArray(c.reader.mem, c.node.Field.Type), nil
	}
	if runs[0].From < c.position {
		c.close() // a caller went back: start again rather than give other rows
	}
	pieces, err := c.pieces(ctx, runs)
	defer func() {
		for _, p := range pieces {
			p.Release()
		}
	}()
	if err != nil {
		c.close()
		return nil, err
	}
	if len(pieces) == 1 {
		pieces[0].Retain()
		return pieces[0], nil
	}
	return array.Concatenate(pieces, c.reader.mem)
}

func (c *column) pieces(ctx context.Context, runs []kernels.Run) ([]arrow.Array, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	var out []arrow.Array
	for len(runs) > 0 {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		n := c.inWindow(runs)
		piece, err := c.piece(runs[:n])
		if err != nil {
			return out, err
		}
		out, runs = append(out, piece), runs[n:]
	}
	return out, nil
}

// inWindow is how many of runs to decode together: at least one, and as many as start close to each other within a window, with no page between
// them that may be left out.
func (c *column) inWindow(runs []kernels.Run) int {
	n := 1
	for n < len(runs) && runs[n].To-runs[0].From <= window && runs[n].From-runs[n-1].To < window/16 && !c.pageBetween(runs[n-1], runs[n]) {
		n++
	}
	return n
}

// pageBetween says whether a leaf has a page between two runs, and it is known where its pages lie.
func (c *column) pageBetween(a, b kernels.Run) bool {
	for _, l := range c.order {
		if located := l.pages.Located(); located != nil && kernels.PageOf(located, b.From)-kernels.PageOf(located, a.To-1) > 1 {
			return true
		}
	}
	return false
}

// piece decodes from the first of runs to the last and keeps what they select.
func (c *column) piece(runs []kernels.Run) (arrow.Array, error) {
	from, to := runs[0].From, runs[len(runs)-1].To
	if err := c.skip(from - c.position); err != nil {
		return nil, err
	}
	all, err := c.read(to - from)
	if err != nil || len(runs) == 1 {
		return all, err
	}
	defer all.Release()
	relative := make([]kernels.Run, len(runs))
	for i, r := range runs {
		relative[i] = kernels.Run{From: r.From - from, To: r.To - from}
	}
	return kernels.Take(all, kernels.NewSelection(relative), c.reader.mem)
}

func (c *column) skip(n int64) error {
	for _, l := range c.order {
		if err := l.skip(n); err != nil {
			return err
		}
	}
	c.position += n
	return nil
}

// read decodes the next n rows.
func (c *column) read(n int64) (arrow.Array, error) {
	for _, l := range c.order {
		if err := l.load(n); err != nil {
			return nil, err
		}
	}
	c.position += n
	a := &nested.Assembler[int16]{Leaves: c, Memory: c.reader.mem, Cleared: c.reader.mem}
	out, err := a.Assemble(c.node, int(n))
	for _, l := range c.order {
		l.drop()
	}
	return out, err
}

// Array gives a leaf's loaded values in the type wanted.
func (c *column) Array(leaf int) (arrow.Array, error) { return c.leaves[leaf].array() }

// Levels gives the levels of a leaf's loaded rows.
func (c *column) Levels(leaf int) (def, rep []int16) { return c.leaves[leaf].levels() }

func emptyArray(mem memory.Allocator, t arrow.DataType) arrow.Array {
	b := array.NewBuilder(mem, t)
	defer b.Release()
	return b.NewArray()
}
