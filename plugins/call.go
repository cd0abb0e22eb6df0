package plugins

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

// call is one call of a plugin. It ends when the plugin keeps silent for too long; time that the caller takes between two answers does not count.
type call struct {
	ctx      context.Context
	caller   context.Context
	redact   *Redactor
	patience time.Duration
	cancel   context.CancelCauseFunc
	timer    *time.Timer
}

// errSilent is why a call ended whose plugin did not answer.
var errSilent = errors.New("plugins: no answer")

// call begins a call with its first wait.
func (c *Catalog) call(caller context.Context) *call {
	ctx, cancel := context.WithCancelCause(caller)
	return &call{ctx: ctx, caller: caller, redact: c.redact, patience: c.patience, cancel: cancel,
		timer: time.AfterFunc(c.patience, func() { cancel(errSilent) })}
}

// end frees what is held of the call, and ends it in the plugin where it still runs.
func (c *call) end() {
	c.timer.Stop()
	c.cancel(nil)
}

// failed gives the fault of a call that failed.
func (c *call) failed(err error) error {
	if errors.Is(context.Cause(c.ctx), errSilent) && c.caller.Err() == nil {
		return fault.New(fault.Unavailable, "the catalog's plugin did not answer for %s", c.patience)
	}
	return decodeError(c.caller, err, c.redact)
}

// receiver is the reading end of a stream of the plugin's answers.
type receiver[T any] interface{ Recv() (T, error) }

// next waits for a stream's next answer. Its end is io.EOF, any other error a fault.
func next[T any](c *call, stream receiver[T]) (T, error) {
	c.timer.Reset(c.patience)
	defer c.timer.Stop()
	response, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		err = c.failed(err)
	}
	return response, err
}

// listing reads a stream of answers to its end, its first error, or until the reader of the iterator stops; the stream is ended then.
func listing[T, E any](ctx context.Context, c *Catalog, open func(context.Context) (receiver[T], error),
	each func(T, func(E, error) bool) bool) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		call := c.call(ctx)
		defer call.end()
		var none E
		stream, err := open(call.ctx)
		if err != nil {
			yield(none, call.failed(err))
			return
		}
		for {
			response, err := next(call, stream)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(none, err)
				return
			}
			if !each(response, yield) {
				return
			}
		}
	}
}

// maxListed bounds the names of one listing, in bytes and with what each costs whoever collects them.
const (
	maxListed  = 64 << 20
	listedCost = 64
)

// listed checks what a listing sends: a catalog that lists without an end, or lists what does not lie where it was asked, must not make its reader
// do the same.
type listed struct {
	what  string
	under *catalogv1.Identifier
	bytes int
}

// accept fails for a name that is no direct child, and past the bound.
func (l *listed) accept(child *catalogv1.Identifier) error {
	parts, parent := child.GetParts(), l.under.GetParts()
	if len(parts) == 0 || parts[len(parts)-1] == "" {
		return fault.New(fault.Unavailable, "%s: the plugin sent an entry without a name", l.what)
	}
	// Catalogs that know no case answer in their own.
	if !slices.EqualFunc(parts[:len(parts)-1], parent, strings.EqualFold) {
		return fault.New(fault.Unavailable, "%s: the plugin sent %.200q, which does not lie in %.200q", l.what, parts, parent)
	}
	for _, part := range parts {
		l.bytes += len(part)
	}
	if l.bytes += listedCost; l.bytes > maxListed {
		return fault.New(fault.Exhausted, "%s: the names are longer than %d bytes together", l.what, maxListed)
	}
	return nil
}
