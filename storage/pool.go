package storage

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"time"
)

// maxStores bounds a pool: vended credentials differ at every load, so stores come and go. A store that falls out serves whoever has it on.
const maxStores = 256

// poolKey identifies a store. Properties and credential are fingerprints: they hold no secret.
type poolKey struct {
	kind       int
	properties string
	credential string
}

// pool keeps the stores used last. The zero pool is ready.
type pool struct {
	mu     sync.Mutex
	stores map[poolKey]*list.Element
	recent list.List // of pooled, the one used last in front
}

type pooled struct {
	key     poolKey
	store   Store
	expires time.Time // zero: never
}

// get gives the store of a key, made where there is none. Making is quick (a Factory does no request), so it happens under the lock. Stores whose
// credentials have expired go.
func (p *pool) get(key poolKey, expires, now time.Time, open func() (Store, error)) (Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.stores[key]; ok {
		p.recent.MoveToFront(e)
		return e.Value.(pooled).store, nil
	}
	store, err := open()
	if err != nil {
		return nil, err
	}
	if p.stores == nil {
		p.stores = map[poolKey]*list.Element{}
	}
	p.expire(now)
	p.stores[key] = p.recent.PushFront(pooled{key, store, expires})
	if p.recent.Len() > maxStores {
		oldest := p.recent.Back()
		p.recent.Remove(oldest)
		delete(p.stores, oldest.Value.(pooled).key)
	}
	return store, nil
}

// expire forgets the stores that nobody may use any more. The lock is held.
func (p *pool) expire(now time.Time) {
	for e := p.recent.Front(); e != nil; {
		next := e.Next()
		if entry := e.Value.(pooled); !entry.expires.IsZero() && now.After(entry.expires) {
			p.recent.Remove(e)
			delete(p.stores, entry.key)
		}
		e = next
	}
}

// fingerprint is a digest of properties that does not depend on their order.
func fingerprint(properties map[string]string) string {
	digest := sha256.New()
	write := func(s string) {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(s)))
		digest.Write(size[:])
		digest.Write([]byte(s))
	}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		write(key)
		write(properties[key])
	}
	return string(digest.Sum(nil))
}

// fingerprintOf is a credential's fingerprint; empty for none.
func fingerprintOf(c *Credential) string {
	if c == nil {
		return ""
	}
	return fingerprint(c.Properties) + c.Prefix
}
