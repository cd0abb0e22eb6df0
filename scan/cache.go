package scan

import (
	"container/list"
	"context"
	"sync"

	"github.com/skua-data/skua/resource"
)

// cache keeps immutable values up to a bound in bytes, least recently used out first. It is safe for concurrent use.
type cache struct {
	mu      sync.Mutex
	bound   int64
	used    int64
	order   *list.List // front: used last
	entries map[string]*list.Element
}

type cacheEntry struct {
	key   string
	value any
	size  int64
}

func newCache(bound int64) *cache {
	return &cache{bound: bound, order: list.New(), entries: map[string]*list.Element{}}
}

// cached gives the value under key, or what load makes, and counts which on the statement of ctx. Two that miss at once both load; an error is
// not kept.
func cached[T any](ctx context.Context, c *cache, key string, load func() (T, int64, error)) (T, error) {
	counters := &resource.From(ctx).Counters
	if v, ok := c.get(key); ok {
		counters.CacheHits.Add(1)
		return v.(T), nil
	}
	counters.CacheMisses.Add(1)
	v, size, err := load()
	if err != nil {
		return v, err
	}
	c.put(key, v, size)
	return v, nil
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

func (c *cache) put(key string, value any, size int64) {
	size += int64(len(key))
	if size > c.bound/2 {
		return // one giant would push out everything else
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[key]; ok {
		c.remove(old)
	}
	c.entries[key] = c.order.PushFront(&cacheEntry{key, value, size})
	c.used += size
	for c.used > c.bound {
		c.remove(c.order.Back())
	}
}

func (c *cache) remove(e *list.Element) {
	entry := c.order.Remove(e).(*cacheEntry)
	delete(c.entries, entry.key)
	c.used -= entry.size
}
