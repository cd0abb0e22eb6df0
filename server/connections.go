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
	most int64
	log  *slog.Logger

	open   atomic.Int64
	said   time.Time // Accept is called by one goroutine
	turned int
}

func newBoundedListener(l net.Listener, most int, log *slog.Logger) net.Listener {
	return &boundedListener{Listener: l, most: int64(most), log: log}
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &countedConn{Conn: conn, listener: l}, nil
		}
		l.open.Add(-1)
		conn.Close()
		l.turned++
		if now := time.Now(); now.Sub(l.said) >= sayEvery {
			l.log.Warn("connections turned away: there are too many", "limit", l.most, "count", l.turned)
			l.said, l.turned = now, 0
		}
	}
}

// countedConn counts as open until it is closed.
type countedConn struct {
	net.Conn
	listener *boundedListener
	once     sync.Once
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1) })
	return c.Conn.Close()
}
