package cpu

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
)

// judge tests a flat column that is encoded with a dictionary: each entry once, then each row by its index. Pages of which nothing passes are not
// unpacked, nor are those all of which does where there can be no nulls.
type judge struct {
	expr   predicate.Expr
	field  int
	column *column // of its own, which reads indexes

	passes    []uint8 // by entry: 1 where it passes; nil: not looked at yet
	all, none bool    // of the entries
	null      bool    // whether a null passes

	marks  []uint8  // by row of the window
	near   []uint8  // by row of a stretch
	wanted []uint8  // of those, which are the window's
	bits   []byte   // the marks
	some   []uint8  // of a block's values
	meant  []uint8  // of those, which are the window's
	valid  []byte   // of a block's slots
	picked []uint32 // indexes of the rows that pass
	keep   bool     // they are wanted
}

// apart is how many rows lie between two of a window at most where all of them are tested: that takes less time than to step over a few.
const apart = 24

// stretch is how many runs, from the first on, lie near each other.
func stretch(runs []kernels.Run) int {
	n := 1
	for n < len(runs) && runs[n].From-runs[n-1].To <= apart && runs[n].To-runs[0].From <= window {
		n++
	}
	return n
}

// errNoIndexes says that a column has to be read value by value.
var errNoIndexes = errors.New("no indexes")

// newJudge gives the judge of a test; nil where the test reads several columns, or one that is not flat or has no dictionary.
func (f *filter) newJudge(expr predicate.Expr) *judge {
	fields := predicate.Fields(expr)
	if len(fields) != 1 {
		return nil
	}
	n := f.node(fields[0].ID)
	if n == nil || n.Kind != kernels.Leaf || n.Rep > 0 || n.Def > 1 {
		return nil
	}
	rg := f.reader.rg
	v := conversionOf(rg.Metadata.Schema.Column(n.Leaf), n.Field.Type)
	if v == nil || v.shape == bitShape {
		return nil
	}
	for _, e := range rg.Metadata.RowGroups[rg.Ordinal].Columns[n.Leaf].MetaData.Encodings {
		if isDictionary(parquet.Encoding(e)) {
			return &judge{expr: expr, field: fields[0].ID, column: &column{reader: f.reader, node: n}}
		}
	}
	return nil
}

// judge drops the rows of the window that do not pass a test; false: the test has to look at values. Of rows there are about expect to test in all.
func (f *filter) judge(ctx context.Context, t *test, expect int64) (bool, error) {
	j := t.judge
	if j == nil || f.arrays[j.field] != nil {
		return false, nil
	}
	left, values, err := j.run(ctx, f.rows, expect, f.survivors.wants(j.field))
	if errors.Is(err, errNoIndexes) {
		j.column.close()
		t.judge = nil
		return false, nil
	}
	if err != nil {
		return false, f.reader.explain(err, j.column.node.Field.Name)
	}
	if err := f.keep(left); err != nil {
		if values != nil {
			values.Release()
		}
		return false, err
	}
	if values != nil {
		f.arrays[j.field] = values
	}
	return true, nil
}

// run gives the places of the rows that pass, and their values where keep asks for them and they are at hand.
func (j *judge) run(ctx context.Context, rows *kernels.Selection, expect int64, keep bool) (_ *kernels.Selection, values arrow.Array, err error) {
	c, n := j.column, int(rows.Count())
	if err := c.open(); err != nil {
		return nil, nil, err
	}
	l := c.order[0]
	if j.passes == nil {
		if err := j.look(l, expect); err != nil {
			return nil, nil, err
		}
	}
	j.keep, j.picked = keep && !j.all && !j.none && !j.null, j.picked[:0]
	if room := (n + 7) &^ 7; cap(j.marks) < room {
		j.marks, j.bits = make([]uint8, room), make([]byte, room/8)
	}
	j.marks = j.marks[:cap(j.marks)]
	clear(j.marks)
	at := 0
	for i, runs := 0, rows.Runs(); len(runs) > 0; i++ {
		if i&0xff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
		}
		k := stretch(runs)
		from, to := runs[0].From, runs[k-1].To
		if err := l.skip(from - c.position); err != nil {
			return nil, nil, err
		}
		if k == 1 {
			err = j.rows(l, j.marks[at:at+int(to-from)], nil)
			at += int(to - from)
		} else {
			at, err = j.stretch(l, runs[:k], at)
		}
		if err != nil {
			return nil, nil, err
		}
		c.position, runs = to, runs[k:]
	}
	if j.keep {
		if values, err = j.values(l); err != nil {
			return nil, nil, err
		}
	}
	return j.selection(n), values, nil
}

// look tests the entries of the dictionary, where that is less work than testing rows.
func (j *judge) look(l *leaf, expect int64) error {
	if l.inPage == 0 {
		if more, err := l.next(); err != nil || !more {
			return errNoIndexes // whoever reads values says what is wrong
		}
	}
	if !isDictionary(parquet.Encoding(l.header.Encoding)) || l.packedAs.Values > expect {
		return errNoIndexes
	}
	if err := l.openDictionary(); err != nil || l.dictionary == nil || l.dictionary.failed != nil {
		return errNoIndexes
	}
	mem := memory.DefaultAllocator
	entries := l.dictionary.array(l.target)
	defer entries.Release()
	null := array.MakeArrayOfNull(mem, l.target.target, 1)
	defer null.Release()
	passes, err := outcomes(j.expr, entries)
	if err != nil {
		return err
	}
	ofNull, err := outcomes(j.expr, null)
	if err != nil {
		return err
	}
	j.passes, j.null, j.all, j.none = passes, ofNull[0] == 1, true, true
	for _, p := range passes {
		j.all, j.none = j.all && p == 1, j.none && p == 0
	}
	return nil
}

// outcomes tests values one by one: 1 where a filter keeps it.
func outcomes(e predicate.Expr, values arrow.Array) ([]uint8, error) {
	same := columnFunc(func(predicate.Field) (arrow.Array, error) { return values, nil })
	mask, err := predicate.Evaluate(e, values.Len(), same, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer mask.Release()
	out := make([]uint8, values.Len())
	for i := range out {
		out[i] = uint8(one(mask.IsValid(i) && mask.Value(i)))
	}
	return out, nil
}

// stretch marks rows from the place at on: all rows from the first run to the last one are tested. It gives the place behind them.
func (j *judge) stretch(l *leaf, runs []kernels.Run, at int) (int, error) {
	first := runs[0].From
	n := int(runs[len(runs)-1].To - first)
	if cap(j.near) < n {
		j.near, j.wanted = make([]uint8, window), make([]uint8, window)
	}
	near, wanted := j.near[:n], []uint8(nil)
	clear(near)
	if j.keep {
		wanted = j.wanted[:n]
		clear(wanted)
		for _, run := range runs {
			fillOnes(wanted[run.From-first : run.To-first])
		}
	}
	if err := j.rows(l, near, wanted); err != nil {
		return 0, err
	}
	for _, run := range runs {
		of := near[run.From-first : run.To-first]
		if len(of) > 8 {
			at += copy(j.marks[at:], of)
			continue
		}
		for _, mark := range of {
			j.marks[at] = mark
			at++
		}
	}
	return at, nil
}

// rows marks the next rows. Of the indexes it keeps those of the rows that are wanted; nil: all are.
func (j *judge) rows(l *leaf, marks, wanted []uint8) error {
	for len(marks) > 0 {
		if err := l.turn(int64(len(marks))); err != nil {
			return err
		}
		if !isDictionary(parquet.Encoding(l.header.Encoding)) {
			return errNoIndexes
		}
		k := min(len(marks), l.inPage)
		decided, err := j.page(l, marks[:k])
		if err == nil && !decided {
			if !l.opened {
				err = l.open()
			}
			if err == nil {
				err = j.slots(l, marks[:k], first(wanted, k))
			}
			l.inPage, l.row = l.inPage-k, l.row+int64(k)
		}
		if err != nil {
			return err
		}
		marks, wanted = marks[k:], behind(wanted, k)
	}
	return nil
}

// first gives the first n of marks, if there are any.
func first(marks []uint8, n int) []uint8 {
	if marks == nil {
		return nil
	}
	return marks[:n]
}

// behind gives those behind the first n.
func behind(marks []uint8, n int) []uint8 {
	if marks == nil {
		return nil
	}
	return marks[n:]
}

// page marks rows of a page all or none of which pass, if that is known without their indexes.
func (j *judge) page(l *leaf, marks []uint8) (bool, error) {
	full := l.maxDef == 0 // a header of version 2 counts nulls, but writers without statistics say 0 whatever there is
	switch {
	case j.none && (full || !j.null):
	case j.all && (full || j.null):
		fillOnes(marks)
	default:
		return false, nil
	}
	return true, l.skip(int64(len(marks)))
}

func fillOnes(marks []uint8) {
	for i := range marks {
		marks[i] = 1
	}
}

// slots marks the next slots of an open page.
func (j *judge) slots(l *leaf, marks, wanted []uint8) error {
	x := l.values.indexes()
	if l.maxDef == 0 {
		return j.indexes(x, marks, wanted)
	}
	if j.some == nil {
		j.some, j.meant, j.valid = make([]uint8, levelBlock), make([]uint8, levelBlock), make([]byte, levelBlock/8+8)
	}
	for len(marks) > 0 {
		same, value, err := l.def.same(len(marks))
		if err != nil {
			return err
		}
		k := same
		switch {
		case same > 0 && value == 1:
			l.def.drop(same)
			err = j.indexes(x, marks[:same], first(wanted, same))
		case same > 0:
			l.def.drop(same)
			if j.null {
				fillOnes(marks[:same])
			}
		default:
			k = min(len(marks), levelBlock)
			err = j.mixed(l, x, marks[:k], first(wanted, k))
		}
		if err != nil {
			return err
		}
		marks, wanted = marks[k:], behind(wanted, k)
	}
	return nil
}

// mixed marks slots some of which may be null.
func (j *judge) mixed(l *leaf, x *indexes, marks, wanted []uint8) error {
	present, err := l.def.bits(j.valid, 0, len(marks))
	if err != nil {
		return err
	}
	some, meant := j.some[:present], []uint8(nil)
	if wanted != nil {
		meant = j.meant[:present]
		next := 0
		for i, w := range wanted {
			j.meant[next&(levelBlock-1)] = w
			next += int(j.valid[i>>3] >> (i & 7) & 1)
		}
	}
	if err := j.indexes(x, some, meant); err != nil {
		return err
	}
	null, next := uint8(one(j.null)), 0
	for i := range marks {
		there := j.valid[i>>3] >> (i & 7) & 1
		marks[i] = j.some[next&(levelBlock-1)]&-there | null&^-there
		next += int(there)
	}
	return nil
}

// indexes marks values by their indexes, which come next.
func (j *judge) indexes(x *indexes, marks, wanted []uint8) error {
	passes := j.passes
	for len(marks) > 0 {
		index, n, err := x.repeated(len(marks))
		if err != nil {
			return err
		}
		if n > 0 {
			if uint64(index) >= uint64(len(passes)) {
				return indexError(index, len(passes))
			}
			j.repeated(index, marks[:n], first(wanted, n))
			marks, wanted = marks[n:], behind(wanted, n)
			continue
		}
		next, err := x.next(len(marks))
		if err != nil {
			return err
		}
		n = len(next)
		to := marks[:n]
		for i, index := range next {
			if uint64(index) >= uint64(len(passes)) {
				return indexError(index, len(passes))
			}
			to[i] = passes[index]
		}
		if j.keep {
			if wanted != nil {
				for i, w := range wanted[:n] {
					to[i] &= w
				}
			}
			j.pick(next, to)
		}
		marks, wanted = marks[n:], behind(wanted, n)
	}
	return nil
}

// repeated marks values that are all the same entry.
func (j *judge) repeated(index uint32, marks, wanted []uint8) {
	if j.passes[index] == 0 {
		clear(marks)
		return
	}
	fillOnes(marks)
	if !j.keep {
		return
	}
	for i := range marks {
		if wanted == nil || wanted[i] != 0 {
			j.picked = append(j.picked, index)
		}
	}
}

// pick keeps the indexes that are marked.
func (j *judge) pick(next []uint32, marks []uint8) {
	from := len(j.picked)
	if cap(j.picked) < from+len(next) {
		larger := make([]uint32, from, 2*(from+len(next)))
		copy(larger, j.picked)
		j.picked = larger
	}
	to, n := j.picked[from:from+len(next)], 0
	for i, index := range next {
		to[n] = index
		n += int(marks[i])
	}
	j.picked = j.picked[:from+n]
}

// selection gives the places that are marked.
func (j *judge) selection(n int) *kernels.Selection {
	bits := j.bits[:(n+7)/8]
	for i := range bits { // the eight marks of a byte come together in its highest byte
		bits[i] = byte(binary.LittleEndian.Uint64(j.marks[8*i:]) * 0x0102040810204080 >> 56)
	}
	mask := array.NewBoolean(n, memory.NewBufferBytes(bits[:bitutil.BytesForBits(int64(n))]), nil, 0)
	defer mask.Release()
	return kernels.Where(mask)
}

// values gives the values of the rows that pass.
func (j *judge) values(l *leaf) (arrow.Array, error) {
	if err := l.values.pick(l.dictionary, j.picked); err != nil {
		l.drop()
		return nil, err
	}
	l.valid.valid(len(j.picked))
	return l.array(), nil
}
