package oracle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Values are compared in the form of the recorded ones: numbers up to int as JSON numbers, bigint, decimal and timestamps as text, floats as
// hexadecimal text, binary in base64, maps as sorted pairs. Both sides are brought into one spelling of it.

// valueOf gives one value in that form.
func (t *typ) valueOf(a arrow.Array, row int) (any, error) {
	switch x := a.(type) {
	case *array.Dictionary:
		if x.IsNull(row) {
			return nil, nil
		}
		return t.valueOf(x.Dictionary(), x.GetValueIndex(row))
	case *array.RunEndEncoded:
		return t.valueOf(x.Values(), x.GetPhysicalIndex(row))
	}
	if a.IsNull(row) || a.DataType().ID() == arrow.NULL {
		return nil, nil
	}
	if e, ok := a.(array.ExtensionArray); ok {
		if b, ok := e.Storage().(*array.FixedSizeBinary); ok && e.ExtensionType().ExtensionName() == "arrow.uuid" && t.kind == "string" {
			return uuidText(b.Value(row)), nil
		}
		return t.valueOf(e.Storage(), row)
	}
	if len(t.children) > 0 || t.kind == "struct" || t.kind == "variant" {
		return t.nestedOf(a, row)
	}
	return t.simpleOf(a, row)
}

func (t *typ) nestedOf(a arrow.Array, row int) (any, error) {
	switch x := a.(type) {
	case *array.Struct:
		if t.kind == "variant" {
			return variantOf(x, row)
		}
		if x.NumField() != len(t.children) {
			return nil, fmt.Errorf("a struct of %d fields for one of %d", x.NumField(), len(t.children))
		}
		out := make([]any, len(t.children))
		for i, child := range t.children {
			v, err := child.valueOf(x.Field(i), row)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	case *array.Map:
		return t.pairsOf(x, row)
	case array.ListLike:
		from, to := x.ValueOffsets(row)
		out := make([]any, 0, to-from)
		for i := from; i < to; i++ {
			v, err := t.children[0].valueOf(x.ListValues(), int(i))
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s for %s", a.DataType(), t.kind)
}

func (t *typ) pairsOf(m *array.Map, row int) (any, error) {
	if len(t.children) != 2 {
		return nil, fmt.Errorf("a map for %s", t.kind)
	}
	from, to := m.ValueOffsets(row)
	out := make([]any, 0, to-from)
	for i := from; i < to; i++ {
		k, err := t.children[0].valueOf(m.Keys(), int(i))
		if err != nil {
			return nil, err
		}
		v, err := t.children[1].valueOf(m.Items(), int(i))
		if err != nil {
			return nil, err
		}
		out = append(out, []any{k, v})
	}
	sortValues(out)
	return out, nil
}

func variantOf(s *array.Struct, row int) (any, error) {
	out := map[string]any{}
	for i, f := range s.DataType().(*arrow.StructType).Fields() {
		if f.Name != "value" && f.Name != "metadata" {
			continue
		}
		v, err := (&typ{kind: "binary"}).valueOf(s.Field(i), row)
		if err != nil {
			return nil, err
		}
		out[f.Name] = v
	}
	return out, nil
}

func (t *typ) simpleOf(a arrow.Array, row int) (any, error) {
	switch x := a.(type) {
	case *array.Boolean:
		return x.Value(row), nil
	case *array.Float32:
		return hexText(float64(x.Value(row))), nil
	case *array.Float64:
		return hexText(x.Value(row)), nil
	case *array.Date32:
		return json.Number(strconv.Itoa(int(x.Value(row)))), nil
	case *array.Timestamp:
		return t.stampText(x, row), nil
	case *array.Time64:
		unit := time.Duration(1)
		if x.DataType().(*arrow.Time64Type).Unit == arrow.Microsecond {
			unit = time.Microsecond
		}
		return strconv.FormatInt(int64(x.Value(row))*int64(unit)/1000, 10), nil
	case array.StringLike:
		return x.Value(row), nil
	case interface{ Value(int) []byte }:
		return base64.StdEncoding.EncodeToString(x.Value(row)), nil
	}
	return t.numberOf(a, row)
}

func (t *typ) numberOf(a arrow.Array, row int) (any, error) {
	if d, ok := a.DataType().(arrow.DecimalType); ok {
		return decimalText(a, row, d.GetScale())
	}
	switch a.(type) {
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64:
	default:
		return nil, fmt.Errorf("%s for %s", a.DataType(), t.kind)
	}
	text := a.ValueStr(row)
	if t.kind == "bigint" || t.kind == "decimal" {
		return text, nil
	}
	return json.Number(text), nil
}

// stampText is microseconds since the epoch, or nanoseconds where those are recorded. More digits than recorded stay visible.
func (t *typ) stampText(a *array.Timestamp, row int) string {
	unit := a.DataType().(*arrow.TimestampType).Unit
	n := new(big.Int).Mul(big.NewInt(int64(a.Value(row))), big.NewInt(int64(unit.Multiplier())))
	if strings.HasSuffix(t.kind, "_ns") {
		return n.String()
	}
	micros, rest := new(big.Int).DivMod(n, big.NewInt(1000), new(big.Int))
	if rest.Sign() == 0 {
		return micros.String()
	}
	return fmt.Sprintf("%s.%03d", micros, rest.Int64())
}

func decimalText(a arrow.Array, row int, scale int32) (any, error) {
	var n *big.Int
	switch x := a.(type) {
	case *array.Decimal32:
		n = big.NewInt(int64(x.Value(row)))
	case *array.Decimal64:
		n = big.NewInt(int64(x.Value(row)))
	case *array.Decimal128:
		n = x.Value(row).BigInt()
	case *array.Decimal256:
		n = x.Value(row).BigInt()
	default:
		return nil, fmt.Errorf("%s is no decimal", a.DataType())
	}
	digits := new(big.Int).Abs(n).String()
	if scale > 0 {
		if missing := int(scale) + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		digits = digits[:len(digits)-int(scale)] + "." + digits[len(digits)-int(scale):]
	}
	if n.Sign() < 0 {
		digits = "-" + digits
	}
	return digits, nil
}

func hexText(f float64) string { return strings.ToLower(strconv.FormatFloat(f, 'x', -1, 64)) }

func uuidText(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// normal brings a recorded value into the spelling of valueOf.
func (t *typ) normal(v any) any {
	switch x := v.(type) {
	case string:
		if t.kind == "float" || t.kind == "double" {
			if f, err := strconv.ParseFloat(x, 64); err == nil {
				return hexText(f)
			}
		}
	case []any:
		return t.normalList(x)
	}
	return v
}

func (t *typ) normalList(list []any) any {
	out := make([]any, len(list))
	for i, v := range list {
		pair, isPair := v.([]any)
		switch {
		case t.kind == "struct" && i < len(t.children):
			out[i] = t.children[i].normal(v)
		case t.kind == "array":
			out[i] = t.children[0].normal(v)
		case t.kind == "map" && isPair && len(pair) == 2:
			out[i] = []any{t.children[0].normal(pair[0]), t.children[1].normal(pair[1])}
		default:
			out[i] = v
		}
	}
	if t.kind == "map" {
		sortValues(out)
	}
	return out
}

// text is a value's JSON, by which values are compared and sorted.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v) // values are made of what JSON has
	}
	return string(b)
}

func sortValues(values []any) {
	slices.SortFunc(values, func(a, b any) int { return strings.Compare(text(a), text(b)) })
}
