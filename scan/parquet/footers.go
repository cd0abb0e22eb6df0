package parquet

import (
	"container/list"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// Footers keeps decoded footers, and small remote files whole, by the keys of their files and up to a bound in bytes, least recently used out
// first. What it keeps counts as memory of the process, and where that runs short it keeps less; what it does not keep counts for the statement
// that has the file open. It is safe for concurrent use; the nil Footers keeps nothing.
type Footers struct {
	mu      sync.Mutex
	bound   int64
	used    int64
	recent  list.List // of keptFooter, the one used last in front
	entries map[string]*list.Element
	codecs  codecs
}

type keptFooter struct {
	key     string
	footer  *footer
	release func() // ends its counting
}

// NewFooters makes an empty cache of at most bound bytes.
func NewFooters(bound int64) *Footers {
	return &Footers{bound: bound, entries: map[string]*list.Element{}}
}

// Open is like the function Open, and reads no footer that is kept.
func (c *Footers) Open(ctx context.Context, f storage.File, name string) (*File, error) {
	return c.OpenWhole(ctx, f, name, 0)
}

// OpenWhole is Open for a file of which most will be read: a remote one of up to most bytes is read with one request.
func (c *Footers) OpenWhole(ctx context.Context, f storage.File, name string, most int64) (_ *File, err error) {
	defer func() {
		if err != nil {
			err = fault.Wrap(errors.Join(err, f.Close()), "open %s", name)
		}
	}()
	key := f.Key()
	if kept := c.get(key); kept != nil && kept.size == f.Size() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if remote := storage.RemoteOf(f); remote != nil {
			remote.Expect(kept.version)
			f = watched{f, func() { c.drop(key) }}
		}
		return c.file(kept, name, f), nil
	}
	read, err := open(ctx, f, most)
	if err != nil {
		return nil, err
	}
	uncount := func() {}
	if !c.put(ctx, key, read) {
		uncount = resource.From(ctx).Charge(read.memory())
	}
	if storage.RemoteOf(f) != nil {
		f = watched{f, func() { c.drop(key) }}
	}
	out := c.file(read, name, f)
	out.uncount = uncount
	return out, nil
}

// file makes a File, which shares the codecs of all.
func (c *Footers) file(o *footer, name string, f storage.File) *File {
	shared := &codecs{}
	if c != nil {
		shared = &c.codecs
	}
	return &File{footer: o, name: name, file: f, codecs: shared, uncount: func() {}}
}

func (c *Footers) get(key string) *footer {
	if c == nil || key == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(keptFooter).footer
}

// put keeps a footer, if there is room for it.
func (c *Footers) put(ctx context.Context, key string, f *footer) bool {
	if c == nil || key == "" || f.memory() > c.bound/4 {
		return false // one giant would push out everything else
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[key]; ok {
		c.remove(old)
	}
	for c.used+f.memory() > c.bound {
		c.remove(c.recent.Back())
	}
	release, ok := resource.From(ctx).Hold(f.memory())
	for !ok && c.recent.Len() > 0 {
		c.remove(c.recent.Back())
		release, ok = resource.From(ctx).Hold(f.memory())
	}
	if ok {
		c.entries[key] = c.recent.PushFront(keptFooter{key, f, release})
		c.used += f.memory()
	}
	return ok
}

// Forget lets go of all.
func (c *Footers) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.recent.Len() > 0 {
		c.remove(c.recent.Back())
	}
}

func (c *Footers) drop(key string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.remove(e)
	}
}

func (c *Footers) remove(e *list.Element) {
	kept := c.recent.Remove(e).(keptFooter)
	delete(c.entries, kept.key)
	c.used -= kept.footer.memory()
	kept.release()
}

// memory estimates what a footer takes: the decoded form is several times as large as its bytes.
func (o *footer) memory() int64 { return 4096 + 8*o.length + int64(len(o.tail)) }

// watched tells of reads that fail, after which what is kept of the file is not to be trusted.
type watched struct {
	storage.File
	failed func()
}

// Unwrap gives the file itself.
func (w watched) Unwrap() storage.File { return w.File }

// ReadAt reads from the file itself.
func (w watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.File.ReadAt(p, off)
	if n < len(p) && err != nil && !errors.Is(err, io.EOF) {
		w.failed()
	}
	return n, err
}
