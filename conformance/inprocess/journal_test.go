package inprocess

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

// journal keeps what a server logs, so that a test can wait for it.
type journal struct {
	mu      sync.Mutex
	entries []entry
	more    chan struct{} // closed and made anew with each entry
}

type entry struct {
	message string
	attrs   map[string]slog.Value
}

func (e entry) number(key string) int64 { return e.attrs[key].Int64() }

func newJournal() *journal { return &journal{more: make(chan struct{})} }

func (j *journal) logger() *slog.Logger { return slog.New(&journalHandler{journal: j}) }

func (j *journal) add(e entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
	close(j.more)
	j.more = make(chan struct{})
}

// all gives the entries so far that match.
func (j *journal) all(match func(entry) bool) (out []entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if match(e) {
			out = append(out, e)
		}
	}
	return out
}

// wait waits until n entries match and gives them.
func (j *journal) wait(t *testing.T, n int, match func(entry) bool) []entry {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		j.mu.Lock()
		more := j.more
		j.mu.Unlock()
		if found := j.all(match); len(found) >= n {
			return found
		}
		select {
		case <-more:
		case <-limit.C:
			t.Fatalf("the log did not tell it %d times in %s", n, patience)
		}
	}
}

func says(message string) func(entry) bool {
	return func(e entry) bool { return e.message == message }
}

// statement matches the line that sums up a statement of a kind.
func statement(kind string) func(entry) bool {
	return func(e entry) bool { return e.message == "statement" && e.attrs["kind"].String() == kind }
}

// journalHandler flattens what loggers were given.
type journalHandler struct {
	journal *journal
	attrs   []slog.Attr
}

func (h *journalHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *journalHandler) Handle(_ context.Context, r slog.Record) error {
	e := entry{r.Message, map[string]slog.Value{}}
	for _, a := range h.attrs {
		e.attrs[a.Key] = a.Value
	}
	r.Attrs(func(a slog.Attr) bool {
		e.attrs[a.Key] = a.Value
		return true
	})
	h.journal.add(e)
	return nil
}

func (h *journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &journalHandler{h.journal, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

func (h *journalHandler) WithGroup(string) slog.Handler { return h }

// noLeaks registers a check that, once the test's servers and clients are gone, no goroutine of ours is left. Call it first.
func noLeaks(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		limit := time.NewTimer(patience)
		defer limit.Stop()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			left := ours()
			if len(left) == 0 {
				return
			}
			select {
			case <-tick.C:
			case <-limit.C:
				t.Errorf("%d goroutines are left, among them\n%s", len(left), left[0])
				return
			}
		}
	})
}

// ours gives the stacks of goroutines that run code of the server, tests aside.
func ours() (out []string) {
	stacks := make([]byte, 16<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "github.com/skua-data/skua/") && !strings.Contains(stack, "testing.tRunner") && !strings.Contains(stack, "inprocess.TestMain") {
			out = append(out, stack)
		}
	}
	return out
}
