package catalogs

import (
	"container/list"
	"strings"
	"sync"
	"time"

	"github.com/apache/iceberg-go/table"
)

// maxHeld bounds what a Set remembers; the table used longest ago goes first.
const maxHeld = 10_000

// heldKey names a load: two principals or references may see different metadata of one table.
type heldKey struct{ catalog, table, reference, principal string }

// held remembers the metadata location of each load. It holds no metadata: that is the reader's to keep or to read again.
type held struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[heldKey]*list.Element
	recent  list.List // of heldEntry, the one used last in front
}

type heldEntry struct {
	key      heldKey
	location string
	used     time.Time
}

// get gives the location of a load that is not older than keep (negative: ever) since its last use; empty: none.
func (h *held) get(key heldKey, keep time.Duration) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.entries[key]
	if !ok {
		return ""
	}
	entry := e.Value.(heldEntry)
	if keep >= 0 && h.now().Sub(entry.used) > keep {
		h.remove(e)
		return ""
	}
	return entry.location
}

// put remembers the location of a load just done.
func (h *held) put(key heldKey, location string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	entry := heldEntry{key, location, h.now()}
	if e, ok := h.entries[key]; ok {
		e.Value = entry
		h.recent.MoveToFront(e)
		return
	}
	if h.entries == nil {
		h.entries = map[heldKey]*list.Element{}
	}
	h.entries[key] = h.recent.PushFront(entry)
	if h.recent.Len() > maxHeld {
		h.remove(h.recent.Back())
	}
}

func (h *held) drop(key heldKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e, ok := h.entries[key]; ok {
		h.remove(e)
	}
}

// dropTable forgets a table for every reference and principal.
func (h *held) dropTable(catalog, table string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, e := range h.entries {
		if key.catalog == catalog && key.table == table {
			h.remove(e)
		}
	}
}

func (h *held) remove(e *list.Element) {
	delete(h.entries, e.Value.(heldEntry).key)
	h.recent.Remove(e)
}

// joined makes one string of an identifier; no part of one holds a NUL.
func joined(id table.Identifier) string { return strings.Join(id, "\x00") }
