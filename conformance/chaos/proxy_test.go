package chaos

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy carries the clients' connections to the server, and breaks some.
type proxy struct {
	to string

	mu   sync.Mutex
	open map[net.Conn]bool // of the clients
}

func newProxy(t *testing.T, to string) (*proxy, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: to, open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.carry(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		for p.cut() {
		}
		all.Wait()
	})
	return p, l.Addr().String()
}

func (p *proxy) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.open[client] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.open, client)
		p.mu.Unlock()
	}()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	_, _ = io.Copy(server, client)
	_ = server.Close()
	back.Wait()
}

// cut breaks a connection, and reports whether there was one.
func (p *proxy) cut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		delete(p.open, c)
		_ = c.Close()
		return true
	}
	return false
}
