// Package host launches catalog plugins and keeps them: one process per opened catalog, started when it is first needed, started again when it died, its
// log in the server's log, and none of them alive after the server. It knows no catalog type; it only knows which program serves it.
package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins"
	"github.com/skua-data/skua/storage"
)

// Config says where plugins are and how patient to be with them.
type Config struct {
	Folder       string           // holds skua-catalog and outside plugins; empty: the folder of the running program
	Log          *slog.Logger     // receives the plugins' log lines, with catalog=<name>; nil: nothing is logged
	StartTimeout time.Duration    // from launch to an open catalog; zero: 30 s
	Patience     time.Duration    // for a call's next answer, after which the call fails; zero: 1 min
	Memory       int64            // bytes that a process may hold, after which it is ended and started again; zero: 4 GiB
	Wait         time.Duration    // that a call waits for a back-off to be over before it fails; zero: 2 s; negative: not at all
	Silence      time.Duration    // after which a process that answers not even the connection's own signals is replaced, 10 s at least; zero: 30 s
	Backoff      time.Duration    // before the second relaunch, then doubling (the first is immediate); zero: 250 ms
	MaxBackoff   time.Duration    // zero: 30 s
	Forget       time.Duration    // so long after the last back-off a death counts as the first again; zero: 1 min
	Healthy      time.Duration    // a plugin that served for so long was well: its death counts as the first again; zero: 10 s
	Now          func() time.Time // nil: time.Now
}

// Host launches plugins. It is safe for concurrent use.
type Host struct {
	config Config

	mu       sync.Mutex
	closed   bool
	open     map[*Catalog]bool
	backoffs map[string]*backoff // by catalog, kept over failed attempts to open it
}

// New checks the configuration and starts nothing.
func New(c Config) (*Host, error) {
	if c.Folder == "" {
		program, err := os.Executable()
		if err != nil {
			return nil, fault.New(fault.Unavailable, "find the plugin folder: %w", err).Change(folderSetting)
		}
		c.Folder = filepath.Dir(program)
	}
	folder, err := filepath.Abs(c.Folder)
	if err != nil {
		return nil, fault.New(fault.Invalid, "plugin folder %q: %w", c.Folder, err).Change(folderSetting)
	}
	c.Folder = folder
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wait == 0 {
		c.Wait = 2 * time.Second
	}
	if c.Memory == 0 {
		c.Memory = 4 << 30
	}
	for _, limit := range []struct {
		value *time.Duration
		zero  time.Duration
	}{{&c.StartTimeout, 30 * time.Second}, {&c.Patience, time.Minute}, {&c.Silence, 30 * time.Second}, {&c.Backoff, 250 * time.Millisecond}, {&c.MaxBackoff, 30 * time.Second}, {&c.Forget, time.Minute},
		{&c.Healthy, 10 * time.Second}} {
		if *limit.value < 0 {
			return nil, fault.New(fault.Invalid, "plugin host: a time of %s is negative", *limit.value)
		}
		if *limit.value == 0 {
			*limit.value = limit.zero
		}
	}
	return &Host{config: c, open: map[*Catalog]bool{}, backoffs: map[string]*backoff{}}, nil
}

var _ catalogs.Opener = (*Host)(nil).Open

// Open launches the plugin of a catalog, configures it and gives its catalog. When it failed before, it is not tried again until the back-off is over.
// Whoever opens a catalog closes it; Close of the Host closes all.
func (h *Host) Open(ctx context.Context, d catalogs.Definition, locations storage.Map) (catalogs.Catalog, error) {
	program, err := h.program(d)
	if err != nil {
		return nil, err
	}
	bounds, err := h.limits(d)
	if err != nil {
		return nil, err
	}
	redact := plugins.NewRedactor(d.Properties)
	c := &Catalog{
		host: h, definition: d, locations: locations, redact: redact, program: program, limits: bounds,
		log: h.config.Log.With("catalog", d.Name), backoff: h.backoff(d),
	}
	if err := h.add(c); err != nil {
		return nil, err
	}
	if _, err := c.instance(ctx); err != nil {
		_ = c.Close() // there is no process to fail
		return nil, err
	}
	return c, nil
}

// Close ends all plugins and waits for them. Catalogs that are still in use fail from then on.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	open := make([]*Catalog, 0, len(h.open))
	for c := range h.open {
		open = append(open, c)
	}
	h.mu.Unlock()
	failures := make([]error, len(open))
	var closing sync.WaitGroup
	for i, c := range open {
		closing.Go(func() { failures[i] = c.Close() })
	}
	closing.Wait()
	return errors.Join(failures...)
}

// add makes c one of those that Close closes.
func (h *Host) add(c *Catalog) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fault.New(fault.Unavailable, "open catalog %s: the server is stopping", c.definition.Name)
	}
	h.open[c] = true
	return nil
}

func (h *Host) remove(c *Catalog) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, c)
}

// backoff gives the back-off of a definition.
func (h *Host) backoff(d catalogs.Definition) *backoff {
	key := d.Name + "\x00" + d.Type + "\x00" + d.Impl
	h.mu.Lock()
	defer h.mu.Unlock()
	b, ok := h.backoffs[key]
	if !ok {
		b = &backoff{first: h.config.Backoff, most: h.config.MaxBackoff, forget: h.config.Forget, healthy: h.config.Healthy, now: h.config.Now}
		h.backoffs[key] = b
	}
	return b
}
