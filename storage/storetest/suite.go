package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// Secret is the secret that the suite's stores are made with; no error may show it.
const Secret = "planted/secret+value=="

// Setup is what the suite needs of one kind of store.
type Setup struct {
	Server *Server
	Store  storage.Store
	// Base is the location of a bucket, such as s3://bucket, and Bucket its name in the server.
	Base, Bucket string
	// Throttle are answers of a store that has too much to do, and Broken those of one that is out of order.
	Throttle, Broken []Fault
	// Versions says whether the store tells versions of an object apart.
	Versions bool
}

// content is data whose bytes tell their place.
func content(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i ^ i>>8*31)
	}
	return out
}

// counted gives a context with a statement that counts.
func counted(t *testing.T) (context.Context, *resource.Counters) {
	s := resource.NewPool(resource.Config{}).NewStatement("s")
	return resource.With(t.Context(), s), &s.Counters
}

// Run runs the suite. Each call of setup gives a fresh server.
func Run(t *testing.T, setup func(t *testing.T) Setup) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, Setup)
	}{{"reads", reads}, {"lists", lists}, {"misses", misses}, {"tries again", triesAgain}, {"goes on", goesOn}, {"gives up", givesUp}, {"changed", changed},
		{"wrong answers", wrongAnswers}, {"wrong size", wrongSize}, {"refused", refused}, {"canceled", canceled}, {"at once", atOnce}} {
		t.Run(c.name, func(t *testing.T) { c.run(t, setup(t)) })
	}
}

// check fails if an error has another kind, shows a secret, or does not name the location.
func check(t *testing.T, err error, kind fault.Kind, at string) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: got %v, want an error of the kind %s", at, err, kind)
		return
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), Secret) {
			t.Errorf("the secret shows: %v", e)
		}
	}
	if !strings.Contains(err.Error(), at) {
		t.Errorf("the error does not name %s: %v", at, err)
	}
}

func reads(t *testing.T, s Setup) {
	for _, n := range []int{0, 1, 10, 100_000, 1 << 20, 3 << 20} {
		name := fmt.Sprintf("folder/f%d=a b%%20c+ü", n)
		data := content(n)
		s.Server.Put(s.Bucket+"/"+name, data)
		at := s.Base + "/" + name
		s.Server.Requests()
		ctx, counters := counted(t)
		got, err := s.Store.ReadAll(ctx, at, 4<<20)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s: %d bytes, %v", at, len(got), err)
		}
		asked := len(s.Server.Requests())
		if n := counters.Requests.Load(); counters.Retries.Load() == 0 && (n > 2 || int(n) != asked) { // a busy machine may look like a store that stalls
			t.Errorf("%s: %d requests are counted", at, n)
		}
		for _, size := range []int64{int64(n), -1} {
			f, err := s.Store.Open(ctx, at, size)
			if err != nil {
				t.Fatal(err)
			}
			if f.Size() != int64(n) || f.Key() == "" {
				t.Errorf("%s: size %d, key %q", at, f.Size(), f.Key())
			}
			for _, r := range []storage.Range{{Offset: 0, Length: 5}, {Offset: int64(n) / 2, Length: 4000}, {Offset: int64(n) - 8, Length: 8}, {Offset: 0, Length: int64(n)},
				{Offset: int64(n) - 3, Length: 10}, {Offset: int64(n) + 5, Length: 1}} {
				if r.Offset < 0 || r.Length == 0 {
					continue
				}
				p := make([]byte, r.Length)
				want, wantErr := bytes.NewReader(data).ReadAt(p, r.Offset)
				expected := slices.Clone(p[:want])
				clear(p)
				n, err := f.ReadAt(p, r.Offset)
				if n != want || !bytes.Equal(p[:n], expected) || (err == io.EOF) != (wantErr == io.EOF) || err != nil && err != io.EOF {
					t.Errorf("%s, size %d: read %d at %d: %d, %v; want %d, %v", at, size, r.Length, r.Offset, n, err, want, wantErr)
				}
			}
			if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
				t.Error("a negative offset")
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if _, err := f.ReadAt(make([]byte, 1), 0); n > 0 && err == nil {
				t.Error("a closed file is read")
			}
		}
	}
	check(t, ignore(s.Store.ReadAll(t.Context(), s.Base+"/folder/f100000=a b%20c+ü", 99_999)), fault.Exhausted, s.Base)
	s.Server.Requests()
	f, err := s.Store.Open(t.Context(), s.Base+"/nowhere", 10)
	if err != nil || len(s.Server.Requests()) != 0 {
		t.Errorf("opening a file of a known length sends a request: %v", err)
	}
	f.Close()
}

func ignore(_ []byte, err error) error { return err }

func lists(t *testing.T, s Setup) {
	for _, name := range []string{"w/a/x", "w/a/y/z", "w/a-b/x", "w/a.txt", "w/ä b+c/x", "w/b", "w/B", "w/c/", "w/d/x", "w/e", "other/x"} {
		s.Server.Put(s.Bucket+"/"+name, []byte("12"))
	}
	for _, folder := range []string{s.Base + "/w", s.Base + "/w/"} {
		var got []string
		for info, err := range s.Store.List(t.Context(), folder) {
			if err != nil {
				t.Fatal(err)
			}
			name, ok := strings.CutPrefix(info.Location, s.Base+"/w/")
			if !ok {
				t.Errorf("%s is not below %s", info.Location, folder)
			}
			if info.Folder {
				name += "/"
			} else if info.Size != 2 || info.Modified.IsZero() {
				t.Errorf("%s: size %d, modified %v", name, info.Size, info.Modified)
			}
			got = append(got, name)
		}
		if want := "B|a/|a-b/|a.txt|b|c/|d/|e|ä b+c/"; strings.Join(got, "|") != want {
			t.Errorf("listed %q, want %q", got, want)
		}
	}
	for _, err := range s.Store.List(t.Context(), s.Base+"/missing") {
		check(t, err, fault.NotFound, s.Base+"/missing")
	}
	for info, err := range s.Store.List(t.Context(), s.Base+"/w/c") {
		t.Errorf("an empty folder has %v, %v", info, err)
	}
	s.Server.Fail(s.Broken[0], s.Throttle[0])
	n := 0
	for _, err := range s.Store.List(t.Context(), s.Base+"/w") {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 9 {
		t.Errorf("after faults %d entries", n)
	}
}

func misses(t *testing.T, s Setup) {
	at := s.Base + "/missing"
	_, err := s.Store.Open(t.Context(), at, -1)
	check(t, err, fault.NotFound, at)
	f, err := s.Store.Open(t.Context(), at, 100)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.ReadAt(make([]byte, 10), 0)
	check(t, err, fault.NotFound, at)
	if _, err := s.Store.Open(t.Context(), s.Base[:strings.Index(s.Base, ":")]+":///x", -1); err == nil {
		t.Error("a location without a bucket")
	}
}

// open puts an object and opens it with its length.
func (s Setup) open(t *testing.T, ctx context.Context, n int) (storage.File, []byte, string) {
	t.Helper()
	data, at := content(n), s.Base+"/data.parquet"
	s.Server.Put(s.Bucket+"/data.parquet", data)
	f, err := s.Store.Open(ctx, at, int64(n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, data, at
}

// whole reads all of a file and compares.
func whole(t *testing.T, f storage.File, data []byte, what string) {
	t.Helper()
	p := make([]byte, len(data))
	if n, err := f.ReadAt(p, 0); n != len(data) || err != nil && err != io.EOF {
		t.Errorf("%s: %d bytes, %v", what, n, err)
	} else if !bytes.Equal(p, data) {
		t.Errorf("%s: other bytes", what)
	}
}

func triesAgain(t *testing.T, s Setup) {
	quick := slices.Concat(s.Throttle, s.Broken, []Fault{CutAfter(0)})
	for i, bad := range append(quick, Silent(), StallAfter(0), StallAfter(1000)) {
		ctx, counters := counted(t)
		f, data, _ := s.open(t, ctx, 100_000)
		s.Server.Requests()
		s.Server.Fail(bad)
		whole(t, f, data, fmt.Sprintf("fault %d", i))
		if again := counters.Retries.Load(); again < 1 || counters.Requests.Load() != again+1 || len(s.Server.Requests()) < 2 {
			t.Errorf("fault %d: %d requests, %d of them again", i, counters.Requests.Load(), again)
		}
		if i >= len(quick) {
			continue
		}
		s.Server.Fail(bad, bad)
		if got, err := s.Store.ReadAll(ctx, s.Base+"/data.parquet", 1<<20); err != nil || !bytes.Equal(got, data) {
			t.Errorf("fault %d: %d bytes, %v", i, len(got), err)
		}
	}
}

// goesOn breaks bodies off: what is missing is asked for, and what came is not asked for again.
func goesOn(t *testing.T, s Setup) {
	ctx, _ := counted(t)
	f, data, _ := s.open(t, ctx, 1<<20)
	s.Server.Requests()
	s.Server.Fail(CutAfter(500_000), nil)
	whole(t, f, data, "cut in the middle")
	asked := s.Server.Requests()
	if len(asked) < 2 || strings.Contains(asked[len(asked)-1], "=0-") {
		t.Errorf("asked %q", asked)
	}
}

func givesUp(t *testing.T, s Setup) {
	ctx, counters := counted(t)
	f, _, at := s.open(t, ctx, 100_000)
	for range 20 {
		s.Server.Fail(s.Broken[0])
	}
	_, err := f.ReadAt(make([]byte, 1000), 0)
	check(t, err, fault.Unavailable, at)
	if n := counters.Requests.Load(); n < 2 || n > 10 {
		t.Errorf("%d requests", n)
	}
	s.Server.Requests()
	for range 20 {
		s.Server.Fail(CutAfter(10))
	}
	p := make([]byte, 1000)
	n, err := f.ReadAt(p, 0)
	check(t, err, fault.Unavailable, at)
	if n >= 1000 || !bytes.Equal(p[:n], content(n)) {
		t.Errorf("%d bytes", n)
	}
}

// changed replaces a file between two reads.
func changed(t *testing.T, s Setup) {
	if !s.Versions {
		t.Skip("the store tells no versions apart")
	}
	f, data, at := s.open(t, t.Context(), 100_000)
	if _, err := f.ReadAt(make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	remote := storage.RemoteOf(f)
	if remote == nil || remote.Version() == "" {
		t.Fatal("no version is known after a read")
	}
	for info, err := range s.Store.List(t.Context(), at[:strings.LastIndexByte(at, '/')]) {
		if err != nil || info.Location == at && info.Version != remote.Version() {
			t.Errorf("the listing tells the version %q, the file %q, %v", info.Version, remote.Version(), err)
		}
	}
	other := content(200_000)[100_000:]
	s.Server.Put(s.Bucket+"/data.parquet", other)
	_, err := f.ReadAt(make([]byte, 100), 50_000)
	check(t, err, fault.Unavailable, at)
	if !strings.Contains(fmt.Sprint(err), "changed") || !errors.Is(err, storage.ErrChanged) {
		t.Errorf("got %v", err)
	}
	again, err := s.Store.Open(t.Context(), at, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	storage.RemoteOf(again).Expect(remote.Version())
	_, err = again.ReadAt(make([]byte, 100), 50_000)
	check(t, err, fault.Unavailable, at)
	fresh, err := s.Store.Open(t.Context(), at, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	whole(t, fresh, other, "the new file")
}

// wrongAnswers are those that say success and hold something else.
func wrongAnswers(t *testing.T, s Setup) {
	shift := func(text string) string { return strings.Replace(text, "bytes 1000-", "bytes 1001-", 1) }
	for i, bad := range []Fault{Header("Content-Range", shift), Header("Content-Range", func(string) string { return "nonsense" }),
		Status(http.StatusOK, S3Error("InternalError")), Status(http.StatusOK, ""), Status(http.StatusOK, "<html>sorry</html>")} {
		f, data, at := s.open(t, t.Context(), 100_000)
		for range 20 {
			s.Server.Fail(bad)
		}
		p := make([]byte, 1000)
		n, err := f.ReadAt(p, 1000)
		if err == nil && !bytes.Equal(p[:n], data[1000:2000]) {
			t.Errorf("fault %d: other bytes came through", i)
		}
		if err != nil && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Corrupt) || err == nil && n < len(p) {
			t.Errorf("fault %d: %d bytes, %v", i, n, err)
		}
		if err != nil {
			check(t, err, fault.KindOf(err), at)
		}
		s.Server.Requests()
	}
	f, data, _ := s.open(t, t.Context(), 100_000)
	s.Server.Fail(Header("Content-Range", shift))
	p := make([]byte, 1000)
	if n, err := f.ReadAt(p, 1000); err == nil && !bytes.Equal(p[:n], data[1000:2000]) {
		t.Error("once: other bytes came through")
	}
}

func wrongSize(t *testing.T, s Setup) {
	_, data, at := s.open(t, t.Context(), 100_000)
	for _, size := range []int64{99_000, 101_000, 1, 5_000_000} {
		f, err := s.Store.Open(t.Context(), at, size)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 8)
		n, err := f.ReadAt(p, size-8)
		if size < 8 {
			n, err = f.ReadAt(p, 0)
		}
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("a size of %d for %d bytes: %d read, %v", size, len(data), n, err)
			continue
		}
		check(t, err, fault.Corrupt, at)
	}
}

func refused(t *testing.T, s Setup) {
	f, _, at := s.open(t, t.Context(), 1000)
	s.Server.Refuse(func(*http.Request) bool { return true })
	s.Server.Requests()
	_, err := f.ReadAt(make([]byte, 10), 0)
	check(t, err, fault.Denied, at)
	if n := len(s.Server.Requests()); n != 1 {
		t.Errorf("a refusal is met by %d requests", n)
	}
	for _, err := range s.Store.List(t.Context(), s.Base+"/folder") {
		check(t, err, fault.Denied, s.Base+"/folder")
	}
}

func canceled(t *testing.T, s Setup) {
	ctx, cancel := context.WithCancel(t.Context())
	f, _, _ := s.open(t, ctx, 1000)
	met := make(chan bool)
	s.Server.Fail(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		close(met)
		Silent()(w, r, nil)
	})
	go func() {
		<-met
		cancel()
	}()
	started := time.Now()
	if _, err := f.ReadAt(make([]byte, 10), 0); !fault.Is(err, fault.Canceled) {
		t.Errorf("got %v after %v", err, time.Since(started))
	}
	if _, err := f.ReadAt(make([]byte, 10), 0); !fault.Is(err, fault.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := s.Store.Open(ctx, s.Base+"/x", -1); !fault.Is(err, fault.Canceled) {
		t.Errorf("open after the end: %v", err)
	}
}

func atOnce(t *testing.T, s Setup) {
	f, data, _ := s.open(t, t.Context(), 1<<20)
	for i := range 30 {
		if i%3 == 0 {
			s.Server.Fail(CutAfter(i*100), nil)
		}
	}
	var readers sync.WaitGroup
	for i := range 16 {
		readers.Go(func() {
			p := make([]byte, 50_000)
			if n, err := f.ReadAt(p, int64(i)*60_000); n < len(p) || !bytes.Equal(p, data[i*60_000:i*60_000+len(p)]) {
				t.Errorf("reader %d: %d bytes, %v", i, n, err)
			}
		})
	}
	readers.Wait()
}
