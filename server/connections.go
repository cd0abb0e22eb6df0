package server

import (
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// maxConnections bounds the open connections of clients. It leaves more than half of the files that the process may open to tables and plugins.
func maxConnections() int {
	const most = 10_000
	if files := openFiles(); files > 0 {
		return min(most, max(16, files*2/5))
	}
	return most
}

// sayEvery is how often a full listener is told in the log.
const sayEvery = 10 * time.Second

// boundedListener closes what comes in over a bound, instead of letting it wait: a client learns at once, and those connected are not disturbed.
type boundedListener struct {
	net.Listener
	most int
	log  *slog.Logger

	mu     sync.Mutex
	open   map[*countedConn]struct{}
	closed bool

	said   time.Time // Accept is called by one goroutine
	turned int
}

func newBoundedListener(l net.Listener, most int, log *slog.Logger) net.Listener {
	return &boundedListener{Listener: l, most: most, log: log, open: map[*countedConn]struct{}{}}
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.admit(conn); counted != nil {
			return counted, nil
		}
		conn.Close()
		l.turned++
		if now := time.Now(); now.Sub(l.said) >= sayEvery {
			l.log.Warn("connections turned away: there are too many", "limit", l.most, "count", l.turned)
			l.said, l.turned = now, 0
		}
	}
}

func (l *boundedListener) admit(conn net.Conn) *countedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.most {
		return nil
	}
	c := &countedConn{Conn: conn, listener: l}
	l.open[c] = struct{}{}
	return c
}

// Close implements net.Listener. It also ends the waiting for clients that have not said hello: gRPC stops only after every connection
// has, and one that connected and says nothing would hold up the end of the server. Those that have are left to what still flows to them.
func (l *boundedListener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.open {
		if c.silent() {
			_ = c.Conn.SetReadDeadline(time.Now()) // a connection that cannot be set is closed already
		}
	}
	return err
}

// countedConn counts as open until it is closed.
type countedConn struct {
	net.Conn
	listener *boundedListener
	heard    atomic.Int64 // bytes
}

// hello is the shortest beginning of a client: HTTP/2's preface and the head of a frame.
const hello = 24 + 9

func (c *countedConn) silent() bool { return c.heard.Load() < hello }

// Read implements net.Conn.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.heard.Add(int64(n))
	return n, err
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// SetDeadline implements net.Conn. Once the listener is closed there is no more time to say hello.
func (c *countedConn) SetDeadline(t time.Time) error {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if err := c.Conn.SetDeadline(t); err != nil || !c.listener.closed || !c.silent() {
		return err
	}
	return c.Conn.SetReadDeadline(time.Now())
}
