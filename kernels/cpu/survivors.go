package cpu

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/kernels"
)

// survivorBytes is how much of a row group's filter columns is kept between Select and Read. A filter that keeps more has them decoded twice,
// which then is a small part of the work.
const survivorBytes = 8 << 20

// survivors are the values of filter columns for the rows that a filter kept.
type survivors struct {
	reader    *reader
	selection *kernels.Selection
	fields    map[int]int           // column → field id
	pieces    map[int][]arrow.Array // by column
	bytes     int64
}

// newSurvivors is for the columns of the row group that are leaves themselves.
func newSurvivors(r *reader) *survivors {
	s := &survivors{reader: r, fields: map[int]int{}, pieces: map[int][]arrow.Array{}}
	for i := range r.rg.Columns {
		n := &r.rg.Columns[i].Node
		if id, ok := kernels.FieldID(n.Field); ok && n.Kind == kernels.Leaf {
			s.fields[i] = id
		}
	}
	return s
}

// wants says whether a field's values are to be kept.
func (s *survivors) wants(field int) bool {
	for _, id := range s.fields {
		if id == field {
			return true
		}
	}
	return false
}

// add keeps what was read of a window's survivors. A column that was not read there is read by Read.
func (s *survivors) add(arrays map[int]arrow.Array) {
	for column, id := range s.fields {
		a := arrays[id]
		if a == nil {
			s.forget(column)
			continue
		}
		a.Retain()
		s.pieces[column] = append(s.pieces[column], a)
		for _, b := range a.Data().Buffers() {
			if b != nil {
				s.bytes += int64(b.Len())
			}
		}
	}
	if s.bytes > survivorBytes {
		s.release()
	}
}

func (s *survivors) forget(column int) {
	for _, a := range s.pieces[column] {
		a.Release()
	}
	delete(s.pieces, column)
	delete(s.fields, column)
}

func (s *survivors) release() {
	for column := range s.fields {
		s.forget(column)
	}
}

// read gives rows of a column, if they are kept.
func (s *survivors) read(column int, sel *kernels.Selection, from, n int64) (arrow.Array, error) {
	if s == nil || s.selection != sel || len(s.pieces[column]) == 0 {
		return nil, nil
	}
	pieces := s.pieces[column]
	if len(pieces) > 1 {
		whole, err := array.Concatenate(pieces, s.reader.mem.Allocator)
		if err != nil {
			return nil, err
		}
		for _, a := range pieces {
			a.Release()
		}
		pieces = []arrow.Array{whole}
		s.pieces[column] = pieces
	}
	from = min(max(from, 0), int64(pieces[0].Len()))
	return array.NewSlice(pieces[0], from, from+n), nil
}

// keep replaces what was kept of an earlier filter.
func (r *reader) keep(s *survivors, selection *kernels.Selection) {
	if r.kept != nil {
		r.kept.release()
	}
	s.selection = selection
	r.kept = s
}
