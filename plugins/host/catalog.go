package host

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins"
	"github.com/skua-data/skua/storage"
)

// Catalog is a catalog in a process of its own, behind which the process may die and is started again: the calls that run when it dies are made once more, or fail with
// fault.Unavailable where it may not be started at once, and while it backs off calls wait for a bounded time. It is safe for concurrent use.
type Catalog struct {
	host       *Host
	definition catalogs.Definition
	locations  storage.Map
	redact     *plugins.Redactor
	program    program
	limits     limits
	log        *slog.Logger
	backoff    *backoff

	mu           sync.Mutex
	closed       bool
	live         *instance
	launching    *launching
	capabilities catalogs.Capabilities
	work         sync.WaitGroup // launches and their watchers; none is added once closed

	once    sync.Once
	outcome error // of closing
}

// launching is a launch that calls wait for.
type launching struct {
	done     chan struct{}
	cancel   context.CancelFunc
	instance *instance
	err      error
}

var (
	_ catalogs.Catalog  = (*Catalog)(nil)
	_ catalogs.Reporter = (*Catalog)(nil)

	_ catalogs.PartitionLister = (*Catalog)(nil)
)

// instance gives the running process, launching it when there is none, and waiting for a back-off that is soon over.
func (c *Catalog) instance(ctx context.Context) (*instance, error) {
	for waited := time.Duration(0); ; {
		i, err := c.running(ctx)
		var early *tooEarly
		if !errors.As(err, &early) || waited+early.wait > c.host.config.Wait {
			return i, err
		}
		waited += early.wait
		if !pause(ctx, early.wait) {
			return nil, fault.New(fault.KindOf(ctx.Err()), "open catalog %s: %w", c.definition.Name, ctx.Err())
		}
	}
}

func (c *Catalog) running(ctx context.Context) (*instance, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, fault.New(fault.Unavailable, "catalog %s is closed", c.definition.Name)
	}
	if live := c.live; live != nil && !live.process.ended() {
		c.mu.Unlock()
		return live, nil
	}
	dead := c.retire(c.live)
	running, err := c.start(ctx)
	c.mu.Unlock()
	if dead != nil {
		dead.kill()
	}
	if err != nil {
		return nil, err
	}
	select {
	case <-running.done:
		return running.instance, running.err
	case <-ctx.Done():
		return nil, fault.New(fault.KindOf(ctx.Err()), "open catalog %s: %w", c.definition.Name, ctx.Err())
	}
}

// retire forgets i, if it is still the running one, and counts its death. The caller holds the lock, and kills what it returns without it.
func (c *Catalog) retire(i *instance) *instance {
	if i == nil || c.live != i {
		return nil
	}
	c.live = nil
	c.backoff.fail(fault.New(fault.Unavailable, "the plugin process ended (%s)", i.process.how()), c.host.config.Now().Sub(i.since))
	return i
}

// start begins a launch, or joins the one that runs. The launch does not end with its first caller, since others wait for it. The caller holds the lock.
func (c *Catalog) start(ctx context.Context) (*launching, error) {
	if c.launching != nil {
		return c.launching, nil
	}
	if err := c.backoff.check(c.definition.Name); err != nil {
		return nil, err
	}
	launch, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limits.start)
	running := &launching{done: make(chan struct{}), cancel: cancel}
	c.launching = running
	c.work.Go(func() {
		defer cancel()
		i, err := c.guardedLaunch(launch)
		c.finish(running, i, err, errors.Is(launch.Err(), context.Canceled))
	})
	return running, nil
}

func (c *Catalog) guardedLaunch(ctx context.Context) (i *instance, err error) {
	defer fault.Recover(&err, fault.Internal, "open catalog %s", c.definition.Name)
	return c.launch(ctx)
}

// finish tells the outcome of a launch to those who wait.
func (c *Catalog) finish(running *launching, i *instance, err error, cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(running.done)
	c.launching = nil
	running.instance, running.err = i, err
	if err != nil {
		if !cancelled {
			c.backoff.fail(err, 0)
		}
		return
	}
	i.since = c.host.config.Now()
	c.live, c.capabilities = i, i.catalog.Capabilities() // Close, which waits for launches, ends it if it came meanwhile
	if !c.closed {
		c.work.Go(func() { c.watch(i) })
		c.work.Go(func() { c.watchMemory(i.process, c.limits.memory) })
	}
}

// watch logs the end of a process, whoever notices it first.
func (c *Catalog) watch(i *instance) {
	<-i.process.done
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		c.log.Debug("plugin ended", "pid", i.process.pid(), "state", i.process.how())
		return
	}
	c.log.Warn("plugin died", "pid", i.process.pid(), "state", i.process.how())
}

// failed passes on the error of a call, unless the process died under it.
func (c *Catalog) failed(i *instance, err error) error {
	if !errors.Is(err, plugins.ErrDisconnected) {
		return err
	}
	if !i.process.await(settleTime) { // a process that cannot be talked to is replaced
		i.process.kill()
		<-i.process.done
	}
	c.mu.Lock()
	closed := c.closed
	dead := c.retire(i)
	c.mu.Unlock()
	if dead != nil {
		dead.kill()
	}
	if closed {
		return fault.New(fault.Unavailable, "catalog %s was closed during the call", c.definition.Name)
	}
	return fault.New(fault.Unavailable, "catalog %s: its plugin process ended during the call (%s); the next call starts it again",
		c.definition.Name, i.process.how()).In(c.definition.Name)
}

// Capabilities are those of the process that was started last.
func (c *Catalog) Capabilities() catalogs.Capabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

// Namespaces implements catalogs.Catalog.
func (c *Catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return listing(ctx, c, func(catalog *plugins.Catalog) iter.Seq2[table.Identifier, error] {
		return catalog.Namespaces(ctx, parent)
	})
}

// Tables implements catalogs.Catalog.
func (c *Catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return listing(ctx, c, func(catalog *plugins.Catalog) iter.Seq2[catalogs.Entry, error] { return catalog.Tables(ctx, namespace) })
}

// Partitions implements catalogs.PartitionLister.
func (c *Catalog) Partitions(ctx context.Context, req catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error] {
	return listing(ctx, c, func(catalog *plugins.Catalog) iter.Seq2[catalogs.Partition, error] {
		return catalog.Partitions(ctx, req)
	})
}

// LoadNamespace implements catalogs.Catalog.
func (c *Catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	return ask(ctx, c, func(catalog *plugins.Catalog) (iceberg.Properties, error) {
		return catalog.LoadNamespace(ctx, namespace)
	})
}

// Load implements catalogs.Catalog.
func (c *Catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	return ask(ctx, c, func(catalog *plugins.Catalog) (*catalogs.Table, error) { return catalog.Load(ctx, req) })
}

// Report implements catalogs.Reporter.
func (c *Catalog) Report(ctx context.Context, table table.Identifier, report []byte) error {
	i, err := c.instance(ctx)
	if err != nil {
		return err
	}
	if err := i.catalog.Report(ctx, table, report); err != nil {
		return c.failed(i, err)
	}
	return nil
}

// ask makes a call, and makes it once more where the process died under it: catalogs are only read.
func ask[T any](ctx context.Context, c *Catalog, call func(*plugins.Catalog) (T, error)) (T, error) {
	var none T
	i, err := c.instance(ctx)
	if err != nil {
		return none, err
	}
	answer, err := call(i.catalog)
	if err == nil {
		return answer, nil
	}
	if i, err = c.another(ctx, i, err); err != nil {
		return none, err
	}
	if answer, err = call(i.catalog); err != nil {
		return none, c.failed(i, err)
	}
	return answer, nil
}

// another gives the process that takes the place of one that died under a call, where it may be started at once and the old one was not ended for what it did; else the
// error of the call. A call that kills whatever it is asked of does so twice, and not again before the back-off that follows is over.
func (c *Catalog) another(ctx context.Context, i *instance, err error) (*instance, error) {
	died := errors.Is(err, plugins.ErrDisconnected)
	err = c.failed(i, err)
	if !died || i.process.blamed() || ctx.Err() != nil || c.backoff.check(c.definition.Name) != nil {
		return nil, err
	}
	next, launchErr := c.instance(ctx)
	if launchErr != nil {
		return nil, err
	}
	return next, nil
}

// listing is a listing of whatever process runs when it starts. Where that dies before the first entry it is asked for once more; a death in the middle ends it with an
// error.
func listing[E any](ctx context.Context, c *Catalog, list func(*plugins.Catalog) iter.Seq2[E, error]) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var none E
		i, err := c.instance(ctx)
		if err != nil {
			yield(none, err)
			return
		}
		for try := 0; ; try++ {
			begun, failed := false, error(nil)
			for entry, err := range list(i.catalog) {
				if failed = err; err != nil {
					break
				}
				if begun = true; !yield(entry, nil) {
					return
				}
			}
			switch {
			case failed == nil:
				return
			case begun || try > 0:
				err = c.failed(i, failed)
			default:
				i, err = c.another(ctx, i, failed)
			}
			if err != nil {
				yield(none, err)
				return
			}
		}
	}
}

// Close ends the process and waits for it; calls that still run fail. Closing again waits too, and does nothing else.
func (c *Catalog) Close() error {
	c.once.Do(func() { c.outcome = c.end() })
	return c.outcome
}

func (c *Catalog) end() error {
	c.mu.Lock()
	c.closed = true
	running := c.launching
	c.mu.Unlock()
	if running != nil {
		running.cancel()
		<-running.done
	}
	c.mu.Lock()
	live := c.live
	c.live = nil
	c.mu.Unlock()
	var err error
	if live != nil && !live.process.ended() {
		err = live.catalog.Close()
	}
	if errors.Is(err, plugins.ErrDisconnected) {
		err = nil // it ended first, which is what was wanted
	}
	if live != nil {
		live.stop()
	}
	c.work.Wait()
	c.host.remove(c)
	return err
}
