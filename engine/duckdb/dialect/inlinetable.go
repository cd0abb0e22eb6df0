package dialect

import "github.com/skua-data/skua/fault"

// inlineTable is the rows of VALUES, whose columns meet in one type each.
type inlineTable struct {
	rows [][][]piece
	zone string
}

// maxCells is up to how many values are looked at one by one: longer tables have rows of one type.
const maxCells = 1000

// inlineRows writes the rows of VALUES, in parentheses as the engine wants them, and gives how many columns the first has.
func (r *rewriter) inlineRows() int {
	from := r.next
	t := &inlineTable{zone: r.Zone.String()}
	var bounds [][][2]int
	for r.failed == nil {
		row := [][2]int{{r.next, r.endOf(r.next, append([]string{",", "AS"}, fromEnds...)...)}}
		if r.is("(") {
			if row = r.argumentBounds(); row == nil {
				r.fail(r.next + 1)
				return 0
			}
			t.rows = append(t.rows, r.argumentPieces(row))
		} else {
			t.rows = append(t.rows, [][]piece{r.between(row[0])})
		}
		if bounds = append(bounds, row); !r.is(",") {
			break
		}
		r.next++
	}
	switch {
	case r.failed != nil:
		return 0
	case r.mixes(bounds) && !r.unbound(from, r.next):
		r.put(t, from, r.next)
	default:
		for i := range t.rows {
			if i > 0 {
				r.emit(",")
			}
			r.emitAt("(", r.at(bounds[i][0][0]).Pos)
			for c, cell := range t.rows[i] {
				if c > 0 {
					r.emit(",")
				}
				r.out.pieces = append(r.out.pieces, cell...)
			}
			r.emit(")")
		}
	}
	return len(bounds[0])
}

// mixes reports whether the values of a column may be of several types.
func (r *rewriter) mixes(rows [][][2]int) bool {
	if len(rows) < 2 || len(rows)*len(rows[0]) > maxCells {
		return false
	}
	mixed := false
	for c := range rows[0] {
		var column [][2]int
		for _, row := range rows {
			if len(row) != len(rows[0]) {
				return false
			}
			column = append(column, row[c])
		}
		mixed = mixed || !r.allAlike(column)
	}
	return mixed
}

func (t *inlineTable) asks() (out [][]piece) {
	for _, row := range t.rows {
		out = append(out, row...)
	}
	return out
}

func (t *inlineTable) holds() [][]piece { return t.asks() }

func (t *inlineTable) of(types []Type) (Type, error) {
	_, err := t.columns(types)
	return Type{Name: "INTEGER", Text: "INTEGER"}, err
}

func (t *inlineTable) settled(types []Type) bool {
	columns, _ := t.columns(types)
	width := len(t.rows[0])
	for i := range columns {
		if columns[i].Text != types[i%width].Text {
			return false
		}
	}
	return true
}

// columns gives the types of the columns; no text: it is the engine's; nil: all are.
func (t *inlineTable) columns(types []Type) ([]Type, error) {
	width := len(t.rows[0])
	if len(types) != len(t.rows)*width {
		return nil, nil
	}
	out := append([]Type{}, types[:width]...)
	for i, next := range types[width:] {
		c := i % width
		to, ok := columnsMeet(out[c], next)
		if ok && isText(out[c]) != isText(next) && simple(out[c]) && simple(next) {
			ok = false
		}
		if !ok {
			return nil, fault.New(fault.Invalid, "Invalid inline table. Found incompatible types %q and %q in the column %d of the inline table.", out[c].sparkName(), next.sparkName(), c+1).
				With("INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE", "42000")
		}
		out[c] = to
	}
	return out, nil
}

// asking writes the first row, with the types that are known, and a question about all.
func (t *inlineTable) asking(w *writer, question string, types []Type) {
	w.text("(CASE WHEN " + question + " IS NULL THEN")
	columns, _ := t.columns(types)
	for c := range t.rows[0] {
		if c > 0 {
			w.text(",")
		}
		t.cell(w, 0, c, types, columns)
		if c == 0 {
			w.text("END")
		}
	}
	w.text(")")
}

func (t *inlineTable) write(w *writer, types []Type) {
	columns, _ := t.columns(types)
	for i, row := range t.rows {
		if i > 0 {
			w.text(",")
		}
		w.text("(")
		for c := range row {
			if c > 0 {
				w.text(",")
			}
			t.cell(w, i, c, types, columns)
		}
		w.text(")")
	}
}

// cell writes a value, cast to its column's type.
func (t *inlineTable) cell(w *writer, row, column int, types, columns []Type) {
	if columns == nil {
		w.pieces(t.rows[row][column])
		return
	}
	w.coerced(t.rows[row][column], types[row*len(columns)+column], columns[column].Text, t.zone)
}

func (t *inlineTable) mapped(pieces func([]piece) []piece) typed {
	out := &inlineTable{zone: t.zone}
	for _, row := range t.rows {
		var next [][]piece
		for _, cell := range row {
			next = append(next, pieces(cell))
		}
		out.rows = append(out.rows, next)
	}
	return out
}
