package scan

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// inOrder does n things at once, as many as the statement has cores, and gives their results in order. After an error it starts no more of
// them, and gives the error of the first thing that failed.
func inOrder[T any](ctx context.Context, n int, do func(ctx context.Context, i int) (T, error)) ([]T, error) {
	return inOrderBy(ctx, resource.From(ctx).Cores(), n, do)
}

// inOrderBy is inOrder by a number of workers, for things that wait more than they work.
func inOrderBy[T any](ctx context.Context, most, n int, do func(ctx context.Context, i int) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, errs := make([]T, n), make([]error, n)
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			if out[i], errs[i] = guarded(ctx, i, do); errs[i] != nil {
				cancel()
			}
		}
	}
	var workers sync.WaitGroup
	for range min(most, n) - 1 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			work()
		}()
	}
	work()
	workers.Wait()
	return out, firstError(ctx, errs)
}

// firstError prefers what went wrong to what was cancelled for it.
func firstError(ctx context.Context, errs []error) error {
	var cancelled error
	for _, err := range errs {
		switch {
		case err == nil:
		case ctx.Err() != nil && fault.Is(err, fault.Canceled):
			cancelled = err
		default:
			return err
		}
	}
	if cancelled != nil {
		return cancelled
	}
	return ctx.Err()
}

func guarded[T any](ctx context.Context, i int, do func(ctx context.Context, i int) (T, error)) (out T, err error) {
	defer fault.Recover(&err, fault.Internal, "plan")
	return do(ctx, i)
}
