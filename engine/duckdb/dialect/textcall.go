package dialect

import (
	"slices"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// textCalls are the functions of texts, by the numbers of those of their arguments that are texts: Spark casts others. Their results are texts but of counts, which are
// whole numbers.
var textCalls = map[string]struct {
	texts []int
	gives string
}{
	"upper": {[]int{0}, "VARCHAR"}, "ucase": {[]int{0}, "VARCHAR"}, "lower": {[]int{0}, "VARCHAR"}, "lcase": {[]int{0}, "VARCHAR"}, "trim": {[]int{0, 1}, "VARCHAR"},
	"ltrim": {[]int{0, 1}, "VARCHAR"}, "rtrim": {[]int{0, 1}, "VARCHAR"}, "btrim": {[]int{0, 1}, "VARCHAR"}, "initcap": {[]int{0}, "VARCHAR"}, "left": {[]int{0}, "VARCHAR"},
	"right": {[]int{0}, "VARCHAR"}, "substring": {[]int{0}, "VARCHAR"}, "substr": {[]int{0}, "VARCHAR"}, "lpad": {[]int{0, 2}, "VARCHAR"}, "rpad": {[]int{0, 2}, "VARCHAR"},
	"repeat": {[]int{0}, "VARCHAR"}, "instr": {[]int{0, 1}, "INTEGER"}, "locate": {[]int{0, 1}, "INTEGER"}, "charindex": {[]int{0, 1}, "INTEGER"}, "translate": {[]int{0, 1, 2}, "VARCHAR"},
	"startswith": {[]int{0, 1}, "BOOLEAN"}, "endswith": {[]int{0, 1}, "BOOLEAN"}, "contains": {[]int{0, 1}, "BOOLEAN"}, "split": {[]int{0, 1}, "VARCHAR[]"},
	"ascii": {[]int{0}, "INTEGER"}, "length": {[]int{0}, "INTEGER"}, "len": {[]int{0}, "INTEGER"}, "char_length": {[]int{0}, "INTEGER"}, "character_length": {[]int{0}, "INTEGER"},
	"substring_index": {[]int{0, 1}, "VARCHAR"}, "split_part": {[]int{0, 1}, "VARCHAR"}, "levenshtein": {[]int{0, 1}, "INTEGER"}, "soundex": {[]int{0}, "VARCHAR"},
	"regexp_like": {[]int{0, 1}, "BOOLEAN"}, "regexp_extract": {[]int{0, 1}, "VARCHAR"}, "regexp_count": {[]int{0, 1}, "INTEGER"}, "find_in_set": {[]int{0, 1}, "INTEGER"},
	"reverse": {[]int{0}, "VARCHAR"}, "octet_length": {[]int{0}, "INTEGER"}, "bit_length": {[]int{0}, "INTEGER"},
}

// bytesCalls take bytes beside texts, and give what they take.
var bytesCalls = []string{"left", "right", "substring", "substr", "lpad", "rpad"}

// binaryCalls are those that take bytes as they are, and how they are written then: with the length of texts in bytes.
var binaryCalls = map[string]string{"length": "octet_length($1)", "len": "octet_length($1)", "char_length": "octet_length($1)", "character_length": "octet_length($1)",
	"octet_length": "octet_length($1)", "bit_length": "(8 * octet_length($1))"}

// textCall writes a function of texts, whose other arguments become texts as Spark writes them; false: it is another function, or has nothing but texts.
func (r *rewriter) textCall(name string, pos syntax.Pos) bool {
	call, ok := textCalls[name]
	if !ok || !r.Spark || r.odbc || !r.is("(") {
		return false
	}
	from, bounds := r.next-1, r.argumentBounds()
	var asked []int
	for _, i := range call.texts {
		if i < len(bounds) && !r.isText(bounds[i]) {
			asked = append(asked, i)
		}
	}
	text, known := r.callText(name, len(bounds))
	counts := call.gives == "INTEGER"
	if counts {
		text = "CAST(" + text + " AS INTEGER)"
	}
	if !known || len(bounds) > 9 || len(asked) == 0 && !counts || r.unbound(r.next, r.endOf(r.next+1)) || slices.ContainsFunc(r.tokens[r.next:r.endOf(r.next+1)], func(t syntax.Token) bool { return t.Is("FROM") || t.Is("ORDER") }) {
		return false
	}
	done := r.grown(text, pos)
	args := r.argumentPieces(bounds)
	done()
	if r.failed == nil && len(asked) == 0 {
		r.template(text, pos, args...)
	}
	if r.failed != nil || len(asked) == 0 {
		return true
	}
	r.put(&coercion{text: text, operands: args, asked: asked, zone: r.Zone.String(), rule: textRule(name, call.gives)}, from, r.next)
	return true
}

// isText reports whether an argument is a literal of text.
func (r *rewriter) isText(b [2]int) bool {
	_, ok := r.literal(b)
	return ok
}

// callText gives how a call with a number of arguments is written; false: that is not known.
func (r *rewriter) callText(name string, arguments int) (string, bool) {
	f, ok := r.lookup(name)
	switch {
	case name == "trim" && arguments == 1:
		return "trim($1, ' ')", true
	case name == "trim" && arguments == 2:
		return "trim($2, $1)", true
	case ok && f.special != nil, arguments == 0:
		return "", false
	case ok && f.rename != "":
		name = f.rename
	case ok:
		for _, t := range f.templates {
			if t.arguments == arguments {
				return t.text, true
			}
		}
	}
	return name + "(" + numbered(arguments) + ")", true
}

// textRule casts what is no text.
func textRule(name, gives string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		out := verdict{casts: make([]string, len(types)), gives: parseType(gives)}
		for i, t := range types {
			switch {
			case i == 0 && t.Name == "LIST" && name == "reverse":
				return verdict{text: "list_reverse($1)", gives: t}, nil
			case i == 0 && t.Name == "BLOB" && binaryCalls[name] != "":
				return verdict{text: "CAST(" + binaryCalls[name] + " AS INTEGER)", gives: out.gives}, nil
			case t.Name == "LIST" || t.Name == "MAP" || t.Name == "STRUCT":
				return out, unexpected(name, "STRING", t)
			case t.Name == `"NULL"`:
				out.casts[i] = "VARCHAR"
			case isText(t), t.Name == "BLOB" && slices.Contains(bytesCalls, name):
			default:
				out.casts[i] = "VARCHAR"
			}
		}
		return out, nil
	}
}

// isText reports whether a type is one of texts, or not known.
func isText(t Type) bool {
	return t.Name == "VARCHAR" || t.Name == "" || t.Name == "JSON" || t.Name == "ENUM" || t.Name == "UUID"
}

// unexpected is Spark's error for an argument of a type that it does not cast.
func unexpected(name, wanted string, got Type) error {
	return fault.New(fault.Invalid, "Cannot resolve %q due to data type mismatch: a parameter requires the %q type, however one has the type %q.", name, wanted, got.sparkName()).
		With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
}

// coercedCall writes a function whose arguments Spark casts; false: it is another one.
func (r *rewriter) coercedCall(name string, pos syntax.Pos) bool {
	switch {
	case name == "concat":
		return r.concatenated()
	case name == "concat_ws", name == "array_join":
		return r.joined(name)
	case r.unifiedCall(name):
		return true
	}
	return r.textCall(name, pos)
}
