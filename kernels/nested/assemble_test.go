package nested

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
)

// shredded are the leaves of an array, taken apart as the format describes it: an oracle that knows nothing of offsets.
type shredded[L Level] struct {
	def, rep [][]L
	slots    [][]arrow.Array // of one value each
	types    []arrow.DataType
	mem      memory.Allocator
}

func (s *shredded[L]) Array(leaf int) (arrow.Array, error) {
	if len(s.slots[leaf]) == 0 {
		return array.MakeArrayOfNull(s.mem, s.types[leaf], 0), nil
	}
	return array.Concatenate(s.slots[leaf], s.mem)
}

func (s *shredded[L]) Levels(leaf int) (def, rep []L) { return s.def[leaf], s.rep[leaf] }

// nodeOf describes a field whose first leaf is the next one.
func (s *shredded[L]) nodeOf(f arrow.Field, def, rep, ancestor int16) kernels.Node {
	n := kernels.Node{Field: f, Leaf: len(s.def), Def: def, Rep: rep, Ancestor: ancestor}
	if f.Nullable {
		n.Def++
	}
	switch t := f.Type.(type) {
	case *arrow.ListType:
		n.Kind, n.Children = kernels.List, []kernels.Node{s.nodeOf(t.ElemField(), n.Def+1, rep+1, n.Def+1)}
	case *arrow.MapType:
		n.Kind, n.Children = kernels.Map, []kernels.Node{s.nodeOf(t.KeyField(), n.Def+1, rep+1, n.Def+1), s.nodeOf(t.ItemField(), n.Def+1, rep+1, n.Def+1)}
	case *arrow.StructType:
		n.Kind = kernels.Struct
		for _, child := range t.Fields() {
			n.Children = append(n.Children, s.nodeOf(child, n.Def, rep, ancestor))
		}
	default:
		n.Kind = kernels.Leaf
		s.def, s.rep, s.slots = append(s.def, nil), append(s.rep, nil), append(s.slots, nil)
		s.types = append(s.types, f.Type)
	}
	return n
}

// absent notes that nothing is there below n, down to a definition level.
func (s *shredded[L]) absent(n *kernels.Node, def, rep int16) {
	for i := range n.Children {
		s.absent(&n.Children[i], def, rep)
	}
	if n.Kind != kernels.Leaf {
		return
	}
	s.def[n.Leaf], s.rep[n.Leaf] = append(s.def[n.Leaf], L(def)), append(s.rep[n.Leaf], L(rep))
	if def >= n.Ancestor {
		s.slots[n.Leaf] = append(s.slots[n.Leaf], array.MakeArrayOfNull(s.mem, n.Field.Type, 1))
	}
}

// add takes slot i of a apart, which has def ancestors that are there and begins at rep.
func (s *shredded[L]) add(n *kernels.Node, a arrow.Array, i int, rep int16) {
	if a.IsNull(i) {
		s.absent(n, n.Def-1, rep)
		return
	}
	switch a := a.(type) {
	case *array.Struct:
		for k := range n.Children {
			s.add(&n.Children[k], a.Field(k), i, rep)
		}
		return
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		if from == to {
			s.absent(n, n.Def, rep)
		}
		for at := from; at < to; at++ {
			if n.Kind == kernels.Map {
				m := a.(*array.Map)
				s.add(&n.Children[0], m.Keys(), int(at), rep)
				s.add(&n.Children[1], m.Items(), int(at), rep)
			} else {
				s.add(&n.Children[0], a.ListValues(), int(at), rep)
			}
			rep = n.Rep + 1
		}
		return
	}
	s.def[n.Leaf], s.rep[n.Leaf] = append(s.def[n.Leaf], L(n.Def)), append(s.rep[n.Leaf], L(rep))
	s.slots[n.Leaf] = append(s.slots[n.Leaf], array.NewSlice(a, int64(i), int64(i+1)))
}

func testAssemble[L Level](t *testing.T) {
	for seed, nulls := range []float64{0.2, 0, 0.6, 1} {
		batch := kernelstest.Random(kernelstest.Nested(), 150, nulls, int64(seed), memory.DefaultAllocator)
		for c, f := range kernelstest.Nested() {
			s := &shredded[L]{mem: memory.DefaultAllocator}
			n := s.nodeOf(f, 0, 0, 0)
			for i := range batch.Column(c).Len() {
				s.add(&n, batch.Column(c), i, 0)
			}
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			a := &Assembler[L]{Leaves: s, Memory: kernelstest.NewSoiled(), Cleared: checked}
			got, err := a.Assemble(&n, batch.Column(c).Len())
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			if !array.Equal(got, batch.Column(c)) || got.NullN() != batch.Column(c).NullN() {
				t.Errorf("%s is\n%v\nwant\n%v", f.Name, got, batch.Column(c))
			}
			got.Release()
			checked.AssertSize(t, 0)
		}
		batch.Release()
	}
}

// TestAssemblyPutsTogetherWhatWasTakenApart takes random nested arrays apart into levels and slots.
func TestAssemblyPutsTogetherWhatWasTakenApart(t *testing.T) {
	t.Run("bytes", testAssemble[uint8])
	t.Run("words", testAssemble[int16])
}

// given are leaves of int64 with these levels and numbers of slots.
type given struct {
	def, rep [][]uint8
	slots    []int
}

func (g *given) Array(leaf int) (arrow.Array, error) {
	return array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, g.slots[leaf]), nil
}
func (g *given) Levels(leaf int) (def, rep []uint8) { return g.def[leaf], g.rep[leaf] }

// TestLevelsThatDoNotFitAreErrors: of lists, structs and maps whose leaves disagree.
func TestLevelsThatDoNotFitAreErrors(t *testing.T) {
	i64 := arrow.PrimitiveTypes.Int64
	list := arrow.ListOfField(kernelstest.Field(2, "element", i64, true))
	structs := arrow.StructOf(kernelstest.Field(3, "x", i64, true), kernelstest.Field(4, "y", i64, true))
	maps := arrow.MapOfFields(kernelstest.Field(5, "key", i64, false), kernelstest.Field(6, "value", i64, true))
	for _, c := range []struct {
		typ  arrow.DataType
		give given
		want string
	}{
		{list, given{[][]uint8{{3, 3, 1}}, [][]uint8{{0, 1, 0}}, []int{2}}, ""},
		{list, given{[][]uint8{{3, 3, 1}}, [][]uint8{{0, 1}}, []int{2}}, "a list with 3 definition and 2 repetition levels"},
		{list, given{[][]uint8{{3, 3, 1}}, [][]uint8{{1, 1, 0}}, []int{3}}, "levels with more than 2 lists, or an entry in front of them"},
		{list, given{[][]uint8{{3, 3, 1}}, [][]uint8{{0, 0, 0}}, []int{2}}, "levels with more than 2 lists, or an entry in front of them"},
		{list, given{[][]uint8{{3, 3, 3}}, [][]uint8{{0, 1, 1}}, []int{3}}, "levels with 1 lists of 2"},
		{list, given{[][]uint8{{3, 3, 1}}, [][]uint8{{0, 1, 0}}, []int{3}}, "3 values where the levels have 2"},
		{structs, given{[][]uint8{{2, 0}, {1, 0}}, make([][]uint8, 2), []int{2, 2}}, ""},
		{structs, given{[][]uint8{{2, 0, 1}, {1, 0}}, make([][]uint8, 2), []int{2, 2}}, "levels with more than 2 values"},
		{structs, given{[][]uint8{{0}, {1, 0}}, make([][]uint8, 2), []int{2, 2}}, "levels with 1 values of 2"},
		{structs, given{[][]uint8{{2, 2}, {2, 2}}, make([][]uint8, 2), []int{2, 1}}, "1 values where the levels have 2"},
		{maps, given{[][]uint8{{1, 0}, {1, 0}}, [][]uint8{{0, 0}, {0, 0}}, []int{0, 0}}, ""},
		{maps, given{[][]uint8{{2, 1}, {2, 1}}, [][]uint8{{0, 0}, {0, 0}}, []int{1, 1}}, "a map has 1 null keys"},
	} {
		s := &shredded[uint8]{}
		n := s.nodeOf(kernelstest.Field(1, "c", c.typ, true), 0, 0, 0)
		checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
		a := &Assembler[uint8]{Leaves: &c.give, Memory: checked, Cleared: checked}
		got, err := a.Assemble(&n, 2)
		switch {
		case err == nil && c.want == "":
			got.Release()
		case err == nil || c.want == "" || !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), c.want):
			t.Errorf("%v of a %s: %v, want %q", c.give, c.typ, err, c.want)
		}
		checked.AssertSize(t, 0)
	}
}
