package flightsql

import (
	"context"

	"github.com/skua-data/skua/resource"
)

// reading is a statement that is read, by one stream or several, at once or one after the other. It belongs to running.mu.
type reading struct {
	streams map[*stream]struct{} // that are open
	parts   int                  // of the result, once a stream has resumed it
	read    map[int]int          // what was read to its end: by the first part, the one after the last
	whole   bool                 // all of it was
	most    float64              // that was told of it
	idle    chan struct{}        // closed when no stream is open any more; nil while none is
}

// stream is one that reads the parts of a ticket.
type stream struct {
	running   *running
	statement *reading
	cancel    context.CancelCauseFunc
	share     resource.Progress // of its own parts
	from, to  int
}

// progress is how much of a statement was read.
type progress struct {
	share float64         // which only grows, and is 1 once all endpoints were read to their ends
	idle  <-chan struct{} // closed when nobody reads it any more; nil: nobody does
}

// nearlyAll is the most that is told of a statement that is not read to its end: what follows its scans is not counted.
const nearlyAll = 0.99

func (r *reading) open(s *stream) {
	if len(r.streams) == 0 {
		r.idle = make(chan struct{})
	}
	r.streams[s] = struct{}{}
}

// close takes a stream out, and reports whether it was the last.
func (r *reading) close(s *stream) bool {
	delete(r.streams, s)
	if len(r.streams) > 0 {
		return false
	}
	close(r.idle)
	r.idle = nil
	return true
}

// reads notes which parts the stream is about to read, of how many.
func (s *stream) reads(from, to, parts int) {
	s.running.mu.Lock()
	defer s.running.mu.Unlock()
	s.from, s.to, s.statement.parts = from, to, parts
}

// finished notes that the stream was read to its end.
func (s *stream) finished() {
	s.running.mu.Lock()
	defer s.running.mu.Unlock()
	r := s.statement
	r.read[s.from] = max(r.read[s.from], s.to)
	at := 0
	for next := r.read[0]; next > at; next = r.read[at] {
		at = next
	}
	r.whole = r.whole || at == r.parts
}

// progress counts each part alike, since that is all that is known of parts that nobody has begun.
func (r *reading) progress() progress {
	if r.whole {
		r.most = 1
		return progress{share: 1, idle: r.idle}
	}
	done := 0.0
	for from, to := range r.read {
		done += float64(to - from)
	}
	for s := range r.streams {
		if share, counted := s.share.Share(); counted && r.read[s.from] < s.to {
			done += share * float64(s.to-s.from)
		}
	}
	if r.parts > 0 {
		r.most = max(r.most, min(done/float64(r.parts), nearlyAll))
	}
	return progress{share: r.most, idle: r.idle}
}
