//go:build cgo

package duckdb

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/skua-data/skua/fault"
)

// charsetFunctions turn texts into bytes and back.
var charsetFunctions = []scalar{
	rowFunction("skua_encode", []int{typeVarchar, typeVarchar}, typeBlob, func(r *row) error {
		out, err := encoded(r.text(0), r.text(1))
		if err == nil {
			r.give(out)
		}
		return err
	}),
	rowFunction("skua_decode", []int{typeBlob, typeVarchar}, typeVarchar, func(r *row) error {
		out, err := decoded(r.bytes(0), r.text(1))
		if err == nil {
			r.give(out)
		}
		return err
	}),
	rowFunction("skua_to_binary", []int{typeVarchar, typeVarchar, typeBoolean}, typeBlob, toBinaryCall),
	rowFunction("skua_part_of_bytes", []int{typeBlob, typeBigint, typeBigint}, typeBlob, func(r *row) error {
		b := r.bytes(0)
		size, start, length := int64(len(b)), r.whole(1), r.whole(2)
		if start > 0 {
			start--
		} else if start < 0 {
			start += size
		}
		end := min(max(start+min(max(length, 0), size-start), 0), size)
		r.give(append([]byte{}, b[min(max(start, 0), end):end]...))
		return nil
	}),
	rowFunction("skua_unbase64", []int{typeVarchar}, typeBlob, unbase64Call),
	rowFunction("skua_distance", []int{typeVarchar, typeVarchar}, typeInteger, func(r *row) error {
		r.give(distance([]rune(r.text(0)), []rune(r.text(1))))
		return nil
	}),
}

func unknownCharset(name, function string) error {
	return fault.New(fault.Invalid, "The value of parameter(s) `charset` in `%s` is invalid: expects one of the iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8, but got %s.", function, name).
		With("INVALID_PARAMETER_VALUE.CHARSET", "22023")
}

func malformed(charset, function string) error {
	return fault.New(fault.Invalid, "Invalid value found when performing `%s` with %s", function, charset).With("MALFORMED_CHARACTER_CODING", "22000")
}

// encoded gives the bytes of a text.
func encoded(s, charset string) ([]byte, error) {
	var order binary.AppendByteOrder = binary.BigEndian
	var out []byte
	switch strings.ToUpper(charset) {
	case "UTF-8":
		return []byte(s), nil
	case "US-ASCII", "ISO-8859-1":
		most := map[bool]rune{true: 0x7F, false: 0xFF}[strings.EqualFold(charset, "US-ASCII")]
		for _, c := range s {
			if c > most {
				return nil, malformed(charset, "encode")
			}
			out = append(out, byte(c))
		}
		return out, nil
	case "UTF-16":
		if s != "" {
			out = append(out, 0xFE, 0xFF)
		}
	case "UTF-16LE":
		order = binary.LittleEndian
	case "UTF-16BE":
	default:
		return nil, unknownCharset(charset, "encode")
	}
	for _, unit := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, unit)
	}
	return out, nil
}

// decoded gives the text of bytes.
func decoded(b []byte, charset string) (string, error) {
	var order binary.ByteOrder = binary.BigEndian
	switch strings.ToUpper(charset) {
	case "UTF-8":
		if !utf8.Valid(b) {
			return "", malformed(charset, "decode")
		}
		return string(b), nil
	case "US-ASCII", "ISO-8859-1":
		var out strings.Builder
		for _, c := range b {
			if c > 0x7F && strings.EqualFold(charset, "US-ASCII") {
				return "", malformed(charset, "decode")
			}
			out.WriteRune(rune(c))
		}
		return out.String(), nil
	case "UTF-16":
		if len(b) >= 2 && b[0] == 0xFF && b[1] == 0xFE {
			order, b = binary.LittleEndian, b[2:]
		} else if len(b) >= 2 && b[0] == 0xFE && b[1] == 0xFF {
			b = b[2:]
		}
	case "UTF-16LE":
		order = binary.LittleEndian
	case "UTF-16BE":
	default:
		return "", unknownCharset(charset, "decode")
	}
	if len(b)%2 == 1 {
		return "", malformed(charset, "decode")
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

// unbase64Call leaves out what is none of the digits, as mail does.
func unbase64Call(r *row) error {
	digits := strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' {
			return c
		}
		return -1
	}, strings.TrimRight(r.text(0), "= "))
	if len(digits)%4 == 1 {
		return fault.New(fault.Invalid, "The value '%s' is no base64: its last unit does not have enough valid bits", r.text(0)).With("", "22023")
	}
	out, err := base64.RawStdEncoding.DecodeString(digits)
	if err == nil {
		r.give(out)
	}
	return err
}

func toBinaryCall(r *row) error {
	s, ok := r.text(0), false
	var out []byte
	switch format := strings.ToLower(r.text(1)); format {
	case "utf-8", "utf8":
		out, ok = []byte(s), true
	case "hex":
		out, ok = unhexed(s)
	case "base64":
		raw, err := base64.StdEncoding.DecodeString(s)
		out, ok = raw, err == nil
	default:
		return fault.New(fault.Invalid, "Cannot resolve \"to_binary\" due to data type mismatch: the `fmt` must be one of 'hex', 'utf-8' and 'base64'.").With("INVALID_PARAMETER_VALUE.BINARY_FORMAT", "22023")
	}
	switch {
	case ok:
		r.give(out)
	case !r.truth(2):
		return fault.New(fault.Invalid, "The value '%s' (\"STRING\") cannot be converted to \"BINARY\" because it is malformed.", s).With("CONVERSION_INVALID_INPUT", "22018")
	}
	return nil
}

// distance is how many characters are to be put in, taken out and exchanged to make one text of the other.
func distance(a, b []rune) int64 {
	line := make([]int64, len(b)+1)
	for j := range line {
		line[j] = int64(j)
	}
	for i, c := range a {
		before := line[0]
		line[0] = int64(i) + 1
		for j, d := range b {
			cost := before
			if c != d {
				cost++
			}
			before = line[j+1]
			line[j+1] = min(cost, line[j]+1, line[j+1]+1)
		}
	}
	return line[len(b)]
}
