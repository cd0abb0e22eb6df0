package nested

import (
	"bytes"
	"math"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// validity reads a struct's nulls from the levels of one of its leaves; nil where it has none.
func (a *Assembler[L]) validity(n *kernels.Node, slots int) (*memory.Buffer, int, error) {
	if !n.Nullable() {
		return nil, 0, nil
	}
	def, rep := a.Leaves.Levels(n.Leaf)
	if len(rep) == 0 && n.Ancestor == 0 && len(def) == slots && allPresent(def, n.Def) {
		return nil, 0, nil
	}
	valid := a.zeroed(bitutil.BytesForBits(int64(slots)))
	nulls, err := fillValidity(n, def, rep, valid.Bytes(), slots)
	if err != nil || nulls == 0 {
		valid.Release()
		return nil, 0, err
	}
	return valid, nulls, nil
}

// allPresent finds out fast, where levels are bytes, that all are alike and large enough; false may mean anything.
func allPresent[L Level](def []L, present int16) bool {
	same, ok := any(def).([]uint8)
	return ok && len(same) > 0 && int16(same[0]) >= present && bytes.Count(same, same[:1]) == len(same)
}

// fillValidity sets the bits of a struct's slots that are there and counts its nulls.
func fillValidity[L Level](n *kernels.Node, def, rep []L, bits []byte, slots int) (nulls int, err error) {
	ancestor, present, own, at := L(n.Ancestor), L(n.Def), L(n.Rep), 0
	for i, d := range def {
		if d < ancestor || len(rep) > 0 && rep[i] > own {
			continue
		}
		if at == slots {
			return 0, fault.New(fault.Corrupt, "levels with more than %d values", slots)
		}
		if d >= present {
			bits[at>>3] |= 1 << (at & 7)
		} else {
			nulls++
		}
		at++
	}
	if at != slots {
		return 0, fault.New(fault.Corrupt, "levels with %d values of %d", at, slots)
	}
	return nulls, nil
}

// fillOffsets fills the validity and the offsets of a list's slots and counts its nulls.
func fillOffsets[L Level](n *kernels.Node, def, rep []L, valid []byte, offsets []int32) (nulls int, err error) {
	if len(rep) != len(def) {
		return 0, fault.New(fault.Corrupt, "a list with %d definition and %d repetition levels", len(def), len(rep))
	}
	if len(def) > math.MaxInt32 {
		return 0, fault.New(fault.Exhausted, "a batch with %d entries in lists", len(def))
	}
	slots, slot, total := len(offsets)-1, -1, int32(0)
	ancestor, present, own := L(n.Ancestor), L(n.Def), L(n.Rep)
	for i, d := range def {
		if d < ancestor || rep[i] > own+1 {
			continue
		}
		// Lists are as long as they like: no branch can be foretold, so there are none.
		begins, there, entry := one(rep[i] <= own), one(d >= present), one(d > present)
		slot += begins
		if uint(slot) >= uint(slots) {
			return 0, fault.New(fault.Corrupt, "levels with more than %d lists, or an entry in front of them", slots)
		}
		valid[slot>>3] |= byte(begins&there) << (slot & 7)
		nulls += begins &^ there
		total += int32(entry)
		offsets[slot+1] = total
	}
	if slot+1 != slots {
		return 0, fault.New(fault.Corrupt, "levels with %d lists of %d", slot+1, slots)
	}
	return nulls, nil
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
