package hive

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// connection is one connection to a metastore. It serves one call at a time.
type connection struct {
	net    net.Conn
	in     *bufio.Reader
	framed bool
	last   int32 // the sequence number of the last call
	used   bool  // a call succeeded on it before
}

// dial connects within the context.
func dial(ctx context.Context, s settings, address string) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, s.connect)
	defer cancel()
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if s.tls {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		secure := tls.Client(plain, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = plain.Close()
			return nil, err
		}
		plain = secure
	}
	c := &connection{net: plain, framed: s.framed}
	c.in = bufio.NewReaderSize(plain, 64<<10)
	if s.framed {
		c.in = bufio.NewReaderSize(&frames{r: c.in}, 64<<10)
	}
	return c, nil
}

func (c *connection) close() { _ = c.net.Close() }

// exception is a Thrift exception of the application itself.
type exception struct {
	message string
	kind    int32
}

// unknownMethod is the kind of an exception about a method that the server lacks.
const unknownMethod = 1

// Error gives the server's words.
func (e *exception) Error() string { return e.message }

// call calls a method; an error other than *exception leaves the connection unusable. The context ends the call by closing the connection.
func (c *connection) call(ctx context.Context, method string, arguments record, patience time.Duration) (record, error) {
	stop := context.AfterFunc(ctx, c.close)
	defer stop()
	if err := c.net.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	c.last++
	message := encode(method, c.last, arguments)
	if c.framed {
		message = append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
	}
	if _, err := c.net.Write(message); err != nil {
		return nil, err
	}
	kind, answered, sequence, body, err := newDecoder(c.in).message()
	if err != nil {
		return nil, err
	}
	if sequence != c.last || answered != method {
		return nil, malformed("it answers call %d of %q, not call %d of %q", sequence, answered, c.last, method)
	}
	c.used = true
	switch kind {
	case messageReply:
		return body, nil
	case messageException:
		number, _ := body[2].(int32)
		return nil, &exception{message: body.text(1), kind: number}
	}
	return nil, malformed("it is a message of kind %d", kind)
}

// frames reads the content of length-prefixed frames.
type frames struct {
	r    *bufio.Reader
	left int
}

// Read reads from the current frame, or the next.
func (f *frames) Read(p []byte) (int, error) {
	for f.left == 0 {
		var head [4]byte
		if _, err := io.ReadFull(f.r, head[:]); err != nil {
			return 0, err
		}
		n := int32(binary.BigEndian.Uint32(head[:]))
		if n < 0 || n > maxAnswer {
			return 0, fmt.Errorf("%w: a frame of %d bytes", errMalformed, n)
		}
		f.left = int(n)
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}
