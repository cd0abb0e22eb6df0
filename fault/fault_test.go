package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestErrorText(t *testing.T) {
	cause := errors.New("disk on fire")
	for _, c := range []struct {
		name string
		err  error
		want string
		kind Kind
	}{
		{"plain", New(Invalid, "bad value %q", "x"), `bad value "x"`, Invalid},
		{"condition and state", New(NotFound, "The table or view `t` cannot be found.").With("TABLE_OR_VIEW_NOT_FOUND", "42P01"),
			"[TABLE_OR_VIEW_NOT_FOUND] The table or view `t` cannot be found. SQLSTATE: 42P01", NotFound},
		{"position", New(Invalid, "Syntax error at or near 'x'.").With("PARSE_SYNTAX_ERROR", "42601").At(Position{2, 7}),
			"[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'. SQLSTATE: 42601 (line 2, pos 7)", Invalid},
		{"setting", New(Exhausted, "too many statements").Change("skua.session.max-statements"),
			"too many statements; see the setting skua.session.max-statements", Exhausted},
		{"object", New(Corrupt, "truncated footer").In("file:/a.parquet"), "truncated footer (file:/a.parquet)", Corrupt},
		{"wrap keeps the kind", Wrap(New(Corrupt, "truncated"), "read %s", "f"), "read f: truncated", Corrupt},
		{"wrap of a foreign error", Wrap(cause, "read f"), "read f: disk on fire", Internal},
		{"as keeps a kind", As(Unavailable, New(Corrupt, "x")), "x", Corrupt},
		{"as gives a kind", As(Unavailable, cause), "disk on fire", Unavailable},
		{"cancelled", fmt.Errorf("scan: %w", context.Canceled), "scan: context canceled", Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("text %q, want %q", got, c.want)
			}
			if got := KindOf(c.err); got != c.kind {
				t.Errorf("kind %s, want %s", got, c.kind)
			}
		})
	}
	if Wrap(nil, "x") != nil || As(Internal, nil) != nil {
		t.Error("a nil error must stay nil")
	}
	if !errors.Is(New(Unavailable, "open: %w", cause), cause) {
		t.Error("New must wrap with %w")
	}
}

func TestRecoverTurnsAPanicIntoAnError(t *testing.T) {
	work := func() (err error) {
		defer Recover(&err, Corrupt, "read %s", "f")
		panic("boom")
	}
	err := work()
	if !Is(err, Corrupt) || err.Error() != "read f: panic: boom" {
		t.Fatalf("got %v", err)
	}
	var p *Panic
	if !errors.As(err, &p) || len(p.Stack) == 0 {
		t.Fatal("the stack is lost")
	}
}
