package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/variant"
)

// Unshred makes variants of what a file keeps in parts. The caller keeps a, which is a struct of the parts, and releases the result, which
// is of VariantType.
func (s *Shredding) Unshred(a arrow.Array, mem memory.Allocator) (arrow.Array, error) {
	parts, ok := a.(*array.Struct)
	if !ok || s.shape.metadata >= parts.NumField() {
		return nil, fault.New(fault.Internal, "a shredded variant came as %s", a.DataType())
	}
	metadata, ok := parts.Field(s.shape.metadata).(*array.Binary)
	if !ok {
		return nil, fault.New(fault.Internal, "a shredded variant came as %s", a.DataType())
	}
	b := array.NewStructBuilder(mem, VariantType())
	defer b.Release()
	u := unshredder{}
	for i := range parts.Len() {
		if parts.IsNull(i) {
			b.AppendNull()
			continue
		}
		if metadata.IsNull(i) {
			return nil, fault.New(fault.Corrupt, "a variant without metadata")
		}
		if err := u.use(metadata.Value(i)); err != nil {
			return nil, err
		}
		value, err := u.value(&s.shape, parts, i)
		if err != nil {
			return nil, err
		}
		if value == nil {
			value = variantNull
		}
		b.Append(true)
		b.FieldBuilder(0).(*array.BinaryBuilder).Append(metadata.Value(i))
		b.FieldBuilder(1).(*array.BinaryBuilder).Append(value)
	}
	return b.NewArray(), nil
}

// unshredder knows the names of the metadata that it saw last: rows written together mostly share it.
type unshredder struct {
	metadata string
	known    bool
	names    []string
	numbers  map[string]int
}

func (u *unshredder) use(metadata []byte) error {
	if u.known && u.metadata == string(metadata) {
		return nil
	}
	var err error
	if u.names, err = variant.Names(metadata); err != nil {
		return err
	}
	u.metadata, u.known, u.numbers = string(metadata), true, make(map[string]int, len(u.names))
	for i, n := range u.names {
		if _, again := u.numbers[n]; !again {
			u.numbers[n] = i
		}
	}
	return nil
}

// value gives the value of a group's row; nil: it is missing.
func (u *unshredder) value(s *shape, group *array.Struct, i int) ([]byte, error) {
	if group.IsNull(i) {
		return nil, nil
	}
	var rest []byte
	if s.value >= 0 {
		if a := group.Field(s.value).(*array.Binary); a.IsValid(i) {
			if rest = a.Value(i); len(rest) == 0 {
				return nil, fault.New(fault.Corrupt, "a variant's value of no bytes")
			}
		}
	}
	if s.typed < 0 || group.Field(s.typed).IsNull(i) {
		return rest, nil
	}
	typed := group.Field(s.typed)
	if s.fields != nil {
		return u.object(s, typed.(*array.Struct), i, rest)
	}
	if rest != nil {
		return nil, fault.New(fault.Corrupt, "a variant with a value of its own and a shredded one that is no object")
	}
	if s.element != nil {
		return u.list(s, typed.(*array.List), i)
	}
	return s.scalar(nil, typed, i), nil
}

// object puts shredded fields and the rest together. A field of the rest that is shredded too breaks the format; the shredded one counts.
func (u *unshredder) object(s *shape, typed *array.Struct, i int, rest []byte) ([]byte, error) {
	var parts []part
	own := map[string]bool{}
	for at := range s.fields {
		f := &s.fields[at]
		own[f.name] = true
		group, ok := typed.Field(at).(*array.Struct)
		if !ok {
			return nil, fault.New(fault.Internal, "a shredded field came as %s", typed.Field(at).DataType())
		}
		v, err := u.value(&f.group, group, i)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		number, ok := u.numbers[f.name]
		if !ok {
			return nil, fault.New(fault.Corrupt, "a variant whose metadata lacks the shredded field %q", f.name)
		}
		parts = append(parts, part{f.name, number, v})
	}
	if rest != nil {
		others, err := objectParts(rest, u.names)
		if err != nil {
			return nil, err
		}
		for _, p := range others {
			if !own[p.name] {
				parts = append(parts, p)
			}
		}
	}
	return appendObject(nil, parts), nil
}

func (u *unshredder) list(s *shape, typed *array.List, i int) ([]byte, error) {
	from, to := typed.ValueOffsets(i)
	group, ok := typed.ListValues().(*array.Struct)
	if !ok {
		return nil, fault.New(fault.Internal, "shredded elements came as %s", typed.ListValues().DataType())
	}
	values := make([][]byte, 0, to-from)
	for at := from; at < to; at++ {
		v, err := u.value(s.element, group, int(at))
		if err != nil {
			return nil, err
		}
		if v == nil {
			v = variantNull
		}
		values = append(values, v)
	}
	return appendList(nil, values), nil
}
