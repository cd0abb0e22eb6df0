package cpu

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
)

// leaf reads one column chunk, forward, and collects what is read until it is taken.
type leaf struct {
	pages  *pageReader
	target *conversion  // nil: only the levels are wanted
	values vector       // nil then
	over   func() error // tells that the statement has used up its memory
	valid  validity

	header     pages.Header // of the current page
	inPage     int          // its levels not consumed
	row        int64        // ordinal of the row that comes next
	begun      bool         // some row has begun, which the pages of version 1 that follow may go on with
	opened     bool         // its body is unpacked
	packed     []byte       // the dictionary's page, until it is needed
	packedAt   int64        // where in a near file it lies instead
	packedAs   pages.Header // kind 0: there was none so far
	dictionary *dictionary
	given      bool // the dictionary was given back once

	maxDef, maxRep uint8
	ancestor       uint8 // the definition level from which on there is a slot
	def            hybrid
	levels         *levels // nil: flat, at most one level
}

// openLeaf opens a leaf. Where it belongs to something nested its levels are kept.
func (r *reader) openLeaf(index int, nested bool) (*leaf, error) {
	p, err := r.decoder.openPages(r.rg, index, r.scratch)
	if err != nil {
		return nil, err
	}
	l := &leaf{
		pages: p, maxDef: uint8(p.Column.MaxDefinitionLevel()), maxRep: uint8(p.Column.MaxRepetitionLevel()), valid: validity{mem: r.mem}, over: r.over,
	}
	if nested || l.maxRep > 0 || l.maxDef > 1 {
		l.levels = newLevels(p.Owed())
	}
	return l, nil
}

// want says in which type the values are wanted.
func (l *leaf) want(n *kernels.Node, r *reader) error {
	if l.target != nil {
		if !arrow.TypeEqual(l.target.target, n.Field.Type) {
			return fault.New(fault.Internal, "a column is wanted as %s and as %s", l.target.target, n.Field.Type)
		}
		return nil
	}
	if l.target = conversionOf(l.pages.Column, n.Field.Type); l.target == nil {
		return typeError(l.pages.Column.PhysicalType(), n.Field.Type)
	}
	l.values, l.ancestor = l.target.newVector(r.mem, r.over, l.pages.Owed()), uint8(n.Ancestor)
	return nil
}

func (l *leaf) close() {
	l.drop()
	l.dictionary.close(l.pages.pool)
	l.pages.close()
}

// drop forgets what was collected.
func (l *leaf) drop() {
	l.valid.drop()
	if l.values != nil {
		l.values.drop()
	}
	if l.levels != nil {
		l.levels.clear()
	}
}

// next goes to the next data page, without unpacking it; false at the end.
func (l *leaf) next() (bool, error) {
	for {
		h, more, err := l.pages.Next()
		if err != nil || !more {
			return false, err
		}
		if h.IsData {
			l.header, l.inPage, l.opened = h, int(h.Values), false
			return true, nil
		}
		if err := l.takeDictionary(h); err != nil {
			return false, err
		}
	}
}

// takeDictionary keeps the dictionary's page until it is needed, or opens it where it cannot be kept.
func (l *leaf) takeDictionary(h pages.Header) (err error) {
	if l.packedAs.Kind == pages.Dictionary {
		return fault.New(fault.Corrupt, "a second dictionary")
	}
	l.packedAs = h
	if l.pages.Chunk.Near() {
		l.packedAt = l.pages.Chunk.Offset()
		return l.pages.Pass(&h)
	}
	if l.packed, err = l.pages.Chunk.Take(h.Compressed); err != nil {
		return err
	}
	if l.packed == nil {
		l.packed = []byte{}
	}
	if l.pages.Chunk.Moves {
		return l.openDictionary()
	}
	return nil
}

// openDictionary unpacks the dictionary when the first page needs it.
func (l *leaf) openDictionary() error {
	if l.packedAs.Kind != pages.Dictionary || l.dictionary != nil || l.target == nil {
		return nil
	}
	if l.pages.Chunk.Near() {
		var err error
		if l.packed, err = l.pages.Chunk.At(l.packedAt, l.packedAs.Compressed); err != nil {
			return err
		}
		defer l.pages.pool.Put(l.packed)
	}
	if err := l.packedAs.Verify(l.packed); err != nil {
		return err
	}
	var scratch []byte
	body, err := l.pages.open(&l.packedAs, l.packed, &scratch)
	defer func() { l.pages.pool.Put(scratch) }()
	if err != nil {
		return err
	}
	l.packed = nil
	d, err := l.target.openDictionary(&l.packedAs, body, l.pages.pool)
	l.dictionary = d
	return err
}

// spare gives the dictionary back where writers have given it up: after a page without it there is no other with it. A file that has one all
// the same has it unpacked once more, and no more often than that.
func (l *leaf) spare() {
	if l.dictionary != nil && l.pages.Chunk.Near() && !l.given {
		l.dictionary.close(l.pages.pool)
		l.dictionary, l.given = nil, true
	}
}

// open unpacks the current page.
func (l *leaf) open() error {
	body, err := l.pages.take(&l.header)
	if err != nil {
		return err
	}
	l.opened = true
	rep, def, values, err := l.pages.levelStreams(&l.header, body)
	if err != nil {
		return err
	}
	l.def = newHybrid(def, bitsOf(l.maxDef))
	if l.levels != nil {
		l.levels.open(l.def, newHybrid(rep, bitsOf(l.maxRep)), l.maxDef, l.maxRep)
	}
	if l.values == nil {
		return nil
	}
	id := parquet.Encoding(l.header.Encoding)
	if isDictionary(id) {
		if err := l.openDictionary(); err != nil {
			return err
		}
	} else {
		l.spare()
	}
	return l.values.open(id, values, l.dictionary)
}

// reserve makes room for the slots of n rows.
func (l *leaf) reserve(n int) {
	if l.values != nil && l.maxRep == 0 {
		l.values.reserve(n)
	}
	l.valid.room = n
}

// flat says whether a row is a value, perhaps null.
func (l *leaf) flat() bool { return l.levels == nil }

// read appends the next n rows.
func (l *leaf) read(n int64) error {
	l.row += n
	if !l.flat() {
		return l.readRows(n, true)
	}
	for n > 0 {
		if err := l.turn(n); err != nil {
			return err
		}
		if !l.opened {
			if err := l.open(); err != nil {
				return err
			}
		}
		k := int(min(n, int64(l.inPage)))
		if err := l.slots(k); err != nil {
			return err
		}
		l.inPage -= k
		n -= int64(k)
	}
	return nil
}

// turn goes to a page that has levels left; n rows are wanted.
func (l *leaf) turn(n int64) error {
	for l.inPage == 0 {
		more, err := l.next()
		if err != nil {
			return err
		}
		if !more {
			return fault.New(fault.Corrupt, "the column ends %d rows early", n)
		}
	}
	return nil
}

// slots appends n slots of a flat page.
func (l *leaf) slots(n int) error {
	if l.maxDef == 0 {
		l.valid.valid(n)
		return l.values.read(n)
	}
	for n > 0 {
		same, value, err := l.def.same(n)
		if err != nil {
			return err
		}
		if same > 0 && value == 1 {
			l.def.drop(same)
			l.valid.valid(same)
			if err := l.values.read(same); err != nil {
				return err
			}
			n -= same
			continue
		}
		k := min(n, levelBlock)
		bitmap, at := l.valid.bits(k)
		present, err := l.def.bits(bitmap, at, k)
		if err != nil {
			return err
		}
		l.valid.filled(k, k-present)
		if err := l.present(present, k, bitmap, at); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// present appends values for the slots where valid has a bit.
func (l *leaf) present(present, slots int, valid []byte, at int) error {
	if present > 0 {
		if err := l.values.read(present); err != nil {
			return err
		}
	}
	if present < slots {
		l.values.spread(present, slots, valid, at)
	}
	return nil
}

// skip leaves out the next n rows: whole pages without unpacking them, where a page says how many rows it has.
func (l *leaf) skip(n int64) error {
	n -= l.jump(n)
	l.row += n
	if !l.flat() {
		return l.skipRows(n)
	}
	for n > 0 {
		if err := l.turn(n); err != nil {
			return err
		}
		k := int(min(n, int64(l.inPage)))
		n -= int64(k)
		if !l.opened && k == l.inPage {
			if err := l.pass(); err != nil {
				return err
			}
			continue
		}
		if !l.opened {
			if err := l.open(); err != nil {
				return err
			}
		}
		l.inPage -= k
		if err := l.skipSlots(k); err != nil {
			return err
		}
	}
	return nil
}

// jump goes to the page of the row that lies n rows ahead, where it is known where pages lie, and says how many rows it left out.
func (l *leaf) jump(n int64) int64 {
	first, ok := l.pages.Jump(l.row + n)
	if !ok {
		return 0
	}
	jumped := first - l.row
	l.row, l.inPage, l.opened = first, 0, false
	if l.levels != nil {
		l.levels.at = l.levels.n
	}
	return jumped
}

// pass leaves the current page out, which is not unpacked.
func (l *leaf) pass() error {
	l.inPage = 0
	return l.pages.Pass(&l.header)
}

func (l *leaf) skipSlots(n int) error {
	present := n
	if l.maxDef > 0 {
		var err error
		if present, err = l.def.skipBits(n); err != nil {
			return err
		}
	}
	if l.values == nil || present == 0 {
		return nil
	}
	return l.values.skip(present)
}

// array gives the collected slots in the target type.
func (l *leaf) array() arrow.Array {
	bitmap, n, nulls := l.valid.take()
	buffers := append([]*memory.Buffer{bitmap}, l.values.take()...)
	d := array.NewData(l.target.target, n, buffers, nil, nulls, 0)
	defer d.Release()
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return array.MakeFromData(d)
}
