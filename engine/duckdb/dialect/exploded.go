package dialect

// exploded is a generator that has other columns for a map.
type exploded struct {
	value []piece
	lists []piece // its columns where the argument is no map
	maps  []piece // and where it is one
}

func (e exploded) asks() [][]piece { return [][]piece{e.value} }

func (e exploded) of(types []Type) (Type, error) { return types[0], nil }

func (e exploded) asking(w *writer, question string) {
	w.text(question + " AS col, NULL AS pos, NULL AS key, NULL AS value")
}

func (e exploded) write(w *writer, types []Type) {
	if len(types) > 0 && types[0].Name == "MAP" {
		w.pieces(e.maps)
		return
	}
	w.pieces(e.lists)
}

func (e exploded) mapped(pieces func([]piece) []piece) typed {
	return exploded{value: pieces(e.value), lists: pieces(e.lists), maps: pieces(e.maps)}
}
