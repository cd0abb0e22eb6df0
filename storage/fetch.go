package storage

import (
	"context"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// Fetch reads ranges of a remote file with few requests, ahead of whoever reads the bytes through ReadAt. Nothing is requested before the first
// ReadAt or Start. A request's bytes are held, on the statement's account, until all of them were read once, or until Close where they are to be
// read again. What lies in no range, or was given back, is read from the file. It is safe for concurrent use; whoever makes one closes it.
type Fetch struct {
	file    File
	access  Access
	account *resource.Statement
	ctx     context.Context // of all requests; Close ends it
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	requests []*request // by offset
	again    bool       // bytes are read more than once
	then     func()     // called once when every request was sent
	flying   int
	held     int64 // bytes of requests that were sent and not given back
	closed   bool
}

// request is one request and what came of it.
type request struct {
	Range
	wanted int64 // bytes of it that somebody wants
	sent   bool
	gone   bool // given back
	done   chan struct{}
	bytes  []byte
	err    error
}

var _ io.ReaderAt = (*Fetch)(nil)

// NewFetch plans the reading of ranges, on the account of the statement in ctx. A file at hand has nothing to gain from it.
func NewFetch(ctx context.Context, f File, ranges []Range) *Fetch {
	access := AccessOf(f)
	out := &Fetch{file: f, access: access, account: resource.From(ctx)}
	out.ctx, out.cancel = context.WithCancel(ctx)
	for _, r := range Coalesce(ranges, access.Gap, access.Request) {
		out.requests = append(out.requests, &request{Range: r, wanted: overlap(r, Coalesce(ranges, 0, 0)), done: make(chan struct{})})
	}
	return out
}

// overlap is how many bytes of r are in ranges, which are disjoint.
func overlap(r Range, ranges []Range) (n int64) {
	for _, o := range ranges {
		n += max(0, min(r.End(), o.End())-max(r.Offset, o.Offset))
	}
	return n
}

// Size is how many bytes all requests ask for.
func (f *Fetch) Size() (n int64) {
	for _, r := range f.requests {
		n += r.Length
	}
	return n
}

// Narrow says that of the bytes from r.Offset to r.End() only those of keep will be read, so that no request is sent for the others. It comes before
// the first byte is read, from a reader that has found out from an index which pages it needs; later it changes nothing.
func (f *Fetch) Narrow(r Range, keep []Range) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var left []Range
	for _, q := range f.requests {
		if q.sent {
			return
		}
		left = append(left, Range{q.Offset, min(q.Length, max(0, r.Offset-q.Offset))})
		from := max(q.Offset, r.End())
		left = append(left, Range{from, q.End() - from})
	}
	f.requests = nil
	left = append(left, keep...)
	for _, q := range Coalesce(left, f.access.Gap, f.access.Request) {
		f.requests = append(f.requests, &request{Range: q, wanted: overlap(q, Coalesce(left, 0, 0)), done: make(chan struct{})})
	}
}

// Started says whether a request was sent, after which Narrow changes nothing.
func (f *Fetch) Started() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.requests, func(q *request) bool { return q.sent })
}

// Again says that bytes will be read more than once, so that none are given back before Close.
func (f *Fetch) Again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = true
}

// Then sets what is called once when every request has been sent: the moment to read ahead what comes after.
func (f *Fetch) Then(call func()) {
	f.mu.Lock()
	f.then = call
	then := f.last()
	f.mu.Unlock()
	if then != nil {
		then()
	}
}

// last gives what is to be called where no request is left to send. The lock is held.
func (f *Fetch) last() (then func()) {
	if f.then == nil || slices.ContainsFunc(f.requests, func(q *request) bool { return !q.sent }) {
		return nil
	}
	then, f.then = f.then, nil
	return then
}

// Start sends requests without waiting for them, as many as the store's Access allows.
func (f *Fetch) Start() {
	f.mu.Lock()
	then := f.send(0)
	f.mu.Unlock()
	if then != nil {
		then()
	}
}

// send sends what may be sent, from a request on, and gives what is to be called where that was the last. The lock is held.
func (f *Fetch) send(from int) (then func()) {
	for _, q := range f.requests[min(from, len(f.requests)):] {
		if f.flying >= max(1, f.access.Parallel) || f.held+q.Length > f.access.Ahead {
			break
		}
		f.sendOne(q)
	}
	return f.last()
}

func (f *Fetch) sendOne(q *request) {
	if q.sent || f.closed {
		return
	}
	q.sent = true
	f.flying++
	f.held += q.Length
	f.running.Add(1)
	go f.run(q)
}

// run carries out one request.
func (f *Fetch) run(q *request) {
	defer f.running.Done()
	buffer, err := f.request(q)
	f.mu.Lock()
	q.bytes, q.err = buffer, err
	f.flying--
	then := f.send(0)
	close(q.done)
	f.mu.Unlock()
	if then != nil {
		then()
	}
}

func (f *Fetch) request(q *request) (buffer []byte, err error) {
	defer fault.Recover(&err, fault.Internal, "fetch %d bytes at %d", q.Length, q.Offset)
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	buffer = f.account.Allocator().Allocate(int(q.Length))
	n, err := f.file.ReadAt(buffer, q.Offset)
	if n == len(buffer) {
		return buffer, nil
	}
	f.account.Allocator().Free(buffer)
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// ReadAt gives bytes once they are there.
func (f *Fetch) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := f.some(p[done:], off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// some copies what one request has of p, or reads from the file what no request has.
func (f *Fetch) some(p []byte, off int64) (int, error) {
	f.mu.Lock()
	i := sort.Search(len(f.requests), func(i int) bool { return f.requests[i].End() > off })
	if i == len(f.requests) || f.requests[i].Offset > off || f.requests[i].gone || f.closed {
		f.mu.Unlock()
		if i < len(f.requests) && f.requests[i].Offset > off {
			p = p[:min(int64(len(p)), f.requests[i].Offset-off)]
		}
		return f.file.ReadAt(p, off)
	}
	q := f.requests[i]
	f.sendOne(q) // whoever waits goes before what is only read ahead
	then := f.send(i)
	f.mu.Unlock()
	if then != nil {
		then()
	}
	select {
	case <-q.done:
	case <-f.ctx.Done():
		return 0, f.ctx.Err()
	}
	if q.err != nil {
		return 0, q.err
	}
	f.mu.Lock()
	if q.gone {
		f.mu.Unlock()
		return f.file.ReadAt(p[:min(int64(len(p)), q.End()-off)], off)
	}
	n := copy(p, q.bytes[off-q.Offset:])
	if q.wanted -= int64(n); q.wanted <= 0 && !f.again {
		f.giveBack(q)
	}
	then = f.send(0)
	f.mu.Unlock()
	if then != nil {
		then()
	}
	return n, nil
}

// giveBack frees a request's bytes. The lock is held.
func (f *Fetch) giveBack(q *request) {
	if q.bytes != nil {
		f.account.Allocator().Free(q.bytes)
	}
	f.held -= q.Length
	q.bytes, q.gone = nil, true
}

// Close stops what is under way, waits for it, and gives all bytes back.
func (f *Fetch) Close() {
	f.mu.Lock()
	f.closed, f.then = true, nil
	f.mu.Unlock()
	f.cancel()
	f.running.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.requests {
		if q.sent && !q.gone {
			f.giveBack(q)
		}
	}
}
