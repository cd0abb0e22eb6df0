package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// Keyed is a name in ORDER BY or HAVING that an element of the select list has, beside a star that may stand for a column of that name as well.
type Keyed struct {
	Name   string
	Pos    syntax.Pos
	tables *level
}

// Tables are those whose columns the star stands for.
func (k Keyed) Tables() []int { return k.tables.tables }

// listNames are the names that a select list gives.
type listNames struct {
	twice   map[string]bool // to columns that are surely different ones, in lower case
	made    map[string]bool // to what is no plain column
	starred bool            // beside a star
	level   *level
}

// namesOf gives what is known of the names of a select list.
func namesOf(elements []element, l *level) listNames {
	out := listNames{twice: map[string]bool{}, made: map[string]bool{}, level: l}
	groups := map[string][]int{}
	for i, e := range elements {
		name := strings.ToLower(e.name)
		switch {
		case e.star:
			out.starred = out.starred || e.all
		case e.name != "":
			groups[name] = append(groups[name], i)
			out.made[name] = out.made[name] || !e.column
		}
	}
	for name, group := range groups {
		out.twice[name] = len(group) > 1 && differ(elements, group)
	}
	return out
}

// means refuses the names between two tokens that more than one column of the select list has. Those in a subquery are its own, and those of HAVING that
// stand in a function are columns of what is grouped.
func (r *rewriter) means(s *scope, from, end int, functions bool) {
	for i := from; i < end && r.failed == nil; i++ {
		t := r.at(i)
		if t.Is("(") && (oneOf(r.at(i+1), "SELECT", "WITH", "FROM") || !functions && i > from && callsFunction(r.at(i-1), r.at(i-2))) {
			i = r.endOf(i + 1)
			continue
		}
		if t.Kind != syntax.Word && t.Kind != syntax.Quoted || r.at(i-1).Is(".") || r.at(i+1).Is(".") || r.at(i+1).Is("(") {
			continue
		}
		if _, variable := r.Values[t.Pos.Offset]; variable {
			continue
		}
		name := strings.ToLower(t.Name())
		switch {
		case s.names.twice[name]:
			r.failed = Ambiguous(t.Name()).At(faultAt(t.Pos))
		case s.names.starred && s.names.made[name] && s.names.level != nil:
			r.out.Keyed = append(r.out.Keyed, Keyed{t.Name(), t.Pos, s.names.level})
		}
	}
}

// Ambiguous is the error about a name that several columns have.
func Ambiguous(name string) *fault.Error {
	return fault.New(fault.Invalid, "Reference `%s` is ambiguous: a query in the statement has several columns of that name. Give them aliases that differ.",
		strings.ReplaceAll(name, "`", "``")).With("AMBIGUOUS_REFERENCE", "42704")
}
