package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// level is a query with the tables that its FROM names itself: those whose columns its star selects.
type level struct{ tables []int }

// shifted is the level with its tables renumbered.
func (l *level) shifted(by int) *level {
	out := &level{tables: slices.Clone(l.tables)}
	for i := range out.tables {
		out.tables[i] += by
	}
	return out
}

// stars marks the star of an element of a select list, and what is left out of it.
func (r *rewriter) stars(s *scope, begin int) {
	for i := begin; i < len(r.out.pieces); i++ {
		p := &r.out.pieces[i]
		switch {
		case i == begin && p.text == "*" && p.chain == nil, p.chain != nil && p.star:
			p.level = s.level
		case p.text == "EXCLUDE" && i > begin && r.out.pieces[i-1].level != nil && i+1 < len(r.out.pieces) && r.out.pieces[i+1].text == "(":
			of := &r.out.pieces[i-1]
			r.out.pieces = slices.Insert(r.out.pieces, i+2, piece{table: -1, chain: of.chain, star: of.star, level: of.level, more: true})
			r.out.pieces[i-1].level = nil
			i += 2
		}
	}
}

// star writes a star without the columns that it leaves out, or just these for a list that begins so.
func (w *writer) star(p piece) string {
	var hidden []string
	for _, i := range p.level.tables {
		alias := w.statement.Tables[i].Alias
		if w.Hidden == nil || p.chain != nil && !strings.EqualFold(p.chain[len(p.chain)-1].Text, alias) {
			continue
		}
		for _, column := range w.Hidden(i) {
			hidden = append(hidden, QuoteIdent(alias)+"."+QuoteIdent(column))
		}
	}
	if p.more {
		if hidden == nil {
			return ""
		}
		return strings.Join(hidden, ", ") + ","
	}
	text := "*"
	if p.chain != nil {
		text = w.statement.spellChain(p, w.aliases, w.Field)
	}
	if hidden == nil {
		return text
	}
	return text + " EXCLUDE (" + strings.Join(hidden, ", ") + ")"
}

// joinsNone reports whether the table at a token is one of which a join selects no column.
func (r *rewriter) joinsNone(token int) bool {
	kind := r.at(token - 2)
	return token > 1 && r.at(token-1).Is("JOIN") && (kind.Is("SEMI") || kind.Is("ANTI"))
}

// aliasAt gives the alias that stands at a token, maybe behind AS.
func (r *rewriter) aliasAt(token int) string {
	if r.at(token).Is("AS") {
		token++
	}
	if t := r.at(token); t.Kind == syntax.Word || t.Kind == syntax.Quoted {
		return t.Name()
	}
	return ""
}
