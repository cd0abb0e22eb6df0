package hive

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"

	"github.com/skua-data/skua/fault"
)

// pool shares connections to the metastores of one catalog. Servers are tried in their order, beginning with the one that answered last; a connection that
// broke is replaced and its call made again, on an old one since the server may have closed it meanwhile, on a new one once a server. A server that keeps
// silent is not asked again.
type pool struct {
	settings settings
	slots    chan struct{} // one value for each connection that may be used at once
	name     string

	mu     sync.Mutex
	idle   []*connection
	busy   map[*connection]bool
	first  int // the server to try first
	closed bool
}

func newPool(name string, s settings) *pool {
	return &pool{settings: s, name: name, slots: make(chan struct{}, s.clients), busy: map[*connection]bool{}}
}

// call calls a method on some connection.
func (p *pool) call(ctx context.Context, method string, arguments record) (record, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fault.New(fault.KindOf(ctx.Err()), "wait for a connection to the metastore: %w", ctx.Err())
	}
	defer func() { <-p.slots }()
	for fresh := 0; ; {
		c, err := p.take(ctx)
		if err != nil {
			return nil, p.classify(ctx, method, err)
		}
		reused := c.used
		answer, err := c.call(ctx, method, arguments, p.settings.patience)
		var said *exception
		p.give(c, err == nil || errors.As(err, &said))
		if !reused {
			fresh++
		}
		if err == nil || said != nil || fresh > len(p.settings.addresses) || isTimeout(err) || ctx.Err() != nil {
			return answer, p.classify(ctx, method, err)
		}
		// Others that idle are as old: they go too.
		p.drop()
	}
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}

// take gives an idle connection or a new one.
func (p *pool) take(ctx context.Context) (*connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.busy[c] = true
		return c, nil
	}
	first := p.first
	p.mu.Unlock()
	c, at, err := p.connect(ctx, first)
	p.mu.Lock()
	if err != nil {
		return nil, err
	}
	if p.closed {
		c.close()
		return nil, errClosed
	}
	p.first = at
	p.busy[c] = true
	return c, nil
}

var errClosed = errors.New("the catalog is closed")

// connect tries every server once.
func (p *pool) connect(ctx context.Context, first int) (*connection, int, error) {
	var failed []error
	for i := range p.settings.addresses {
		at := (first + i) % len(p.settings.addresses)
		c, err := dial(ctx, p.settings, p.settings.addresses[at])
		if err == nil {
			return c, at, nil
		}
		if ctx.Err() != nil {
			return nil, 0, err
		}
		failed = append(failed, err)
	}
	return nil, 0, errors.Join(failed...)
}

// give takes a connection back; one that is of no use any more is closed, and another server is tried first from then on.
func (p *pool) give(c *connection, usable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, c)
	if usable && !p.closed {
		p.idle = append(p.idle, c)
		return
	}
	c.close()
	if !usable {
		p.first = (p.first + 1) % len(p.settings.addresses)
	}
}

// drop closes the idle connections.
func (p *pool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}

// close ends every connection; calls that run fail.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.busy {
		c.close()
	}
	p.mu.Unlock()
	p.drop()
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// classify gives the error of a call its kind. What the metastore itself says stays an *exception, for the caller to read.
func (p *pool) classify(ctx context.Context, method string, err error) error {
	var said *exception
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.New(fault.KindOf(ctx.Err()), "call %s of the metastore: %w", method, ctx.Err())
	case p.isClosed():
		return fault.New(fault.Unavailable, "the catalog is closed")
	case errors.As(err, &said):
		return said
	}
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	return fault.New(fault.Unavailable, "call %s of the metastore %s: %s", method, strings.Join(p.settings.addresses, ", "), text).Change(key(p.name, "uri"))
}
