package scan

import (
	"context"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// How many files after the one that is being opened are looked at while it is read, and how many bytes of them are read. Of a remote store each costs a
// round trip, which is many times what a small file takes to decode.
const (
	mostAhead  = 32
	bytesAhead = 32 << 20
	endOf      = 256 << 10 // bytes that are read of a file whose end is wanted, about
)

// wholeUpTo is the size of files that are read with one request where most of their columns are wanted of all rows.
const wholeUpTo = 4 << 20

// whole gives the size of files that are best read at once.
func (p *tablePlan) whole() int64 {
	if p.filter != nil || p.request.Limit >= 0 || 2*len(p.projection.columns) < p.source.schema.NumFields() {
		return 0
	}
	return wholeUpTo
}

// aheadOf is how many bytes are read of a file ahead of its turn.
func (p *tablePlan) aheadOf(d *dataFile) int64 {
	if d.Size <= max(p.whole(), 1<<20) {
		return max(d.Size, 1)
	}
	return endOf
}

// filesAhead reads the ends of a plan's files before they are opened, into the cache of footers.
type filesAhead struct {
	mu     sync.Mutex
	order  []*dataFile // as the splits have them, each once
	place  map[*dataFile]int
	flying map[*dataFile]chan struct{}
}

// await waits while a file's end is being read ahead.
func (a *filesAhead) await(ctx context.Context, d *dataFile) {
	a.mu.Lock()
	done := a.flying[d]
	a.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// openAhead starts to read the ends of the files after d, if d turned out to be remote, and gives what waits for that.
func (p *tablePlan) openAhead(ctx context.Context, d *dataFile, file storage.File) (wait func()) {
	if p.request.Limit >= 0 || storage.RemoteOf(file) == nil {
		return func() {}
	}
	var workers sync.WaitGroup
	for _, next := range p.ahead.start(p, d) {
		workers.Go(func() {
			defer p.ahead.end(next)
			_ = p.readFooter(ctx, next) // whoever opens the file meets the same error
		})
	}
	return workers.Wait
}

// start gives the files after d that nobody is looking at, and notes that somebody is.
func (a *filesAhead) start(p *tablePlan, d *dataFile) (out []*dataFile) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.place == nil {
		a.place, a.flying = map[*dataFile]int{}, map[*dataFile]chan struct{}{}
		for _, s := range p.splits {
			for _, t := range s.Tasks {
				if _, known := a.place[t.File]; !known {
					a.place[t.File] = len(a.order)
					a.order = append(a.order, t.File)
				}
			}
		}
	}
	from, known := a.place[d]
	if !known {
		return nil
	}
	size := int64(0)
	for _, next := range a.order[from+1 : min(from+1+mostAhead, len(a.order))] {
		if size += p.aheadOf(next); size > bytesAhead {
			break
		}
		if a.flying[next] == nil && strings.EqualFold(string(next.Format), string(iceberg.ParquetFile)) {
			a.flying[next] = make(chan struct{})
			out = append(out, next)
		}
	}
	return out
}

func (a *filesAhead) end(d *dataFile) {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.flying[d])
	delete(a.flying, d)
}

// readFooter brings a file's footer into the cache, unless it is there.
func (p *tablePlan) readFooter(ctx context.Context, d *dataFile) (err error) {
	defer fault.Recover(&err, fault.Corrupt, "read %s", d.Path)
	file, err := p.openStored(ctx, d)
	if err != nil {
		return err
	}
	counted := countedFile{File: file, bytes: &resource.From(ctx).Counters.DataBytes}
	f, err := p.source.table.scanner.footers.OpenWhole(ctx, counted, d.Path, p.whole())
	if err != nil {
		return err
	}
	return f.Close()
}
