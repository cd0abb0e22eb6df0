//go:build cgo

package duckdb

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// Config bounds the engine. Zero values mean what each field says.
type Config struct {
	Memory    int64         // bytes; 0: a quarter of the machine's
	Threads   int           // workers; 0: one for each core
	Folder    string        // inside of which it makes a folder to spill into; empty: the system's temporary one
	SpillSize int64         // bytes it may spill; 0: 32 GiB
	Timeout   time.Duration // of one statement's run; 0: none
}

// recycleAfter is how many statements an instance runs before a fresh one takes its place: it grows a little with each.
const recycleAfter = 10_000

// executor runs statements on an instance, and plans them on another whose optimiser is set so that plans can be read.
type executor struct {
	config Config
	folder string
	unlock func() // lets go of the folder

	mu       sync.Mutex
	current  *instance
	retired  sync.WaitGroup
	closed   bool
	recycled int
}

// instance is a pair of databases with their users.
type instance struct {
	running  *database
	planning *database
	meter    meter // of running
	users    int
	served   int
	old      bool
}

var _ engine.Executor = (*executor)(nil)

// New opens the engine. Close ends it after the last statement.
func New(c Config) (engine.Executor, error) {
	if c.Threads <= 0 {
		c.Threads = runtime.NumCPU()
	}
	if c.Memory <= 0 {
		c.Memory = resource.MachineMemory() / 4
	}
	if c.SpillSize <= 0 {
		c.SpillSize = 32 << 30
	}
	e := &executor{config: c}
	var err error
	if e.folder, e.unlock, err = newFolder(c.Folder); err != nil {
		return nil, err
	}
	i, err := e.open()
	if err != nil {
		e.removeFolder()
		return nil, err
	}
	e.current = i
	return e, nil
}

func (e *executor) removeFolder() {
	_ = os.RemoveAll(e.folder)
	e.unlock()
}

// settings hold from the first moment of an instance: it reaches no file but its spill, no network, and loads nothing. Their order counts: without
// access to files no folder is taken.
func (e *executor) settings(threads int, memory int64) [][2]string {
	out := [][2]string{
		{"temp_directory", filepath.Join(e.folder, "spill")}, {"max_temp_directory_size", strconv.FormatInt(e.config.SpillSize, 10) + "B"},
		{"autoinstall_known_extensions", "false"}, {"autoload_known_extensions", "false"}, {"allow_community_extensions", "false"},
		{"allow_persistent_secrets", "false"}, {"allow_unsigned_extensions", "false"}, {"threads", strconv.Itoa(threads)},
	}
	if memory > 0 {
		out = append(out, [2]string{"memory_limit", strconv.FormatInt(memory, 10) + "B"})
	}
	return append(out, [2]string{"enable_external_access", "false"})
}

// planningMemory is what a plan may take.
const planningMemory = 256 << 20

// open opens a pair of databases.
func (e *executor) open() (*instance, error) {
	running, err := openDatabase(e.settings(e.config.Threads, e.config.Memory), e.config.Threads)
	if err != nil {
		return nil, err
	}
	planning, err := openDatabase(e.settings(1, planningMemory), 1)
	if err != nil {
		running.close()
		return nil, err
	}
	i := &instance{running: running, planning: planning}
	if i.meter.connection, err = running.connect(); err != nil {
		i.close()
		return nil, err
	}
	if err = prepareInstance(running, nil); err == nil {
		err = prepareInstance(planning, []string{"SET disabled_optimizers = 'in_clause,column_lifetime,compressed_materialization,common_subexpressions'"})
	}
	if err != nil {
		i.close()
		return nil, err
	}
	return i, nil
}

// prepareInstance makes the functions that the engine lacks, and locks what a statement might change.
func prepareInstance(d *database, more []string) error {
	c, err := d.connect()
	if err != nil {
		return err
	}
	defer c.close()
	for _, sql := range slices.Concat(macros, intervalMacros, sparkMacros, callMacros, more) {
		if err := c.exec(sql); err != nil {
			return fault.Wrap(err, "set up the SQL engine: %s", firstLine(sql))
		}
	}
	return nil
}

func (i *instance) close() {
	if i.meter.connection != nil {
		i.meter.connection.close()
	}
	i.running.close()
	i.planning.close()
}

// use gives the instance for one statement and the function that ends its use.
func (e *executor) use() (*instance, func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, fault.New(fault.Unavailable, "the SQL engine is closed")
	}
	if e.current.served >= recycleAfter {
		if fresh, err := e.open(); err == nil {
			e.retire(e.current)
			e.current = fresh
		}
	}
	i := e.current
	i.users++
	i.served++
	e.retired.Add(1)
	var once sync.Once
	return i, func() { once.Do(func() { e.leave(i) }) }, nil
}

// retire closes an instance when its last user leaves. The lock is held.
func (e *executor) retire(i *instance) {
	i.old = true
	if i.users == 0 {
		i.close()
	}
}

func (e *executor) leave(i *instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i.users--
	if i.old && i.users == 0 {
		i.close()
	}
	e.retired.Done()
}

// Close waits for the statements that run.
func (e *executor) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.retired.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retire(e.current)
	e.removeFolder()
	return nil
}

// interruptEvery is how often a statement that is to end is told so.
const interruptEvery = 20 * time.Millisecond

// watch interrupts a connection when ctx ends. The function it gives must be called before the connection does anything else: it waits until
// no interrupt can come late.
func watch(ctx context.Context, c *connection) (done func()) {
	quit, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-quit:
			return
		case <-ctx.Done():
		}
		// A statement that begins just now forgets an interrupt from before.
		for again := time.NewTicker(interruptEvery); ; {
			c.interrupt()
			select {
			case <-quit:
				again.Stop()
				return
			case <-again.C:
			}
		}
	}()
	return func() {
		close(quit)
		<-finished
	}
}

// literal spells a text for a statement of ours.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
