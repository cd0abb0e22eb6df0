package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/resource"
)

func TestCoalesce(t *testing.T) {
	for _, c := range []struct {
		ranges    []Range
		gap, most int64
		want      string
	}{
		{nil, 0, 0, "[]"},
		{[]Range{{5, 0}, {7, -1}}, 0, 0, "[]"},
		{[]Range{{10, 5}, {0, 5}}, 4, 0, "[{0 5} {10 5}]"},
		{[]Range{{10, 5}, {0, 5}}, 5, 0, "[{0 15}]"},
		{[]Range{{0, 10}, {2, 3}, {8, 4}}, 0, 0, "[{0 12}]"},
		{[]Range{{0, 10}, {10, 1}}, 0, 4, "[{0 4} {4 4} {8 3}]"},
		{[]Range{{0, 9}, {20, 2}}, 0, 8, "[{0 5} {5 4} {20 2}]"},
	} {
		if got := fmt.Sprint(Coalesce(c.ranges, c.gap, c.most)); got != c.want {
			t.Errorf("%v, gap %d, most %d: %s, want %s", c.ranges, c.gap, c.most, got, c.want)
		}
	}
}

// distant is a remote file in memory.
type distant struct {
	*bytes.Reader
	access Access
	mu     sync.Mutex
	reads  []Range
	fail   error
}

func (d *distant) Close() error   { return nil }
func (d *distant) Key() string    { return "distant" }
func (d *distant) Access() Access { return d.access }
func (*distant) Version() string  { return "1" }
func (*distant) Expect(string)    {}

func (d *distant) ReadAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	d.reads = append(d.reads, Range{off, int64(len(p))})
	fail := d.fail
	d.mu.Unlock()
	if fail != nil {
		return 0, fail
	}
	return d.Reader.ReadAt(p, off)
}

func (d *distant) requests() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.reads)
}

func newDistant(size int) *distant {
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i * 7 / 3)
	}
	return &distant{Reader: bytes.NewReader(content), access: Access{Gap: 10, Request: 100, Parallel: 2, Ahead: 250}}
}

// account gives a context whose statement must have given all memory back in the end.
func account(t *testing.T) context.Context {
	t.Helper()
	checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { checked.AssertSize(t, 0) })
	return resource.With(t.Context(), resource.NewPool(resource.Config{Allocator: checked}).NewStatement("s"))
}

func TestFetchGivesTheFilesBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		ctx, file := account(t), newDistant(1000)
		var ranges []Range
		for range random.IntN(8) {
			at := random.Int64N(990)
			ranges = append(ranges, Range{at, random.Int64N(1000 - at)})
		}
		fetch := NewFetch(ctx, file, ranges)
		if random.IntN(2) == 0 {
			fetch.Again()
		}
		if random.IntN(2) == 0 {
			fetch.Start()
		}
		var readers sync.WaitGroup
		for range 3 {
			at, n := random.Int64N(900), 1+random.IntN(100)
			readers.Go(func() {
				got, want := make([]byte, n), make([]byte, n)
				if read, err := fetch.ReadAt(got, at); err != nil || read != n {
					t.Errorf("read %d at %d: %d, %v", n, at, read, err)
				}
				file.Reader.ReadAt(want, at)
				if !bytes.Equal(got, want) {
					t.Errorf("other bytes at %d of ranges %v", at, ranges)
				}
			})
		}
		readers.Wait()
		fetch.Close()
	}
}

func TestFetchSendsFewRequestsAndNoneBeforeItIsAsked(t *testing.T) {
	ctx, file := account(t), newDistant(1000)
	fetch := NewFetch(ctx, file, []Range{{0, 20}, {25, 20}, {45, 40}, {500, 30}})
	defer fetch.Close()
	if file.requests() != 0 {
		t.Error("a request before anything was read")
	}
	sent := make(chan bool, 2)
	fetch.Then(func() { sent <- true })
	p := make([]byte, 10)
	for _, at := range []int64{30, 0, 20, 60, 505} {
		if _, err := fetch.ReadAt(p, at); err != nil {
			t.Fatal(err)
		}
	}
	<-sent
	if n := file.requests(); n != 2 {
		t.Errorf("%d requests: %v", n, file.reads)
	}
	if _, err := fetch.ReadAt(p, 700); err != nil || file.requests() != 3 {
		t.Errorf("what is in no range: %v", err)
	}
}

func TestFetchHoldsNoMoreThanItMay(t *testing.T) {
	ctx, file := account(t), newDistant(1000)
	fetch := NewFetch(ctx, file, []Range{{0, 1000}})
	defer fetch.Close()
	used := resource.From(ctx).Used
	p := make([]byte, 50)
	for at := int64(0); at < 1000; at += 50 {
		if _, err := fetch.ReadAt(p, at); err != nil {
			t.Fatal(err)
		}
		if used() > 250+100 {
			t.Errorf("%d bytes are held at %d", used(), at)
		}
	}
	fetch.running.Wait()
	if used() != 0 || file.requests() != 10 {
		t.Errorf("%d bytes are held of what was read, after %d requests", used(), file.requests())
	}
}

func TestFetchKeepsWhatIsReadAgain(t *testing.T) {
	ctx, file := account(t), newDistant(100)
	fetch := NewFetch(ctx, file, []Range{{0, 100}})
	defer fetch.Close()
	fetch.Again()
	for range 3 {
		if _, err := fetch.ReadAt(make([]byte, 100), 0); err != nil {
			t.Fatal(err)
		}
	}
	if file.requests() != 1 {
		t.Errorf("%d requests", file.requests())
	}
}

func TestFetchNarrowed(t *testing.T) {
	ctx, file := account(t), newDistant(1000)
	fetch := NewFetch(ctx, file, []Range{{0, 400}})
	defer fetch.Close()
	fetch.Narrow(Range{100, 200}, []Range{{150, 10}})
	fetch.Start()
	if _, err := fetch.ReadAt(make([]byte, 10), 150); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.ReadAt(make([]byte, 100), 300); err != nil {
		t.Fatal(err)
	}
	fetch.running.Wait()
	var total int64
	for _, r := range file.reads {
		total += r.Length
	}
	if total != 210 {
		t.Errorf("%d bytes were read: %v", total, file.reads)
	}
}

func TestFetchReportsWhatFails(t *testing.T) {
	ctx, file := account(t), newDistant(1000)
	file.fail = errors.New("the store is away")
	fetch := NewFetch(ctx, file, []Range{{0, 300}})
	defer fetch.Close()
	fetch.Start()
	if _, err := fetch.ReadAt(make([]byte, 10), 0); !errors.Is(err, file.fail) {
		t.Errorf("got %v", err)
	}
}
