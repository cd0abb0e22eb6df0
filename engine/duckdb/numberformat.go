//go:build cgo

package duckdb

import (
	"strings"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// numberFormats read and write numbers by Spark's formats.
var numberFormats = []scalar{
	rowFunction("skua_to_number", []int{typeVarchar, typeVarchar, typeBoolean}, typeVarchar, func(r *row) error {
		f, err := of(r, r.text(1), sparktext.ParseNumberFormat)
		if err != nil {
			return err
		}
		number, ok := f.Read(r.text(0))
		switch {
		case !ok && r.truth(2):
			return nil
		case !ok:
			return fault.New(fault.Invalid, "The format is invalid: %s. The input \"STRING\" %s does not match the format.", r.text(1), r.text(0)).With("INVALID_FORMAT.MISMATCH_INPUT", "42601")
		case f.Precision() == f.Scale() && !strings.Contains(number, "."):
			return fault.New(fault.Invalid, "%s cannot be represented as Decimal(%d, %d).", number, f.Precision(), f.Scale()).With("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003")
		}
		r.give(number)
		return nil
	}),
	rowFunction("skua_number_text", []int{typeVarchar, typeVarchar}, typeVarchar, func(r *row) error {
		f, err := of(r, r.text(1), sparktext.ParseNumberFormat)
		if err == nil {
			r.give(f.Write(r.text(0)))
		}
		return err
	}),
}
