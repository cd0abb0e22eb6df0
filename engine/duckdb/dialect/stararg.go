package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// maxStars is how many arguments of functions may be stars in one statement: each asks the engine for columns.
const maxStars = 50

// StarArgument is a star among the arguments of a function, which stands for columns that only the engine can name.
type StarArgument struct {
	Offset int        // of its first token, by which Options.Stars has its columns
	Pos    syntax.Pos // of that token
	Query  string     // the query whose columns are those of the star
}

// starArgument is one as its tokens have it: from the qualifier to behind EXCEPT (…).
type starArgument struct{ from, to, query int }

// frame is a pair of parentheses that is open, or the statement.
type frame struct {
	start  int  // its first token
	query  int  // its last SELECT; -1: none
	call   bool // arguments of a function stand in it
	leave  bool // of one that takes a star as it is
	excess bool // behind a star: names that it leaves out
}

// starArguments finds the stars that are arguments of functions, and what queries they stand in.
func starArguments(tokens []syntax.Token) (out []starArgument, frames [][]frame) {
	stack := []frame{{query: -1}}
	at := func(i int) syntax.Token { return tokens[min(max(i, 0), len(tokens)-1)] }
	for i, t := range tokens {
		top := &stack[len(stack)-1]
		switch {
		case t.Is("(") || t.Is("[") || t.Is("{"):
			stack = append(stack, frame{start: i + 1, query: -1, call: t.Is("(") && i > 0 && callsFunction(at(i-1), at(i-2)),
				leave: at(i-1).Is("COLUMNS") || at(i-1).Is("COUNT") && at(i+1).Is("*") && at(i+2).Is(")"), excess: oneOf(at(i-1), "EXCEPT", "EXCLUDE", "REPLACE", "RENAME")})
		case t.Is(")") || t.Is("]") || t.Is("}"):
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case t.Is("SELECT") && !at(i-1).Is("."):
			top.query, top.call = i, false
		case t.Is("*") && top.call && !top.leave && !top.excess:
			from := qualifierOf(tokens, i)
			if before := at(from - 1); !before.Is("(") && !before.Is(",") && !before.Is("DISTINCT") && !before.Is("ALL") {
				continue
			}
			for f := len(stack) - 1; f >= 0; f-- {
				if stack[f].query >= 0 {
					out = append(out, starArgument{from, starEnd(tokens, i), stack[f].query})
					frames = append(frames, slices.Clone(stack[:f+1]))
					break
				}
			}
		}
	}
	return out, frames
}

// oneOf reports whether a token is one of some words or marks.
func oneOf(t syntax.Token, words ...string) bool { return slices.ContainsFunc(words, t.Is) }

// callsFunction reports whether a parenthesis behind a token holds arguments.
func callsFunction(name, before syntax.Token) bool {
	return name.Kind == syntax.Quoted || name.Kind == syntax.Word && (before.Is(".") || !oneOf(name, "SELECT", "DISTINCT", "ALL", "CASE", "IN", "AND", "OR", "NOT", "EXISTS", "OVER", "FILTER",
		"WHEN", "THEN", "ELSE", "BETWEEN", "ON", "BY", "AS", "USING", "VALUES", "ANY", "SOME", "GROUP", "UNION", "WHERE", "HAVING", "FROM", "JOIN", "SETS", "ROLLUP", "CUBE", "PIVOT",
		"UNPIVOT", "EXCEPT", "EXCLUDE", "REPLACE", "RENAME", "LIKE", "LIMIT", "OFFSET", "IS", "LATERAL", "QUALIFY", "RETURN"))
}

// qualifierOf gives the first token of a star with its qualifier.
func qualifierOf(tokens []syntax.Token, star int) int {
	for star >= 2 && tokens[star-1].Is(".") && (tokens[star-2].Kind == syntax.Word || tokens[star-2].Kind == syntax.Quoted) {
		star -= 2
	}
	return star
}

// starEnd gives the token behind a star and the columns that it leaves out or replaces.
func starEnd(tokens []syntax.Token, star int) int {
	next := star + 1
	for next+1 < len(tokens) && oneOf(tokens[next], "EXCEPT", "EXCLUDE", "REPLACE") && tokens[next+1].Is("(") {
		depth := 0
		for ; next < len(tokens)-1; next++ {
			if tokens[next].Is("(") {
				depth++
			} else if tokens[next].Is(")") {
				if depth--; depth == 0 {
					next++
					break
				}
			}
		}
	}
	return next
}

// expandStars puts columns into the places of the stars that are arguments, or tells which columns it must know for that.
func (r *rewriter) expandStars() (unknown []StarArgument) {
	found, frames := starArguments(r.tokens)
	if len(found) == 0 {
		return nil
	}
	if len(found) > maxStars {
		r.failed = tooComplex(r.at(found[maxStars].from).Pos, "stars as arguments", maxStars)
		return nil
	}
	var tokens []syntax.Token
	done := 0
	for n, s := range found {
		first := r.at(s.from)
		if r.at(s.from-1).Is("(") && r.at(s.from-2).Is("COUNT") && r.at(s.to).Is(")") && s.to-s.from > 1 && r.at(s.to-1).Is("*") {
			r.failed = fault.New(fault.Invalid, "count(%s) is not allowed. Please use count(*) or expand the columns manually, e.g. count(col1, col2).", r.source(s.from, s.to)).
				With("_LEGACY_ERROR_TEMP_1021", "").At(faultAt(first.Pos))
			return nil
		}
		columns, known := r.Stars[first.Pos.Offset]
		if !known {
			unknown = append(unknown, StarArgument{first.Pos.Offset, first.Pos, r.starQuery(s, frames[n])})
			continue
		}
		tokens = append(append(tokens, r.tokens[done:s.from]...), r.columnTokens(s, columns)...)
		done = s.to
	}
	if unknown == nil && r.failed == nil {
		r.tokens = append(tokens, r.tokens[done:]...)
		r.parser = syntax.NewParserOf(r.text, r.tokens)
	}
	return unknown
}

// columnTokens spells the columns that a star stands for.
func (r *rewriter) columnTokens(s starArgument, columns []string) (out []syntax.Token) {
	pos := r.at(s.from).Pos
	mark := func(text string) syntax.Token { return syntax.Token{Kind: syntax.Symbol, Text: text, Pos: pos} }
	qualifier := r.tokens[s.from : slices.IndexFunc(r.tokens[s.from:], func(t syntax.Token) bool { return t.Is("*") })+s.from]
	for i, c := range columns {
		if slices.ContainsFunc(columns[:i], func(other string) bool { return strings.EqualFold(other, c) }) {
			r.failed = fault.New(fault.Unsupported, "a star as an argument that stands for several columns named %s is not supported: name the columns", syntax.Quote(c)).
				At(faultAt(pos))
			return nil
		}
		if i > 0 {
			out = append(out, mark(","))
		}
		for _, t := range qualifier {
			t.Pos = pos
			out = append(out, t)
		}
		out = append(out, syntax.Token{Kind: syntax.Quoted, Text: "`" + strings.ReplaceAll(c, "`", "``") + "`", Pos: pos})
	}
	return out
}

// starQuery writes the query of the columns of a star: its FROM alone, behind those queries of WITH that it sees.
func (r *rewriter) starQuery(s starArgument, frames []frame) string {
	end := r.endOf(r.fromOf(s.query)+1, fromEnds...)
	if !r.at(r.fromOf(s.query)).Is("FROM") {
		r.failed = fault.New(fault.Invalid, "Invalid usage of '*' in a query without FROM.").With("INVALID_USAGE_OF_STAR_OR_REGEX", "42000").At(faultAt(r.at(s.from).Pos))
		return ""
	}
	query := "SELECT " + r.source(s.from, s.to) + " " + r.source(r.fromOf(s.query), end)
	for i := len(frames) - 1; i >= 0; i-- {
		if with := r.withBefore(frames[i].start, s.from); with != "" {
			query = with + " " + query
			if i > 0 && r.withOf(frames[:i], s.from) {
				query = "SELECT * FROM (" + query + ")"
			}
		}
	}
	return query
}

// withOf reports whether one of the frames has a WITH.
func (r *rewriter) withOf(frames []frame, before int) bool {
	return slices.ContainsFunc(frames, func(f frame) bool { return r.withBefore(f.start, before) != "" })
}

// fromEnds are the words behind a FROM with all its relations.
var fromEnds = []string{"WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "QUALIFY", "WINDOW", "SORT", "CLUSTER", "DISTRIBUTE", "FETCH", "OFFSET"}

// fromOf gives the FROM of a SELECT, or what stands where it should.
func (r *rewriter) fromOf(query int) int {
	for next := query + 1; ; next++ {
		next = r.endOf(next, append([]string{"FROM"}, fromEnds...)...)
		previous := r.at(next - 1)
		switch {
		case r.at(next).Is("FROM") && previous.Is("DISTINCT") && (r.at(next-2).Is("IS") || r.at(next-2).Is("NOT")), r.at(next).Is("EXCEPT") && previous.Is("*"):
			continue
		case r.at(next).Kind == syntax.Word && (previous.Is(".") || previous.Is("AS")):
			continue
		}
		return next
	}
}

// withBefore writes the queries of the WITH at a token that are complete before another one.
func (r *rewriter) withBefore(start, before int) string {
	if !r.at(start).Is("WITH") {
		return ""
	}
	next := start + 1
	if r.at(next).Is("RECURSIVE") {
		next++
	}
	last := 0
	for {
		end := r.endOf(next, ",", "SELECT", "FROM", "VALUES", "TABLE")
		if end > before || end == next {
			break
		}
		last = end
		if !r.at(end).Is(",") {
			break
		}
		next = end + 1
	}
	if last == 0 {
		return ""
	}
	return r.source(start, last)
}

// source gives the text of tokens.
func (r *rewriter) source(from, to int) string {
	if to <= from {
		return ""
	}
	last := r.at(to - 1)
	return r.text[r.at(from).Pos.Offset : last.Pos.Offset+len(last.Text)]
}

func faultAt(p syntax.Pos) fault.Position { return fault.Position{Line: p.Line, Column: p.Column} }
