package hdfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// memory is a cluster of files in memory that fails on demand.
type memory struct {
	mu        sync.Mutex
	files     fstest.MapFS
	addresses []string
	connects  int
	opens     int
	fail      []error // of the next calls; nil: none
	cut       []int   // bytes after which the next files break
}

func (m *memory) connect(addresses []string, _ string, _ bool) (cluster, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addresses = addresses
	m.connects++
	return m, m.next()
}

func (m *memory) next() error {
	if len(m.fail) == 0 {
		return nil
	}
	err := m.fail[0]
	m.fail = m.fail[1:]
	return err
}

func (m *memory) Close() error { return nil }

func (m *memory) open(path string) (reader, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opens++
	if err := m.next(); err != nil {
		return nil, err
	}
	info, err := m.files.Stat(path[1:])
	if err != nil {
		return nil, err
	}
	out := &memoryFile{info: info, left: -1}
	if !info.IsDir() {
		out.Reader = bytes.NewReader(m.files[path[1:]].Data)
	}
	if len(m.cut) > 0 {
		out.left, m.cut = m.cut[0], m.cut[1:]
	}
	return out, nil
}

func (m *memory) list(path string) (out []fs.FileInfo, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.next(); err != nil {
		return nil, err
	}
	name := path[1:]
	if name == "" {
		name = "."
	}
	entries, err := m.files.ReadDir(name)
	for _, e := range entries {
		info, _ := e.Info()
		out = append(out, info)
	}
	return out, err
}

type memoryFile struct {
	*bytes.Reader
	info fs.FileInfo
	left int // before it breaks; negative: never
}

func (f *memoryFile) Close() error      { return nil }
func (f *memoryFile) Stat() fs.FileInfo { return f.info }

func (f *memoryFile) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, errors.New("broken pipe")
	}
	if f.left > 0 {
		p = p[:min(len(p), f.left)]
	}
	n, err := f.Reader.Read(p)
	if f.left > 0 {
		f.left -= n
	}
	return n, err
}

// exception is an error of a name node.
type exception string

func (e exception) Error() string     { return string(e) }
func (e exception) Exception() string { return "org.apache.hadoop." + string(e) }
func (e exception) Message() string   { return "as it happens\nat org.apache.hadoop.Some" }

func newStore(m *memory, properties map[string]string) storage.Store {
	c := config(&objects{properties: properties, clusters: map[string]*held{}, connect: m.connect})
	c.Retry = remote.Retry{Least: time.Millisecond, Most: 5 * time.Millisecond}
	return remote.New(c)
}

func content(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i ^ i>>8*31)
	}
	return out
}

func TestReadsAndLists(t *testing.T) {
	data := content(700_000)
	m := &memory{files: fstest.MapFS{"w/t/data": {Data: data}, "w/t/empty": {}, "w/a b%20/x": {Data: []byte("1")}, "w/f": {Data: []byte("12")}}}
	store := newStore(m, nil)
	got, err := store.ReadAll(t.Context(), "hdfs://nn/w/t/data", 1<<20)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if got, err := store.ReadAll(t.Context(), "hdfs://nn/w/t/empty", 10); err != nil || len(got) != 0 {
		t.Errorf("an empty file: %q, %v", got, err)
	}
	f, err := store.Open(t.Context(), "hdfs://nn/w/t/data", 700_000)
	if err != nil {
		t.Fatal(err)
	}
	opens := m.opens
	for at := int64(0); at < 600_000; at += 100_000 {
		p := make([]byte, 1000)
		if _, err := f.ReadAt(p, at); err != nil || !bytes.Equal(p, data[at:at+1000]) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if m.opens != opens+1 {
		t.Errorf("the file was opened %d times", m.opens-opens)
	}
	var names []string
	for info, err := range store.List(t.Context(), "hdfs://nn/w/") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Location)
		if info.Folder == (info.Size > 0) {
			t.Errorf("%+v", info)
		}
	}
	if got := strings.Join(names, " "); got != "hdfs://nn/w/a b%20 hdfs://nn/w/f hdfs://nn/w/t" {
		t.Errorf("listed %s", got)
	}
	for _, err := range store.List(t.Context(), "hdfs://nn/nowhere") {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
	}
	for _, at := range []string{"hdfs://nn/nowhere", "hdfs://nn/w/t"} {
		if _, err := store.Open(t.Context(), at, -1); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestTriesAgain(t *testing.T) {
	data := content(100_000)
	for _, c := range []struct {
		name     string
		fail     []error
		cut      []int
		kind     fault.Kind // of the error; Internal: none
		connects int
	}{
		{"a broken connection", []error{nil, errors.New("broken pipe")}, nil, fault.Internal, 2},
		{"a name node that is away", []error{errors.New("refused"), errors.New("refused")}, nil, fault.Internal, 3},
		{"safe mode", []error{nil, exception("SafeModeException")}, nil, fault.Internal, 1},
		{"a data node that breaks", nil, []int{10_000, 20_000}, fault.Internal, 1},
		{"for good", []error{nil, exception("SomethingElse")}, nil, fault.Unavailable, 1},
		{"refused", []error{nil, fs.ErrPermission}, nil, fault.Denied, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &memory{files: fstest.MapFS{"f": {Data: data}}, fail: c.fail, cut: c.cut}
			statement := resource.NewPool(resource.Config{}).NewStatement("s")
			f, err := newStore(m, nil).Open(resource.With(t.Context(), statement), "hdfs://nn/f", 100_000)
			if err != nil {
				t.Fatal(err)
			}
			p := make([]byte, 100_000)
			n, err := f.ReadAt(p, 0)
			if c.kind == fault.Internal && (err != nil || !bytes.Equal(p[:n], data)) || c.kind != fault.Internal && !fault.Is(err, c.kind) {
				t.Errorf("%d bytes, %v", n, err)
			}
			if m.connects != c.connects {
				t.Errorf("%d connections", m.connects)
			}
			if statement.Counters.Requests.Load() != statement.Counters.Retries.Load()+1 {
				t.Error("requests are counted wrongly")
			}
		})
	}
}

func TestChangedFiles(t *testing.T) {
	m := &memory{files: fstest.MapFS{"f": {Data: content(1000)}, "hint": {Data: []byte("1")}}}
	store := newStore(m, nil)
	f, err := store.Open(t.Context(), "hdfs://nn/f", 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	m.files["f"] = &fstest.MapFile{Data: content(1000), ModTime: time.Unix(5, 0)}
	other, err := store.Open(t.Context(), "hdfs://nn/f", 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ReadAt(make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	for _, g := range []storage.File{f, f} { // the first may read on in the file that it has open
		_, err = g.ReadAt(make([]byte, 10), 500)
	}
	if err != nil && !strings.Contains(err.Error(), "changed") {
		t.Errorf("got %v", err)
	}
	if _, err := other.ReadAt(make([]byte, 10), 500); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"1", "2", "10"} {
		m.files["hint"] = &fstest.MapFile{Data: []byte(text)}
		if got, err := store.ReadAll(t.Context(), "hdfs://nn/hint", 10); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %s", got, err, text)
		}
	}
	short, err := store.Open(t.Context(), "hdfs://nn/f", 5000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := short.ReadAt(make([]byte, 10), 4000); !fault.Is(err, fault.Corrupt) || errors.Is(err, io.EOF) {
		t.Errorf("a size that is too large: %v", err)
	}
}

func TestAuthorities(t *testing.T) {
	site := map[string]string{"hadoop.fs.defaultFS": "hdfs://prod", "hadoop.dfs.ha.namenodes.prod": "a, b", "hadoop.dfs.namenode.rpc-address.prod.a": "h1:1",
		"hadoop.dfs.namenode.rpc-address.prod.b": "h2:2"}
	for at, want := range map[string]string{"hdfs://prod/f": "h1:1 h2:2", "hdfs:///f": "h1:1 h2:2", "hdfs:/f": "h1:1 h2:2", "hdfs://h:9000/f": "h:9000", "hdfs://h/f": "h:8020",
		"hdfs://me@h/f": "h:8020"} {
		m := &memory{files: fstest.MapFS{"f": {Data: []byte("1")}}}
		if _, err := newStore(m, site).ReadAll(t.Context(), at, 10); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.addresses, " "); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
	if _, err := newStore(&memory{}, nil).Open(t.Context(), "hdfs:///f", 1); !fault.Is(err, fault.Invalid) {
		t.Errorf("no default file system: %v", err)
	}
	if _, err := New(map[string]string{"hadoop.hadoop.security.authentication": "kerberos"}, nil); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "Kerberos") {
		t.Errorf("got %v", err)
	}
}

func TestANameNodeThatRefusesConnections(t *testing.T) {
	o := &objects{clusters: map[string]*held{}, connect: connect}
	c := config(o)
	c.Retry = remote.Retry{Tries: 2, Least: time.Millisecond, Most: time.Millisecond}
	_, err := remote.New(c).ReadAll(t.Context(), "hdfs://127.0.0.1:1/f", 10)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "hdfs://127.0.0.1:1/f") {
		t.Errorf("got %v", err)
	}
}
