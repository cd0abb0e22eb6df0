package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// generators are Spark's functions that give rows of several columns, by name without _outer.
var generators = words("explode posexplode inline stack json_tuple")

// generatorCall is a call of one of them.
type generatorCall struct {
	function string // without _outer
	outer    bool   // a row without a value stands for no rows
	pos      syntax.Pos
	from     int      // its first token
	names    []string // of its columns, quoted where needed; empty: they have their own
	numbers  []string // literals that it takes instead of arguments: the rows of stack, the fields of json_tuple
	args     [][]piece
	spark    bool // it has Spark's meaning
}

// generated is a column of a generator: $1 is the first argument. Of stack it is a list of arguments instead, by their number, 0 for NULL.
type generated struct {
	text, name string
	stacked    []int
}

// generatorOf gives the function that a word names, if it is a generator that arguments follow.
func (r *rewriter) generatorOf(token int) (function string, outer bool) {
	t := r.at(token)
	if t.Kind != syntax.Word || !r.at(token+1).Is("(") {
		return "", false
	}
	function, outer = strings.CutSuffix(strings.ToLower(t.Text), "_outer")
	if !generators[function] {
		return "", false
	}
	return function, outer
}

// generatorArguments reads a generator's arguments; the next token is the parenthesis in front of them.
func (r *rewriter) generatorArguments(g *generatorCall) {
	bounds := r.argumentBounds()
	g.spark = r.Spark
	literal := func(from int) bool {
		for _, b := range bounds[from:] {
			text, ok := r.literal(b)
			if !ok {
				return false
			}
			g.numbers = append(g.numbers, text)
		}
		return true
	}
	ok := len(bounds) == 1
	switch g.function {
	case "stack":
		if ok = len(bounds) > 1 && bounds[0][1]-bounds[0][0] == 1 && r.at(bounds[0][0]).Kind == syntax.Number; ok {
			g.numbers = []string{r.at(bounds[0][0]).Text}
			n, err := strconv.Atoi(g.numbers[0])
			ok = err == nil && n > 0 && n < maxTokens
		}
	case "json_tuple":
		ok = len(bounds) > 1 && literal(1)
	}
	if !ok && r.failed == nil {
		r.failed = fault.New(fault.Invalid, "The arguments of the generator %s are not what it takes: see docs/dialect.md.", g.function).
			With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605").At(faultAt(g.pos))
		return
	}
	if r.generating++; r.generating > maxGenerating && r.failed == nil {
		r.failed = tooComplex(g.pos, "generators inside each other", maxGenerating)
	}
	g.args = r.argumentPieces(bounds)
	r.generating--
}

// maxGenerating is how deep generators stand in the arguments of others: each is written several times.
const maxGenerating = 3

// listed writes the column of a list; of none, an outer one has a row.
func (g *generatorCall) listed(list string) string {
	if g.outer {
		return "unnest(CASE WHEN len(" + list + ") > 0 THEN " + list + " ELSE [NULL] END)"
	}
	return "unnest(" + list + ")"
}

// positions writes the column of the places in a list, from 0.
func (g *generatorCall) positions(list string) string {
	return g.listed("CAST(list_transform(" + list + ", lambda skua_x, skua_i: skua_i - 1) AS INTEGER[])")
}

// columns gives the generator's columns for an argument that is a map or none.
func (g *generatorCall) columns(isMap bool) (out []generated) {
	list, entries := "($1)", []generated{{text: g.listed("($1)"), name: "col"}}
	if isMap {
		list = "map_keys($1)"
		entries = []generated{{text: g.listed(list), name: "key"}, {text: g.listed("map_values($1)"), name: "value"}}
	}
	switch g.function {
	case "explode":
		out = entries
	case "posexplode":
		out = append([]generated{{text: g.positions(list), name: "pos"}}, entries...)
	case "inline":
		out = g.fields()
	case "stack":
		out = g.stacked()
	case "json_tuple":
		for i, field := range g.numbers {
			text := "json_extract_string($1, " + QuoteText("$."+QuoteIdent(field)) + ")"
			if g.spark {
				text = "skua_json_field(CAST($1 AS VARCHAR), " + QuoteText(field) + ")"
			}
			out = append(out, generated{text: text, name: "c" + strconv.Itoa(i)})
		}
	}
	for i := range out {
		if i < len(g.names) {
			out[i].name = g.names[i]
		}
	}
	return out
}

// NamesMismatch is what the engine fails with where structs have more fields than a generator has names.
const NamesMismatch = "skua: a generator has fewer names than columns"

// fields gives the columns of a list of structs.
func (g *generatorCall) fields() (out []generated) {
	if len(g.names) == 0 {
		return []generated{{text: strings.TrimSuffix(g.listed("($1)"), ")") + ", max_depth := 2)"}}
	}
	count := strconv.Itoa(len(g.names))
	for i := range g.names {
		field := "CASE WHEN len(struct_keys(skua_x)) <> " + count + " THEN error('" + NamesMismatch + "') ELSE struct_extract_at(skua_x, " + strconv.Itoa(i+1) + ") END"
		out = append(out, generated{text: g.listed("list_transform($1, lambda skua_x: " + field + ")"), name: ""})
	}
	return out
}

// stacked gives the columns of stack(n, …), which spreads its values over n rows.
func (g *generatorCall) stacked() (out []generated) {
	rows, _ := strconv.Atoi(g.numbers[0])
	values := len(g.args) - 1
	width := (values + rows - 1) / rows
	for c := range width {
		column := generated{name: "col" + strconv.Itoa(c)}
		for i := c; i < rows*width; i += width {
			number := 0
			if i < values {
				number = i + 1
			}
			column.stacked = append(column.stacked, number)
		}
		out = append(out, column)
	}
	return out
}

// counted reports whether the columns are known without the argument's type, and whether that is a map.
func (g *generatorCall) counted() (known, isMap bool) {
	switch g.function {
	case "explode":
		return len(g.names) > 0, len(g.names) == 2
	case "posexplode":
		return len(g.names) > 0, len(g.names) == 3
	}
	return true, false
}

// fits refuses names of which there are not as many as columns.
func (g *generatorCall) fits(r *rewriter) {
	known, isMap := g.counted()
	if r.failed != nil || !known || len(g.names) == 0 || g.function == "inline" {
		return
	}
	if n := len(g.columns(isMap)); n != len(g.names) {
		r.failed = fault.New(fault.Invalid, "The number of aliases supplied in the AS clause does not match the number of columns output by the UDTF. Expected %d aliases, but got %s.",
			n, strings.Join(g.names, ", ")).With("UDTF_ALIAS_NUMBER_MISMATCH", "42802").At(faultAt(g.pos))
	}
}

// generator writes the columns of a generator with commas between them.
func (r *rewriter) generator(g *generatorCall) {
	if g.fits(r); r.failed != nil {
		return
	}
	if known, isMap := g.counted(); known {
		r.columnsOf(g, isMap)
		return
	}
	r.put(exploded{value: g.args[0], lists: r.capture(func() { r.columnsOf(g, false) }), maps: r.capture(func() { r.columnsOf(g, true) })}, g.from, r.next)
}

func (r *rewriter) columnsOf(g *generatorCall, isMap bool) {
	for i, c := range g.columns(isMap) {
		if i > 0 {
			r.emit(",")
		}
		if r.stack(g, c.stacked); c.stacked == nil {
			r.template(c.text, g.pos, g.args...)
		}
		if c.name != "" {
			r.emit("AS " + c.name)
		}
	}
}

// stack writes a column of stack.
func (r *rewriter) stack(g *generatorCall, values []int) {
	for i, number := range values {
		open := ","
		if i == 0 {
			open = "unnest(["
		}
		if r.emit(open); number > 0 {
			r.template("$1", g.pos, g.args[number])
		} else {
			r.emit("NULL")
		}
	}
	if values != nil {
		r.emit("])")
	}
}

// generatorItem writes an element of a select list that is a generator, maybe with names; false: it is something else, or a list's only column, which
// is an element like any other.
func (r *rewriter) generatorItem(s *scope, end int) bool {
	function, outer := r.generatorOf(r.next)
	if function == "" {
		return false
	}
	g := &generatorCall{function: function, outer: outer, pos: r.peek().Pos, from: r.next}
	closing := r.endOf(r.next + 2)
	behind := closing + 1
	if r.at(behind).Is("AS") {
		behind++
	}
	switch {
	case closing+1 == end:
	case r.at(behind).Is("(") && r.endOf(behind+1)+1 == end:
		g.names = r.names(behind+1, end-1)
	case behind+1 == end && (r.at(behind).Kind == syntax.Word || r.at(behind).Kind == syntax.Quoted):
		g.names = r.names(behind, end)
	default:
		return false
	}
	if s.generators++; s.generators > 1 {
		r.failed = fault.New(fault.Invalid, "The generator is not supported: only one generator allowed per SELECT clause but found 2.").
			With("UNSUPPORTED_GENERATOR.MULTI_GENERATOR", "42K0E").At(faultAt(g.pos))
		return true
	}
	r.next++
	if r.generatorArguments(g); r.failed == nil {
		r.generator(g)
	}
	r.next = end
	return true
}

// nestedGenerator refuses a generator that stands among others in an expression, as Spark does.
func (r *rewriter) nestedGenerator(name string) bool {
	if !r.Spark || r.odbc || !generators[strings.TrimSuffix(name, "_outer")] {
		return false
	}
	if clause := r.places()[r.next-1].clause; clause != "SELECT" && clause != "FROM" {
		r.invalid(r.next-1, "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", "42K0E", "The generator is not supported: outside the SELECT clause, %s.", name)
		return true
	}
	r.invalid(r.next-1, "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "42K0E", "The generator is not supported: nested in expressions, %s.", name)
	return true
}

// names gives the names between two tokens, which commas part.
func (r *rewriter) names(from, to int) (out []string) {
	for i := from; i < to; i++ {
		switch t := r.at(i); {
		case (i-from)%2 == 1:
			if !t.Is(",") {
				r.fail(i)
			}
		case t.Kind == syntax.Word || t.Kind == syntax.Quoted:
			out = append(out, spellIdent(syntax.Ident{Text: t.Name(), Quoted: t.Kind == syntax.Quoted}))
		default:
			r.fail(i)
		}
	}
	return out
}

// generatorTable writes a generator that stands where a table may, as a query of its columns.
func (r *rewriter) generatorTable(function string, outer bool) {
	g := &generatorCall{function: function, outer: outer, pos: r.peek().Pos, from: r.next}
	r.next++
	if r.generatorArguments(g); r.failed != nil {
		return
	}
	r.emitAt("(SELECT", g.pos)
	r.generator(g)
	r.emit(")")
}

// lateralView writes LATERAL VIEW [OUTER] generator(x) t AS a, b as a join with what the generator gives for each row.
func (r *rewriter) lateralView() {
	start := r.next
	r.next += 2
	outer := r.is("OUTER")
	if outer {
		r.next++
	}
	function, more := r.generatorOf(r.next)
	if function == "" {
		r.refuse(start, "LATERAL VIEW "+strings.ToLower(r.peek().Text)+" is not supported")
		return
	}
	g := &generatorCall{function: function, pos: r.at(start).Pos, from: start}
	r.next++
	if r.generatorArguments(g); r.failed != nil {
		return
	}
	alias := syntax.Ident{Text: "lateral_view"}
	if t := r.peek(); t.Kind == syntax.Quoted || t.Kind == syntax.Word && !t.Is("AS") && !t.EndsRelation() {
		alias = r.ident()
	}
	if r.is("AS") {
		for r.next++; ; r.next++ {
			g.names = append(g.names, spellIdent(r.ident()))
			if !r.is(",") || r.failed != nil {
				break
			}
		}
	}
	join := "CROSS JOIN LATERAL (SELECT"
	if outer = outer || more; outer {
		join = "LEFT JOIN LATERAL (SELECT"
	}
	r.emitAt(join, g.pos)
	r.generator(g)
	r.emit(") AS " + spellIdent(alias))
	if outer {
		r.emit("ON true")
	}
}

func words(text string) map[string]bool {
	out := map[string]bool{}
	for w := range slices.Values(strings.Fields(text)) {
		out[w] = true
	}
	return out
}
