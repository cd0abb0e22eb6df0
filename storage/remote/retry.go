package remote

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// Retry says how often and how long a request is tried. Zero fields mean what each says.
type Retry struct {
	Tries int           // altogether; 0: six
	Least time.Duration // wait before the second try, doubled for each one after it and shortened by chance; 0: 100 ms
	Most  time.Duration // longest wait; 0: 10 s
	First time.Duration // an answer must begin within; 0: 30 s
	Stall time.Duration // and go on within; 0: 20 s
}

func (r Retry) filled() Retry {
	if r.Tries <= 0 {
		r.Tries = 6
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&r.Least, 100 * time.Millisecond}, {&r.Most, 10 * time.Second}, {&r.First, 30 * time.Second}, {&r.Stall, 20 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return r
}

// wait is how long to wait after a number of tries: between half and all of the exponential time, and what the store asks for if that is longer.
func (r Retry) wait(tries int, after time.Duration) time.Duration {
	d := r.Most
	if shift := tries - 1; shift < 20 {
		d = min(r.Most, r.Least<<shift)
	}
	d = d/2 + rand.N(d/2+1)
	return max(d, min(after, r.Most))
}

// errStalled ends a request that has made no progress for too long.
var errStalled = errors.New("the store sent nothing for too long")

// failure is an answer that is not what was asked for. It is tried again unless it is final.
type failure struct {
	kind  fault.Kind
	text  string
	final bool
	other bool // the file is not the one that was meant
}

func (f *failure) Error() string { return f.text }

// tries calls attempt until it succeeds, fails for good, or has failed too often.
func (s *Store) tries(ctx context.Context, counters *resource.Counters, attempt func(ctx context.Context) error) error {
	for n := 1; ; n++ {
		counters.Requests.Add(1)
		if n > 1 {
			counters.Retries.Add(1)
		}
		err := s.once(ctx, attempt)
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		v := s.judge(err)
		if !v.Again || n >= s.config.Retry.Tries {
			return err
		}
		timer := time.NewTimer(s.config.Retry.wait(n, v.After))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		}
	}
}

type watchKey struct{}

// leastRate is the bytes a second below which a body counts as stalled, though it trickles.
const leastRate = 16 << 10

// once calls attempt with a deadline that progress moves.
func (s *Store) once(ctx context.Context, attempt func(ctx context.Context) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.config.Retry.First, func() { cancel(errStalled) })
	defer timer.Stop()
	err := attempt(context.WithValue(inner, watchKey{}, timer))
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(inner), errStalled) {
		return errStalled
	}
	return err
}

// readFull fills p from a body, and gives how far it came.
func (s *Store) readFull(ctx context.Context, body io.Reader, p []byte) (n int, err error) {
	timer, _ := ctx.Value(watchKey{}).(*time.Timer)
	started := time.Now()
	for n < len(p) && err == nil {
		if time.Since(started) > s.config.Retry.Stall+time.Duration(n/leastRate)*time.Second {
			return n, errStalled
		}
		if timer != nil {
			timer.Reset(s.config.Retry.Stall)
		}
		var k int
		k, err = body.Read(p[n:])
		n += k
	}
	if n == len(p) {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// judge gives the verdict of the package's own errors and of the network's; the store's protocol knows the others.
func (s *Store) judge(err error) Verdict {
	var own *failure
	switch {
	case errors.As(err, &own):
		return Verdict{Kind: own.kind, Again: !own.final, Other: own.other, Text: own.text}
	case errors.Is(err, errStalled):
		return Verdict{Kind: fault.Unavailable, Again: true, Text: errStalled.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Verdict{Kind: fault.Unavailable, Again: true, Text: "the answer was cut off"}
	}
	v := s.config.Objects.Judge(err)
	if v.Kind == fault.Internal && !v.Again {
		v = network(err)
	}
	return v
}

// network gives the verdict of an error that no protocol knows.
func network(err error) Verdict {
	v := Verdict{Kind: fault.Unavailable, Again: true}
	var address *url.Error
	if errors.As(err, &address) { // its text has the address, and perhaps a signature in it
		err = address.Err
	}
	var lookup *net.DNSError
	var broken *net.OpError
	switch {
	case errors.As(err, &lookup):
		v.Text, v.Again = "the host "+lookup.Name+" cannot be found", lookup.IsTemporary || lookup.IsTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		v.Text = "the connection is refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		v.Text = "the connection was reset"
	case errors.As(err, &broken):
		v.Text = broken.Op + ": " + broken.Err.Error()
	}
	return v
}

// explain makes an error for whoever asked: what was being done, to which location, and why it failed. The cause is left out, since it may hold
// what nobody may see.
func (s *Store) explain(err error, doing string, at storage.Location) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	if kind := fault.KindOf(err); kind == fault.Canceled || kind == fault.Deadline {
		if errors.Is(err, context.Canceled) {
			return fault.Wrap(context.Canceled, "%s %s", doing, at)
		}
		return fault.Wrap(context.DeadlineExceeded, "%s %s", doing, at)
	}
	v := s.judge(err)
	text := v.Text
	var address *url.Error
	switch {
	case text != "":
	case errors.As(err, &address):
		text = address.Err.Error()
	default:
		text = err.Error()
	}
	for _, secret := range s.config.Secrets {
		text = strings.ReplaceAll(text, secret, "…")
		text = strings.ReplaceAll(text, url.QueryEscape(secret), "…")
	}
	out := fault.New(v.Kind, "%s %s: %s", doing, at, text).In(at)
	if v.Other {
		out.Cause = storage.ErrChanged
	}
	return out
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
