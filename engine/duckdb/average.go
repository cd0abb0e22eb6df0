//go:build cgo

package duckdb

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
)

// averages are the quotient of a sum of decimals and a count, as text with a number of digits behind the point, rounded half up; and the probe
// that tells what type a key has.
var averages = []scalar{
	{name: "skua_average", parameters: []int{typeAny, typeBigint, typeInteger}, result: typeVarchar, call: averageCall},
	{name: dialect.Probe, parameters: []int{typeAny, typeInteger}, result: typeDouble, call: probeCall},
}

func averageCall(arguments []arrow.Array, rows int) (arrow.Array, error) {
	sums, ok := arguments[0].(*array.Decimal128)
	if !ok {
		return nil, fault.New(fault.Internal, "an average of %s", arguments[0].DataType())
	}
	counts, scales := arguments[1].(*array.Int64), arguments[2].(*array.Int32)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		if sums.IsNull(i) || counts.IsNull(i) || counts.Value(i) == 0 {
			b.AppendNull()
			continue
		}
		b.Append(quotient(sums.Value(i).BigInt(), counts.Value(i), sums.DataType().(*arrow.Decimal128Type).Scale, scales.Value(i)))
	}
	return b.NewArray(), nil
}

// quotient writes sum, which has a scale, by count.
func quotient(sum *big.Int, count int64, from, to int32) string {
	n := new(big.Int).Mul(sum, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(to-from)), nil))
	n.Mul(n, big.NewInt(2))
	n.Add(n, big.NewInt(int64(n.Sign())*count))
	n.Quo(n, new(big.Int).Mul(big.NewInt(count), big.NewInt(2)))
	return pointed(n, int(to))
}

// pointed writes an unscaled number.
func pointed(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	for len(digits) <= scale {
		digits = "0" + digits
	}
	at := len(digits) - scale
	text := digits[:at] + "." + digits[at:]
	if n.Sign() < 0 {
		return "-" + text
	}
	return text
}

func probeCall([]arrow.Array, int) (arrow.Array, error) {
	return nil, fault.New(fault.Internal, "a probe ran")
}
