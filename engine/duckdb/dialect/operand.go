package dialect

import (
	"fmt"
	"math"
	"slices"
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
	if r.stood() || r.testsPatterns() || r.comparison() || r.arithmetic() || r.unifiedCase() || r.lambdaName() {
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
		out: &Statement{Words: map[string]bool{}, Aliases: map[string]bool{}}, functions: r.functions, odbcTable: r.odbcTable, sparkCalls: r.sparkCalls}
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
func (r *rewriter) number() { r.signed("") }

// signed writes a number with the sign in front of it, which belongs to it: the smallest number has none without.
func (r *rewriter) signed(sign string) {
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
		r.emitAt("CAST("+sign+digits+" AS BIGINT)", t.Pos)
	case "S":
		r.emitAt("CAST("+sign+digits+" AS SMALLINT)", t.Pos)
	case "Y":
		r.emitAt("CAST("+sign+digits+" AS TINYINT)", t.Pos)
	case "F":
		r.emitAt("CAST("+sign+digits+" AS FLOAT)", t.Pos)
	case "D":
		r.emitAt("CAST("+sign+digits+" AS DOUBLE)", t.Pos)
	default: // BD, or none
		r.emitAt(sign+digits, t.Pos)
	}
}

// joinedSymbol gives an operator of the engine that two tokens without a space spell: whole division, powers, and what no pattern matches. In Spark's dialect there
// is none.
func (r *rewriter) joinedSymbol(t syntax.Token) string {
	after := r.at(r.next + 1)
	if op := t.Text + after.Text; !r.Spark && after.Kind == syntax.Symbol && after.Pos.Offset == t.Pos.Offset+1 && (op == "//" || op == "**" || op == "!~") {
		return op
	}
	return ""
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
	case t.Is("|>"):
		r.refuse(r.next, "The pipe operator |> is not supported: write the query with SELECT.")
	case t.Is("::") && r.castSuffix():
	case t.Is("::"):
		r.copy()
		r.typeName()
	case t.Is("-") && r.wholeSuffix(r.at(r.next+1)) && r.next > 0 && !endsOperand(r.at(r.next-1)):
		r.next++
		r.signed("-")
	case t.Is("=>") && r.Spark: // the engine would take arguments by their places
		r.failed = &syntax.Error{Message: "Named parameters are not supported; please retry the query with positional arguments to the function call instead.",
			Condition: "NAMED_PARAMETERS_NOT_SUPPORTED", SQLState: "4274K", Line: t.Pos.Line, Column: t.Pos.Column}
	case r.joinedSymbol(t) != "":
		r.emitAt(r.joinedSymbol(t), t.Pos)
		r.next += 2
	case symbols[t.Text] != "":
		r.next++
		r.emitAt(symbols[t.Text], t.Pos)
	default:
		r.copy()
	}
}

// wholeSuffix reports whether a token is a number that says it is a bigint, a smallint or a tinyint.
func (r *rewriter) wholeSuffix(t syntax.Token) bool {
	return t.Kind == syntax.Number && strings.ContainsAny(t.Text[len(t.Text)-1:], "LlSsYy")
}

// isOperandEnd reports whether an operand may end with the token.
func isOperandEnd(t syntax.Token) bool {
	return t.Kind == syntax.Word || t.Kind == syntax.Quoted || t.Kind == syntax.Text || t.Kind == syntax.Number || t.Is(")") || t.Is("]")
}

// subscript writes a number or an expression in brackets behind an operand. Spark counts the elements of a list from 0, and takes the keys of a map as they
// are: the macro knows which it is.
func (r *rewriter) subscript() bool {
	end := r.endOf(r.next+1, ",")
	if !r.Spark || !endsOperand(r.at(r.next-1)) || !r.at(end).Is("]") || end == r.next+1 {
		return false
	}
	first, one := r.at(r.next+1), end == r.next+2
	for i := r.next + 1; i < end; i++ {
		if r.at(i).Is(":") || r.at(i).Is("SELECT") {
			return false
		}
	}
	from := r.operandPieces()
	if one && first.Kind == syntax.Text || from < 0 {
		return false
	}
	operand := append([]piece{}, r.out.pieces[from:]...)
	pos, start := r.peek().Pos, r.operandStart(r.next-1)
	depth := 1
	for _, p := range operand {
		depth = max(depth, 1+r.subscripts[p.typed])
	}
	if depth > maxSubscripts {
		r.failed = tooComplex(pos, "subscripts behind each other", maxSubscripts)
		return true
	}
	column := r.isColumn([2]int{start, r.next})
	unbound := r.unbound(start, end)
	r.out.pieces = r.out.pieces[:from]
	index := r.argument([2]int{r.next + 1, end})
	r.next = end + 1
	if unbound {
		r.template("skua_at_any($1, $2)", r.at(start).Pos, operand, index)
		return true
	}
	r.put(&coercion{text: elementText("skua_subscript", column), operands: [][]piece{operand, index}, asked: []int{0, 1}, zone: r.Zone.String(),
		rule: placeRule("", elementText("skua_subscript", column))}, start, r.next)
	if r.subscripts == nil {
		r.subscripts = map[int]int{}
	}
	r.subscripts[len(r.out.typed)] = depth
	return true
}

// maxSubscripts bounds the subscripts behind each other, each of which writes what is before it twice.
const maxSubscripts = 8

// operandPieces gives where the pieces of the operand begin that ends before the next token; -1: that is not known.
func (r *rewriter) operandPieces() int {
	start := r.operandStart(r.next - 1)
	if start < 0 {
		return -1
	}
	return r.piecesFrom(start)
}

// piecesFrom gives where the pieces of a token begin, which are among the last; -1: that is not known.
func (r *rewriter) piecesFrom(start int) int {
	offset, from := r.at(start).Pos.Offset, -1
	for i := len(r.out.pieces) - 1; i >= 0; i-- {
		p := r.out.pieces[i]
		if p.pos.Line == 0 {
			continue
		}
		if p.pos.Offset < offset {
			break
		}
		if p.pos.Offset == offset {
			from = i
		}
	}
	return from
}

// beforeOperands are the words that no operand ends with: what is in brackets or parentheses behind them begins one.
var beforeOperands = []string{"ARRAY", "SELECT", "DISTINCT", "ALL", "AND", "OR", "NOT", "IN", "IS", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "WHERE", "HAVING",
	"QUALIFY", "ON", "BY", "AS", "FROM", "VALUES", "DIV", "LIMIT", "OFFSET", "EXCEPT", "UNION", "INTERSECT", "RETURNING", "WITH", "OVER", "FILTER", "ROW", "TOP"}

// endsOperand reports whether an operand ends with a token.
func endsOperand(t syntax.Token) bool {
	return isOperandEnd(t) && !(t.Kind == syntax.Word && slices.ContainsFunc(beforeOperands, t.Is))
}

// operandStart gives the first token of the operand that ends with a token: a name with dots, a call, what stands in parentheses, a list, with subscripts and
// fields behind them; -1: it is something else.
func (r *rewriter) operandStart(last int) int {
	i := last
	for i >= 0 {
		if r.at(i).Is(")") || r.at(i).Is("]") {
			closed := r.at(i)
			if i = r.opening(i); i < 0 {
				return -1
			}
			before := syntax.Token{}
			if i > 0 {
				before = r.at(i - 1)
			}
			name := endsOperand(before) && (before.Kind == syntax.Word || before.Kind == syntax.Quoted)
			switch {
			case i > 0 && before.Is("ARRAY"):
				return i - 1
			case closed.Is("]") && i > 0 && endsOperand(before), closed.Is(")") && name:
				i--
				continue
			}
			return i
		}
		if !endsOperand(r.at(i)) || r.at(i).Kind == syntax.Number {
			return -1
		}
		if i < 2 || !r.at(i-1).Is(".") {
			return i
		}
		i -= 2
	}
	return -1
}

// opening gives the token that opens what another one closes; -1: there is none.
func (r *rewriter) opening(i int) int {
	depth := 0
	for ; i >= 0; i-- {
		switch t := r.at(i); {
		case t.Is(")") || t.Is("]") || t.Is("}"):
			depth++
		case t.Is("(") || t.Is("[") || t.Is("{"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
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
	"sql_type_date": "DATE", "sql_type_timestamp": "TIMESTAMP", "sql_longvarchar": "VARCHAR", "sql_time": "TIME"}

// spellType writes a type.
func spellType(t syntax.TypeName, spark bool) string {
	switch t.Name {
	case "void":
		if spark {
			return `"NULL"`
		}
		return "INTEGER"
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
