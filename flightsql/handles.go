package flightsql

import (
	"container/list"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// freshFor is how long a statement may be run as it was prepared; later it is prepared again, to see tables as they are then.
const freshFor = 10 * time.Second

// handles holds the prepared statements of all sessions: bounded in number and bytes, expiring. A session that leaks them loses its least recently used, and
// so does the session with the most of them when all are too many.
type handles struct {
	limits Limits
	now    func() time.Time

	mu     sync.Mutex
	byID   map[string]*handle
	scopes map[string]*list.List // of *handle, latest use first
	used   *list.List            // all of them, latest use first
	bytes  int64
}

// handle is a prepared statement. Its fields belong to handles.mu.
type handle struct {
	id, scope string
	conn      string // the connection that it was made over
	owner     auth.Principal
	text      string
	args      arrow.RecordBatch // bound for the query path; may be nil
	first     *readyPrepared    // as it was prepared, until its first run
	size      int64
	last      time.Time
	inScope   *list.Element
	inUsed    *list.Element
}

// readyPrepared is a statement that can be run as long as the session is as it was.
type readyPrepared struct {
	prepared engine.Prepared
	session  *session.Session
	state    session.State
	made     time.Time
}

// lease is a handle as one call sees it.
type lease struct {
	text string
	args arrow.RecordBatch // nil: none bound
	take func() *readyPrepared
}

// release gives back the arguments.
func (l *lease) release() {
	if l.args != nil {
		l.args.Release()
	}
}

func newHandles(l Limits, now func() time.Time) *handles {
	return &handles{limits: l, now: now, byID: map[string]*handle{}, scopes: map[string]*list.List{}, used: list.New()}
}

// handleCost is what a handle costs beside its text and arguments.
const handleCost = 4 << 10

// add keeps a statement and gives its handle.
func (h *handles) add(scope, conn string, owner auth.Principal, text string, first *readyPrepared) []byte {
	n := &handle{id: rand.Text(), scope: scope, conn: conn, owner: owner, text: text, first: first, size: int64(len(text)) + handleCost, last: h.now()}
	h.mu.Lock()
	h.byID[n.id] = n
	if h.scopes[scope] == nil {
		h.scopes[scope] = list.New()
	}
	n.inScope, n.inUsed = h.scopes[scope].PushFront(n), h.used.PushFront(n)
	h.bytes += n.size
	gone := h.trim(n)
	h.mu.Unlock()
	closeAll(gone)
	return []byte(n.id)
}

// trim removes what is expired or over a bound, but never keep.
func (h *handles) trim(keep *handle) (gone []*readyPrepared) {
	for e := h.used.Back(); e != nil && h.now().Sub(e.Value.(*handle).last) > h.limits.PreparedIdle; e = h.used.Back() {
		gone = append(gone, h.remove(e.Value.(*handle)))
	}
	for l := h.scopes[keep.scope]; l != nil && l.Len() > h.limits.Prepared; {
		gone = append(gone, h.remove(l.Back().Value.(*handle)))
	}
	for h.bytes > h.limits.PreparedBytes || len(h.byID) > h.limits.PreparedTotal {
		victim := h.largest().Back().Value.(*handle)
		if victim == keep {
			break
		}
		gone = append(gone, h.remove(victim))
	}
	return gone
}

// largest is the session with the most statements. Only a full store looks for it.
func (h *handles) largest() (most *list.List) {
	for _, l := range h.scopes {
		if most == nil || l.Len() > most.Len() {
			most = l
		}
	}
	return most
}

func (h *handles) remove(n *handle) *readyPrepared {
	delete(h.byID, n.id)
	h.used.Remove(n.inUsed)
	l := h.scopes[n.scope]
	if l.Remove(n.inScope); l.Len() == 0 {
		delete(h.scopes, n.scope)
	}
	h.bytes -= n.size
	if n.args != nil {
		n.args.Release()
	}
	return n.first
}

func closeAll(gone []*readyPrepared) {
	for _, r := range gone {
		if r != nil {
			r.prepared.Close()
		}
	}
}

// find gives the handle and notes its use; the caller holds the lock.
func (h *handles) find(id []byte, owner auth.Principal) (*handle, error) {
	n := h.byID[string(id)]
	if n == nil || n.owner != owner {
		return nil, fault.New(fault.NotFound, "the prepared statement is not known: it was closed, was unused for too long, or is another user's")
	}
	n.last = h.now()
	h.used.MoveToFront(n.inUsed)
	h.scopes[n.scope].MoveToFront(n.inScope)
	return n, nil
}

// get gives a handle's statement; release the lease.
func (h *handles) get(id []byte, owner auth.Principal) (*lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, err := h.find(id, owner)
	if err != nil {
		return nil, err
	}
	if n.args != nil {
		n.args.Retain()
	}
	return &lease{text: n.text, args: n.args, take: func() *readyPrepared { return h.take(n) }}, nil
}

func (h *handles) take(n *handle) *readyPrepared {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := n.first
	n.first = nil
	return first
}

// bind keeps arguments for the next runs; nil takes them away. It retains them.
func (h *handles) bind(id []byte, owner auth.Principal, args arrow.RecordBatch) error {
	h.mu.Lock()
	n, err := h.find(id, owner)
	if err != nil {
		h.mu.Unlock()
		return err
	}
	if n.args != nil {
		n.args.Release()
	}
	size := int64(len(n.text)) + handleCost
	if n.args = args; args != nil {
		args.Retain()
		size += batchSize(args, 0, args.NumRows())
	}
	h.bytes += size - n.size
	n.size = size
	gone := h.trim(n)
	h.mu.Unlock()
	closeAll(gone)
	return nil
}

// close forgets a handle. Closing what is closed is no error.
func (h *handles) close(id []byte, owner auth.Principal) {
	h.mu.Lock()
	var gone []*readyPrepared
	if n := h.byID[string(id)]; n != nil && n.owner == owner {
		gone = append(gone, h.remove(n))
	}
	h.mu.Unlock()
	closeAll(gone)
}

// drop forgets the handles of a session that were made over a connection, of all owners or of one. Others may share the session, by its token, and go on.
func (h *handles) drop(scope, conn string, owner *auth.Principal) {
	h.mu.Lock()
	var gone []*readyPrepared
	if l := h.scopes[scope]; l != nil {
		for e := l.Front(); e != nil; {
			n := e.Value.(*handle)
			if e = e.Next(); n.conn == conn && (owner == nil || n.owner == *owner) {
				gone = append(gone, h.remove(n))
			}
		}
	}
	h.mu.Unlock()
	closeAll(gone)
}

// usable reports whether the statement may be run as it was prepared, in a session.
func (r *readyPrepared) usable(now time.Time, in *session.Session) bool {
	if now.Sub(r.made) > freshFor || r.prepared.IsUpdate() && r.session != in {
		return false
	}
	a, b := r.state, in.State()
	return a.Conf == b.Conf && a.Startup == b.Startup && a.Catalog == b.Catalog && slices.Equal(a.Namespace, b.Namespace)
}
