package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// output writes one result in some format: start, any number of batches, end.
type output interface {
	start(schema *arrow.Schema) error
	batch(b arrow.RecordBatch, p *progress) error
	end() error
}

var formats = map[string]func(io.Writer) output{
	"":      newTable,
	"table": newTable,
	"csv":   func(w io.Writer) output { return &csvOutput{w: bufio.NewWriter(w)} },
	"json":  func(w io.Writer) output { return &jsonOutput{w: bufio.NewWriter(w)} },
	"arrow": func(w io.Writer) output { return &arrowOutput{w: w} },
}

// tableRows is how many rows share one set of column widths, and so the most that a table holds back.
const tableRows = 1000

// tableOutput draws columns, right-aligned where they hold numbers. A long result comes in tables of tableRows, each with its own widths.
type tableOutput struct {
	w      *bufio.Writer
	header []string
	right  []bool
	rows   [][]string
	total  int64
	drawn  bool
}

func newTable(w io.Writer) output { return &tableOutput{w: bufio.NewWriter(w)} }

func (t *tableOutput) start(schema *arrow.Schema) error {
	for _, f := range schema.Fields() {
		t.header = append(t.header, oneLine(f.Name))
		t.right = append(t.right, arrow.IsInteger(f.Type.ID()) || arrow.IsFloating(f.Type.ID()) || arrow.IsDecimal(f.Type.ID()))
	}
	return nil
}

func (t *tableOutput) batch(b arrow.RecordBatch, p *progress) error {
	for row := range int(b.NumRows()) {
		cells := make([]string, b.NumCols())
		for i, column := range b.Columns() {
			cells[i] = "NULL"
			if column.IsValid(row) {
				cells[i] = oneLine(valueText(column, row))
			}
		}
		if t.rows = append(t.rows, cells); len(t.rows) == tableRows {
			p.clear()
			if err := t.draw(); err != nil {
				return err
			}
		}
	}
	t.total += b.NumRows()
	return nil
}

func (t *tableOutput) end() error {
	if len(t.rows) > 0 || !t.drawn {
		if err := t.draw(); err != nil {
			return err
		}
	}
	plural := "s"
	if t.total == 1 {
		plural = ""
	}
	fmt.Fprintf(t.w, "(%d row%s)\n", t.total, plural)
	return t.w.Flush()
}

func (t *tableOutput) draw() error {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	t.line(t.header, widths)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	fmt.Fprintln(t.w, strings.Join(rule, "-+-"))
	for _, row := range t.rows {
		t.line(row, widths)
	}
	t.rows, t.drawn = t.rows[:0], true
	return t.w.Flush()
}

func (t *tableOutput) line(cells []string, widths []int) {
	for i, cell := range cells {
		if i > 0 {
			t.w.WriteString(" | ")
		}
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		switch {
		case t.right[i]:
			t.w.WriteString(pad + cell)
		case i == len(cells)-1:
			t.w.WriteString(cell)
		default:
			t.w.WriteString(cell + pad)
		}
	}
	t.w.WriteByte('\n')
}

// oneLine keeps a cell on its line, and control characters away from the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '⏎'
		case r < ' ' || r == 0x7f:
			return ' '
		}
		return r
	}, text)
}

// csvOutput writes RFC 4180. NULL is an empty field, the empty string a quoted one.
type csvOutput struct{ w *bufio.Writer }

func (c *csvOutput) start(schema *arrow.Schema) error {
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = quoteCSV(f.Name)
	}
	_, err := c.w.WriteString(strings.Join(names, ",") + "\r\n")
	return err
}

func (c *csvOutput) batch(b arrow.RecordBatch, _ *progress) error {
	for row := range int(b.NumRows()) {
		for i, column := range b.Columns() {
			if i > 0 {
				c.w.WriteByte(',')
			}
			if column.IsValid(row) {
				c.w.WriteString(quoteCSV(valueText(column, row)))
			}
		}
		c.w.WriteString("\r\n")
	}
	return c.w.Flush()
}

func (c *csvOutput) end() error { return c.w.Flush() }

func quoteCSV(text string) string {
	if text != "" && !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// jsonOutput writes one object a line; 64-bit integers are numbers, binary is base64.
type jsonOutput struct{ w *bufio.Writer }

func (j *jsonOutput) start(*arrow.Schema) error { return nil }

func (j *jsonOutput) batch(b arrow.RecordBatch, _ *progress) error {
	if err := array.RecordToJSON(b, j.w); err != nil {
		return err
	}
	return j.w.Flush()
}

func (j *jsonOutput) end() error { return j.w.Flush() }

// arrowOutput writes an Arrow IPC stream per statement.
type arrowOutput struct {
	w      io.Writer
	writer *ipc.Writer
}

func (a *arrowOutput) start(schema *arrow.Schema) error {
	a.writer = ipc.NewWriter(a.w, ipc.WithSchema(schema))
	return nil
}

func (a *arrowOutput) batch(b arrow.RecordBatch, _ *progress) error { return a.writer.Write(b) }

func (a *arrowOutput) end() error {
	if a.writer == nil {
		return errors.New("the server sent no schema")
	}
	return a.writer.Close()
}
