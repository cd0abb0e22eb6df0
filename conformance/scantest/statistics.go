package scantest

import (
	le "encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// statistics are what a manifest says of a file's columns, by field id. A column may lack any of them.
type statistics struct {
	values, nulls, nans map[int]int64
	lower, upper        map[int][]byte

	wholeLower, wholeUpper map[int][]byte // not cut
}

// whole takes bounds as they are, uncut.
func (s *statistics) whole() { s.lower, s.upper = s.wholeLower, s.wholeUpper }

// statisticsOf makes statistics that a writer might give: right, but some are missing, some bounds are cut.
func (t *table) statisticsOf(fields []*field, rows []record) *statistics {
	s := &statistics{values: map[int]int64{}, nulls: map[int]int64{}, nans: map[int]int64{}, lower: map[int][]byte{}, upper: map[int][]byte{},
		wholeLower: map[int][]byte{}, wholeUpper: map[int][]byte{}}
	if t.r.Intn(6) == 0 {
		return s
	}
	countNaNs := t.r.Intn(3) > 0
	for _, f := range reachable(fields) {
		if !f.typ.compared() || t.r.Intn(10) == 0 {
			continue
		}
		p := path(fields, f.id)
		var values []any
		for _, row := range rows {
			values = append(values, dig(p, row))
		}
		s.of(t, f, values, countNaNs)
	}
	return s
}

func (s *statistics) of(t *table, f *field, values []any, countNaNs bool) {
	var low, high any
	var nulls, nans int64
	for _, v := range values {
		n, isFloat := v.(float64)
		switch {
		case v == nil:
			nulls++
			continue
		case isFloat && n != n:
			nans++
			continue
		}
		if low == nil || order(v, low) < 0 {
			low = v
		}
		if high == nil || order(v, high) > 0 {
			high = v
		}
	}
	if t.r.Intn(10) > 0 {
		s.values[f.id], s.nulls[f.id] = int64(len(values)), nulls
		if countNaNs && (f.typ.kind == float || f.typ.kind == double) {
			s.nans[f.id] = nans
		}
	}
	if low == nil || t.r.Intn(10) == 0 {
		return
	}
	if z, ok := low.(float64); ok && z == 0 {
		low = math.Copysign(0, -1)
	}
	if z, ok := high.(float64); ok && z == 0 {
		high = 0.0
	}
	s.wholeLower[f.id], s.wholeUpper[f.id] = single(f.typ, low), single(f.typ, high)
	s.lower[f.id] = cut(single(f.typ, low), f.typ)
	if up := cutUp(single(f.typ, high), f.typ); up != nil {
		s.upper[f.id] = up
	}
}

const boundLength = 6 // of text and binary: short, so that bounds are cut often

// cut shortens a lower bound.
func cut(b []byte, t *typ) []byte {
	switch {
	case t.kind == text && utf8.RuneCount(b) > boundLength:
		return []byte(string([]rune(string(b))[:boundLength]))
	case t.kind == binary && len(b) > boundLength:
		return b[:boundLength]
	}
	return b
}

// cutUp shortens an upper bound and rounds it up; nil: there is none.
func cutUp(b []byte, t *typ) []byte {
	short := cut(b, t)
	if len(short) == len(b) {
		return b
	}
	if t.kind == text {
		letters := []rune(string(short))
		for i := len(letters) - 1; i >= 0; i-- {
			if next := letters[i] + 1; next <= utf8.MaxRune && (next < 0xd800 || next > 0xdfff) {
				letters[i] = next
				return []byte(string(letters[:i+1]))
			}
		}
		return nil
	}
	for i := len(short) - 1; i >= 0; i-- {
		if short[i] < 0xff {
			out := append([]byte(nil), short[:i+1]...)
			out[i]++
			return out
		}
	}
	return nil
}

// single is a value in Iceberg's binary form of single values.
func single(t *typ, v any) []byte {
	switch t.kind {
	case boolean:
		return []byte{byte(rank(v.(bool)))}
	case integer, date:
		return le.LittleEndian.AppendUint32(nil, uint32(v.(int64)))
	case float:
		return le.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v.(float64))))
	case double:
		return le.LittleEndian.AppendUint64(nil, math.Float64bits(v.(float64)))
	case decimal:
		return twosComplement(v.(decimal128.Num).BigInt())
	case text:
		return []byte(v.(string))
	case uuid, fixed, binary:
		return v.([]byte)
	}
	return le.LittleEndian.AppendUint64(nil, uint64(v.(int64)))
}
