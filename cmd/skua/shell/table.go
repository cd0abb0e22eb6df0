package shell

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// tableRows is how many rows share one set of column widths, and so the most that a table holds back.
const tableRows = 1000

// tableOutput draws columns, right-aligned where they hold numbers. A long result comes in tables of tableRows, each with its own widths. A cell of several
// lines takes as many lines of its row. A single text, such as a plan, is no table: it is written as it stands.
type tableOutput struct {
	w      *bufio.Writer
	width  int // of the terminal; 0: none, nothing is cut
	header [][]string
	right  []bool
	text   bool // one column of text
	rows   [][][]string
	total  int64
	drawn  bool
}

func newTable(w io.Writer, width int) output {
	return &tableOutput{w: bufio.NewWriter(w), width: width}
}

func (t *tableOutput) start(schema *arrow.Schema) error {
	for _, f := range schema.Fields() {
		t.header = append(t.header, cellLines(f.Name))
		t.right = append(t.right, arrow.IsInteger(f.Type.ID()) || arrow.IsFloating(f.Type.ID()) || arrow.IsDecimal(f.Type.ID()))
	}
	t.text = schema.NumFields() == 1 && isText(schema.Field(0).Type)
	return nil
}

func (t *tableOutput) batch(b arrow.RecordBatch, p *progress) error {
	for row := range int(b.NumRows()) {
		if t.rows = append(t.rows, cellsOf(b, row)); len(t.rows) == tableRows {
			p.clear()
			if err := t.draw(); err != nil {
				return err
			}
		}
	}
	t.total += b.NumRows()
	return nil
}

// cellsOf gives the lines of each value of a row.
func cellsOf(b arrow.RecordBatch, row int) [][]string {
	cells := make([][]string, b.NumCols())
	for i, column := range b.Columns() {
		cells[i] = []string{"NULL"}
		if !isNull(column, row) {
			cells[i] = cellLines(valueText(column, row))
		}
	}
	return cells
}

func (t *tableOutput) end() error {
	if t.text && t.total == 1 && len(t.rows) == 1 {
		fmt.Fprintln(t.w, strings.Join(t.rows[0][0], "\n"))
		return t.w.Flush()
	}
	if len(t.rows) > 0 || !t.drawn {
		if err := t.draw(); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.w, "(%s)\n", counted(t.total, "row"))
	return t.w.Flush()
}

func (t *tableOutput) done(affected int64) error { return writeDone(t.w, affected) }

// writeDone tells that a statement has had its effect.
func writeDone(w *bufio.Writer, affected int64) error {
	w.WriteString("OK")
	if affected > 0 {
		w.WriteString(", " + counted(affected, "row") + " affected")
	}
	w.WriteByte('\n')
	return w.Flush()
}

func counted(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func (t *tableOutput) draw() error {
	widths := make([]int, len(t.header))
	for _, row := range append([][][]string{t.header}, t.rows...) {
		for i, cell := range row {
			for _, line := range cell {
				widths[i] = max(widths[i], displayWidth(line))
			}
		}
	}
	fit(widths, t.width)
	t.row(t.header, widths)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	t.line(strings.Join(rule, "-+-"))
	for _, row := range t.rows {
		t.row(row, widths)
	}
	t.rows, t.drawn = t.rows[:0], true
	return t.w.Flush()
}

// fit narrows the widest columns until all fit into width, where 0 is any width. It leaves each a few places: a row that is still too long is cut as a whole.
func fit(widths []int, width int) {
	const narrowest = 4
	room := width - len(" | ")*(len(widths)-1)
	if width == 0 || capped(widths, width) <= room {
		return
	}
	limit := narrowest
	for capped(widths, limit+1) <= room {
		limit++
	}
	for i := range widths {
		widths[i] = min(widths[i], limit)
	}
}

// capped adds the widths, counting none of them as more than limit.
func capped(widths []int, limit int) (sum int) {
	for _, n := range widths {
		sum += min(n, limit)
	}
	return sum
}

// row writes the lines of a row's cells.
func (t *tableOutput) row(cells [][]string, widths []int) {
	height := 1
	for _, cell := range cells {
		height = max(height, len(cell))
	}
	for n := range height {
		var line strings.Builder
		for i, cell := range cells {
			text := ""
			if n < len(cell) {
				text = cut(cell[n], widths[i])
			}
			if i > 0 {
				line.WriteString(" | ")
			}
			pad := strings.Repeat(" ", max(0, widths[i]-displayWidth(text)))
			switch {
			case t.right[i]:
				line.WriteString(pad + text)
			case i == len(cells)-1:
				line.WriteString(text)
			default:
				line.WriteString(text + pad)
			}
		}
		t.line(line.String())
	}
}

func (t *tableOutput) line(text string) {
	if t.width > 0 {
		text = cut(text, t.width)
	}
	t.w.WriteString(text + "\n")
}
