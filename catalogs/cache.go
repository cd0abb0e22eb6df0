package catalogs

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/iceberg-go/table"
)

// Bounds of what a Set remembers, the table loaded longest ago going first: tables, and bytes of their metadata. Larger metadata is not kept.
const (
	maxCached   = 10_000
	maxBytes    = 256 << 20
	maxOneTable = 32 << 20
)

// expiryMargin is how long before its credentials end a table is no more given out from memory.
const expiryMargin = time.Minute

// cacheKey names a load: two principals or references may see different metadata of one table.
type cacheKey struct{ catalog, table, reference, principal string }

// cache remembers the answers of loads.
type cache struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	recent  list.List // of cached, the one loaded last in front
	bytes   int
	forgets int // how often a table was forgotten on purpose
}

// cached is the answer of a load.
type cached struct {
	key    cacheKey
	table  *Table // nil: it was forgotten on purpose, so the next load must be a fresh one
	loaded time.Time
}

// get gives the answer of a load not longer ago than keep (negative: ever). Whole says that it may be given out again; else what is behind the catalog must
// be asked, and the answer only helps if that says that nothing changed.
func (c *cache) get(key cacheKey, keep time.Duration) (t *Table, whole, forgotten bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return nil, false, false
	}
	entry := e.Value.(cached)
	if entry.table == nil {
		return nil, false, true
	}
	now := c.now()
	fresh := keep < 0 || now.Sub(entry.loaded) <= keep
	return entry.table, fresh && !endsBefore(entry.table, now.Add(expiryMargin)), false
}

// endsBefore reports whether a credential of the table ends before a time.
func endsBefore(t *Table, at time.Time) bool {
	for _, c := range t.Credentials {
		if !c.Expires.IsZero() && c.Expires.Before(at) {
			return true
		}
	}
	return false
}

// era tells a load's beginning to put: what was loaded before a table was forgotten on purpose is not remembered after it.
func (c *cache) era() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forgets
}

// put remembers the answer of a load just done that began in an era.
func (c *cache) put(key cacheKey, t *Table, era int) {
	if t != nil && len(t.Metadata) > maxOneTable {
		c.drop(key)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if era != c.forgets {
		return
	}
	c.remove(key)
	if c.entries == nil {
		c.entries = map[cacheKey]*list.Element{}
	}
	entry := cached{key, t, c.now()}
	c.entries[key] = c.recent.PushFront(entry)
	for c.bytes += entry.size(); c.bytes > maxBytes || c.recent.Len() > maxCached; {
		c.remove(c.recent.Back().Value.(cached).key)
	}
}

func (e cached) size() int {
	if e.table == nil {
		return 0
	}
	return len(e.table.Metadata)
}

func (c *cache) drop(key cacheKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// remove forgets an answer; the lock is held.
func (c *cache) remove(key cacheKey) {
	if e, ok := c.entries[key]; ok {
		c.bytes -= e.Value.(cached).size()
		delete(c.entries, key)
		c.recent.Remove(e)
	}
}

// forget forgets a table for every reference and principal, so that the next load is a fresh one.
func (c *cache) forget(catalog, table string) {
	c.mu.Lock()
	c.forgets++
	era, keys := c.forgets, []cacheKey(nil)
	for key := range c.entries {
		if key.catalog == catalog && key.table == table {
			keys = append(keys, key)
		}
	}
	c.mu.Unlock()
	for _, key := range keys {
		c.put(key, nil, era)
	}
}

// joined makes one string of an identifier; no part of one holds a NUL.
func joined(id table.Identifier) string { return strings.Join(id, "\x00") }

// copied gives a table that its receiver may change, apart from what is large.
func (t *Table) copied() *Table {
	out := *t
	out.Identifier = slices.Clone(t.Identifier)
	return &out
}
