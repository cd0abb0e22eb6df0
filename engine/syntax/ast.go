// Package syntax reads SQL text: a scanner with Spark's lexical rules, a cursor for the grammars of commands, and the SELECT over one table.
// It knows no catalog, no types and no values beyond their spelling. A construct of SQL that it recognises but does not describe is named in
// the tree instead of failing, so that whoever plans the statement can hand it on or refuse it by name.
package syntax

// Pos is a place in the statement's text: Line counts from 1, Column in characters from 0, as Spark counts them; Offset is in bytes from 0.
type Pos struct{ Line, Column, Offset int }

// Ident is one part of a name, without its quotes.
type Ident struct {
	Text   string
	Quoted bool // in back quotes or double quotes
	Pos    Pos
}

// Select is SELECT over at most one table. Where Unsupported is set, the other fields hold what was read before, and some may be missing.
type Select struct {
	Items         []Item
	From          *TableRef // nil: SELECT without FROM
	Where         Expr      // nil: none
	Limit, Offset Expr      // nil: none; LIMIT ALL is none
	// Unsupported names the first construct that this tree cannot hold, such as "JOIN", "GROUP BY" or "subquery"; empty: the tree is the
	// whole statement.
	Unsupported    string
	UnsupportedPos Pos
	source         []Token // the statement, for printing what the tree does not hold
}

// Item is one element of the select list.
type Item struct {
	Star  bool   // * or, with Expr a *Column, the qualifier of q.*
	Expr  Expr   // nil for a bare *
	Alias *Ident // nil: none
	Text  string // the source text of the expression, without the alias
}

// TableRef is the table of FROM.
type TableRef struct {
	Name    []Ident
	At      *TimeTravel // nil: none
	Options []TableOption
	Alias   *Ident // nil: none
}

// TimeTravel is VERSION AS OF or TIMESTAMP AS OF, in any spelling. Of Number, Text and Expr exactly one is set.
type TimeTravel struct {
	Version bool
	Number  string  // VERSION AS OF 123: the digits
	Text    *string // VERSION AS OF 'x'
	Expr    Expr    // TIMESTAMP AS OF expr
	Pos     Pos
	Source  string // the source text of the version or the expression
}

// TableOption is one pair of WITH (key = value). Value is a *Literal.
type TableOption struct {
	Key   string
	Value Expr
	Pos   Pos
}

// Expr is a node of an expression. The nodes are pointers to the types below.
type Expr interface {
	// Pos is where the node's text begins.
	Pos() Pos
	// String is canonical text that parses to an equal node.
	String() string
}

// node carries the position of every expression.
type node struct{ pos Pos }

// Pos is where the node's text begins.
func (n node) Pos() Pos { return n.pos }

// Column is a dotted name in an expression. A single bare part such as current_date may also mean a function without parentheses, when no
// column has that name.
type Column struct {
	node
	Parts []Ident
}

// Kind says which type a Literal has by its spelling.
type Kind uint8

// The kinds of literals. An Integer has no suffix: it is an int, a bigint or a decimal, whichever holds it first.
const (
	Null     Kind = iota
	Boolean       // Value is true or false
	String        // Value is the text, escapes resolved
	Integer       // 1
	Tinyint       // 1Y
	Smallint      // 1S
	Bigint        // 1L
	Decimal       // 1.5 or 1BD; Value may have an exponent
	Float         // 1F
	Double        // 1D or 1e0
)

// Literal is a constant that spells its own type. A minus sign before a number belongs to it, as in Spark.
type Literal struct {
	node
	Kind  Kind
	Text  string // as in the source
	Value string // numbers without their suffix; see the kinds
}

// Typed is a string with a type in front: DATE '2024-01-01'. Type is in upper case, one of DATE, TIME, TIMESTAMP, TIMESTAMP_NTZ,
// TIMESTAMP_LTZ and X (hexadecimal bytes); Text is the string with its escapes resolved, not yet checked.
type Typed struct {
	node
	Type, Text string
}

// Parameter stands for a value given later. Index counts the question marks from 0; it is -1 for :name, and Name is empty for ?.
type Parameter struct {
	node
	Index int
	Name  string
}

// Binary is an operator between two operands. Op is one of = <> < <= > >= <=> AND OR + - * / % DIV || & | ^ << >> >>>, in this spelling
// whatever the source wrote.
type Binary struct {
	node
	Op          string
	Left, Right Expr
}

// Unary is an operator before its operand: NOT, -, + or ~.
type Unary struct {
	node
	Op   string
	Expr Expr
}

// IsNull is IS [NOT] NULL or, of a boolean, IS [NOT] UNKNOWN.
type IsNull struct {
	node
	Expr    Expr
	Not     bool
	Unknown bool
}

// IsBool is IS [NOT] TRUE and IS [NOT] FALSE: never null.
type IsBool struct {
	node
	Expr  Expr
	Value bool
	Not   bool
}

// Between is Expr [NOT] BETWEEN Low AND High.
type Between struct {
	node
	Expr, Low, High Expr
	Not             bool
}

// In is Expr [NOT] IN (List). A subquery is a single *Unsupported in List.
type In struct {
	node
	Expr Expr
	List []Expr
	Not  bool
}

// Like is Expr [NOT] LIKE, ILIKE or RLIKE Pattern.
type Like struct {
	node
	Expr, Pattern   Expr
	Escape          *Literal // nil: the backslash
	Not             bool
	CaseInsensitive bool // ILIKE
	Regex           bool // RLIKE, REGEXP
}

// LikeList is Expr [NOT] LIKE ANY (List) or, with All, LIKE ALL (List), and ILIKE the same. SOME is ANY.
type LikeList struct {
	node
	Expr            Expr
	List            []Expr
	Not             bool
	CaseInsensitive bool
	All             bool
}

// Tests gives what the list stands for: a test of each pattern, joined by OR or, with All, by AND.
func (e *LikeList) Tests() Expr {
	op := "OR"
	if e.All {
		op = "AND"
	}
	tests := make([]Expr, len(e.List))
	for i, pattern := range e.List {
		tests[i] = &Like{node: e.node, Expr: e.Expr, Pattern: pattern, Not: e.Not, CaseInsensitive: e.CaseInsensitive}
	}
	return balance(op, tests)
}

// Cast is CAST(Expr AS Type), Expr::Type, or with Try TRY_CAST.
type Cast struct {
	node
	Expr Expr
	Type TypeName
	Try  bool
}

// TypeName is a type as written. Name is in lower case, without parameters; synonyms such as integer and int are kept apart.
type TypeName struct {
	Name   string
	Params []int       // decimal(10, 2), varchar(5)
	Args   []TypeName  // array<…>, map<…, …>
	Fields []TypeField // struct<a: …>
	Pos    Pos
}

// TypeField is a field of a struct type.
type TypeField struct {
	Name Ident
	Type TypeName
}

// Call is a function call. With Star its argument is *, as in count(*).
type Call struct {
	node
	Name     []Ident
	Args     []Expr
	Distinct bool
	Star     bool
}

// Unsupported is a construct that is recognised and not described, such as a subquery, CASE, an interval, a window function or a subscript.
// The first of them is also named in its Select.
type Unsupported struct {
	node
	Feature string // "CASE", "subquery"
	Parts   []Part // what a column of it is called after; nil: after its text
	source  []Token
}

// Part is a piece of what a column without an alias is called: words, or an expression; of both the words come first.
type Part struct {
	Words string
	Expr  Expr
}
