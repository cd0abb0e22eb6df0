package main

import (
	"context"
	"log/slog"
	"sync"
)

// quiet is a log handler that holds back everything below errors until it is released, so that the log does not run through what is printed for people.
type quiet struct {
	slog.Handler
	held *heldLog
}

// heldLog is what the handlers of one logger hold back together.
type heldLog struct {
	mu       sync.Mutex
	released bool
	waiting  []heldRecord
}

type heldRecord struct {
	handler slog.Handler
	record  slog.Record
}

func newQuiet(h slog.Handler) *quiet { return &quiet{h, &heldLog{}} }

func (q *quiet) Handle(ctx context.Context, r slog.Record) error {
	q.held.mu.Lock()
	defer q.held.mu.Unlock()
	if q.held.released || r.Level >= slog.LevelError {
		return q.Handler.Handle(ctx, r)
	}
	q.held.waiting = append(q.held.waiting, heldRecord{q.Handler, r.Clone()})
	return nil
}

func (q *quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quiet{q.Handler.WithAttrs(attrs), q.held}
}

func (q *quiet) WithGroup(name string) slog.Handler {
	return &quiet{q.Handler.WithGroup(name), q.held}
}

// release writes what was held back, in order, and holds nothing from then on. A log that cannot be written has nobody to be told.
func (q *quiet) release(ctx context.Context) {
	q.held.mu.Lock()
	defer q.held.mu.Unlock()
	for _, h := range q.held.waiting {
		_ = h.handler.Handle(ctx, h.record)
	}
	q.held.waiting, q.held.released = nil, true
}
