package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// sparkFormats are the functions that read and write by formats which are constants.
var sparkFormats = map[string]function{"to_number": ruled("to_number", 2, 2, numberRule("to_number", "false")), "try_to_number": ruled("try_to_number", 2, 2, numberRule("try_to_number", "true")),
	"to_char": ruled("to_char", 2, 2, charRule("to_char")), "to_varchar": ruled("to_varchar", 2, 2, charRule("to_varchar"))}

// constantArgument is what a call says of one of its arguments: a text as it is written, NULL, a name of a column, or something else.
type constantArgument struct {
	text   string
	given  bool // as text
	null   bool
	column bool
}

// callRule says how a call is written by what is written of its arguments, with the text that stands for it where types are not known.
type callRule func(written []constantArgument) (text string, rule func(types []Type) (verdict, error))

// ruled makes a function that is written by the types of its arguments, some of which are constants.
func ruled(name string, least, most int, of callRule) function {
	return counting(name, least, most, function{special: func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		written := make([]constantArgument, len(bounds))
		for i, b := range bounds {
			w := &written[i]
			w.text, w.given = r.literal(b)
			w.null = b[1]-b[0] == 1 && r.at(b[0]).Is("NULL")
			w.column = !w.given && !w.null && r.isColumn(b)
		}
		text, rule := of(written)
		if len(bounds) == 0 || r.unbound(bounds[0][0], bounds[len(bounds)-1][1]) {
			r.template(text, pos, r.argumentPieces(bounds)...)
			return true
		}
		r.typedCall(text, bounds, rule)
		return true
	}})
}

// constantNeeded is the error about an argument that is none.
func constantNeeded(function, argument string, written constantArgument) error {
	if written.column {
		return fault.New(fault.Invalid, "Cannot resolve %q due to data type mismatch: the input `%s` should be a foldable \"STRING\" expression.", function, argument).
			With("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "42K09")
	}
	return fault.New(fault.Unsupported, "%s takes its %s as a literal: write it as a text in quotes", function, argument)
}

// asText gives the cast to a text that an argument needs.
func asText(name string, t Type) (string, error) {
	switch {
	case t.Name == "LIST" || t.Name == "MAP" || t.Name == "STRUCT":
		return "", unexpected(name, "STRING", t)
	case isText(t):
		return "", nil
	}
	return "VARCHAR", nil
}

// numberRule is for to_number, whose format says the type.
func numberRule(name, try string) callRule {
	return func(written []constantArgument) (string, func(types []Type) (verdict, error)) {
		plain := "skua_to_number(CAST($1 AS VARCHAR), CAST($2 AS VARCHAR), " + try + ")"
		return plain, func(types []Type) (out verdict, err error) {
			out.casts = []string{"", ""}
			if out.casts[0], err = asText(name, types[0]); err != nil {
				return out, err
			}
			switch format := written[1]; {
			case format.null:
				return verdict{text: "CAST(NULL AS DECIMAL(10,0))", gives: decimalType(10, 0)}, nil
			case !format.given:
				return out, constantNeeded(name, "format", format)
			}
			f, err := sparktext.ParseNumberFormat(written[1].text)
			if err != nil {
				return out, err
			}
			if f.Precision() > arith.MaxPrecision {
				return out, fault.New(fault.Invalid, "Decimal precision %d exceeds max precision %d.", f.Precision(), arith.MaxPrecision).With("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "22003")
			}
			out.gives = decimalType(f.Precision(), f.Scale())
			out.text = "CAST(skua_to_number($1, $2, " + try + ") AS " + out.gives.Text + ")"
			return out, nil
		}
	}
}

// formattedAs are the decimals that other types of numbers are written as.
var formattedAs = map[string]string{"FLOAT": "DECIMAL(14,7)", "DOUBLE": "DECIMAL(30,15)", "VARCHAR": "DECIMAL(38,18)"}

// charRule is for to_char: of numbers, times and bytes.
func charRule(name string) callRule {
	return func(written []constantArgument) (string, func(types []Type) (verdict, error)) {
		return "skua_number_text(CAST($1 AS VARCHAR), CAST($2 AS VARCHAR))", func(types []Type) (verdict, error) {
			of, format := types[0], written[1]
			out := verdict{casts: []string{"", ""}, gives: parseType("VARCHAR")}
			switch {
			case isDatetime(of):
				out.text = "skua_date_format($2, $1)"
			case of.Name == "BLOB":
				return bytesText(name, format)
			case !isNumber(of) && of.Name != "VARCHAR" && of.Name != `"NULL"`:
				return out, unexpected(name, "DECIMAL", of)
			case format.null:
				return verdict{text: "CAST(NULL AS VARCHAR)", gives: out.gives}, nil
			case !format.given:
				return out, constantNeeded(name, "format", format)
			default:
				out.casts[0] = formattedAs[of.Name]
				out.text = "skua_number_text(CAST($1 AS VARCHAR), $2)"
				_, err := sparktext.ParseNumberFormat(format.text)
				return out, err
			}
			return out, nil
		}
	}
}

// bytesText writes bytes in one of three forms.
func bytesText(name string, format constantArgument) (verdict, error) {
	texts := map[string]string{"base64": "to_base64($1)", "hex": "hex($1)", "utf-8": "skua_decode($1, 'utf-8')"}
	if !format.given && !format.null {
		return verdict{}, fault.New(fault.Invalid, "The function `%s` requires the parameter `format` to be a foldable expression of the type \"STRING\", but the actual argument is a non-foldable.", name).
			With("NON_FOLDABLE_ARGUMENT", "42K08")
	}
	text, ok := texts[strings.ToLower(format.text)]
	if !ok {
		return verdict{}, fault.New(fault.Invalid, "The value of parameter(s) `format` in `%s` is invalid: expects one of binary formats 'base64', 'hex', 'utf-8', but got '%s'.", name, format.text).
			With("INVALID_PARAMETER_VALUE.BINARY_FORMAT", "22023")
	}
	return verdict{text: text, gives: parseType("VARCHAR")}, nil
}
