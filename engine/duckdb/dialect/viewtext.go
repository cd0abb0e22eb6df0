package dialect

// RenderInlined renders the statement that stands in the place of a table as RenderTable does, but by itself, without what gives its columns their names and types.
func (s *Statement) RenderInlined(i int, spelling Spelling) *Rendered {
	w := &writer{Spelling: spelling, statement: s, aliases: s.aliases(spelling.Qualified), out: &Rendered{}}
	inlined := s.inlined[i]
	w.pieces(inlined[1 : len(inlined)-1])
	w.out.Text = w.b.String()
	return w.out
}
