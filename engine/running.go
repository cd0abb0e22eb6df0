package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/session"
)

const (
	caseSensitiveKey = "spark.sql.caseSensitive"
	timeZoneKey      = "spark.sql.session.timeZone"
)

// statement is what one statement sees, fixed when it is prepared or resumed.
type statement struct {
	engine    *Engine
	session   *session.Session // nil: resumed from a pin
	state     session.State
	principal string
	text      string
	client    string // for the log, as is path
	path      string
	clock     time.Time
	zone      *time.Location
	pinned    []PinnedTable     // resumed: the tables as they were; nil: the current ones
	views     []string          // whose texts this one is in, outermost first
	values    []sparktype.Value // of a command's parameters; nil: it has none
	arguments arrow.RecordBatch // the same, in one row
}

func (e *Engine) newStatement(call Call) (*statement, error) {
	s := &statement{engine: e, session: call.Session, state: call.Session.State(), principal: call.Principal, text: call.Text, client: call.Client, path: call.Path,
		clock: e.config.Clock()}
	return s, s.setZone()
}

func (s *statement) setZone() (err error) {
	s.zone = time.UTC
	if zone, ok := s.state.Get(timeZoneKey); ok {
		s.zone, err = session.ParseZone(zone)
	}
	return invalid(err)
}

func (s *statement) caseSensitive() bool {
	v, _ := s.state.Get(caseSensitiveKey)
	return strings.EqualFold(v, "true")
}

// newID makes a statement's id: unguessable, since cancelling goes by it.
func newID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// sessionHash names a session in pins and logs without letting anybody into it.
func (s *statement) sessionHash() string {
	if s.session == nil || s.session.ID() == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.session.ID()))
	return hex.EncodeToString(sum[:8])
}

// within does something once the process has memory for another statement.
func within[T any](ctx context.Context, account *resource.Statement, do func() (T, error)) (T, error) {
	leave, err := account.Enter(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer leave()
	return do()
}

// account starts the accounting of a run and puts it into the context.
func (s *statement) account(ctx context.Context, id string) (context.Context, *resource.Statement) {
	r := s.engine.config.Pool.NewStatement(id)
	return resource.With(ctx, r), r
}
