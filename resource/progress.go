package resource

import (
	"context"
	"sync/atomic"
)

// Progress is how far the planning of a statement is, or its reading, in steps such as manifests or splits to read. More steps may become known while others
// are done, so what is left may grow. It is safe for concurrent use, and a nil one counts nothing.
type Progress struct{ expected, done atomic.Int64 }

type progressKey struct{}

// WithProgress puts a Progress into a context, for whoever works under it to count on.
func WithProgress(ctx context.Context, p *Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// ProgressOf gives the Progress of a context, or nil where nobody asks.
func ProgressOf(ctx context.Context) *Progress {
	p, _ := ctx.Value(progressKey{}).(*Progress)
	return p
}

// Expect adds steps that are to be done; a negative number takes some back that are not.
func (p *Progress) Expect(n int) {
	if p != nil {
		p.expected.Add(int64(n))
	}
}

// Done counts one step.
func (p *Progress) Done() {
	if p != nil {
		p.done.Add(1)
	}
}

// Share is the part of the steps that is done, from 0 to 1; false while none are known.
func (p *Progress) Share() (float64, bool) {
	if p == nil {
		return 0, false
	}
	done, expected := p.done.Load(), p.expected.Load()
	if expected == 0 {
		return 0, false
	}
	return min(1, float64(done)/float64(expected)), true
}
