package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// windowed is a call with OVER as its tokens have it.
type windowed struct {
	name          string // in lower case; empty: no call stands in front of OVER
	at            int    // the name
	open          int    // the parenthesis of the arguments
	filter, nulls int    // FILTER, and IGNORE or RESPECT; 0: there is none
	over          int    // OVER
	from, to      int    // what stands between its parentheses
	clause        string // where it stands in its query
	within        bool   // WITHIN GROUP with an order that it needs stands behind the arguments
}

// clauses are the words that begin a clause of a query.
var clauses = []string{"SELECT", "FROM", "ON", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT"}

// place is where a token stands: in the query of a SELECT, in a clause.
type place struct {
	query  int // the SELECT; -1: none
	clause string
}

// places tells of every token where it stands. What is in parentheses stands where they do, unless a query is in them.
func (r *rewriter) places() []place {
	out := make([]place, len(r.tokens))
	stack := []place{{query: -1}}
	for i, t := range r.tokens {
		top := &stack[len(stack)-1]
		switch previous := r.at(i - 1); {
		case t.Is("("):
			out[i] = *top
			stack = append(stack, *top)
			continue
		case t.Is(")") && len(stack) > 1:
			stack = stack[:len(stack)-1]
			top = &stack[len(stack)-1]
		case t.Kind != syntax.Word || i > 0 && (previous.Is(".") || previous.Is("AS")):
		case t.Is("SELECT"):
			*top = place{i, "SELECT"}
		case oneOf(t, "GROUP", "ORDER") && (!r.at(i+1).Is("BY") || r.inWindow(i)), t.Is("FROM") && previous.Is("DISTINCT"), r.callsWindow(i):
		case oneOf(t, clauses...):
			top.clause = strings.ToUpper(t.Text)
		}
		out[i] = *top
	}
	return out
}

// inWindow reports whether ORDER BY at a token is part of an aggregate or a window: those have parentheses of their own around it.
func (r *rewriter) inWindow(order int) bool {
	open := r.around(order)
	if open < 0 {
		return false
	}
	for i := open + 1; i < order; i = r.after(i) {
		if oneOf(r.at(i), "SELECT", "FROM", "VALUES", "TABLE") {
			return false
		}
	}
	return true
}

// around gives the parenthesis that a token stands in; -1: none.
func (r *rewriter) around(token int) int {
	depth := 0
	for i := token - 1; i >= 0; i-- {
		switch t := r.at(i); {
		case t.Is(")"):
			depth++
		case t.Is("("):
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// windows puts windows that are named into the places of their names, and refuses those and conditions behind FILTER that Spark refuses.
func (r *rewriter) windows() {
	if r.Spark {
		r.groupingIDs()
		r.filters()
	}
	if !r.Spark || r.failed != nil || !slices.ContainsFunc(r.tokens, func(t syntax.Token) bool { return oneOf(t, "OVER", "WINDOW", "IGNORE", "RESPECT") }) {
		return
	}
	r.nameWindows()
	if r.failed != nil {
		return
	}
	where := r.places()
	for i := range r.tokens {
		if w, ok := r.windowAt(i); ok && r.failed == nil {
			r.spellWindow(w)
			w.clause = where[i].clause
			r.allow(w)
		}
	}
	r.hidesNulls()
}

// spellWindow writes PARTITION BY and ORDER BY for their other names.
func (r *rewriter) spellWindow(w windowed) {
	for i := w.from; i < w.to; i = r.after(i) {
		if word, ok := windowWords[strings.ToUpper(r.at(i).Text)]; ok && r.at(i+1).Is("BY") {
			r.tokens[i].Text = word
		}
	}
}

var windowWords = map[string]string{"DISTRIBUTE": "PARTITION", "CLUSTER": "PARTITION", "SORT": "ORDER"}

// windowAt gives the window whose OVER is a token; false: it is none.
func (r *rewriter) windowAt(over int) (w windowed, ok bool) {
	if !r.at(over).Is("OVER") || !r.at(over+1).Is("(") || over < 2 || !r.at(over-1).Is(")") && !r.at(over-1).Is("NULLS") {
		return windowed{}, false
	}
	w = windowed{over: over, from: over + 2, to: r.after(over+1) - 1}
	for at := over - 1; at > 0; {
		if r.at(at).Is("NULLS") {
			w.nulls = at - 1
			at -= 2
			continue
		}
		open := r.opening(at)
		switch {
		case !r.at(at).Is(")") || open < 1:
			return w, true
		case r.at(open - 1).Is("FILTER"):
			w.filter = open - 1
			at = open - 2
		case r.at(open-1).Is("GROUP") && r.at(open-2).Is("WITHIN"):
			w.within, at = true, open-3
		default:
			if t := r.at(open - 1); t.Kind == syntax.Word || t.Kind == syntax.Quoted {
				w.name, w.at, w.open = strings.ToLower(t.Name()), open-1, open
				w.within = w.within && w.name != "mode"
			}
			return w, true
		}
	}
	return w, true
}

// invalid ends the translation with an error of Spark's about a token.
func (r *rewriter) invalid(token int, condition, state, message string, args ...any) {
	if r.failed == nil {
		r.failed = fault.New(fault.Invalid, message, args...).With(condition, state).At(faultAt(r.at(token).Pos))
	}
}

// over writes OVER with its window. For a moving aggregate, one of all rows of a partition is written as a frame that may move: the engine gives states of such
// aggregates of ours no other way.
func (r *rewriter) over(moving bool) {
	w, known := r.windowAt(r.next)
	f, keys := r.frameOf(w)
	switch {
	case !r.at(r.next + 1).Is("("):
		if moving && r.failed == nil {
			r.failed = fault.New(fault.Unsupported, "a window by name that holds parameters or variables is not supported here: write it behind OVER").At(faultAt(r.peek().Pos))
		}
		r.operand(&scope{})
		r.operand(&scope{})
	case !moving || !known || f.kind == "" && keys > 0 || f.kind != "" && !f.whole():
		r.operand(&scope{})
	default:
		end := w.to
		if f.kind != "" {
			end = f.at
		}
		r.copy()
		r.copy()
		s := &scope{window: true}
		for r.failed == nil && r.next < end {
			r.step(s)
		}
		r.emit("ROWS BETWEEN 9223372036854775807 PRECEDING AND UNBOUNDED FOLLOWING")
		r.next = w.to
		r.close(")")
	}
}
