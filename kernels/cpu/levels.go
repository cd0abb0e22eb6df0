package cpu

import (
	"bytes"
	"math/bits"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/pages"
)

// levelBlock is how many levels are unpacked at once.
const levelBlock = 4096

func bitsOf(most uint8) int { return bits.Len8(most) }

// levels are the levels of a nested leaf: those of the rows that were read, and of the page's those that come next.
type levels struct {
	def, rep []uint8 // of the rows collected; rep is empty outside of lists

	defs, reps     hybrid
	maxDef, maxRep uint8
	nextDef        []uint8
	nextRep        []uint8
	at, n          int // unpacked and not consumed: [at:n]
}

// newLevels makes the levels of a chunk that has most of them.
func newLevels(most int64) *levels {
	n := min(most, levelBlock)
	return &levels{nextDef: make([]uint8, n), nextRep: make([]uint8, n)}
}

func (l *levels) open(def, rep hybrid, maxDef, maxRep uint8) {
	l.defs, l.reps, l.maxDef, l.maxRep, l.at, l.n = def, rep, maxDef, maxRep, 0, 0
}

func (l *levels) clear() { l.def, l.rep = l.def[:0], l.rep[:0] }

// fill unpacks up to n levels that come next.
func (l *levels) fill(n int) error {
	n = min(n, len(l.nextDef))
	l.at, l.n = 0, n
	if err := l.unpack(&l.defs, l.nextDef[:n], l.maxDef); err != nil {
		return err
	}
	return l.unpack(&l.reps, l.nextRep[:n], l.maxRep)
}

func (l *levels) unpack(from *hybrid, out []uint8, most uint8) error {
	if most == 0 {
		return nil
	}
	if err := from.levels(out); err != nil {
		return err
	}
	if most&(most+1) == 0 {
		return nil // no level fits the bits and not the limit
	}
	for _, level := range out {
		if level > most {
			return fault.New(fault.Corrupt, "level %d of a column whose levels end at %d", level, most)
		}
	}
	return nil
}

// rows says how many of the levels unpacked belong to the next n rows, counted from a row's begin, and how many rows begin among them. The
// first row may have begun before.
func (l *levels) rows(n int64) (count int, begun int64) {
	if l.maxRep == 0 {
		count = int(min(n, int64(l.n-l.at)))
		return count, int64(count)
	}
	next := l.nextRep[l.at:l.n]
	if begun = int64(bytes.Count(next, []byte{0})); begun < n {
		return len(next), begun
	}
	begun = 0
	for i, rep := range next {
		if rep > 0 {
			continue
		}
		if begun == n {
			return i, begun
		}
		begun++
	}
	return len(next), begun
}

// readRows appends the next n rows, or leaves them out. A row ends where the next begins, which may be on the next page.
func (l *leaf) readRows(n int64, keep bool) error {
	for {
		if l.pageEnds() {
			more, err := l.turnNested(n)
			if err != nil || !more {
				return err
			}
		}
		done, err := l.rowsOfPage(n, keep)
		if err != nil {
			return err
		}
		if n -= done; n == 0 && !l.pageEnds() {
			return nil
		}
	}
}

// pageEnds says whether all levels of the current page are consumed.
func (l *leaf) pageEnds() bool { return l.inPage == 0 && l.levels.at == l.levels.n }

// turnNested goes to a page that has levels; false where the rows end without: n are missing.
func (l *leaf) turnNested(n int64) (bool, error) {
	for l.inPage == 0 {
		if n == 0 && l.rowsEndWithPage() {
			return false, nil
		}
		more, err := l.next()
		if err != nil {
			return false, err
		}
		if !more && n > 0 {
			return false, fault.New(fault.Corrupt, "the column ends %d rows early", n)
		}
		if !more {
			return false, nil
		}
	}
	return true, nil
}

// rowsEndWithPage says whether no row goes on in the next page.
func (l *leaf) rowsEndWithPage() bool { return l.maxRep == 0 || l.header.Kind == pages.DataV2 }

// rowsOfPage takes the next n rows as far as the page has them, and says how many begin there. Without any n, the last row goes on.
func (l *leaf) rowsOfPage(n int64, keep bool) (done int64, err error) {
	v := l.levels
	if !l.opened {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	for first := n > 0; ; first = false {
		if v.at == v.n {
			if l.inPage == 0 || done == n && l.maxRep == 0 {
				return done, nil
			}
			if err := l.over(); err != nil { // one row may hold any number of entries
				return done, err
			}
			if err := v.fill(l.inPage); err != nil {
				return done, err
			}
			l.inPage -= v.n
		}
		count, begun := v.rows(n - done)
		if first && begun == 0 && (!l.begun || l.header.Kind == pages.DataV2) {
			return done, fault.New(fault.Corrupt, "a row begins in its middle")
		}
		l.begun = l.begun || begun > 0
		if err := l.consume(count, keep); err != nil {
			return done, err
		}
		if done += begun; done == n && v.at < v.n {
			return done, nil
		}
	}
}

// skipRows leaves rows out: whole pages of a known number of rows without unpacking them.
func (l *leaf) skipRows(n int64) error {
	for n > 0 {
		if l.pageEnds() {
			if err := l.turn(n); err != nil {
				return err
			}
		}
		if !l.rowsEndWithPage() {
			return l.readRows(n, false)
		}
		rows := l.header.Rows
		if l.maxRep == 0 {
			rows = l.header.Values
		}
		if !l.opened && rows <= n {
			n -= rows
			if err := l.pass(); err != nil {
				return err
			}
			continue
		}
		done, err := l.rowsOfPage(n, false)
		if err != nil {
			return err
		}
		n -= done
	}
	return nil
}

// consume takes count of the levels unpacked with their values.
func (l *leaf) consume(count int, keep bool) error {
	v := l.levels
	def, rep := v.nextDef[v.at:v.at+count], v.nextRep[v.at:v.at+count]
	v.at += count
	present := bytes.Count(def, []byte{l.maxDef})
	if !keep {
		if l.values == nil || present == 0 {
			return nil
		}
		return l.values.skip(present)
	}
	v.def = append(v.def, def...)
	if l.maxRep > 0 {
		v.rep = append(v.rep, rep...)
	}
	if l.values == nil {
		return nil
	}
	return l.nestedSlots(def, present)
}

// nestedSlots appends the slots of some levels, of which present have values.
func (l *leaf) nestedSlots(def []uint8, present int) error {
	if present == len(def) || l.ancestor == l.maxDef { // a required value has no slot without a value
		l.valid.valid(present)
		if present == 0 {
			return nil
		}
		return l.values.read(present)
	}
	bitmap, at := l.valid.bits(len(def))
	slots := at
	for _, d := range def {
		mask := byte(1) << (slots & 7)
		bitmap[slots>>3] = bitmap[slots>>3]&^mask | byte(one(d == l.maxDef))<<(slots&7)
		slots += one(d >= l.ancestor) // else the next slot takes its place
	}
	slots -= at
	l.valid.filled(slots, slots-present)
	return l.present(present, slots, bitmap, at)
}
