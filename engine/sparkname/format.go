package sparkname

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// numberLetters are all that formats of numbers are made of.
const numberLetters = "09.,$DGSMIPRdgsmipr"

// formatted writes to_char, which Spark calls by what it is for times and bytes: their formats are none of numbers.
func (n *namer) formatted(value, format syntax.Expr) bool {
	literal, ok := format.(*syntax.Literal)
	if !ok || literal.Kind != syntax.String {
		n.words("to_char(", value, ", ", format, ")")
		return true
	}
	switch name := strings.ToLower(literal.Value); {
	case name == "hex" || name == "base64":
		n.words(name+"(", value, ")")
	case name == "utf-8":
		n.words("decode(", value, ", ", format, ")")
	case strings.Trim(name, numberLetters) != "":
		n.words("date_format(", value, ", ", format, ")")
	default:
		n.words("to_char(", value, ", ", format, ")")
	}
	return true
}
