package syntax

import (
	"strconv"
	"strings"
)

// String gives canonical text that parses to an equal tree.
func (s *Select) String() string {
	if s.Unsupported != "" {
		return spell(s.source)
	}
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, item := range s.Items {
		if i > 0 {
			b.WriteString(", ")
		}
		item.print(&b)
	}
	if s.From != nil {
		b.WriteString(" FROM ")
		s.From.print(&b)
	}
	for _, clause := range []struct {
		words string
		e     Expr
	}{{" WHERE ", s.Where}, {" LIMIT ", s.Limit}, {" OFFSET ", s.Offset}} {
		if clause.e != nil {
			b.WriteString(clause.words)
			write(&b, clause.e, loosest)
		}
	}
	return b.String()
}

func (i Item) print(b *strings.Builder) {
	if i.Expr != nil {
		write(b, i.Expr, loosest)
	}
	if i.Star && i.Expr != nil {
		b.WriteByte('.')
	}
	if i.Star {
		b.WriteByte('*')
	}
	if i.Alias != nil {
		b.WriteString(" AS " + i.Alias.String())
	}
}

// String gives canonical text.
func (t *TableRef) String() string {
	var b strings.Builder
	t.print(&b)
	return b.String()
}

func (t *TableRef) print(b *strings.Builder) {
	printName(b, t.Name)
	if t.At != nil {
		t.At.print(b)
	}
	for i, o := range t.Options {
		if i == 0 {
			b.WriteString(" WITH (")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(quoteText(o.Key) + " = ")
		write(b, o.Value, loosest)
	}
	if len(t.Options) > 0 {
		b.WriteByte(')')
	}
	if t.Alias != nil {
		b.WriteString(" AS " + t.Alias.String())
	}
}

func (t *TimeTravel) print(b *strings.Builder) {
	switch {
	case t.Expr != nil:
		b.WriteString(" TIMESTAMP AS OF ")
		write(b, t.Expr, comparison)
	case t.Text != nil:
		b.WriteString(" VERSION AS OF " + quoteText(*t.Text))
	default:
		b.WriteString(" VERSION AS OF " + t.Number)
	}
}

// String gives the part as it can stand anywhere in canonical text, in back quotes if it was quoted or may be taken for something else.
func (i Ident) String() string {
	t := Token{Kind: Word, Text: i.Text}
	plain := i.Text != "" && wordLength(i.Text) == len(i.Text)
	if i.Quoted || !plain || t.in(clauseWords) || t.in(joinWords) || t.in(tests) || t.in(queryWords) || t.in(formWords) {
		return BackQuote(i.Text)
	}
	return i.Text
}

// formWords begin or join a form of their own in some place where a name could also stand.
var formWords = []string{"ALL", "AND", "ANY", "AS", "CASE", "DISTINCT", "DIV", "ELSE", "END", "ESCAPE", "EXISTS", "FALSE", "FILTER", "FOR",
	"IGNORE", "INTERVAL", "IS", "NOT", "NULL", "OR", "OVER", "RESPECT", "SOME", "SYSTEM_TIME", "SYSTEM_VERSION", "TABLE", "THEN", "TIMESTAMP",
	"TRUE", "VERSION", "WHEN", "WITHIN"}

func printName(b *strings.Builder, parts []Ident) {
	for i, part := range parts {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(part.String())
	}
}

// The levels of binding, the loosest first; the binary operators of values take one each from comparison on.
const (
	loosest = iota
	conjunction
	negation
	test
	comparison
)

const (
	unary    = comparison + 7
	tightest = unary + 1
)

// level gives how tight a node binds.
func level(e Expr) int {
	switch e := e.(type) {
	case *Binary:
		switch e.Op {
		case "OR":
			return loosest
		case "AND":
			return conjunction
		}
		l, _ := Operator(Token{Kind: Symbol, Text: e.Op})
		if e.Op == "DIV" {
			l = len(operators) - 1
		}
		return comparison + l
	case *Unary:
		if e.Op == "NOT" {
			return negation
		}
		return unary
	case *IsNull, *IsBool, *Between, *In, *Like, *LikeList:
		return test
	default:
		return tightest
	}
}

// write spells e, in parentheses where it binds looser than its place needs.
func write(b *strings.Builder, e Expr, place int) {
	if level(e) < place {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch e := e.(type) {
	case *Column:
		printName(b, e.Parts)
	case *Literal:
		b.WriteString(e.String())
	case *Typed:
		b.WriteString(e.Type + " " + quoteText(e.Text))
	case *Parameter:
		b.WriteString(e.String())
	case *Binary:
		e.print(b)
	case *Unary:
		e.print(b)
	case *Call:
		e.print(b)
	case *Cast:
		e.print(b)
	case *Unsupported:
		b.WriteString(spell(e.source))
	default:
		printTest(b, e)
	}
}

func (e *Binary) print(b *strings.Builder) {
	l := level(e)
	left := l
	if l < comparison {
		left++ // a chain of AND is balanced anew when read; parentheses keep the tree as it is
	}
	write(b, e.Left, left)
	b.WriteString(" " + e.Op + " ")
	write(b, e.Right, l+1)
}

func (e *Unary) print(b *strings.Builder) {
	if e.Op == "NOT" {
		b.WriteString("NOT ")
		write(b, e.Expr, negation)
		return
	}
	b.WriteString(e.Op)
	switch e.Expr.(type) {
	case *Unary, *Literal: // not a comment, not a negative literal
		b.WriteByte('(')
		write(b, e.Expr, loosest)
		b.WriteByte(')')
	default:
		write(b, e.Expr, unary)
	}
}

func (e *Call) print(b *strings.Builder) {
	printName(b, e.Name)
	b.WriteByte('(')
	if e.Star {
		b.WriteByte('*')
	}
	if e.Distinct {
		b.WriteString("DISTINCT ")
	}
	printList(b, e.Args)
	b.WriteByte(')')
}

func (e *Cast) print(b *strings.Builder) {
	if e.Try {
		b.WriteString("TRY_")
	}
	b.WriteString("CAST(")
	write(b, e.Expr, loosest)
	b.WriteString(" AS " + e.Type.String() + ")")
}

func printList(b *strings.Builder, list []Expr) {
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		write(b, e, loosest)
	}
}

func not(not bool, words string) string {
	if not {
		return "NOT " + words
	}
	return words
}

// Word is what the test asks for: NULL or UNKNOWN.
func (e *IsNull) Word() string {
	if e.Unknown {
		return "UNKNOWN"
	}
	return "NULL"
}

// printTest writes the predicates, whose operand is a value.
func printTest(b *strings.Builder, e Expr) {
	operand := func(e Expr) { write(b, e, comparison+1) }
	switch e := e.(type) {
	case *IsNull:
		operand(e.Expr)
		b.WriteString(" IS " + not(e.Not, e.Word()))
	case *IsBool:
		operand(e.Expr)
		b.WriteString(" IS " + not(e.Not, strings.ToUpper(strconv.FormatBool(e.Value))))
	case *Between:
		operand(e.Expr)
		b.WriteString(" " + not(e.Not, "BETWEEN "))
		operand(e.Low)
		b.WriteString(" AND ")
		operand(e.High)
	case *In:
		operand(e.Expr)
		b.WriteString(" " + not(e.Not, "IN "))
		if u, ok := e.List[0].(*Unsupported); ok && len(e.List) == 1 && u.Feature == "subquery" {
			b.WriteString(spell(u.source))
			return
		}
		b.WriteByte('(')
		printList(b, e.List)
		b.WriteByte(')')
	case *Like:
		operand(e.Expr)
		b.WriteString(" " + not(e.Not, e.word()) + " ")
		operand(e.Pattern)
		if e.Escape != nil {
			b.WriteString(" ESCAPE " + quoteText(e.Escape.Value))
		}
	case *LikeList:
		operand(e.Expr)
		b.WriteString(" " + not(e.Not, (&Like{CaseInsensitive: e.CaseInsensitive}).word()) + " " + e.quantifier() + " (")
		printList(b, e.List)
		b.WriteByte(')')
	}
}

func (e *LikeList) quantifier() string {
	if e.All {
		return "ALL"
	}
	return "ANY"
}

func (e *Like) word() string {
	switch {
	case e.Regex:
		return "RLIKE"
	case e.CaseInsensitive:
		return "ILIKE"
	default:
		return "LIKE"
	}
}

func text(e Expr) string {
	var b strings.Builder
	write(&b, e, loosest)
	return b.String()
}

// String gives canonical text.
func (e *Column) String() string { return text(e) }

// String gives canonical text.
func (e *Literal) String() string {
	switch e.Kind {
	case String:
		return quoteText(e.Value)
	case Null, Boolean:
		return strings.ToUpper(e.Value)
	default:
		return e.Text
	}
}

// String gives canonical text.
func (e *Typed) String() string { return text(e) }

// String gives canonical text.
func (e *Parameter) String() string {
	if e.Name != "" {
		return ":" + Ident{Text: e.Name}.String()
	}
	return "?"
}

// String gives canonical text.
func (e *Binary) String() string { return text(e) }

// String gives canonical text.
func (e *Unary) String() string { return text(e) }

// String gives canonical text.
func (e *IsNull) String() string { return text(e) }

// String gives canonical text.
func (e *IsBool) String() string { return text(e) }

// String gives canonical text.
func (e *Between) String() string { return text(e) }

// String gives canonical text.
func (e *In) String() string { return text(e) }

// String gives canonical text.
func (e *Like) String() string { return text(e) }

// String gives canonical text.
func (e *LikeList) String() string { return text(e) }

// String gives canonical text.
func (e *Cast) String() string { return text(e) }

// String gives canonical text.
func (e *Call) String() string { return text(e) }

// String gives the text of the construct in canonical spacing.
func (e *Unsupported) String() string { return spell(e.source) }

// String gives the type as Spark spells it in lower case, as in map<string,decimal(10,2)>.
func (t TypeName) String() string {
	var inner []string
	for _, n := range t.Params {
		inner = append(inner, strconv.Itoa(n))
	}
	for _, arg := range t.Args {
		inner = append(inner, arg.String())
	}
	for _, f := range t.Fields {
		inner = append(inner, f.Name.String()+":"+f.Type.String())
	}
	switch {
	case len(t.Params) > 0:
		head, tail, _ := strings.Cut(t.Name, " ") // timestamp(6) with time zone
		return strings.TrimSpace(head + "(" + strings.Join(inner, ",") + ") " + tail)
	case len(inner) > 0:
		return t.Name + "<" + strings.Join(inner, ",") + ">"
	default:
		return t.Name
	}
}
