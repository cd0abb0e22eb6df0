package scan

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/scan/parquet"
)

// fill says what takes the place of fields that a file lacks inside of a column; nil: the column is right as it comes.
type fill struct {
	lacks    bool
	value    any                // of what is lacking
	variant  *parquet.Shredding // parts that are put together
	steps    []leafStep         // what is done to the values of a leaf, in order
	children []*fill            // by index among a node's children
}

// leafStep makes the values that a leaf is read as of those that a file holds. The caller keeps the array and releases the result.
type leafStep func(arrow.Array, memory.Allocator) (arrow.Array, error)

// fillOf finds what a file lacks below a node and has a value all the same, from the partition or an initial default, the variants that
// come in parts, and the leaves of plain files that are not read as they stand.
func (f *openFile) fillOf(n *kernels.Node, variants []parquet.Shredding, path []int) (*fill, error) {
	for i := range variants {
		if slices.Equal(variants[i].Path, path) {
			return &fill{variant: &variants[i]}, nil
		}
	}
	if n.Kind == kernels.Missing {
		v, err := f.missing(n.Field)
		if v == nil || err != nil {
			return nil, err
		}
		return &fill{lacks: true, value: v}, nil
	}
	if steps := f.stepsOf(n); steps != nil {
		return &fill{steps: steps}, nil
	}
	var out *fill
	for i := range n.Children {
		c, err := f.fillOf(&n.Children[i], variants, append(path, i))
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if out == nil {
			out = &fill{children: make([]*fill, len(n.Children))}
		}
		out.children[i] = c
	}
	return out, nil
}

// missing gives the value of a field that the file lacks; nil: null.
func (f *openFile) missing(field arrow.Field) (any, error) {
	id := FieldID(field)
	if v, ok, err := f.identity(id, field.Type); ok || err != nil {
		return v, err
	}
	v, err := f.plan.source.initialDefault(field)
	if err != nil {
		return nil, fault.Wrap(err, "data file %s", f.data.Path)
	}
	if own, ok := f.plan.source.fields[id]; ok && v == nil && own.Required {
		return nil, fault.New(fault.Corrupt, "data file %s lacks the required column %s", f.data.Path, field.Name).In(f.data.Path)
	}
	return v, nil
}

// untouched says whether the field at a path comes as the file has it.
func (x *fill) untouched(path []int) bool {
	for _, i := range path {
		if x == nil {
			return true
		}
		if x.lacks || x.variant != nil || x.steps != nil {
			return false
		}
		x = x.children[i]
	}
	return x == nil
}

// apply puts the values in and gives an array of the wanted type. The caller keeps a and releases the result.
func (x *fill) apply(a arrow.Array, want arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch {
	case x == nil:
		a.Retain()
		return a, nil
	case x.lacks:
		return constant(want, x.value, a.Len(), mem)
	case x.variant != nil:
		return x.variant.Unshred(a, mem)
	case x.steps != nil:
		return x.applySteps(a, mem)
	}
	switch a := a.(type) {
	case *array.Struct:
		return x.applyStruct(a, want.(*arrow.StructType), mem)
	case *array.Map:
		pairs := array.MakeFromData(a.Data().Children()[0])
		defer pairs.Release()
		return x.applyEntries(a, want, want.(*arrow.MapType).Elem(), x, pairs, mem)
	case *array.List:
		return x.applyEntries(a, want, want.(*arrow.ListType).Elem(), x.children[0], a.ListValues(), mem)
	}
	return nil, fault.New(fault.Internal, "nothing can be lacking inside of a %s", a.DataType())
}

func (x *fill) applySteps(a arrow.Array, mem memory.Allocator) (arrow.Array, error) {
	a.Retain()
	for _, step := range x.steps {
		next, err := step(a, mem)
		a.Release()
		if err != nil {
			return nil, err
		}
		a = next
	}
	return a, nil
}

func (x *fill) applyStruct(a *array.Struct, want *arrow.StructType, mem memory.Allocator) (arrow.Array, error) {
	var children []arrow.ArrayData
	for i := 0; i < a.NumField(); i++ {
		c, err := x.children[i].apply(a.Field(i), want.Field(i).Type, mem)
		if err != nil {
			releaseData(children)
			return nil, err
		}
		c.Data().Retain()
		children = append(children, c.Data())
		c.Release()
	}
	defer releaseData(children)
	validity := takeValidity(a, []rows{{0, a.Len()}}, a.Len(), mem)
	if validity != nil {
		defer validity.Release()
	}
	data := array.NewData(want, a.Len(), []*memory.Buffer{validity}, children, a.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// applyEntries fills what is inside of a list or a map.
func (x *fill) applyEntries(a arrow.Array, want, entry arrow.DataType, inner *fill, entries arrow.Array, mem memory.Allocator) (arrow.Array, error) {
	c, err := inner.apply(entries, entry, mem)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	d := a.Data()
	data := array.NewData(want, a.Len(), d.Buffers(), []arrow.ArrayData{c.Data()}, a.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data), nil
}

// everyField is each field that some schema of the table has, nested ones too; those of the source's own schema count most.
func (s *tableSource) everyField() map[int]iceberg.NestedField {
	out := map[int]iceberg.NestedField{}
	for _, schema := range append(append([]*iceberg.Schema(nil), s.table.metadata.Schemas()...), s.at.schema) {
		collectFields(schema.Fields(), out)
	}
	return out
}

func collectFields(fields []iceberg.NestedField, out map[int]iceberg.NestedField) {
	for _, f := range fields {
		out[f.ID] = f
		if n, ok := f.Type.(iceberg.NestedType); ok {
			collectFields(n.Fields(), out)
		}
	}
}
