package shell

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
)

// progress shows on a terminal how far a long statement is, from its second second on. A nil writer shows nothing.
type progress struct {
	w       io.Writer
	started time.Time
	last    time.Time
	total   int64
	shown   bool
}

func newProgress(w io.Writer, started time.Time) *progress {
	if file, ok := w.(*os.File); !ok || !isatty.IsTerminal(file.Fd()) {
		w = nil
	}
	return &progress{w: w, started: started, last: started.Add(time.Second), total: -1}
}

func (p *progress) expect(total int64) { p.total = total }

func (p *progress) at(rows int64) {
	now := time.Now()
	if p.w == nil || now.Sub(p.last) < 250*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	seconds := now.Sub(p.started).Seconds()
	if p.total > 0 {
		fmt.Fprintf(p.w, "\r%d of %d rows (%d %%), %.0f s\x1b[K", rows, p.total, 100*rows/p.total, seconds)
		return
	}
	fmt.Fprintf(p.w, "\r%d rows, %.0f s\x1b[K", rows, seconds)
}

// clear takes the line away before something else is printed.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
