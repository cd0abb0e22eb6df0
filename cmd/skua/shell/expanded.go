package shell

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// expandedOutput writes every value on a line of its own, whole, under a heading for each row.
type expandedOutput struct {
	w     *bufio.Writer
	width int // of the terminal, for the headings; 0: none
	names []string
	pad   int
	rows  int64
}

func newExpanded(w io.Writer, width int) output {
	return &expandedOutput{w: bufio.NewWriter(w), width: width}
}

func (e *expandedOutput) start(schema *arrow.Schema) error {
	for _, f := range schema.Fields() {
		name := strings.Join(cellLines(f.Name), " ")
		e.names = append(e.names, name)
		e.pad = max(e.pad, displayWidth(name))
	}
	return nil
}

func (e *expandedOutput) batch(b arrow.RecordBatch, p *progress) error {
	p.clear()
	for row := range int(b.NumRows()) {
		e.rows++
		e.row(cellsOf(b, row))
	}
	return e.w.Flush()
}

// widestHeading bounds a heading where there is no terminal to bound it.
const widestHeading = 80

func (e *expandedOutput) row(cells [][]string) {
	widest := 0
	for _, cell := range cells {
		for _, line := range cell {
			widest = max(widest, displayWidth(line))
		}
	}
	bound := e.width
	if bound == 0 {
		bound = widestHeading
	}
	heading := fmt.Sprintf("-[ %d ]", e.rows)
	heading += strings.Repeat("-", max(0, min(e.pad+len(" | ")+widest, bound)-len(heading)))
	fmt.Fprintln(e.w, heading)
	for i, cell := range cells {
		name := e.names[i]
		for _, line := range cell {
			fmt.Fprintln(e.w, name+strings.Repeat(" ", e.pad-displayWidth(name))+" | "+line)
			name = ""
		}
	}
}

func (e *expandedOutput) end() error {
	fmt.Fprintf(e.w, "(%s)\n", counted(e.rows, "row"))
	return e.w.Flush()
}

func (e *expandedOutput) done(affected int64) error { return writeDone(e.w, affected) }
