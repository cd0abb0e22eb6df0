package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// output writes the answer to one statement in some format: start, any number of batches, end; or done alone, for a statement that had an effect and has
// no rows of its own. Formats for machines leave the latter out.
type output interface {
	start(schema *arrow.Schema) error
	batch(b arrow.RecordBatch, p *progress) error
	end() error
	done(affected int64) error
}

// formats are the values of --format.
var formats = []string{"table", "csv", "json", "arrow"}

// newOutput makes the output for the next statement in the shell's format.
func (s *shell) newOutput() output {
	w := s.config.Out
	switch s.config.Format {
	case "csv":
		return &csvOutput{w: bufio.NewWriter(w)}
	case "json":
		return &jsonOutput{w: bufio.NewWriter(w)}
	case "arrow":
		return &arrowOutput{w: w, written: &s.streams}
	}
	if s.expanded {
		return newExpanded(w, terminalWidth(w))
	}
	return newTable(w, terminalWidth(w))
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
			if !isNull(column, row) {
				c.w.WriteString(quoteCSV(valueText(column, row)))
			}
		}
		c.w.WriteString("\r\n")
	}
	return c.w.Flush()
}

func (c *csvOutput) end() error { return c.w.Flush() }

func (c *csvOutput) done(int64) error { return nil }

func quoteCSV(text string) string {
	if text != "" && !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// arrowOutput writes an Arrow IPC stream. A reader takes one stream, so that a second result in the same run is refused and not written after it.
type arrowOutput struct {
	w       io.Writer
	written *int
	writer  *ipc.Writer
}

func (a *arrowOutput) start(schema *arrow.Schema) error {
	if *a.written > 0 {
		return errors.New("the format arrow holds one result, and this is the second one with rows; run the statements one by one, or in another format")
	}
	*a.written++
	a.writer = ipc.NewWriter(a.w, ipc.WithSchema(schema))
	return nil
}

func (a *arrowOutput) batch(b arrow.RecordBatch, _ *progress) error { return a.writer.Write(b) }

func (a *arrowOutput) end() error {
	if a.writer == nil {
		return errors.New("the server sent no schema")
	}
	if err := a.writer.Close(); err != nil {
		return fmt.Errorf("end the Arrow stream: %w", err)
	}
	return nil
}

func (a *arrowOutput) done(int64) error { return nil }
