//go:build cgo

package duckdb

import (
	"encoding/hex"
	"strconv"

	"github.com/skua-data/skua/engine/sparktext"
)

// appendText writes a value that is not NULL as Spark's cast to string does.
func appendText(b []byte, n *node, row int, zone *sparktext.Zone) []byte {
	switch n.family() {
	case textFamily:
		return appendWord(b, n, row)
	case binaryFamily:
		return sparktext.AppendValid(b, n.text(row))
	case booleanFamily:
		return strconv.AppendBool(b, at[bool](n, row))
	case wholeFamily:
		small, large := n.whole(row)
		if large != nil {
			return large.Append(b, 10)
		}
		return strconv.AppendInt(b, small, 10)
	case decimalFamily:
		small, large := n.whole(row)
		if large != nil {
			return append(b, sparktext.Decimal(large, int(n.scale))...)
		}
		return sparktext.AppendDecimal(b, small, int(n.scale))
	case floatFamily:
		if n.kind() == typeFloat {
			return sparktext.AppendFloat(b, float64(at[float32](n, row)), 32)
		}
		return sparktext.AppendFloat(b, at[float64](n, row), 64)
	case dateFamily:
		return sparktext.AppendDate(b, int64(at[int32](n, row)))
	case instantFamily:
		units, second := at[int64](n, row), n.perSecond()
		return sparktext.AppendTimestamp(b, units+zone.Offset(sparktext.FloorDiv(units, second))*second, second)
	case wallFamily:
		return sparktext.AppendTimestamp(b, at[int64](n, row), n.perSecond())
	case clockFamily:
		return sparktext.AppendClock(b, at[int64](n, row), 1_000_000)
	case intervalFamily:
		i := at[interval](n, row)
		return sparktext.AppendInterval(b, int64(i.months), int64(i.days), i.micros)
	}
	return appendNested(b, n, row, zone)
}

// appendWord writes a text, or what is written as a word.
func appendWord(b []byte, n *node, row int) []byte {
	switch n.kind() {
	case typeEnum:
		return append(b, n.word(row)...)
	case typeUUID:
		w := at[wide](n, row)
		high := uint64(w.high) ^ 1<<63 // so that it sorts as a number does
		var raw [16]byte
		for i := range 8 {
			raw[i], raw[8+i] = byte(high>>(56-8*i)), byte(w.low>>(56-8*i))
		}
		for i, end := range []int{4, 6, 8, 10, 16} {
			from := []int{0, 4, 6, 8, 10}[i]
			if i > 0 {
				b = append(b, '-')
			}
			b = hex.AppendEncode(b, raw[from:end])
		}
		return b
	}
	return append(b, n.text(row)...)
}

// appendNested writes [1, null], {a -> 1} and {1, x}.
func appendNested(b []byte, n *node, row int, zone *sparktext.Zone) []byte {
	parts := n.parts()
	part := func(b []byte, p *node, at int) []byte {
		if p.null(at) {
			return append(b, "null"...)
		}
		return appendText(b, p, at, zone)
	}
	if n.family() == structFamily {
		b = append(b, '{')
		for i := range parts {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = part(b, &parts[i], row)
		}
		return append(b, '}')
	}
	open, closing := byte('['), byte(']')
	if n.family() == mapFamily {
		open, closing = '{', '}'
	}
	b = append(b, open)
	from, to := n.elements(row)
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ", "...)
		}
		b = part(b, &parts[0], i)
		if n.family() == mapFamily {
			b = part(append(b, " -> "...), &parts[1], i)
		}
	}
	return append(b, closing)
}
