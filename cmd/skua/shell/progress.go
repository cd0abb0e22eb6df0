package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
)

// progress shows on a terminal how far a long statement is, from its second second on. A nil writer shows nothing.
type progress struct {
	mu      sync.Mutex // of what is written
	w       io.Writer
	started time.Time
	last    time.Time
	total   int64
	shown   bool
	rows    atomic.Int64 // that came
	share   atomic.Int64 // of the statement that the server has read, in percent; 0: it did not say
}

func newProgress(w io.Writer, started time.Time) *progress {
	if file, ok := w.(*os.File); !ok || !isatty.IsTerminal(file.Fd()) {
		w = nil
	}
	return &progress{w: w, started: started, last: started.Add(time.Second), total: -1}
}

func (p *progress) expect(total int64) { p.total = total }

// at notes that so many rows came, and shows it now and then.
func (p *progress) at(rows int64) {
	p.rows.Store(rows)
	p.show()
}

// show writes the line, unless it was written just now.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.w == nil || now.Sub(p.last) < 250*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	rows, seconds := p.rows.Load(), now.Sub(p.started).Seconds()
	switch share := p.share.Load(); {
	case p.total > 0:
		fmt.Fprintf(p.w, "\r%d of %d rows (%d %%), %.0f s\x1b[K", rows, p.total, 100*rows/p.total, seconds)
	case share > 0:
		fmt.Fprintf(p.w, "\r%d %% read, %d rows, %.0f s\x1b[K", share, rows, seconds)
	default:
		fmt.Fprintf(p.w, "\r%d rows, %.0f s\x1b[K", rows, seconds)
	}
}

// follow asks a server how much of a statement it has read, and shows it, until it is stopped or the server does not say.
func (p *progress) follow(ctx context.Context, poll func(ctx context.Context) (share float64, more bool)) (stop func()) {
	if p.w == nil || p.total > 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	asking.Go(func() {
		for wait := time.NewTimer(time.Second); ; wait.Reset(time.Second) {
			select {
			case <-ctx.Done():
				wait.Stop()
				return
			case <-wait.C:
			}
			share, more := poll(ctx)
			if ctx.Err() != nil || !more {
				return
			}
			if p.share.Store(int64(100 * share)); p.rows.Load() == 0 { // else whoever prints rows shows it
				p.show()
			}
		}
	})
	return func() {
		cancel()
		asking.Wait()
		p.share.Store(0)
	}
}

// clear takes the line away before something else is printed.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
