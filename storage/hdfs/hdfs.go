// Package hdfs is the store of Hadoop's file system, by its native protocol. It takes Hadoop's settings under hadoop., as a catalog's properties,
// spark.hadoop.* and the configuration files give them: name services with several name nodes, of which the active one is found, and the user of
// simple authentication. Locations are hdfs://service/path, hdfs://host:port/path and hdfs:///path; what follows is the path letter by letter.
package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// Kind serves hdfs.
var Kind = storage.Kind{Schemes: []string{"hdfs"}, New: New, Idle: idle}

const (
	hadoop   = "hadoop."
	userKey  = "hadoop.user.name"
	nodesKey = "hadoop.dfs.ha.namenodes."
	rpcKey   = "hadoop.dfs.namenode.rpc-address"
)

var families = []string{"hadoop.dfs.", "hadoop.user."}

var known = []storage.Property{
	{Name: userKey}, {Name: nodesKey}, {Name: rpcKey}, {Name: rpcKey + "."}, {Name: "hadoop.dfs.nameservices"}, {Name: "hadoop.dfs.internal.nameservices"},
	{Name: "hadoop.dfs.client.use.datanode.hostname"},
	{Name: "hadoop.dfs.client.failover.", Idle: "the active name node is always found"},
}

func idle(properties map[string]string) []string { return storage.Idle(known, families, properties) }

// New makes a store of properties.
func New(properties map[string]string, _ []storage.Credential) (storage.Store, error) {
	p := maps.Clone(properties)
	if strings.EqualFold(p["hadoop.hadoop.security.authentication"], "kerberos") {
		return nil, fault.New(fault.Unsupported, "Kerberos is not supported for HDFS").Change("hadoop.hadoop.security.authentication")
	}
	o := &objects{properties: p, clusters: map[string]*held{}, connect: connect}
	return remote.New(config(o)), nil
}

func config(o *objects) remote.Config {
	return remote.Config{Objects: o, Identity: identity(o.properties), Access: storage.Access{Gap: 128 << 10, Whole: 256 << 10}}
}

func identity(properties map[string]string) string {
	var b strings.Builder
	b.WriteString("hdfs")
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		if strings.HasPrefix(k, "hadoop.dfs.") || k == "hadoop.fs.defaultFS" || k == userKey {
			fmt.Fprintf(&b, " %q=%q", k, properties[k])
		}
	}
	return b.String()
}

// cluster is what is asked of the file system of one authority.
type cluster interface {
	open(path string) (reader, error)
	list(path string) ([]fs.FileInfo, error)
	Close() error
}

// reader is an open file that one goroutine reads.
type reader interface {
	io.ReadSeekCloser
	Stat() fs.FileInfo
}

// objects is HDFS behind remote's interface.
type objects struct {
	properties map[string]string
	connect    func(addresses []string, user string, byName bool) (cluster, error)

	mu       sync.Mutex
	clusters map[string]*held // by authority
}

// held is a cluster's connection and files that were read and may be read on.
type held struct {
	cluster
	mu   sync.Mutex
	idle []idleReader
}

type idleReader struct {
	name, version string
	reader        reader
}

var _ remote.Objects = (*objects)(nil)

// split gives a location's authority, or that of the default file system, and its path.
func (o *objects) split(at storage.Location) (authority, path string, err error) {
	_, rest, ok := strings.Cut(at, ":")
	if after, found := strings.CutPrefix(rest, "//"); found {
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			slash = len(after)
		}
		authority, path = after[:slash], after[slash:]
	} else {
		path = rest
	}
	if authority == "" {
		_, authority, _ = strings.Cut(o.properties["hadoop.fs.defaultFS"], "hdfs://")
		authority, _, _ = strings.Cut(authority, "/")
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	if path == "" {
		path = "/"
	}
	if !ok || authority == "" || path[0] != '/' {
		return "", "", fault.New(fault.Invalid, "open %s: expected hdfs://host:port/path or a default file system", at).In(at).Change("hadoop.fs.defaultFS")
	}
	return authority, path, nil
}

// Name is authority and path.
func (o *objects) Name(at storage.Location) (string, error) {
	authority, path, err := o.split(at)
	return authority + path, err
}

// addresses gives the name nodes of an authority.
func (o *objects) addresses(authority string) []string {
	var out []string
	for _, node := range strings.FieldsFunc(o.properties[nodesKey+authority], func(r rune) bool { return r == ',' || r == ' ' }) {
		if address := o.properties[rpcKey+"."+authority+"."+node]; address != "" {
			out = append(out, address)
		}
	}
	if len(out) > 0 {
		return out
	}
	if address := o.properties[rpcKey+"."+authority]; address != "" {
		return []string{address}
	}
	if !strings.Contains(authority, ":") {
		authority += ":8020"
	}
	return []string{authority}
}

// user gives the name that simple authentication tells.
func (o *objects) user() string {
	for _, name := range []string{o.properties[userKey], os.Getenv("HADOOP_USER_NAME")} {
		if name != "" {
			return name
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "skua"
}

// cluster gives the connection to an authority, made at its first use and after it broke.
func (o *objects) cluster(authority string) (*held, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.clusters[authority]; c != nil {
		return c, nil
	}
	c, err := o.connect(o.addresses(authority), o.user(), strings.EqualFold(o.properties["hadoop.dfs.client.use.datanode.hostname"], "true"))
	if err != nil {
		return nil, err
	}
	out := &held{cluster: c}
	o.clusters[authority] = out
	return out, nil
}

// lose gives up a connection that broke: what answers it would still give belong to nobody.
func (o *objects) lose(authority string, c *held) {
	o.mu.Lock()
	if o.clusters[authority] == c {
		delete(o.clusters, authority)
	}
	o.mu.Unlock()
	c.drop()
	c.Close()
}

// broken says whether an error tells of the connection and not of what was asked.
func broken(err error) bool {
	var remote interface{ Exception() string }
	return err != nil && !errors.As(err, &remote) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrInvalid) &&
		!errors.Is(err, context.Canceled)
}
