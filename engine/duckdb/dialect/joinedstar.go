package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// joinedStar is a star over joins with USING and NATURAL JOIN, whose columns Spark has in an order of its own: those that a join compares come first.
type joinedStar struct {
	star      []piece     // as it stands
	whose     string      // the relation whose columns it has; empty: all
	without   [][2]string // names that it leaves out, behind their relations
	relations []joinedRelation
}

// joinedRelation is a relation with how it is joined to those before it.
type joinedRelation struct {
	name    string
	kind    string   // empty: it begins a FROM or follows a comma, which joins what is before it, too
	using   []string // nil: no columns
	natural bool
}

// joinedStar writes the star between two tokens where its columns are in another order than the engine's; false: they are not, or it is not known.
func (r *rewriter) joinedStar(s *scope, from, end int) bool {
	j := &joinedStar{}
	at := from
	if r.at(from+1).Is(".") && r.at(from+2).Is("*") {
		j.whose, at = r.at(from).Name(), from+2
	}
	if !r.Spark || !r.at(at).Is("*") {
		return false
	}
	if except := at + 1; oneOf(r.at(except), "EXCEPT", "EXCLUDE") && r.at(except+1).Is("(") && except < end {
		if j.without, at = r.columnNames(except + 1); j.without == nil {
			return false
		}
	}
	if at+1 != end {
		return false
	}
	start := r.fromOf(s.start)
	if !r.at(start).Is("FROM") {
		return false
	}
	if j.relations = r.joinedRelations(start+1, r.endOf(start+1, fromEnds...)); !j.reorders() {
		return false
	}
	j.star = r.capture(func() {
		for r.failed == nil && r.next < end {
			r.operand(&scope{})
		}
		r.stars(s, 0)
	})
	if r.failed == nil {
		r.put(j, from, end)
	}
	return true
}

// reorders reports whether a join of the relations puts columns first.
func (j *joinedStar) reorders() bool {
	return slices.ContainsFunc(j.relations, func(r joinedRelation) bool { return r.natural || r.using != nil })
}

// columnNames gives the names in the parentheses at a token, maybe with relations in front, and the token that closes them; nil: there is more in them.
func (r *rewriter) columnNames(open int) (names [][2]string, closing int) {
	closing = r.endOf(open + 1)
	for i := open + 1; i < closing; i += 2 {
		name := [2]string{}
		if r.at(i + 1).Is(".") {
			name[0] = r.at(i).Name()
			i += 2
		}
		if t := r.at(i); t.Kind != syntax.Word && t.Kind != syntax.Quoted || !oneOf(r.at(i+1), ",", ")") {
			return nil, closing
		}
		name[1] = r.at(i).Name()
		names = append(names, name)
	}
	return names, closing
}

// joinedRelations reads a FROM; nil: it has something else than names and queries that are joined.
func (r *rewriter) joinedRelations(at, end int) (out []joinedRelation) {
	next := joinedRelation{}
	for {
		if next.name, at = r.relationName(at, end); next.name == "" {
			return nil
		}
		switch {
		case r.at(at).Is("ON") && at < end:
			at = r.conditionEnd(at+1, end)
		case r.at(at).Is("USING") && r.at(at+1).Is("(") && at < end:
			var names [][2]string
			if names, at = r.columnNames(at + 1); names == nil {
				return nil
			}
			for _, n := range names {
				next.using = append(next.using, n[1])
			}
			at++
		}
		out = append(out, next)
		if at >= end {
			return out
		}
		if next, at = r.joinKind(at, end); at < 0 {
			return nil
		}
	}
}

// relationName gives the name of the relation at a token and the token behind it; empty: it is none with a name.
func (r *rewriter) relationName(at, end int) (name string, behind int) {
	switch t := r.at(at); {
	case t.Is("(") && oneOf(r.at(at+1), "SELECT", "WITH", "VALUES"):
		at = r.after(at)
	case oneOf(t, "LATERAL", "VALUES"):
		return "", at
	case t.Kind == syntax.Word || t.Kind == syntax.Quoted:
		for r.at(at + 1).Is(".") {
			at += 2
		}
		name = r.at(at).Name()
		at++
	default:
		return "", at
	}
	if at < end {
		if t := r.at(at); t.Is("AS") || t.Kind == syntax.Quoted || t.Kind == syntax.Word && !t.EndsRelation() && !afterTable(t) {
			if t.Is("AS") {
				at++
			}
			name = r.at(at).Name()
			if at++; r.at(at).Is("(") {
				at = r.after(at)
			}
		}
		if at < end && !oneOf(r.at(at), ",", "ON", "USING") && !r.beginsJoin(at) {
			return "", at
		}
	}
	return name, at
}

// beginsJoin reports whether a join begins with a token.
func (r *rewriter) beginsJoin(at int) bool {
	if oneOf(r.at(at), "JOIN", "INNER", "CROSS", "NATURAL") {
		return !r.at(at - 1).Is(".")
	}
	return oneOf(r.at(at), "LEFT", "RIGHT", "FULL", "SEMI", "ANTI") && oneOf(r.at(at+1), "JOIN", "OUTER", "SEMI", "ANTI")
}

// conditionEnd gives the token behind a condition.
func (r *rewriter) conditionEnd(at, end int) int {
	for at < end && !r.at(at).Is(",") && !r.beginsJoin(at) {
		at = r.after(at)
	}
	return at
}

// joinKind reads the words of a join, or a comma, and gives the token behind them; -1: they are others.
func (r *rewriter) joinKind(at, end int) (out joinedRelation, behind int) {
	if r.at(at).Is(",") {
		return out, at + 1
	}
	out.kind = "INNER"
	for ; at < end && !r.at(at).Is("JOIN"); at++ {
		switch t := r.at(at); {
		case t.Is("NATURAL"):
			out.natural = true
		case oneOf(t, "INNER", "CROSS", "OUTER"):
		case oneOf(t, "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"):
			out.kind = strings.ToUpper(t.Text)
		default:
			return out, -1
		}
	}
	if at >= end || out.natural && out.alone() {
		return out, -1
	}
	return out, at + 1
}

// alone reports whether a join has no columns of the relation.
func (j joinedRelation) alone() bool { return j.kind == "SEMI" || j.kind == "ANTI" }

func (j *joinedStar) asks() (out [][]piece) {
	for _, r := range j.relations {
		if !r.alone() {
			out = append(out, []piece{{table: -1, text: QuoteIdent(r.name)}})
		}
	}
	return out
}
