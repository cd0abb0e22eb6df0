package dialect

import (
	"maps"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// lambdaCall is how a function of a lambda is written. In its text $1, $2, … are the arguments, of which lambdas are their bodies, and @p and the like are names of its
// own, which are others in each call inside another one.
type lambdaCall struct {
	arguments int
	text      string
	names     [][]string // what the names of each lambda are written as, the last ones first
}

// Lambdas over an element, over it and its place, and over the entries of a map.
var (
	ofElement = []string{"@p"}
	ofPlace   = []string{"@p", "CAST(@i - 1 AS INTEGER)"}
	ofEntry   = []string{"struct_extract(@p, 'key')", "struct_extract(@p, 'value')"}
)

// folded is the text of a fold over the list @s.l, from @s.z on.
const folded = "struct_extract(list_reduce(list_transform(@s.l, lambda @i: struct_pack(a := [@s.z][2], e := @i)), lambda @p, @q: " +
	"struct_pack(a := skua_folded($3, @s.z), e := struct_extract(@q, 'e')), struct_pack(a := @s.z, e := @s.l[0])), 'a')"

var ofFold = []string{"struct_extract(@p, 'a')", "struct_extract(@q, 'e')"}

// lambdaCalls are the ways that functions of lambdas are written, of which that is taken whose lambdas have as many names.
var lambdaCalls = map[string][]lambdaCall{
	"transform": {{2, "list_transform($1, lambda @p: $2)", [][]string{ofElement}}, {2, "list_transform($1, lambda @p, @i: $2)", [][]string{ofPlace}}},
	"filter":    {{2, "list_filter($1, lambda @p: $2)", [][]string{ofElement}}, {2, "list_filter($1, lambda @p, @i: $2)", [][]string{ofPlace}}},
	"exists":    {{2, "skua_any(list_transform($1, lambda @p: $2))", [][]string{ofElement}}},
	"forall":    {{2, "skua_all(list_transform($1, lambda @p: $2))", [][]string{ofElement}}},
	"zip_with":  {{3, "list_transform(skua_zipped($1, $2), lambda @p: $3)", [][]string{{"struct_extract_at(@p, 1)", "struct_extract_at(@p, 2)"}}}},
	"aggregate": {{3, "list_transform([struct_pack(l := $1, z := $2)], lambda @s: " + folded + ")[1]", [][]string{ofFold}},
		{4, "list_transform([struct_pack(l := $1, z := $2)], lambda @s: CASE WHEN @s.l IS NOT NULL THEN list_transform([" + folded + "], lambda @f: $4)[1] END)[1]", [][]string{{"@f"}, ofFold}}},
	"array_sort": {{2, "list_transform([$1], lambda @s: CASE WHEN skua_insertion(len(@s)) = 0 THEN struct_extract(list_reduce(list_transform(@s, lambda @i: struct_pack(a := list_slice(@s, 1, 0), e := @i)), " +
		"lambda @p, @q: struct_pack(a := list_transform([len(list_filter(struct_extract(@p, 'a'), lambda @f: skua_compared($2) <= 0))], lambda @n: " +
		"list_append(list_slice(struct_extract(@p, 'a'), 1, @n), struct_extract(@q, 'e')) || list_slice(struct_extract(@p, 'a'), @n + 1, len(struct_extract(@p, 'a'))))[1], e := struct_extract(@q, 'e')), " +
		"struct_pack(a := list_slice(@s, 1, 0), e := @s[0])), 'a') END)[1]", [][]string{{"@f", "struct_extract(@q, 'e')"}}}},
	"map_filter":       {{2, "map_from_entries(list_filter(map_entries($1), lambda @p: $2))", [][]string{ofEntry}}},
	"transform_keys":   {{2, "skua_entries(list_transform(map_entries($1), lambda @p: struct_pack(k := $2, v := struct_extract(@p, 'value'))))", [][]string{ofEntry}}},
	"transform_values": {{2, "map_from_entries(list_transform(map_entries($1), lambda @p: struct_pack(k := struct_extract(@p, 'key'), v := $2)))", [][]string{ofEntry}}},
	"map_zip_with": {{3, "list_transform([struct_pack(l := $1, r := $2)], lambda @s: CASE WHEN @s.l IS NOT NULL AND @s.r IS NOT NULL THEN map_from_entries(list_transform(" +
		"skua_union(map_keys(@s.l), map_keys(@s.r)), lambda @p: struct_pack(k := @p, v := $3))) END)[1]", [][]string{{"@p", "@s.l[@p]", "@s.r[@p]"}}}},
}

// lambdaFunction gives the function of a name in lambdaCalls.
func lambdaFunction(name string) function {
	return function{special: func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		return r.lambdaCall(lambdaCalls[name], bounds, pos)
	}}
}

// lambdaCall writes a call with lambdas behind its other arguments; false: it is not one of the forms.
func (r *rewriter) lambdaCall(forms []lambdaCall, bounds [][2]int, pos syntax.Pos) bool {
	var names [][]string
	bodies := append([][2]int{}, bounds...)
	for i := len(bounds) - 1; i >= 0; i-- {
		of, body, ok := r.lambda(bounds[i])
		if !ok {
			break
		}
		names, bodies[i] = append(names, of), body
	}
	for _, form := range forms {
		if form.arguments == len(bounds) && form.takes(names) {
			for i, b := range bounds[:len(bounds)-len(names)] {
				if b[1]-b[0] == 1 && r.at(b[0]).Is("NULL") && (i == 0 || !strings.Contains(form.text, "@s.z")) {
					r.failed = unexpected("lambda", "ARRAY", parseType(`"NULL"`))
				}
			}
			r.lambdaForm(form, names, bounds, bodies, pos)
			return true
		}
	}
	return false
}

func (c lambdaCall) takes(names [][]string) bool {
	if len(c.names) != len(names) {
		return false
	}
	for i, n := range c.names {
		if len(n) != len(names[i]) {
			return false
		}
	}
	return true
}

func (r *rewriter) lambdaForm(form lambdaCall, names [][]string, bounds, bodies [][2]int, pos syntax.Pos) {
	outer, scope := r.lambdaNames, r.lambdaScope
	level := strconv.Itoa(r.lambdaLevel)
	spell := func(text string) string {
		for _, mark := range []string{"p", "q", "s", "i", "f", "n"} {
			text = strings.ReplaceAll(text, "@"+mark, "skua_"+mark+level)
		}
		return text
	}
	r.lambdaLevel++
	plain, last := len(bounds)-len(names), bounds[len(bounds)-1][1]
	var args [][]piece
	for i, b := range bodies {
		if of := len(bodies) - 1 - i; i >= plain {
			r.lambdaNames = map[string]string{}
			maps.Copy(r.lambdaNames, outer)
			for n, name := range names[of] {
				r.lambdaNames[name] = spell(form.names[of][n])
			}
			r.lambdaScope = scope + r.tokenText(bounds[0][0], last)
			r.bound(syntax.Token{Kind: syntax.Symbol, Text: "->", Pos: pos})
		}
		args = append(args, r.argument(b))
	}
	r.lambdaLevel--
	r.lambdaNames, r.lambdaScope = outer, scope
	r.next = last + 1
	if r.failed == nil {
		r.template(spell(form.text), pos, args...)
	}
}

// argument translates what stands between two tokens.
func (r *rewriter) argument(b [2]int) []piece {
	r.next = b[0]
	return r.capture(func() {
		for r.failed == nil && r.next < b[1] {
			r.step(&scope{})
		}
	})
}

// lambda reads the names of a lambda, in lower case, and where its body is; false: it is something else.
func (r *rewriter) lambda(b [2]int) (names []string, body [2]int, ok bool) {
	i, several := b[0], r.at(b[0]).Is("(")
	if several {
		i++
	}
	for ; i < b[1]; i += 2 {
		t := r.at(i)
		if t.Kind != syntax.Word && t.Kind != syntax.Quoted {
			return nil, body, false
		}
		names = append(names, strings.ToLower(t.Name()))
		if !several || !r.at(i+1).Is(",") {
			break
		}
	}
	if i++; several {
		if !r.at(i).Is(")") {
			return nil, body, false
		}
		i++
	}
	return names, [2]int{i + 1, b[1]}, r.at(i).Is("->") && i+1 < b[1]
}

// lambdaName writes a name of a lambda as what it stands for, with fields behind it; false: it is another name.
func (r *rewriter) lambdaName() bool {
	t := r.peek()
	if len(r.lambdaNames) == 0 || t.Kind != syntax.Word && t.Kind != syntax.Quoted || r.at(r.next-1).Is(".") || r.at(r.next+1).Is("(") {
		return false
	}
	text, ok := r.lambdaNames[strings.ToLower(t.Name())]
	if !ok {
		return false
	}
	start := t.Pos
	var fields []string
	for r.next++; r.is("."); r.next += 2 {
		name := r.at(r.next + 1)
		if name.Kind != syntax.Word && name.Kind != syntax.Quoted {
			r.fail(r.next + 1)
			return true
		}
		fields = append(fields, name.Name())
	}
	for _, name := range fields {
		text = "struct_extract(" + text + ", " + QuoteText(name) + ")"
	}
	r.emitAt(text, start)
	return true
}

// tokenText gives the words between two tokens, which tell a lambda's place from others.
func (r *rewriter) tokenText(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(" " + r.at(i).Text)
	}
	return b.String()
}
