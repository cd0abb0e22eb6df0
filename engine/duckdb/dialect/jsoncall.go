package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// sparkJSON are Spark's functions of JSON and CSV.
var sparkJSON = map[string]function{
	"get_json_object":   templated(2, "skua_json_object(CAST($1 AS VARCHAR), CAST($2 AS VARCHAR))"),
	"json_array_length": templated(1, "skua_json_length(CAST($1 AS VARCHAR))"),
	"json_object_keys":  templated(1, "CAST(json_transform(skua_json_names(CAST($1 AS VARCHAR)), '[\"VARCHAR\"]') AS VARCHAR[])"),
	"schema_of_json":    templated(1, "skua_json_schema($1)"),
	"schema_of_csv":     {special: optionCall(1, "skua_csv_schema($1, ", ")")},
	"to_json":           {special: optionCall(1, "skua_spark_json($1, ", ")")},
	"to_csv":            {special: optionCall(1, "skua_to_csv($1, ", ")")},
	"from_json":         {special: readCall("skua_from_json")}, "from_csv": {special: readCall("skua_from_csv")},
}

// optionCall makes a function with options behind its other arguments: a map of texts, which is written as one text.
func optionCall(arguments int, before, after string) func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if len(bounds) < arguments || len(bounds) > arguments+1 {
			return false
		}
		options, ok := r.options(bounds[arguments:])
		if !ok {
			r.failed = fault.New(fault.Unsupported, "options of functions of JSON and CSV that are no map of literals are not supported").With("UNSUPPORTED_FEATURE", "0A000").At(faultAt(pos))
			return true
		}
		args := r.argumentPieces(bounds)
		r.template(before+QuoteText(options)+after, pos, args[:arguments]...)
		return true
	}
}

// options reads map('name', 'value', …) as names and values with a mark between them.
func (r *rewriter) options(bounds [][2]int) (string, bool) {
	if len(bounds) == 0 {
		return "", true
	}
	from, to := bounds[0][0], bounds[0][1]
	if !r.at(from).Is("MAP") || !r.at(from+1).Is("(") || !r.at(to-1).Is(")") {
		return "", false
	}
	var parts []string
	for i := from + 2; i < to; i += 2 {
		if r.at(i).Kind != syntax.Text || !r.at(i+1).Is(",") && i+2 != to {
			return "", false
		}
		parts = append(parts, syntax.TextOf(r.at(i)))
	}
	return strings.Join(parts, "\x01"), len(parts)%2 == 0
}

// readCall makes from_json and from_csv: a function of ours gives what is read as JSON that the engine reads as the schema's type.
func readCall(name string) func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if len(bounds) < 2 || len(bounds) > 3 {
			return false
		}
		options, ok := r.options(bounds[2:])
		if !ok {
			r.failed = fault.New(fault.Unsupported, "options of functions of JSON and CSV that are no map of literals are not supported").With("UNSUPPORTED_FEATURE", "0A000").At(faultAt(pos))
			return true
		}
		text, err := r.schema(bounds[1])
		if err == nil {
			var t syntax.TypeName
			if t, err = schemaType(text); err == nil {
				err = readable(t, name == "skua_from_csv")
			}
			if err == nil {
				args := r.argumentPieces(bounds)
				r.template("CAST(json_transform("+name+"(CAST($1 AS VARCHAR), "+QuoteText(sparkSpelling(t))+", "+QuoteText(options)+"), "+
					QuoteText(quotedJSON(spellType(t, true)))+") AS "+spellType(t, true)+")", pos, args[0])
				return true
			}
		}
		r.failed = err
		return true
	}
}

func quotedJSON(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// schema gives the text of a schema, which is a literal.
func (r *rewriter) schema(b [2]int) (string, error) {
	text, ok := r.literal(b)
	if !ok {
		return "", fault.New(fault.Invalid, "The input schema must be a string literal and not null.").With("INVALID_SCHEMA.NON_STRING_LITERAL", "42K07").At(faultAt(r.at(b[0]).Pos))
	}
	return text, nil
}

// schemaType reads a schema: a type, or the fields of a struct.
func schemaType(text string) (syntax.TypeName, error) {
	p := syntax.NewParser(text)
	if t, err := p.TypeName(); err == nil && p.End() == nil {
		return t, nil
	}
	p = syntax.NewParser("struct<" + text + ">")
	t, err := p.TypeName()
	if err == nil {
		err = p.End()
	}
	return t, err
}

// readable refuses types that cannot be read.
func readable(t syntax.TypeName, flat bool) error {
	if t.Name != "struct" && (flat || t.Name != "array" && t.Name != "map") {
		return mismatch("from_json", "INVALID_JSON_SCHEMA", "The input schema must be a struct, an array, a map or a variant.")
	}
	return readableParts(t)
}

func readableParts(t syntax.TypeName) error {
	parts := t.Args
	for _, f := range t.Fields {
		parts = append(parts, f.Type)
	}
	for _, p := range parts {
		if err := readableParts(p); err != nil {
			return err
		}
	}
	switch t.Name {
	case "binary", "variant", "interval", "time":
		return fault.New(fault.Unsupported, "from_json and from_csv do not support values of the type %s", t.Name).With("UNSUPPORTED_FEATURE", "0A000")
	}
	return nil
}

// sparkSpelling writes a type as it is read again.
func sparkSpelling(t syntax.TypeName) string {
	switch t.Name {
	case "array":
		return "array<" + sparkSpelling(t.Args[0]) + ">"
	case "map":
		return "map<" + sparkSpelling(t.Args[0]) + "," + sparkSpelling(t.Args[1]) + ">"
	case "struct":
		var fields []string
		for _, f := range t.Fields {
			fields = append(fields, "`"+strings.ReplaceAll(f.Name.Text, "`", "``")+"`: "+sparkSpelling(f.Type))
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	}
	text := t.Name
	for i, p := range t.Params {
		text += []string{"(", ","}[min(i, 1)] + itoa(p)
	}
	if len(t.Params) > 0 {
		text += ")"
	}
	return text
}
