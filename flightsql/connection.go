package flightsql

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// connection is one client's transport. It is what names the session of a client that has neither token nor cookie.
type connection struct {
	key   string
	local bool // from this machine
	loans loans

	mu     sync.Mutex
	owners []string // principals that have a session here
}

// note remembers that an owner has a session on this connection.
func (c *connection) note(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.owners {
		if o == owner {
			return
		}
	}
	c.owners = append(c.owners, owner)
}

type connectionKey struct{}

func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// connections is told by gRPC of every connection.
type connections struct {
	server *Server
	last   atomic.Uint64
}

var _ stats.Handler = (*connections)(nil)

// TagConn names a connection; its calls inherit the context.
func (c *connections) TagConn(ctx context.Context, info *stats.ConnTagInfo) context.Context {
	conn := &connection{key: "connection:" + strconv.FormatUint(c.last.Add(1), 10), local: isLocal(info.RemoteAddr)}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// HandleConn ends what lives with a connection when it is gone.
func (c *connections) HandleConn(ctx context.Context, event stats.ConnStats) {
	if _, gone := event.(*stats.ConnEnd); !gone {
		return
	}
	conn := connectionOf(ctx)
	conn.loans.end()
	conn.mu.Lock()
	owners := conn.owners
	conn.mu.Unlock()
	c.server.config.Sessions.Unbind(conn.key, owners...)
	c.server.handles.drop(conn.key, conn.key, nil)
}

// TagRPC has nothing to add.
func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC has nothing to note.
func (c *connections) HandleRPC(context.Context, stats.RPCStats) {}

// isLocal reports whether a peer is on this machine: loopback, or no network at all.
func isLocal(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}
