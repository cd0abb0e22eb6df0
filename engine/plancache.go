package engine

import (
	"container/list"
	"context"
	"sync"

	"github.com/skua-data/skua/fault"
)

// planCache keeps the plans used last, by their pin's key. Callers that want one at the same time plan once.
type planCache struct {
	bound int

	mu      sync.Mutex
	entries map[string]*list.Element
	used    *list.List // of *planEntry, the latest in front
}

type planEntry struct {
	key  string
	done chan struct{} // closed when plan and err are set
	plan *planned
	err  error
}

func newPlanCache(bound int) *planCache {
	return &planCache{bound: bound, entries: map[string]*list.Element{}, used: list.New()}
}

// get gives the plan of a key, made by make if nobody has. A failure is not kept, and whoever waited for one tries for itself.
func (c *planCache) get(ctx context.Context, key string, make func() (*planned, error)) (*planned, error) {
	for {
		entry, mine := c.claim(key)
		if mine {
			c.fill(entry, make)
			return entry.plan, entry.err
		}
		select {
		case <-entry.done:
			if entry.err == nil {
				return entry.plan, nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fill makes an entry's plan; a panic is an error like any other, since others wait.
func (c *planCache) fill(entry *planEntry, make func() (*planned, error)) {
	defer close(entry.done)
	func() {
		defer fault.Recover(&entry.err, fault.Internal, "plan")
		entry.plan, entry.err = make()
	}()
	if entry.err != nil {
		c.drop(entry)
	}
}

// put keeps a plan that was made already.
func (c *planCache) put(key string, p *planned) {
	if entry, mine := c.claim(key); mine {
		entry.plan = p
		close(entry.done)
	}
}

// claim finds a key's entry, or makes an open one that is the caller's to fill.
func (c *planCache) claim(key string) (*planEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.used.MoveToFront(e)
		return e.Value.(*planEntry), false
	}
	entry := &planEntry{key: key, done: make(chan struct{})}
	c.entries[key] = c.used.PushFront(entry)
	if c.used.Len() > c.bound {
		last := c.used.Back()
		c.used.Remove(last)
		delete(c.entries, last.Value.(*planEntry).key)
	}
	return entry, true
}

// forget keeps no plan any more. Those being made reach who waits for them.
func (c *planCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.used.Init()
}

func (c *planCache) drop(entry *planEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[entry.key]; ok && e.Value.(*planEntry) == entry {
		c.used.Remove(e)
		delete(c.entries, entry.key)
	}
}
