package scan

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// decoding is how many times its size a metadata file takes while it is decoded, about: its bytes, unpacked, and what is made of them.
const decoding = 4

// charge counts what decoding a file of metadata takes, until release is called.
func charge(ctx context.Context, size int64) (release func()) {
	return resource.From(ctx).Charge(decoding * size)
}

// hold counts memory that the plan keeps, in bytes, as the process's until the plan is gone. Plans outlive the statement that made them: a ticket
// leads back to them.
func (p *tablePlan) hold(ctx context.Context, n int64) error {
	release, err := resource.From(ctx).Keep(ctx, n)
	if err != nil {
		return fault.Wrap(err, "keep the plan of a scan of %s", p.source.table.Name())
	}
	runtime.AddCleanup(p, func(release func()) { release() }, release)
	return nil
}

// holdDeletes counts deleted keys that the plan itself keeps.
func (p *tablePlan) holdDeletes(ctx context.Context, n int64) error {
	if err := p.deletes.hold(n); err != nil {
		return err
	}
	return p.hold(ctx, n)
}

// holdShared makes the plan a holder of a decoded delete file until it is gone or lets go. Where memory runs short, the cache of others shrinks first, then
// the plan waits for its turn.
func holdShared[T any](ctx context.Context, p *tablePlan, s *shared[T]) (letGo func(), err error) {
	if err := p.deletes.hold(s.size); err != nil {
		return nil, err
	}
	for !s.hold(ctx) {
		if p.source.table.scanner.deletes.shrink() {
			continue
		}
		err := workerOf(ctx).idly(ctx, func() error { return s.wait(ctx) })
		if err != nil {
			return nil, fault.Wrap(err, "hold the deletes of %s", p.source.table.Name())
		}
		break
	}
	once := sync.OnceFunc(s.letGo)
	cleanup := runtime.AddCleanup(p, func(letGo func()) { letGo() }, once)
	return func() { cleanup.Stop(); once() }, nil
}

// size is the memory of the plan's files and splits, in bytes, about. Entries that many files of a manifest share with the cache are the cache's.
func (p *tablePlan) size(files []*dataFile) int64 {
	out := int64(len(files)) * int64(unsafe.Sizeof(dataFile{})+unsafe.Sizeof(&dataFile{}))
	for _, f := range files {
		if f.own {
			out += int64(unsafe.Sizeof(fileEntry{})) + int64(len(f.Path)+len(f.version)) + 8*int64(len(f.Offsets))
		}
		out += 8 * int64(len(f.Deletes))
	}
	for _, s := range p.splits {
		out += int64(unsafe.Sizeof(s)) + int64(unsafe.Sizeof(task{}))*int64(len(s.Tasks))
	}
	return out
}
