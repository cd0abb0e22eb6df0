//go:build cgo

package duckdb

import (
	"strconv"
	"sync"
	"time"

	"github.com/skua-data/skua/resource"
)

// restAfter is how long rows wait for a client until it is taken for a slow one.
const restAfter = 250 * time.Millisecond

// rest lets a statement whose client does not come for more rows give its seat up: it then counts for what it holds.
type rest struct {
	account *resource.Statement
	held    func() int64 // bytes that the engine holds for it

	mu    sync.Mutex
	timer *time.Timer
	idle  bool
	wake  func() // nil: it does not rest
}

// begin says that the client has rows.
func (r *rest) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = true
	if r.timer == nil {
		r.timer = time.AfterFunc(restAfter, r.late)
		return
	}
	r.timer.Reset(restAfter)
}

// late says that it did not come back yet.
func (r *rest) late() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle && r.wake == nil {
		r.wake = r.account.RestHolding(r.held())
	}
}

// end says that it did, or that the statement is over.
func (r *rest) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle = false; r.timer != nil {
		r.timer.Stop()
	}
	if r.wake != nil {
		r.wake()
		r.wake = nil
	}
}

// meter asks a database what memory it holds: hash tables, sorted runs, results that wait.
type meter struct {
	mu         sync.Mutex
	connection *connection
}

// bytes gives what is held; 0 where it cannot be known.
func (m *meter) bytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, err := m.connection.text("SELECT CAST(sum(memory_usage_bytes) AS BIGINT) FROM duckdb_memory()")
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// share is a statement's part of what the instance holds, which does not say whose it is.
func (e *executor) share(i *instance) int64 {
	e.mu.Lock()
	users := max(i.users, 1)
	e.mu.Unlock()
	return i.meter.bytes() / int64(users)
}
