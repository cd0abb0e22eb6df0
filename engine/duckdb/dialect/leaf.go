package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// noOperands are words that no operand begins with.
var noOperands = words("select from where having qualify on by as values limit offset except union intersect minus with over filter row top and or not in is like ilike rlike regexp between " +
	"when then else end distinct all group order asc desc nulls join left right inner outer full cross natural semi anti using window lateral exists partition rows range groups set " +
	"escape div returning fetch sort cluster distribute pivot unpivot lambda any some into table tablesample recursive")

// afterWords are the words that an expression may follow.
var afterWords = words("select distinct all and or not in is like ilike rlike regexp between case when then else where having qualify on by limit offset top values escape")

// afterMarks are the marks that an expression may follow besides operators, which it is part of.
var afterMarks = []string{"(", ",", "[", "{", "=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", "!<", "!>", "->", "!", "=>", ":="}

// beginsOperand reports whether an expression may begin with the next token: none that is read already goes on with it.
func (r *rewriter) beginsOperand() bool {
	if r.next == 0 {
		return false
	}
	switch before := r.at(r.next - 1); before.Kind {
	case syntax.Symbol:
		return slices.ContainsFunc(afterMarks, before.Is) || before.Is(":") && r.at(r.next-2).Kind == syntax.Text
	case syntax.Word:
		return afterWords[strings.ToLower(before.Text)] && !r.at(r.next-2).Is(".") || before.Is("FROM") && (r.at(r.next-2).Is("DISTINCT") || r.at(r.next-3).Is("(") && r.at(r.next-4).Is("EXTRACT"))
	}
	return false
}

// leafEnd gives the token behind an operand without operators of its own; -1: none begins there.
func (r *rewriter) leafEnd(from int) int {
	end := r.primaryEnd(from)
	for end > 0 && r.postfix(end) {
		switch t := r.at(end); {
		case t.Is("["):
			end = r.closing(end)
		case t.Is("."):
			if kind := r.at(end + 1).Kind; kind != syntax.Word && kind != syntax.Quoted {
				return -1
			}
			end = r.calledEnd(end + 2)
		default:
			end = r.typeEnd(end + 1)
		}
	}
	return end
}

// postfix reports whether a token goes on with the operand before it.
func (r *rewriter) postfix(token int) bool {
	t := r.at(token)
	return t.Is("[") || t.Is(".") || t.Is("::")
}

// primaryEnd gives the token behind a literal, a name, a call or what stands in parentheses.
func (r *rewriter) primaryEnd(from int) int {
	t, after := r.at(from), r.at(from+1)
	switch {
	case t.Is("-") && after.Kind == syntax.Number:
		return from + 2
	case t.Kind == syntax.Number, t.Is("?"):
		return from + 1
	case t.Kind == syntax.Text:
		return r.texts(from)
	case t.Is("("), t.Is("["), t.Is("{"):
		return r.closing(from)
	case t.Kind == syntax.Quoted:
		return r.calledEnd(from + 1)
	case t.Kind != syntax.Word || noOperands[strings.ToLower(t.Text)] && !after.Is("."):
		return -1
	case t.Is("CASE") && !after.Is("."):
		return r.closing(from)
	case t.Is("INTERVAL"):
		return r.intervalEnd(from)
	case after.Kind == syntax.Text:
		return r.texts(from + 1)
	case t.Is("ARRAY") && after.Is("["), t.Is("MAP") && after.Is("{"):
		return r.closing(from + 1)
	}
	return r.calledEnd(from + 1)
}

// texts gives the token behind literals side by side.
func (r *rewriter) texts(from int) int {
	for r.at(from).Kind == syntax.Text {
		from++
	}
	return from
}

// closing gives the token behind what closes a parenthesis, bracket or brace, or behind the END of a CASE; -1: nothing does.
func (r *rewriter) closing(from int) int {
	if r.closers == nil {
		r.closers = closers(r.tokens)
	}
	if from < len(r.closers) && r.closers[from] > 0 {
		return r.closers[from] + 1
	}
	return -1
}

// closers gives for each token that opens something the one that closes it, 0 for all others.
func closers(tokens []syntax.Token) []int {
	out := make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		named := i > 0 && tokens[i-1].Is(".") || i+1 < len(tokens) && tokens[i+1].Is(".")
		switch {
		case t.Is("("), t.Is("["), t.Is("{"), t.Is("CASE") && !named:
			open = append(open, i)
		case t.Is(")"), t.Is("]"), t.Is("}"):
			for len(open) > 0 && tokens[open[len(open)-1]].Is("CASE") {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				out[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		case t.Is("END") && !named && len(open) > 0 && tokens[open[len(open)-1]].Is("CASE"):
			out[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
	return out
}

// calledEnd gives the token behind the arguments of a function whose name ends before a token, with all that may follow; without arguments, the token.
func (r *rewriter) calledEnd(end int) int {
	if !r.at(end).Is("(") {
		return end
	}
	end = r.closing(end)
	for end > 0 {
		switch after := r.at(end + 1); {
		case r.at(end).Is("FILTER") && after.Is("("), r.at(end).Is("OVER") && after.Is("("):
			end = r.closing(end + 1)
		case r.at(end).Is("WITHIN") && after.Is("GROUP"):
			end = r.closing(end + 2)
		case r.at(end).Is("OVER"), oneOf(r.at(end), "IGNORE", "RESPECT") && after.Is("NULLS"):
			end += 2
		default:
			return end
		}
	}
	return end
}

// intervalEnd gives the token behind an interval, or behind a name that is the same word.
func (r *rewriter) intervalEnd(from int) int {
	if _, n, err := syntax.ReadInterval(r.tokens[from:]); n > 0 && err == nil {
		return from + n
	}
	end := from + 1
	for {
		at := end
		if t := r.at(at); t.Is("-") || t.Is("+") {
			at++
		}
		switch t := r.at(at); {
		case t.Kind == syntax.Number, t.Kind == syntax.Text:
			at++
		case t.Is("(") && at == from+1:
			at = r.closing(at)
		default:
			return end
		}
		if at < 0 {
			return -1
		}
		text := r.at(at-1).Kind == syntax.Text
		if !unitWords[strings.ToLower(r.at(at).Text)] || r.at(at).Kind != syntax.Word {
			if text && end == from+1 {
				return at
			}
			return end
		}
		if at++; r.at(at).Is("TO") && unitWords[strings.ToLower(r.at(at+1).Text)] {
			at += 2
		}
		end = at
	}
}

// unitWords are the units of intervals.
var unitWords = words("microsecond microseconds millisecond milliseconds second seconds minute minutes hour hours day days week weeks month months quarter quarters year years")

// typeEnd gives the token behind a type.
func (r *rewriter) typeEnd(from int) int {
	if kind := r.at(from).Kind; kind != syntax.Word && kind != syntax.Quoted {
		return -1
	}
	r.parser.Seek(from)
	end := from + 1
	if _, err := r.parser.TypeName(); err == nil {
		end = r.parser.Place()
	} else if r.at(end).Is("(") {
		end = r.closing(end)
	}
	for end > 0 && r.at(end).Is("[") && (r.at(end+1).Is("]") || r.at(end+1).Kind == syntax.Number && r.at(end+2).Is("]")) {
		end = r.closing(end)
	}
	return end
}
