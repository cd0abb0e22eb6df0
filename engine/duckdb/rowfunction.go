//go:build cgo

package duckdb

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// More of the engine's numbers of types.
const (
	typeOfTimestamp = 12
	typeOfDate      = 13
	typeOfZoned     = 31
)

// row is one row of a call of a function that is written for single values.
type row struct {
	columns []arrow.Array
	at      int
	out     array.Builder
	zones   map[string]*sparktext.Zone // that were asked for
	kept    map[string]any             // what was made ready of arguments that are the same in many rows
}

// rowFunction makes a function of one for single rows. NULL among the arguments gives NULL, unless nulls is set; a row that gives nothing is NULL.
func rowFunction(name string, parameters []int, result int, of func(r *row) error) scalar {
	return scalar{name: name, parameters: parameters, result: result, call: func(arguments []arrow.Array, rows int) (arrow.Array, error) {
		b := builderOf(result)
		defer b.Release()
		b.Reserve(rows)
		r := &row{columns: arguments, out: b, zones: map[string]*sparktext.Zone{}, kept: map[string]any{}}
		for r.at = 0; r.at < rows; r.at++ {
			before := b.Len()
			if !r.missing(len(parameters)) {
				if err := of(r); err != nil {
					return nil, err
				}
			}
			if b.Len() == before {
				b.AppendNull()
			}
		}
		return b.NewArray(), nil
	}}
}

// rowFunctionOfMany is rowFunction with any number of arguments behind those of the types: they may be NULL.
func rowFunctionOfMany(name string, parameters []int, result int, of func(r *row) error) scalar {
	out := rowFunction(name, parameters, result, of)
	out.varargs = true
	return out
}

// missing reports whether one of the first arguments is NULL.
func (r *row) missing(first int) bool {
	for _, c := range r.columns[:first] {
		if c.IsNull(r.at) {
			return true
		}
	}
	return false
}

// builderOf makes the builder of a result.
func builderOf(result int) array.Builder {
	switch result {
	case typeBoolean:
		return array.NewBooleanBuilder(memory.DefaultAllocator)
	case typeInteger:
		return array.NewInt32Builder(memory.DefaultAllocator)
	case typeBigint:
		return array.NewInt64Builder(memory.DefaultAllocator)
	case typeDouble:
		return array.NewFloat64Builder(memory.DefaultAllocator)
	case typeBlob:
		return array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	case typeOfDate:
		return array.NewDate32Builder(memory.DefaultAllocator)
	case typeOfTimestamp:
		return array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Microsecond})
	case typeOfZoned:
		return array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"})
	}
	return array.NewStringBuilder(memory.DefaultAllocator)
}

// give appends the result of a row.
func (r *row) give(v any) {
	switch b := r.out.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int64)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.StringBuilder:
		b.Append(v.(string))
	}
}

// text gives an argument that is a text.
func (r *row) text(i int) string { return r.columns[i].(*array.String).Value(r.at) }

// bytes gives one that is bytes or a text; they are good for the row.
func (r *row) bytes(i int) []byte {
	switch a := r.columns[i].(type) {
	case *array.Binary:
		return a.Value(r.at)
	case *array.String:
		return []byte(a.Value(r.at))
	}
	return nil
}

// whole gives one that is a number without a fraction, a day or an instant in microseconds.
func (r *row) whole(i int) int64 {
	switch a := r.columns[i].(type) {
	case *array.Int32:
		return int64(a.Value(r.at))
	case *array.Int64:
		return a.Value(r.at)
	case *array.Date32:
		return int64(a.Value(r.at))
	case *array.Timestamp:
		return int64(a.Value(r.at))
	}
	return 0
}

func (r *row) float(i int) float64 { return r.columns[i].(*array.Float64).Value(r.at) }
func (r *row) truth(i int) bool    { return r.columns[i].(*array.Boolean).Value(r.at) }

// zone gives the zone that an argument names.
func (r *row) zone(i int) (*sparktext.Zone, error) {
	name := r.text(i)
	if z := r.zones[name]; z != nil {
		return z, nil
	}
	location, ok := sparktext.ParseZone(name)
	if !ok {
		return nil, fault.New(fault.Invalid, "The timezone: %s is invalid. The timezone must be either a region-based zone ID or a zone offset.", name).With("INVALID_TIMEZONE", "22009")
	}
	r.zones[name] = sparktext.ZoneOf(location)
	return r.zones[name], nil
}

// wall gives an argument that is a day, a wall clock or an instant as a wall clock's microseconds in a zone, and how many seconds that is east of UTC.
func (r *row) wall(i int, zone *sparktext.Zone) (wall, offset int64) {
	switch a := r.columns[i].(type) {
	case *array.Date32:
		wall = int64(a.Value(r.at)) * sparktext.MicrosPerDay
		return wall, zone.Offset(zone.Instant(wall / 1_000_000))
	case *array.Timestamp:
		v := int64(a.Value(r.at))
		if a.DataType().(*arrow.TimestampType).TimeZone == "" {
			return v, zone.Offset(zone.Instant(sparktext.FloorDiv(v, 1_000_000)))
		}
		offset = zone.Offset(sparktext.FloorDiv(v, 1_000_000))
		return v + offset*1_000_000, offset
	}
	return 0, 0
}

// of gives what is made of a text once for many rows.
func of[T any](r *row, text string, read func(string) (T, error)) (T, error) {
	if v, ok := r.kept[text]; ok {
		return v.(T), nil
	}
	v, err := read(text)
	if err == nil {
		r.kept[text] = v
	}
	return v, err
}
