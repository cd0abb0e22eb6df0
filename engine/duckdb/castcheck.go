//go:build cgo

package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// takes refuses a type that is not cast to the target.
func (t *castTarget) takes(n *node) error {
	from := n.family()
	switch {
	case n.unjudged(), from == nullFamily, t.from == nil && t.name == "STRING", slices.Contains(t.from, from):
		return nil
	case from == noFamily:
		return fault.New(fault.Unsupported, "a cast of values of this type to %s is not supported in the dialect spark", t.name)
	}
	return mismatch(n, t.name, t.name == "DATE" && slices.Contains(castNumbers[2:5], from) || from == dateFamily && slices.Contains(numericTargets, t.name))
}

// numericTargets are the types that Spark offers functions of dates for.
var numericTargets = []string{"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"}

// mismatch is Spark's error for types that are not cast into each other; suggested: it knows functions that do it.
func mismatch(n *node, to string, suggested bool) error {
	condition, advice := "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", ""
	if suggested {
		function := "`UNIX_DATE`"
		if to == "DATE" {
			function = "`DATE_FROM_UNIX_DATE`"
		}
		condition, advice = "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION", " To convert values from \""+n.sparkType()+"\" to \""+to+"\", you can use the functions "+function+" instead."
	}
	return fault.New(fault.Invalid, "Cannot resolve the cast due to data type mismatch: cannot cast \"%s\" to \"%s\".%s", n.sparkType(), to, advice).With(condition, "42K09")
}

// mayNest refuses values whose parts are not cast to the parts of a sample's type. With try a key that becomes NULL is refused: there is no such key.
func mayNest(n, sample *node, try bool) error {
	if n.family() == nullFamily || n.unjudged() {
		return nil
	}
	parts, wanted := n.parts(), sample.parts()
	if len(wanted) > 0 {
		key := try && n.family() == mapFamily && parts[0].family() == textFamily && wanted[0].family() != textFamily
		if n.family() != sample.family() || len(parts) != len(wanted) || key {
			return mismatch(n, sample.sparkType(), false)
		}
		for i := range parts {
			if mayNest(&parts[i], &wanted[i], try) != nil {
				return mismatch(n, sample.sparkType(), false)
			}
		}
		return nil
	}
	name := sample.sparkType()
	if sample.family() == decimalFamily {
		name = "DECIMAL"
	}
	for _, t := range castTargets {
		if t.name == name {
			return t.takes(n)
		}
	}
	return nil
}

// literal spells a value as Spark's errors do.
func castLiteral(n *node, row int) string {
	text := string(appendText(nil, n, row, sparktext.UTC()))
	switch n.family() {
	case textFamily:
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	case decimalFamily:
		return text + "BD"
	case floatFamily:
		if n.kind() == typeDouble && !strings.HasSuffix(text, "N") && !strings.HasSuffix(text, "y") {
			return text + "D"
		}
	case dateFamily, instantFamily, wallFamily:
		return n.sparkType() + " '" + text + "'"
	}
	switch n.kind() {
	case typeBigint:
		return text + "L"
	case typeSmallint:
		return text + "S"
	case typeTinyint:
		return text + "Y"
	}
	return text
}

// targetName spells the type that a cast makes.
func (c *casting) targetName() string {
	if c.target == "DECIMAL" {
		return "DECIMAL(" + itoa(c.precision) + "," + itoa(c.scale) + ")"
	}
	return c.target
}

// invalid is the error of a text that is no value of the target.
func (c *casting) invalid(n *node, row int) error {
	if c.try {
		return errNoValue
	}
	return sparktext.InvalidInput(castLiteral(n, row), n.sparkType(), c.targetName())
}

// overflow is the error of a value that is too large for the target.
func (c *casting) overflow(n *node, row int) error {
	if c.try {
		return errNoValue
	}
	return sparktext.CastOverflow(castLiteral(n, row), n.sparkType(), c.targetName())
}

// isNative reports whether the engine's own cast between two types, which it spells, is Spark's.
func isNative(from, to string) bool {
	if from == to || slices.Contains(nativeCasts[to], from) {
		return true
	}
	width, scale, decimal := decimalNamed(to)
	fromWidth, fromScale, ok := decimalNamed(from)
	return decimal && ok && fromScale <= scale && fromWidth-fromScale <= width-scale
}

// wholeDigits is how many digits the whole numbers have.
var wholeDigits = map[string]int{"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19}

// decimalNamed gives the digits of a type that is a decimal, or a whole number.
func decimalNamed(name string) (width, scale int, ok bool) {
	if n := wholeDigits[name]; n > 0 {
		return n, 0, true
	}
	n, _ := fmt.Sscanf(name, "DECIMAL(%d,%d)", &width, &scale)
	return width, scale, n == 2
}

// nativeCasts are the types that the engine casts to a type as Spark does, without a value that it could refuse.
var nativeCasts = map[string][]string{
	"SMALLINT": {"TINYINT"}, "INTEGER": {"TINYINT", "SMALLINT"}, "BIGINT": {"TINYINT", "SMALLINT", "INTEGER"},
	"FLOAT": {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}, "DOUBLE": {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT"},
	"VARCHAR": {"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"}, "DATE": {"TIMESTAMP"}, "TIMESTAMP": {"DATE"},
}
