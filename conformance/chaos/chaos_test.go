// Package chaos runs statements of many clients against a server whose catalogs and store fail all the time: plugins are killed, connections of clients and of
// catalogs break, tokens and keys end, and the store throttles and cuts its answers. A statement gives its right rows, or an error that says what is
// unavailable; it never gives other rows and never hangs, and the server's memory stays what it was.
//
// SKUA_CHAOS_MINUTES makes the run longer than its seconds, SKUA_CHAOS_SEED repeats the order of its faults.
package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/inprocess"
	"github.com/skua-data/skua/conformance/lake"
	"github.com/skua-data/skua/storage/storetest"
)

// clients run at once.
const clients = 16

// hung is when a statement is said to hang.
const hung = 2 * time.Minute

// catalogNames are of the catalogs that read the lake, each by a plugin of its own.
var catalogNames = []string{"vended_a", "vended_b", "own_a", "own_b"}

// statements are what the clients run, on every catalog.
var statements = []string{
	"SELECT sale_id, customer_id, amount FROM %s.shop.sales", "SELECT sale_id, sold_on, quantity FROM %s.shop.sales WHERE sold_on = DATE '2025-06-01'",
	"SELECT count(*) FROM %s.shop.sales", "SELECT * FROM %s.shop.products", "SELECT * FROM %s.web.events WHERE took_ms > 100",
	"SELECT count(*) FROM %s.web.events VERSION AS OF 'launch'", "SELECT category, sum(amount) FROM %[1]s.shop.sales JOIN %[1]s.shop.products USING (product_id) GROUP BY category",
	"SELECT city, count(*) FROM %s.shop.customers GROUP BY city",
}

// world is what the clients see, and what breaks it.
type world struct {
	t       *testing.T
	service *service
	store   *storetest.Server
	proxy   *proxy
	address string // of the proxy
	want    map[string]string
	random  *rand.Rand
	order   []int // of the kinds of faults

	faults                      [6]atomic.Int64 // that happened
	right, failed, wrong, stuck atomic.Int64
	reasons                     sync.Map // of failures, without their numbers: how often
	plugins                     pids
}

// The kinds of faults.
const (
	killed = iota
	clientCut
	catalogCut
	tokenEnded
	throttled
	storeCut
)

var kinds = []string{"plugins killed", "clients' connections cut", "catalog's connections cut", "tokens revoked", "requests throttled by the store", "answers cut by the store"}

// pids are the processes that the server's log tells of.
type pids struct {
	mu  sync.Mutex
	all []int
}

func (p *pids) Enabled(context.Context, slog.Level) bool { return true }
func (p *pids) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p *pids) WithGroup(string) slog.Handler            { return p }
func (p *pids) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "plugin started" {
		return nil
	}
	r.Attrs(func(a slog.Attr) bool {
		if n, err := strconv.Atoi(a.Value.String()); a.Key == "pid" && err == nil {
			p.mu.Lock()
			p.all = append(p.all, n)
			p.mu.Unlock()
		}
		return true
	})
	return nil
}

// resident sums up what the plugins hold, in bytes.
func (p *pids) resident() (sum uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pid := range p.all {
		sum += residentOf(strconv.Itoa(pid))
	}
	return sum
}

// kill kills a plugin, and reports whether there was one.
func (p *pids) kill(random *rand.Rand) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) == 0 {
		return false
	}
	i := random.IntN(len(p.all))
	pid := p.all[i]
	p.all = slices.Delete(p.all, i, i+1)
	return syscall.Kill(pid, syscall.SIGKILL) == nil
}

func newWorld(t *testing.T, seed uint64, lifetime time.Duration) *world {
	t.Helper()
	w := &world{t: t, want: map[string]string{}, random: rand.New(rand.NewPCG(seed, 0))}
	l, err := lake.Write(t.Context(), t.TempDir(), "s3://lake/home")
	if err != nil {
		t.Fatal(err)
	}
	w.store = storetest.NewS3(t)
	if err := l.Each(func(name string, data []byte) error { w.store.Put("lake/home/"+name, data); return nil }); err != nil {
		t.Fatal(err)
	}
	var at string
	w.service, at = newService(t, l, lifetime)
	w.store.Refuse(func(r *http.Request) bool {
		token := r.Header.Get("X-Amz-Security-Token")
		return !strings.Contains(r.Header.Get("Authorization"), "Credential=own/") && !w.service.lets(token, r.URL.Path)
	})
	folder := t.TempDir()
	out, err := exec.Command("go", "build", "-o", filepath.Join(folder, "skua-catalog"), "github.com/skua-data/skua/cmd/skua-catalog").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	settings := map[string]string{"skua.plugin.folder": folder}
	for _, name := range catalogNames {
		properties := map[string]string{"type": "rest", "uri": at, "credential": "id:planted-credential"}
		if strings.HasPrefix(name, "own") {
			properties = map[string]string{"type": "hadoop", "warehouse": l.Base, "s3.access-key-id": "own", "s3.secret-access-key": "planted-own"}
		}
		settings["spark.sql.catalog."+name] = "org.apache.iceberg.spark.SparkCatalog"
		for k, v := range properties {
			settings["spark.sql.catalog."+name+"."+k] = v
		}
		for k, v := range map[string]string{"s3.endpoint": w.store.URL, "s3.path-style-access": "true", "client.region": "us-east-1", "cache.expiration-interval-ms": "200",
			"s3.retry.min-wait-ms": "20", "s3.retry.max-wait-ms": "500"} {
			settings["spark.sql.catalog."+name+"."+k] = v
		}
	}
	r, err := inprocess.Start(t.Context(), inprocess.Config{Settings: settings, Log: slog.New(&w.plugins)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Stop() })
	w.proxy, w.address = newProxy(t, r.Target().Address)
	return w
}

// connect makes a session through the proxy.
func (w *world) connect(ctx context.Context) (*conformance.Client, error) {
	return conformance.Target{Address: w.address, Credentials: insecure.NewCredentials()}.Connect(ctx)
}

// ask runs a statement and sums up its rows, whatever their order. The sum takes no time of the statement's.
func ask(ctx context.Context, c *conformance.Client, sql string) (sum func() string, err error) {
	answer, err := c.Ask(ctx, conformance.Question{SQL: sql, Path: conformance.PathQuery})
	if err != nil {
		return nil, err
	}
	return func() string {
		defer answer.Release()
		var rows, sum uint64
		for _, batch := range answer.Batches {
			columns := batch.Columns()
			for i := range int(batch.NumRows()) {
				h := uint64(14695981039346656037)
				for _, column := range columns {
					h = (h ^ digest(column, i)) * 1099511628211
					h ^= h >> 29
				}
				rows, sum = rows+1, sum+h*h
			}
		}
		return fmt.Sprintf("%d rows, %x", rows, sum)
	}, nil
}

// digest makes a number of a value.
func digest(column arrow.Array, i int) uint64 {
	if column.IsNull(i) {
		return 1 << 63
	}
	switch c := column.(type) {
	case *array.Int64:
		return uint64(c.Value(i))
	case *array.Int32:
		return uint64(c.Value(i))
	case *array.Date32:
		return uint64(c.Value(i))
	case *array.Decimal128:
		v := c.Value(i)
		return v.LowBits() ^ uint64(v.HighBits())<<32
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(column.ValueStr(i)))
	return h.Sum64()
}

// told asks and sums up.
func told(ctx context.Context, c *conformance.Client, sql string) (string, error) {
	sum, err := ask(ctx, c, sql)
	if err != nil {
		return "", err
	}
	return sum(), nil
}

// learn asks every statement before anything fails.
func (w *world) learn() {
	w.t.Helper()
	c, err := w.connect(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	for _, s := range statements {
		var first string
		for _, catalog := range catalogNames {
			sql := fmt.Sprintf(s, catalog)
			said, err := told(w.t.Context(), c, sql)
			if err != nil || strings.HasPrefix(said, "0 rows") {
				w.t.Fatalf("%s: %s, %v", sql, said, err)
			}
			if first == "" {
				first = said
			}
			if said != first {
				w.t.Fatalf("%s: %s, by another catalog %s", sql, said, first)
			}
			w.want[sql] = said
		}
	}
}

// client runs statements until the end. After a failure it rests as a person or a tool would, and connects anew.
func (w *world) client(ctx context.Context, random *rand.Rand) {
	var c *conformance.Client
	defer func() {
		if c != nil {
			_ = c.Close()
		}
	}()
	all := make([]string, 0, len(w.want))
	for sql := range w.want {
		all = append(all, sql)
	}
	slices.Sort(all)
	for ctx.Err() == nil {
		if c == nil {
			var err error
			if c, err = w.connect(ctx); err != nil {
				c = nil
				time.Sleep(100 * time.Millisecond)
				continue
			}
		}
		sql := all[random.IntN(len(all))]
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), hung)
		sum, err := ask(bounded, c, sql)
		late := errors.Is(bounded.Err(), context.DeadlineExceeded)
		cancel()
		switch {
		case late:
			w.stuck.Add(1)
			w.t.Errorf("%s hangs: %v", sql, err)
		case err != nil:
			w.failed.Add(1)
			n, _ := w.reasons.LoadOrStore(reason(err), new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
			if code := status.Code(err); code != codes.Unavailable || strings.Contains(err.Error(), "planted") {
				w.t.Errorf("%s: %v", sql, err)
			}
			_ = c.Close()
			c = nil
			time.Sleep(100*time.Millisecond + time.Duration(random.IntN(400))*time.Millisecond)
		default:
			if got := sum(); got != w.want[sql] {
				w.wrong.Add(1)
				w.t.Errorf("%s: %s, want %s", sql, got, w.want[sql])
				continue
			}
			w.right.Add(1)
		}
	}
}

// numbers are what two failures of one kind differ in.
var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// reason shortens an error to what others of its kind say too.
func reason(err error) string {
	text := []rune(numbers.ReplaceAllString(status.Convert(err).Message(), "#"))
	return string(text[:min(len(text), 160)])
}

// tell logs why statements failed, most often first.
func (w *world) tell() {
	counts, all := map[string]int64{}, []string{}
	w.reasons.Range(func(k, v any) bool {
		counts[k.(string)] = v.(*atomic.Int64).Load()
		all = append(all, k.(string))
		return true
	})
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	for _, text := range all[:min(len(all), 25)] {
		w.t.Logf("%d failed: %s", counts[text], text)
	}
}

// throttle refuses a request that meets it.
func (w *world) throttle(rw http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	w.faults[throttled].Add(1)
	storetest.Status(http.StatusServiceUnavailable, storetest.S3Error("SlowDown"))(rw, r, serve)
}

// cutAfter breaks an answer after some bytes; one that is shorter counts as no fault.
func (w *world) cutAfter(n int) storetest.Fault {
	return func(rw http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		defer func() {
			if broke := recover(); broke != nil {
				w.faults[storeCut].Add(1)
				panic(broke)
			}
		}()
		storetest.CutAfter(n)(rw, r, serve)
	}
}

// fault lets the n-th thing fail: the kinds take turns, in an order of their own each time.
func (w *world) fault(n int) {
	if n%len(kinds) == 0 {
		w.order = w.random.Perm(len(kinds))
	}
	switch kind := w.order[n%len(kinds)]; kind {
	case killed:
		if w.plugins.kill(w.random) {
			w.faults[kind].Add(1)
		}
	case clientCut:
		if w.proxy.cut() {
			w.faults[kind].Add(1)
		}
	case catalogCut:
		w.service.drop(1 + w.random.IntN(3))
	case tokenEnded:
		w.service.revoke()
	case throttled:
		for range 1 + w.random.IntN(4) {
			w.store.Fail(w.throttle)
		}
	case storeCut:
		for range 2 + w.random.IntN(3) {
			w.store.Fail(w.cutAfter(w.random.IntN(1 << w.random.IntN(17))))
		}
	}
}

// run says how long to go on, and until what has happened.
type run struct {
	lasts, every  time.Duration // every: between two faults; zero: as statements end
	least, fewest int64         // faults of each kind, statements with their right rows
	lifetime      time.Duration // of the keys
}

// count is how many faults of a kind happened.
func (w *world) count(kind int) int64 {
	w.service.mu.Lock()
	defer w.service.mu.Unlock()
	switch kind {
	case catalogCut:
		return int64(w.service.dropped)
	case tokenEnded:
		return int64(w.service.refused)
	}
	return w.faults[kind].Load()
}

// enough reports whether all has happened that must.
func (w *world) enough(r run) bool {
	for kind := range kinds {
		if w.count(kind) < r.least {
			return false
		}
	}
	return w.right.Load() >= r.fewest
}

// pause waits for the time between two faults, or for some statements to end.
func (w *world) pause(every time.Duration) {
	if every > 0 {
		time.Sleep(every)
		return
	}
	for i, until := 0, w.right.Load()+clients; i < 50 && w.right.Load() < until; i++ {
		time.Sleep(5 * time.Millisecond)
	}
}

// memory is what this process holds after its garbage was collected: bytes of Go's heap, and resident ones.
func memory() (heap, resident uint64) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, residentOf("self")
}

// residentOf is the resident memory of a process, in bytes; 0 of one that is gone.
func residentOf(pid string) uint64 {
	text, err := os.ReadFile("/proc/" + pid + "/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64)
	return pages * uint64(os.Getpagesize())
}

func TestFaultsOfEveryKindGiveNoWrongRow(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs for many seconds")
	}
	r := run{least: 2, fewest: 100, lifetime: 8 * time.Second}
	if text := os.Getenv("SKUA_CHAOS_MINUTES"); text != "" {
		minutes, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		r = run{lasts: time.Duration(minutes * float64(time.Minute)), every: 1500 * time.Millisecond, least: 50, fewest: 2000, lifetime: 20 * time.Second}
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SKUA_CHAOS_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	w := newWorld(t, seed, r.lifetime)
	w.learn()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() { w.client(ctx, rand.New(rand.NewPCG(seed, uint64(i)+1))) })
	}
	began, faults, requests := time.Now(), 0, 0
	var heap, resident, plugins uint64
	for ; time.Since(began) < r.lasts || !w.enough(r); faults++ {
		if time.Since(began) > r.lasts+5*time.Minute {
			t.Error("it is not done in time")
			break
		}
		w.pause(r.every)
		requests += len(w.store.Requests()) // which also forgets faults that nothing met
		w.fault(faults)
		if heap == 0 && time.Since(began) >= r.lasts/4 {
			heap, resident = memory()
			plugins = w.plugins.resident()
		}
	}
	heapAfter, residentAfter := memory() // while the last statements run
	pluginsAfter := w.plugins.resident()
	cancel()
	running.Wait()
	t.Logf("in %s %d statements had their right rows, %d failed as unavailable, %d were wrong, %d hung; %d requests to the store",
		time.Since(began).Round(time.Second), w.right.Load(), w.failed.Load(), w.wrong.Load(), w.stuck.Load(), requests)
	for i, kind := range kinds {
		t.Logf("%d %s", w.count(i), kind)
	}
	t.Logf("%d keys ended; heap %d MiB after a quarter, %d MiB at the end, resident %d and %d MiB", w.service.spent(), heap>>20, heapAfter>>20, resident>>20, residentAfter>>20)
	t.Logf("the plugins hold %d MiB after a quarter, %d MiB at the end, resident, all %d together", plugins>>20, pluginsAfter>>20, len(catalogNames))
	w.tell()
	if r.lasts > 0 && w.right.Load() < 3*w.failed.Load() {
		t.Error("too much fails: one fault makes more than the statements that meet it unavailable")
	}
	if r.lasts > 0 && (heapAfter > heap+heap/2+(64<<20) || residentAfter > resident+resident/2+(256<<20) || pluginsAfter > plugins+plugins/2+(256<<20)) {
		t.Error("the memory grows")
	}
	w.store.Requests() // nothing fails any more
	w.service.drop(-w.service.left())
	c, err := w.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for sql, want := range w.want {
		if got, err := again(t, c, sql); err != nil || got != want {
			t.Errorf("afterwards, %s: %s, %v, want %s", sql, got, err, want)
		}
	}
}

// again asks until the server's rests and back-offs are over.
func again(t *testing.T, c *conformance.Client, sql string) (got string, err error) {
	for deadline := time.Now().Add(hung); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if got, err = told(t.Context(), c, sql); status.Code(err) != codes.Unavailable {
			break
		}
	}
	return got, err
}
