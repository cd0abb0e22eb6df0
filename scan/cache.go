package scan

import (
	"container/list"
	"context"
	"sync"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// cache keeps immutable values up to a bound in bytes, least recently used out first, and has each made by one caller at a time. What it holds counts
// as memory of the process. It is safe for concurrent use.
type cache struct {
	quiet   bool // hits and misses are not counted on statements
	mu      sync.Mutex
	bound   int64
	used    int64
	order   *list.List // front: used last
	entries map[string]*list.Element
	flights map[string]*flight
}

type cacheEntry struct {
	key     string
	value   any
	size    int64
	release func()
}

// flight is a value in the making.
type flight struct {
	waiting int           // callers that wait for it
	done    chan struct{} // closed when value and err are set
	value   any
	err     error
}

// notKept is the size of a value that is handed to those who wait for it and then forgotten.
const notKept = -1

func newCache(bound int64) *cache {
	return &cache{bound: bound, order: list.New(), entries: map[string]*list.Element{}, flights: map[string]*flight{}}
}

// cached gives the value under key, or what load makes, and counts which on the statement of ctx. Of those that miss at once one loads and the others
// wait for it; where it fails for reasons of its own, such as a client that went away, one of them loads instead. An error is not kept.
func cached[T any](ctx context.Context, c *cache, key string, load func() (T, int64, error)) (T, error) {
	for {
		v, f, mine := c.claim(key)
		switch {
		case f == nil:
			c.count(ctx, true)
			return v.(T), nil
		case mine:
			c.count(ctx, false)
			return fly(ctx, c, key, f, load)
		}
		select {
		case <-f.done:
			if f.err == nil {
				c.count(ctx, true)
				return f.value.(T), nil
			}
			if concernsAll(f.err) {
				var none T
				return none, f.err
			}
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
}

func (c *cache) count(ctx context.Context, hit bool) {
	counters := &resource.From(ctx).Counters
	switch {
	case c.quiet:
	case hit:
		counters.CacheHits.Add(1)
	default:
		counters.CacheMisses.Add(1)
	}
}

// concernsAll says of an error that whoever tried again would get it too.
func concernsAll(err error) bool {
	return fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Unsupported)
}

// fly makes a value for all who wait for it. A panic is an error like any other, since others wait.
func fly[T any](ctx context.Context, c *cache, key string, f *flight, load func() (T, int64, error)) (v T, err error) {
	size := int64(notKept)
	defer func() {
		f.value, f.err = v, err
		c.land(ctx, key, f, size)
	}()
	defer fault.Recover(&err, fault.Internal, "read %s", key)
	v, size, err = load()
	return v, err
}

// claim finds a value, or the flight that makes it, or starts one, which is then the caller's to land.
func (c *cache) claim(key string) (value any, f *flight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*cacheEntry).value, nil, false
	}
	if f, ok := c.flights[key]; ok {
		f.waiting++
		return nil, f, false
	}
	f = &flight{done: make(chan struct{})}
	c.flights[key] = f
	return nil, f, true
}

// land ends a flight and keeps its value.
func (c *cache) land(ctx context.Context, key string, f *flight, size int64) {
	if f.err == nil {
		c.put(ctx, key, f.value, size)
	}
	c.mu.Lock()
	delete(c.flights, key)
	c.mu.Unlock()
	close(f.done)
}

func (c *cache) get(key string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cacheEntry).value, true
}

// put keeps a value, unless it is so large that it would push out everything else. The process's memory goes to statements first: where it runs short,
// the cache shrinks.
func (c *cache) put(ctx context.Context, key string, value any, size int64) {
	if size == notKept {
		return
	}
	if size += int64(len(key)) + entryOverhead; size > c.bound/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[key]; ok {
		c.remove(old)
	}
	for c.used+size > c.bound {
		c.remove(c.order.Back())
	}
	release, ok := holding(ctx, value, size)
	for !ok && c.order.Len() > 0 {
		c.remove(c.order.Back())
		release, ok = holding(ctx, value, size)
	}
	if !ok {
		return
	}
	c.entries[key] = c.order.PushFront(&cacheEntry{key, value, size, release})
	c.used += size
}

// forget lets go of everything.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.order.Len() > 0 {
		c.remove(c.order.Back())
	}
}

// holding counts a value as memory of the process.
func holding(ctx context.Context, value any, size int64) (release func(), ok bool) {
	if v, is := value.(holder); is {
		return v.letGo, v.hold(ctx)
	}
	return resource.From(ctx).Hold(size)
}

// shrink lets go of the value that was not used for the longest time; false: there is none.
func (c *cache) shrink() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.order.Len() == 0 {
		return false
	}
	c.remove(c.order.Back())
	return true
}

// entryOverhead is what the cache itself needs for a value, in bytes, about.
const entryOverhead = 200

func (c *cache) remove(e *list.Element) {
	entry := c.order.Remove(e).(*cacheEntry)
	delete(c.entries, entry.key)
	c.used -= entry.size
	entry.release()
}
