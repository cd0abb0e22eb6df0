// Package fault says what kind of thing went wrong, in words that cross every boundary: a plugin's process, the SQL engine, the wire.
// It knows no status codes (flightsql/status.go maps kinds to them) and holds no secrets: whoever builds an error from outside text
// redacts it first.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is what a caller branches on. The zero Kind is Internal: an error nobody classified is a bug of ours.
type Kind uint8

// The kinds, each with who has to act on it.
const (
	Internal        Kind = iota // ours: a bug
	Invalid                     // the user's: bad SQL, bad value, unknown option
	NotFound                    // the user's: an object that does not exist
	AlreadyExists               // the user's: an object that exists
	Unsupported                 // ours to build: a feature named in the text is refused
	Denied                      // the operator's: not allowed
	Unauthenticated             // the client's: no or bad credentials, an expired session
	Exhausted                   // a limit; Setting names it
	Unavailable                 // the world's: a catalog, a store, or a server that drains
	Corrupt                     // the world's: data that breaks its format; Object names the file
	Canceled                    // the client went away
	Deadline                    // the client's time ran out
)

var kindNames = [...]string{"internal", "invalid", "not found", "already exists", "unsupported", "denied", "unauthenticated", "exhausted",
	"unavailable", "corrupt", "canceled", "deadline"}

// String gives the kind in lower-case words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Position is a place in an SQL text. Line counts from 1, Column from 0, as Spark counts them; the zero Position is "unknown".
type Position struct{ Line, Column int }

// Error is an error with a kind. Its text is Message, then what Object and Setting add where the message does not name them already.
type Error struct {
	Kind      Kind
	Message   string
	Condition string   // Spark's error condition, such as TABLE_OR_VIEW_NOT_FOUND; empty where Spark has none
	SQLState  string   // five characters, or empty
	Object    string   // the table, file, catalog or key concerned
	Setting   string   // the configuration key that would change the outcome
	Position  Position // in the statement's text
	Cause     error    // may be nil; its text is part of Error's
}

// New returns an error of a kind with a formatted message; %w wraps as in fmt.Errorf.
func New(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	cause := errors.Unwrap(err)
	if cause == nil {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			cause = errors.Join(joined.Unwrap()...)
		}
	}
	return &Error{Kind: kind, Message: err.Error(), Cause: cause}
}

// Wrap adds what was being done in front of err and keeps err's kind, condition, position, object and setting. A nil err stays nil.
func Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	out := &Error{Kind: KindOf(err), Message: fmt.Sprintf(format, args...) + ": " + err.Error(), Cause: err}
	var inner *Error
	if errors.As(err, &inner) {
		out.Condition, out.SQLState, out.Position = inner.Condition, inner.SQLState, inner.Position
	}
	return out
}

// As classifies a foreign error: err with kind unless it already carries one. A nil err stays nil.
func As(kind Kind, err error) error {
	if err == nil {
		return nil
	}
	var inner *Error
	if errors.As(err, &inner) {
		return err
	}
	return &Error{Kind: kind, Message: err.Error(), Cause: err}
}

// With sets Spark's condition and SQLSTATE and returns e.
func (e *Error) With(condition, sqlState string) *Error {
	e.Condition, e.SQLState = condition, sqlState
	return e
}

// In names the object concerned and returns e.
func (e *Error) In(object string) *Error { e.Object = object; return e }

// Change names the setting that would change the outcome and returns e.
func (e *Error) Change(setting string) *Error { e.Setting = setting; return e }

// At sets the position in the SQL text and returns e.
func (e *Error) At(p Position) *Error { e.Position = p; return e }

// Locate gives an error that has no position one. A position without a line, and errors that are not an Error, change nothing.
func Locate(err error, p Position) error {
	e, ok := err.(*Error)
	if !ok || e.Position.Line > 0 || p.Line == 0 {
		return err
	}
	out := *e
	out.Position = p
	return &out
}

// Hint adds to an error's message what the user may have meant. Kind, condition and position stay; an empty hint changes nothing.
func Hint(err error, hint string) error {
	var e *Error
	if hint == "" || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message += hint
	return &out
}

// Error renders the message in Spark's manner: [CONDITION] text SQLSTATE: state (line l, pos c), then the setting that would help.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Condition != "" && !strings.Contains(e.Message, "["+e.Condition+"]") {
		b.WriteString("[" + e.Condition + "] ")
	}
	b.WriteString(e.Message)
	if e.Object != "" && !strings.Contains(e.Message, e.Object) {
		b.WriteString(" (" + e.Object + ")")
	}
	if e.SQLState != "" && !strings.Contains(e.Message, "SQLSTATE: "+e.SQLState) {
		b.WriteString(" SQLSTATE: " + e.SQLState)
	}
	if e.Position.Line > 0 && !strings.Contains(e.Message, "(line ") {
		fmt.Fprintf(&b, " (line %d, pos %d)", e.Position.Line, e.Position.Column)
	}
	if e.Setting != "" && !strings.Contains(e.Message, e.Setting) {
		b.WriteString("; see the setting " + e.Setting)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf gives the kind of the first Error in err's chain, Canceled or Deadline for the context package's errors, else Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return contextKind(err)
}

// Is reports whether err is of a kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
