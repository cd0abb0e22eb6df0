package engine

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/session"
)

const (
	unfetchedAfter = time.Minute // how long a planned statement may wait for its first fetch before it is told as it stands
	maxUnfetched   = 1024
)

// journal writes the one line that sums up a statement when it has ended. A SELECT ends when its rows were read: what planning took waits for
// the first fetch and is told with it. Where nobody fetches, the line says state=planned; every further fetch has a line of its own with the
// statement's id and its parts.
type journal struct {
	log   *slog.Logger
	clock func() time.Time

	mu      sync.Mutex
	waiting map[string]ended // planned and not fetched yet, by statement
	order   []string         // of waiting and of some that were fetched since, oldest first
}

// ended is what a line tells.
type ended struct {
	statement, kind    string
	principal, session string
	client, path       string
	tables             string // with the snapshots that were read
	started            time.Time
	duration           time.Duration
	accounts           []*resource.Statement
	parts              string // which were read, of how many; empty: not a fetch
	planned            bool   // nothing was read
	planning           time.Duration
	err                error
}

func newJournal(log *slog.Logger, clock func() time.Time) *journal {
	return &journal{log: log, clock: clock, waiting: map[string]ended{}}
}

// ended begins a line about a pin's statement.
func (j *journal) ended(kind string, pin Pin, account *resource.Statement, started time.Time, err error) ended {
	out := ended{statement: pin.Statement, kind: kind, principal: pin.Principal, session: pin.Session, client: pin.Client, path: pin.Path,
		tables: tablesText(pin.Tables), started: started, duration: j.clock().Sub(started), err: err}
	if account != nil {
		out.accounts = append(out.accounts, account)
	}
	return out
}

// plan keeps what planning took for the first fetch, and tells of those that waited too long.
func (j *journal) plan(e ended) {
	e.planned = true
	j.mu.Lock()
	j.waiting[e.statement] = e
	j.order = append(j.order, e.statement)
	j.mu.Unlock()
	j.settle(unfetchedAfter)
}

// begin starts a fetch of parts of a result: it lets the statement in, until leave is called, and gives the line that is written when the fetch
// ends. A statement that is not let in has its line written.
func (e *Engine) begin(ctx context.Context, kind string, pin Pin, account *resource.Statement, parts string) (line *ended, leave func(), err error) {
	told := e.lines.ended(kind, pin, account, e.config.Clock(), nil)
	told.parts = parts
	e.lines.fetch(&told)
	if leave, err = account.Enter(ctx); err != nil {
		told.err = err
		e.lines.write(told)
	}
	return &told, leave, err
}

// fetch takes what planning took into the line of a fetch that begins.
func (j *journal) fetch(e *ended) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, ok := j.waiting[e.statement]
	if !ok {
		return
	}
	delete(j.waiting, e.statement)
	e.planning = p.duration
	for _, a := range p.accounts {
		if len(e.accounts) == 0 || a != e.accounts[0] {
			e.accounts = append(e.accounts, a)
		}
	}
}

// settle writes the lines of those planned longer ago than age, and of the oldest where there are too many.
func (j *journal) settle(age time.Duration) {
	limit := j.clock().Add(-age)
	var late []ended
	j.mu.Lock()
	for len(j.order) > 0 {
		e, ok := j.waiting[j.order[0]]
		if ok && len(j.waiting) <= maxUnfetched && len(j.order) <= 16*maxUnfetched && e.started.After(limit) {
			break
		}
		if ok {
			delete(j.waiting, e.statement)
			late = append(late, e)
		}
		j.order = j.order[1:]
	}
	j.mu.Unlock()
	for _, e := range late {
		j.write(e)
	}
}

// write writes a line. What concerns the operator is a warning.
func (j *journal) write(e ended) {
	status := "ok"
	switch {
	case fault.Is(e.err, fault.Canceled) || fault.Is(e.err, fault.Deadline):
		status = "cancelled"
	case e.err != nil:
		status = "failed"
	}
	attrs := []any{"statement", e.statement, "kind", e.kind, "status", status}
	if e.planned {
		attrs = append(attrs, "state", "planned")
	}
	if e.parts != "" {
		attrs = append(attrs, "parts", e.parts)
	}
	attrs = append(attrs, "principal", e.principal, "session", e.session, "client", e.client, "path", e.path)
	if e.tables != "" {
		attrs = append(attrs, "tables", e.tables)
	}
	attrs = append(attrs, "duration", e.duration)
	if e.planning > 0 {
		attrs = append(attrs, "planning", e.planning)
	}
	attrs = append(attrs, sumsOf(e.accounts)...)
	if e.err != nil {
		attrs = append(attrs, "error", session.Redact("", e.err.Error()))
	}
	if concernsOperator(e.err) {
		j.log.Warn("statement", attrs...)
		return
	}
	j.log.Info("statement", attrs...)
}

// sumsOf sums what accounts counted.
func sumsOf(accounts []*resource.Statement) []any {
	names := []string{"rows", "batches", "bytes", "data_bytes", "delete_bytes", "metadata_bytes", "requests", "files", "splits"}
	sums, peak := make([]int64, len(names)), int64(0)
	for _, a := range accounts {
		c := &a.Counters
		for i, n := range []int64{c.Rows.Load(), c.Batches.Load(), c.Bytes.Load(), c.DataBytes.Load(), c.DeleteBytes.Load(), c.MetadataBytes.Load(),
			c.Requests.Load(), c.Files.Load(), c.SplitsDone.Load()} {
			sums[i] += n
		}
		peak = max(peak, a.Peak())
	}
	var out []any
	for i, name := range names {
		out = append(out, name, sums[i])
	}
	return append(out, "peak_memory", peak)
}

// tablesText names tables with the snapshots that are read of them.
func tablesText(tables []PinnedTable) string {
	var names []string
	for _, t := range tables {
		name := t.Name
		if t.Snapshot != 0 {
			name += "@" + strconv.FormatInt(t.Snapshot, 10)
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// concernsOperator reports whether an error is more than the user's own.
func concernsOperator(err error) bool {
	return fault.Is(err, fault.Internal) || fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Exhausted)
}

// partsText spells a run of parts as a line has it.
func partsText(from, to, of int) string { return fmt.Sprintf("%d-%d of %d", from, to, of) }
