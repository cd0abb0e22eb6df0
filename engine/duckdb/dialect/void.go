package dialect

import (
	"slices"

	"github.com/skua-data/skua/engine/syntax"
)

// mayBeVoid reports whether a word may give values of no type, those of collections without elements among them.
func mayBeVoid(t syntax.Token) bool {
	return oneOf(t, "NULL", "VOID", "ARRAY", "MAP", "ASSERT_TRUE", "RAISE_ERROR")
}

// withEnd gives the token behind the WITH that the statement begins with.
func (r *rewriter) withEnd() int {
	if !r.at(0).Is("WITH") {
		return 0
	}
	for i := 1; r.at(i).Kind != syntax.EndOfText; i++ {
		if r.at(i).Is("AS") && r.at(i+1).Is("(") || r.at(i).Is("MATERIALIZED") && r.at(i+1).Is("(") {
			if i = r.closing(i + 1); !r.at(i).Is(",") {
				return i
			}
		}
	}
	return 0
}

// RenderWhole spells the statement as a query in parentheses, which all columns are selected of: inside the engine has a type for NULL, as a result it has none.
func (s *Statement) RenderWhole(spelling Spelling) *Rendered {
	whole := *s
	whole.pieces = slices.Concat(s.pieces[:s.main], []piece{{table: -1, text: "SELECT * FROM ("}}, s.pieces[s.main:], []piece{{table: -1, text: ") AS skua_whole"}})
	return whole.Render(spelling)
}
