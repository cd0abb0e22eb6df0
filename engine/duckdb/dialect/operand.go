package dialect

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// capture gives the pieces that a part of the walk writes, without writing them.
func (r *rewriter) capture(walk func()) []piece {
	kept := r.out.pieces
	r.out.pieces = nil
	walk()
	out := r.out.pieces
	r.out.pieces = kept
	return out
}

// template writes a text with $1, $2, … replaced by the arguments.
func (r *rewriter) template(text string, pos syntax.Pos, arguments ...[]piece) {
	for r.failed == nil {
		at := strings.IndexByte(text, '$')
		if at < 0 || at+1 == len(text) {
			break
		}
		n := int(text[at+1] - '1')
		if n < 0 || n >= len(arguments) {
			break
		}
		if at > 0 {
			r.emitAt(strings.TrimSpace(text[:at]), pos)
		}
		if len(r.out.pieces)+len(arguments[n]) > maxPieces {
			r.failed = tooComplex(pos, "words and marks once its functions are written out", maxPieces)
			return
		}
		r.out.pieces = append(r.out.pieces, arguments[n]...)
		text = text[at+2:]
	}
	if text = strings.TrimSpace(text); text != "" {
		r.emitAt(text, pos)
	}
}

// operand writes one token of an expression, or one construct that begins with it.
func (r *rewriter) operand(s *scope) {
	t := r.peek()
	if v, ok := r.Values[t.Pos.Offset]; ok && (t.Kind == syntax.Word || t.Kind == syntax.Quoted) {
		r.value(v, t.Pos)
		return
	}
	switch t.Kind {
	case syntax.Text:
		r.string()
	case syntax.Number:
		r.number()
	case syntax.Quoted:
		r.chain()
	case syntax.Word:
		if !r.word(s) {
			r.chain()
		}
	default:
		r.symbol(s)
	}
}

// value writes a constant in the place of a name.
func (r *rewriter) value(v Value, pos syntax.Pos) {
	tokens, err := syntax.Tokens(v.Text)
	if err != nil {
		r.failed = err
		return
	}
	inner := &rewriter{Options: Options{Spark: r.Spark, Zone: r.Zone}, text: v.Text, tokens: tokens, parser: syntax.NewParser(v.Text), counts: map[string]int{},
		out: &Statement{Words: map[string]bool{}, Aliases: map[string]bool{}}, functions: r.functions, odbcTable: r.odbcTable}
	if inner.level(nil, false); inner.failed != nil {
		r.failed = inner.failed
		return
	}
	r.next += v.Tokens
	r.emitAt("(", pos)
	for _, p := range inner.out.pieces {
		p.pos = pos
		r.out.pieces = append(r.out.pieces, p)
	}
	r.emit(")")
}

// string writes literals side by side as one. A backslash in a pattern is its escape character.
func (r *rewriter) string() {
	t := r.peek()
	var b strings.Builder
	for r.peek().Kind == syntax.Text {
		b.WriteString(syntax.TextOf(r.peek()))
		r.next++
	}
	r.emitAt(QuoteText(b.String()), t.Pos)
}

// number writes a number; one with a suffix says its type.
func (r *rewriter) number() {
	t := r.peek()
	r.next++
	digits := strings.TrimRight(t.Text, "LlSsYyFfDdBb")
	if n, err := strconv.ParseFloat(digits, 64); len(digits) > 300 || err != nil && math.IsInf(n, 0) {
		p := t.Pos
		r.failed = &syntax.Error{Message: fmt.Sprintf("Numeric literal %.40s… is outside the valid range for double.", digits), Condition: "INVALID_NUMERIC_LITERAL_RANGE",
			SQLState: "22003", Line: p.Line, Column: p.Column}
		return
	}
	if strings.HasPrefix(strings.ToLower(t.Text), "0x") {
		r.emitAt(t.Text, t.Pos)
		return
	}
	switch strings.ToUpper(t.Text[len(digits):]) {
	case "L":
		r.emitAt("CAST("+digits+" AS BIGINT)", t.Pos)
	case "S":
		r.emitAt("CAST("+digits+" AS SMALLINT)", t.Pos)
	case "Y":
		r.emitAt("CAST("+digits+" AS TINYINT)", t.Pos)
	case "F":
		r.emitAt("CAST("+digits+" AS FLOAT)", t.Pos)
	case "D":
		r.emitAt("CAST("+digits+" AS DOUBLE)", t.Pos)
	default: // BD, or none
		r.emitAt(digits, t.Pos)
	}
}

// symbols are the operators that are spelled otherwise.
var symbols = map[string]string{"<=>": "IS NOT DISTINCT FROM", "==": "=", "!": "NOT"}

// symbol writes a mark.
func (r *rewriter) symbol(s *scope) {
	t := r.peek()
	switch {
	case t.Is("(") || t.Is("["):
		if t.Is("[") && r.subscript() {
			return
		}
		r.group(false)
	case t.Is("{"):
		r.brace(s)
	case t.Is("?"):
		r.next++
		r.parameter(t)
	case t.Is(":") && r.at(r.next+1).Kind == syntax.Word && r.next > 0 && !isOperandEnd(r.at(r.next-1)):
		r.refuse(r.next, "Named parameters are not supported: write ?")
	case t.Is("::"):
		r.copy()
		r.typeName()
	case symbols[t.Text] != "":
		r.next++
		r.emitAt(symbols[t.Text], t.Pos)
	default:
		r.copy()
	}
}

// isOperandEnd reports whether an operand may end with the token.
func isOperandEnd(t syntax.Token) bool {
	return t.Kind == syntax.Word || t.Kind == syntax.Quoted || t.Kind == syntax.Text || t.Kind == syntax.Number || t.Is(")") || t.Is("]")
}

// subscript writes a number in brackets behind an operand. Spark counts from 0.
func (r *rewriter) subscript() bool {
	if !r.Spark || !isOperandEnd(r.at(r.next-1)) || r.at(r.next+1).Kind != syntax.Number || !r.at(r.next+2).Is("]") {
		return false
	}
	n, err := strconv.Atoi(r.at(r.next + 1).Text)
	if err != nil || r.at(r.next-1).Is("ARRAY") {
		return false
	}
	r.emitAt("["+strconv.Itoa(n+1)+"]", r.peek().Pos)
	r.next += 3
	return true
}

// brace writes an ODBC escape, or a struct.
func (r *rewriter) brace(s *scope) {
	word := r.at(r.next + 1)
	start := r.next
	switch strings.ToLower(word.Text) {
	case "fn":
		r.next += 2
		r.odbc = true
		r.operand(s)
		r.odbc = false
	case "d", "t", "ts":
		if r.at(r.next+2).Kind != syntax.Text {
			r.group(false)
			return
		}
		r.emitAt(map[string]string{"d": "DATE", "t": "TIME", "ts": "TIMESTAMP"}[strings.ToLower(word.Text)], word.Pos)
		r.next += 2
		r.string()
	case "escape":
		r.next += 2
		r.emit("ESCAPE")
		r.string()
	case "guid":
		r.next += 2
		r.emit("UUID")
		r.string()
	default:
		r.group(false)
		return
	}
	if !r.is("}") {
		r.fail(start)
		return
	}
	r.next++
}

// typeName writes the type that comes next.
func (r *rewriter) typeName() {
	r.parser.Seek(r.next)
	t, err := r.parser.TypeName()
	if err != nil || r.at(r.next).Kind == syntax.Quoted || r.at(r.parser.Place()).Is("[") {
		return // the engine's own spelling
	}
	pos := r.peek().Pos
	r.next = r.parser.Place()
	r.emitAt(spellType(t, r.Spark), pos)
}

// typeNames are the types that are spelled otherwise.
var typeNames = map[string]string{"string": "VARCHAR", "byte": "TINYINT", "short": "SMALLINT", "long": "BIGINT", "binary": "BLOB", "dec": "DECIMAL",
	"timestamp_ntz": "TIMESTAMP", "timestamp_ltz": "TIMESTAMPTZ", "timestamp with time zone": "TIMESTAMPTZ", "timestamp without time zone": "TIMESTAMP",
	"real": "FLOAT", "float": "FLOAT", "sql_varchar": "VARCHAR", "sql_integer": "INTEGER", "sql_bigint": "BIGINT", "sql_double": "DOUBLE",
	"sql_date": "DATE", "sql_timestamp": "TIMESTAMP", "sql_char": "VARCHAR", "sql_wvarchar": "VARCHAR", "sql_float": "DOUBLE",
	"sql_real": "FLOAT", "sql_smallint": "SMALLINT", "sql_tinyint": "TINYINT", "sql_decimal": "DECIMAL", "sql_numeric": "DECIMAL", "sql_bit": "BOOLEAN",
	"sql_type_date": "DATE", "sql_type_timestamp": "TIMESTAMP", "sql_longvarchar": "VARCHAR", "sql_time": "TIME", "void": "INTEGER"}

// spellType writes a type.
func spellType(t syntax.TypeName, spark bool) string {
	switch t.Name {
	case "array":
		if len(t.Args) == 1 {
			return spellType(t.Args[0], spark) + "[]"
		}
	case "map":
		if len(t.Args) == 2 {
			return "MAP(" + spellType(t.Args[0], spark) + ", " + spellType(t.Args[1], spark) + ")"
		}
	case "struct":
		var fields []string
		for _, f := range t.Fields {
			fields = append(fields, QuoteIdent(f.Name.Text)+" "+spellType(f.Type, spark))
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	case "timestamp":
		if spark {
			return "TIMESTAMPTZ"
		}
	case "decimal", "dec", "numeric":
		if len(t.Params) == 0 && spark {
			return "DECIMAL(10, 0)"
		}
	case "char", "varchar", "character":
		return "VARCHAR"
	}
	name := strings.ToUpper(t.Name)
	if other, ok := typeNames[t.Name]; ok {
		name = other
	}
	if len(t.Params) == 0 {
		return name
	}
	params := make([]string, len(t.Params))
	for i, p := range t.Params {
		params[i] = strconv.Itoa(p)
	}
	return name + "(" + strings.Join(params, ", ") + ")"
}
