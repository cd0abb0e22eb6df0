package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

const (
	maxOutcome = 64 << 10        // bytes of a listing that travels inside its ticket; a longer one is made again
	freshFor   = 2 * time.Second // how long what preparing resolved is good for the first run
	maxPlans   = 64
	scanKind   = "scan" // what a SELECT is to the log
)

// pin begins a pin with what every statement has.
func (s *statement) pin(id string) Pin {
	named := s.mentioned()
	return Pin{Statement: id, Text: s.text, Principal: s.principal, Session: s.sessionHash(), Client: s.client, Path: s.path, Catalog: s.state.Catalog, Namespace: s.state.Namespace,
		Settings: s.settings(nil), Clock: s.clock, Variables: named.variables, Views: named.views}
}

// key names a pin's rows: two pins with one key give the same ones.
func (p Pin) key() (string, error) {
	p.Statement, p.Session, p.Client, p.Path = "", "", "", ""
	text, err := json.Marshal(p)
	if err != nil {
		return "", fault.Wrap(err, "name a plan")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// planned is a statement with its plans, shared by all who hold its pin. It is immutable.
type planned struct {
	schema   *arrow.Schema
	sets     []set     // one for each set of parameters
	programs []Program // the same of a query that an Executor runs; sets is empty then
}

// set is a query with its plan.
type set struct {
	query *query
	plan  scan.Plan // nil: no FROM
}

// Resume gives a pin's result again. The catalog is asked for credentials only: the tables are as they were. Plans are kept for a while, so that
// the tickets of one statement plan once. A statement with an effect has it never again.
func (e *Engine) Resume(ctx context.Context, pin Pin) (Result, error) {
	if pin.Outcome != nil {
		v, err := decodeValues(pin.Outcome)
		if err != nil {
			return nil, err
		}
		v.pin = pin
		return v, nil
	}
	s := &statement{engine: e, state: resumedState(pin), principal: pin.Principal, text: pin.Text, clock: pin.Clock}
	if err := s.setZone(); err != nil {
		return nil, err
	}
	c, err := parseCommand(pin.Text)
	if err != nil {
		return nil, err
	}
	if c != nil {
		if c.update || c.moment {
			return nil, fault.New(fault.Invalid, "the ticket of %s holds no outcome", c.name)
		}
		return s.runCommand(ctx, c, pin.Statement, true)
	}
	ctx, account := s.account(ctx, pin.Statement)
	key, err := pin.key()
	if err != nil {
		return nil, err
	}
	started := e.config.Clock()
	p, err := within(ctx, account, func() (*planned, error) {
		return e.plans.get(ctx, key, func() (*planned, error) { return s.replan(ctx, pin) })
	})
	if err != nil {
		e.lines.write(e.lines.ended(scanKind, pin, account, started, err))
		return nil, err
	}
	return e.result(p, pin, account), nil
}

// replan binds and plans a pinned statement.
func (s *statement) replan(ctx context.Context, pin Pin) (*planned, error) {
	s.pinned = pin.Tables
	if s.pinned == nil {
		s.pinned = []PinnedTable{}
	}
	args, err := decodeArguments(pin.Arguments)
	if err != nil {
		return nil, err
	}
	if args != nil {
		defer args.Release()
	}
	tree, err := s.parse()
	if err == nil {
		var p *planned
		if p, err = s.replanBy(ctx, scanRoute{tree}, args); err == nil {
			return p, nil
		}
	}
	if s.engine.executes(err) || s.laterally(tree, err) {
		return s.replanBy(ctx, queryRoute{err}, args)
	}
	return nil, err
}
