package hdfs

import (
	"context"
	"io/fs"
	"net"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

const (
	dialTime = 10 * time.Second
	quiet    = 20 * time.Second // how long a node may say nothing
)

// connect connects to the active one of some name nodes.
func connect(addresses []string, user string, byName bool) (cluster, error) {
	dialer := &net.Dialer{Timeout: dialTime}
	c, err := hdfs.NewClient(hdfs.ClientOptions{Addresses: addresses, User: user, UseDatanodeHostname: byName,
		NamenodeDialFunc: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return impatient{conn}, nil
		},
		DatanodeDialFunc: dialer.DialContext})
	if err != nil {
		return nil, err
	}
	return client{c}, nil
}

// impatient is a connection on which every read and write has a deadline.
type impatient struct{ net.Conn }

// Read reads within the time of a node that says nothing.
func (c impatient) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(quiet)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write writes within the same time.
func (c impatient) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(quiet)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// client is a cluster behind the library.
type client struct{ *hdfs.Client }

func (c client) open(path string) (reader, error) {
	f, err := c.Client.Open(path)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (c client) list(path string) ([]fs.FileInfo, error) {
	f, err := c.Client.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !f.Stat().IsDir() {
		return nil, fs.ErrNotExist
	}
	return f.Readdir(0)
}

// file is an open file of the library.
type file struct{ *hdfs.FileReader }

// Stat is what the name node said at opening.
func (f file) Stat() fs.FileInfo { return f.FileReader.Stat() }

// deadline gives the next read its time.
func (f file) deadline() { _ = f.SetDeadline(time.Now().Add(quiet)) }
