//go:build cgo

package duckdb

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// maxMacroGrowth is where growth is no longer told apart.
const maxMacroGrowth = 1 << 20

// macroGrowth says how often each macro of ours names one of its arguments once the engine has put its text and those of the macros in it into its place. Calls
// inside each other multiply it.
var macroGrowth = growthOf(slices.Concat(macros, intervalMacros, sparkMacros, callMacros))

func growthOf(macros []string) map[string]int {
	out := map[string]int{}
	for changed := true; changed; { // macros name others
		changed = false
		for _, m := range macros {
			tokens, err := syntax.Tokens(m)
			if err != nil || len(tokens) < 3 || !tokens[1].Is("MACRO") {
				continue
			}
			name := strings.ToLower(tokens[2].Text)
			if n := min(maxMacroGrowth, mostNamed(tokens[3:], out)); n > out[name] {
				out[name], changed = n, true
			}
		}
	}
	return out
}

// mostNamed counts an argument in the bodies of a macro, each behind its parameters and AS: that which is named most often.
func mostNamed(tokens []syntax.Token, known map[string]int) (most int) {
	at := func(i int) syntax.Token { return tokens[min(i, len(tokens)-1)] }
	for i := 0; at(i).Is("("); {
		named := map[string]int{}
		typed := 0 // the engine looks at arguments whose types decide once more
		for ; !at(i).Is(")") && at(i).Kind != syntax.EndOfText; i++ {
			if (at(i).Is("(") || at(i).Is(",")) && at(i+1).Kind == syntax.Word {
				named[strings.ToLower(at(i+1).Text)] = 0
				if at(i+2).Kind == syntax.Word {
					typed = 1
				}
			}
		}
		times := []int{1}
		for i += 2; at(i).Kind != syntax.EndOfText && !(len(times) == 1 && at(i).Is(",")); i++ {
			now := times[len(times)-1]
			switch t := at(i); {
			case t.Is("("), t.Is("["), t.Is("{"):
				if before := at(max(0, i-1)); t.Is("(") && before.Kind == syntax.Word && !at(max(0, i-2)).Is(".") { // what has a schema is the engine's own
					now = min(maxMacroGrowth, now*max(1, known[strings.ToLower(before.Text)]))
				}
				times = append(times, now)
			case (t.Is(")") || t.Is("]") || t.Is("}")) && len(times) > 1:
				times = times[:len(times)-1]
			case t.Kind == syntax.Word:
				if n, ok := named[strings.ToLower(t.Text)]; ok && !at(i+1).Is("(") {
					named[strings.ToLower(t.Text)] = n + now
				}
			}
		}
		for _, n := range named {
			most = max(most, n+typed)
		}
		i++ // the comma between bodies
	}
	return most
}
