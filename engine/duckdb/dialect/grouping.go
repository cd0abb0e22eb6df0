package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// groupEnds are the words behind GROUP BY with its elements.
var groupEnds = []string{"HAVING", "ORDER", "LIMIT", "QUALIFY", "WINDOW", "UNION", "INTERSECT", "EXCEPT", "MINUS", "SORT", "FETCH", "OFFSET"}

// groupBy writes GROUP BY, GROUP BY a, b WITH ROLLUP as ROLLUP (a, b), and GROUP BY a, b GROUPING SETS (…) without the first list.
func (r *rewriter) groupBy() {
	r.copy()
	r.copy()
	end := r.endOf(r.next, groupEnds...)
	kind := r.at(end - 1)
	if sets := r.endOf(r.next, append([]string{"GROUPING"}, groupEnds...)...); sets > r.next && r.at(sets).Is("GROUPING") && r.at(sets+1).Is("SETS") && !r.at(sets-1).Is(",") {
		r.next = sets
		return
	}
	if end-r.next < 3 || !r.at(end-2).Is("WITH") || !kind.Is("ROLLUP") && !kind.Is("CUBE") {
		return
	}
	r.emit(strings.ToUpper(kind.Text) + "(")
	for r.failed == nil && r.next < end-2 {
		r.step(&scope{})
	}
	r.emit(")")
	r.next = end
}

// groupingCall writes grouping(a) and grouping_id(a, b), whose types are Spark's; grouping_id() is of all that its query groups by.
func groupingCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	id := r.at(r.next - 1).Is("grouping_id")
	if id != (len(bounds) != 1) && !id {
		return false
	}
	if r.Spark && !r.groupsBySets(bounds, pos) {
		return true
	}
	var args []piece
	if len(bounds) == 0 {
		args = r.groupedBy(pos)
		r.next += 2
	} else {
		for i, a := range r.argumentPieces(bounds) {
			if i > 0 {
				args = append(args, piece{table: -1, text: ","})
			}
			args = append(args, a...)
		}
	}
	typ := "TINYINT"
	if id {
		typ = "BIGINT"
	}
	r.template("CAST(GROUPING($1) AS "+typ+")", pos, args)
	return true
}

// groupsBySets refuses grouping and grouping_id in queries that group by one set alone, and grouping_id of other columns than its query groups by.
func (r *rewriter) groupsBySets(bounds [][2]int, pos syntax.Pos) bool {
	group := r.groupOf(r.next)
	if group < 0 {
		return true // the engine's error
	}
	sets := false
	var columns []string
	for i, end := group+2, r.endOf(group, groupEnds...); i < end; i++ {
		t := r.at(i)
		sets = sets || oneOf(t, "ROLLUP", "CUBE") || t.Is("GROUPING") && r.at(i+1).Is("SETS")
		if name := strings.ToLower(t.Name()); isName(t) && oneOf(r.at(i+1), ",", ")", "WITH") && !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	if !sets {
		r.invalid(r.next-1, "UNSUPPORTED_GROUPING_EXPRESSION", "42K0E", "grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup.")
		return false
	}
	var named []string
	for _, b := range bounds {
		if !isName(r.at(b[1]-1)) || b[1]-b[0] != 1 && !r.at(b[1]-2).Is(".") {
			return true
		}
		named = append(named, strings.ToLower(r.at(b[1]-1).Name()))
	}
	if len(bounds) > 0 && r.at(r.next-1).Is("grouping_id") && !slices.Equal(named, columns) && slices.IndexFunc(named, func(n string) bool { return !slices.Contains(columns, n) }) < 0 {
		r.invalid(r.next-1, "GROUPING_ID_COLUMN_MISMATCH", "42803", "Columns of grouping_id (%s) does not match grouping columns (%s).", strings.Join(named, ", "), strings.Join(columns, ", "))
		return false
	}
	return true
}

// groupedBy gives the names that the query of the next token groups by, each once.
func (r *rewriter) groupedBy(pos syntax.Pos) (out []piece) {
	group := r.groupOf(r.next)
	seen := map[string]bool{}
	for i, end := group+2, r.endOf(group, groupEnds...); group >= 0 && i < end; i++ {
		t := r.at(i)
		switch {
		case oneOf(t, "ROLLUP", "CUBE") && (r.at(i+1).Is("(") || r.at(i-1).Is("WITH")), t.Is("GROUPING") && r.at(i+1).Is("SETS"), t.Is("SETS") && r.at(i-1).Is("GROUPING"),
			t.Is("WITH"), t.Is("("), t.Is(")"), t.Is(","):
			continue
		}
		from := i
		for r.at(i + 1).Is(".") {
			i += 2
		}
		if behind := r.at(i + 1); r.at(i).Kind != syntax.Word && r.at(i).Kind != syntax.Quoted || !oneOf(behind, ",", ")", "WITH", "GROUPING") && i+1 < end {
			group = -1
			break
		}
		if name := strings.ToLower(r.at(i).Name()); !seen[name] {
			seen[name] = true
			if len(out) > 0 {
				out = append(out, piece{table: -1, text: ","})
			}
			next := r.next
			r.next = from
			out = append(out, r.capture(r.chain)...)
			r.next = next
		}
	}
	if len(out) == 0 && r.failed == nil {
		r.failed = fault.New(fault.Unsupported, "grouping_id() of what is no list of columns is not supported: name them as arguments").With("", "0A000").At(faultAt(pos))
	}
	return out
}

// groupOf gives the GROUP BY of the query that a token stands in; -1: it has none.
func (r *rewriter) groupOf(token int) int {
	depth := 0
	for i := token; i >= 0; i-- {
		switch t := r.at(i); {
		case t.Is(")"):
			depth++
		case t.Is("("):
			depth = max(0, depth-1)
		case depth == 0 && t.Is("SELECT"):
			if group := r.endOf(i+1, append([]string{"GROUP"}, groupEnds...)...); r.at(group).Is("GROUP") {
				return group
			}
			return -1
		}
	}
	return -1
}

// groupingIDs writes grouping__id, the column that a query has of the sets it groups by, as grouping_id().
func (r *rewriter) groupingIDs() {
	if !slices.ContainsFunc(r.tokens, isGroupingID) {
		return
	}
	var out []syntax.Token
	for i, t := range r.tokens {
		if _, variable := r.Values[t.Pos.Offset]; !isGroupingID(t) || variable || oneOf(r.at(i-1), ".", "AS") || oneOf(r.at(i+1), ".", "(") || r.groupOf(i) < 0 {
			out = append(out, t)
			continue
		}
		out = append(out, syntax.Token{Kind: syntax.Word, Text: "grouping_id", Pos: t.Pos}, syntax.Token{Kind: syntax.Symbol, Text: "(", Pos: t.Pos}, syntax.Token{Kind: syntax.Symbol, Text: ")", Pos: t.Pos})
		if oneOf(r.at(i-1), "SELECT", "DISTINCT", ",") && oneOf(r.at(i+1), ",", "FROM") && r.groupOf(i) > i {
			out = append(out, syntax.Token{Kind: syntax.Word, Text: "AS", Pos: t.Pos}, syntax.Token{Kind: syntax.Word, Text: "grouping__id", Pos: t.Pos})
		}
	}
	r.tokens, r.closers = out, nil
	r.parser = syntax.NewParserOf(r.text, r.tokens)
}

func isGroupingID(t syntax.Token) bool {
	return isName(t) && strings.EqualFold(t.Name(), "grouping__id")
}
