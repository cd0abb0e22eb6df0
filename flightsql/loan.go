package flightsql

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc/mem"
)

// loan is a record batch whose memory gRPC reads. It ends once, when gRPC has freed all of it, when the connection is gone, or when nothing can reach
// its buffers any more: gRPC drops what a lost connection has not sent, and what meets a stream that was just reset, without freeing it.
type loan struct {
	batch   arrow.RecordBatch // payload points into it
	payload ipc.Payload
	at      *loans
	ended   atomic.Bool
}

func (l *loan) end() {
	if l.ended.Swap(true) {
		return
	}
	l.at.forget(l)
	l.payload.Release()
	l.batch.Release()
}

// lender is the pool that a loan's buffers return to. The loan does not refer to it, so that it is collected with the last buffer.
type lender struct {
	loan *loan
	out  atomic.Int32
}

var _ mem.BufferPool = (*lender)(nil)

// newLender has one piece out already, for the one who lends.
func newLender(l *loan) *lender {
	p := &lender{loan: l}
	p.out.Store(1)
	runtime.AddCleanup(p, (*loan).end, l)
	return p
}

// lend gives a piece to gRPC. It must be longer than what gRPC pools.
func (p *lender) lend(piece []byte) mem.Buffer {
	p.out.Add(1)
	return mem.NewBuffer(&piece, p)
}

func (p *lender) returned() {
	if p.out.Add(-1) == 0 {
		p.loan.end()
	}
}

// Put takes a piece back.
func (p *lender) Put(*[]byte) { p.returned() }

// Get is not for this pool: it hands out no memory of its own.
func (p *lender) Get(length int) *[]byte { b := make([]byte, length); return &b }

// loans are those of one connection that gRPC still has.
type loans struct {
	mu   sync.Mutex
	gone bool // the connection; nothing reads its buffers any more
	open map[*loan]struct{}
}

// watch ends a loan with the connection. It is for loans that only gRPC has to end.
func (s *loans) watch(l *loan) {
	if s.note(l) {
		l.end()
	}
}

func (s *loans) note(l *loan) (gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || l.ended.Load() {
		return s.gone
	}
	if s.open == nil {
		s.open = map[*loan]struct{}{}
	}
	s.open[l] = struct{}{}
	return false
}

func (s *loans) forget(l *loan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, l)
}

// end ends all loans when the connection is gone. gRPC tells so after its writer has stopped.
func (s *loans) end() {
	s.mu.Lock()
	open := s.open
	s.gone, s.open = true, nil
	s.mu.Unlock()
	for l := range open {
		l.end()
	}
}
