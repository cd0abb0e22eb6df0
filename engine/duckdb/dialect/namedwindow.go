package dialect

import (
	"slices"

	"github.com/skua-data/skua/engine/syntax"
)

// namedWindow is a definition behind WINDOW.
type namedWindow struct {
	from, to int    // what stands between its parentheses
	alias    string // of another one; empty: it has parentheses
}

// windowClause is a WINDOW with its definitions.
type windowClause struct {
	from, to int // its tokens
	named    map[string]namedWindow
}

// nameWindows writes OVER name as OVER (…), and leaves WINDOW out: so columns are called after what the windows are, as in Spark.
func (r *rewriter) nameWindows() {
	where := r.places()
	clauses := map[int]windowClause{} // by the query's SELECT
	for i, t := range r.tokens {
		if t.Is("WINDOW") && where[i].clause == "WINDOW" && isName(r.at(i+1)) && r.at(i+2).Is("AS") {
			c, ok := r.windowClause(i)
			if !ok {
				return
			}
			clauses[where[i].query] = c
		}
	}
	var out []syntax.Token
	for i := 0; i < len(r.tokens); i++ {
		t := r.tokens[i]
		if c, ok := clauses[where[i].query]; ok && i == c.from {
			i = c.to - 1
			continue
		}
		out = append(out, t)
		if !t.Is("OVER") || i == 0 || !r.at(i-1).Is(")") && !r.at(i-1).Is("NULLS") {
			continue
		}
		name, end := i+1, i+2
		if r.at(name).Is("(") {
			name, end = i+2, i+4
			if t := r.at(name); !isName(t) || oneOf(t, "PARTITION", "ORDER", "DISTRIBUTE", "SORT", "CLUSTER", "ROWS", "RANGE", "GROUPS") {
				continue
			}
			if !r.at(name + 1).Is(")") {
				r.fail(name + 1)
				return
			}
		} else if t := r.at(name); !isName(t) || t.EndsRelation() && t.Kind == syntax.Word {
			continue
		}
		inner, ok := clauses[where[i].query].resolve(r, r.at(name).Name())
		if !ok {
			r.invalid(name, "MISSING_WINDOW_SPECIFICATION", "42P20", "Window specification is not defined in the WINDOW clause for %s.", syntax.Quote(r.at(name).Name()))
			return
		}
		pos := r.at(name).Pos
		out = append(out, syntax.Token{Kind: syntax.Symbol, Text: "(", Pos: pos})
		for _, t := range inner {
			t.Pos = pos
			out = append(out, t)
		}
		out = append(out, syntax.Token{Kind: syntax.Symbol, Text: ")", Pos: pos})
		i = end - 1
	}
	r.tokens, r.closers = out, nil
	r.parser = syntax.NewParserOf(r.text, r.tokens)
}

// isName reports whether a token may be a name.
func isName(t syntax.Token) bool { return t.Kind == syntax.Word || t.Kind == syntax.Quoted }

// windowClause reads WINDOW; false: it is something else, or holds what hangs on its place in the text.
func (r *rewriter) windowClause(at int) (out windowClause, ok bool) {
	out = windowClause{from: at, named: map[string]namedWindow{}}
	for next := at + 1; ; next++ {
		name := r.at(next)
		if !isName(name) || !r.at(next+1).Is("AS") {
			return out, false
		}
		if _, twice := out.named[name.Name()]; twice {
			r.invalid(next, "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION", "42000", "The definition of window %s is repetitive.", syntax.Quote(name.Name()))
			return out, false
		}
		next += 2
		w := namedWindow{alias: r.at(next).Name()}
		if r.at(next).Is("(") {
			w = namedWindow{from: next + 1, to: r.after(next) - 1}
			if w.to == w.from+1 && isName(r.at(w.from)) {
				w.alias = r.at(w.from).Name()
			}
			for _, t := range r.tokens[w.from:w.to] {
				if _, variable := r.Values[t.Pos.Offset]; variable || t.Is("?") {
					return out, false
				}
			}
		} else if !isName(r.at(next)) {
			return out, false
		}
		if _, known := out.named[w.alias]; w.alias != "" && !known {
			r.invalid(next, "INVALID_SQL_SYNTAX.UNRESOLVED_WINDOW_REFERENCE", "42000", "Cannot resolve window reference %s.", syntax.Quote(w.alias))
			return out, false
		}
		out.named[name.Name()] = w
		if next = r.after(next); !r.at(next).Is(",") {
			out.to = next
			return out, true
		}
	}
}

// resolve gives what a name stands for; false: for no window.
func (c windowClause) resolve(r *rewriter, name string) ([]syntax.Token, bool) {
	w, ok := c.named[name]
	if ok && w.alias != "" {
		if w, ok = c.named[w.alias]; w.alias != "" {
			return nil, false
		}
	}
	return slices.Clone(r.tokens[w.from:w.to]), ok
}
