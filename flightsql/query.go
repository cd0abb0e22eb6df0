package flightsql

import (
	"context"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// outcome is a statement that has had its effect, with what must be closed after it.
type outcome struct {
	engine.Result
	prepared engine.Prepared
	state    session.State // the session's, as the statement left it
	form     form          // how its rows are sent
}

// Close closes the result and the statement it came from.
func (o *outcome) Close() error {
	err := o.Result.Close()
	if closing := o.prepared.Close(); err == nil {
		err = closing
	}
	return err
}

// run prepares a text in the caller's session and has its effect once. All four ways in which SQL arrives end here.
func (s *Server) run(ctx context.Context, a arrived) (*outcome, error) {
	current, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	prepared, err := s.prepare(ctx, current, a)
	if err != nil {
		return nil, err
	}
	return s.runPrepared(ctx, prepared, current, a, nil)
}

// arrived is a statement's text and the way it came.
type arrived struct {
	text string
	path string
}

// The ways in which SQL arrives.
const (
	queryPath    = "query"
	updatePath   = "update"
	preparedPath = "prepared"
)

func (s *Server) prepare(ctx context.Context, in *session.Session, a arrived) (engine.Prepared, error) {
	c := callerOf(ctx)
	return s.config.Engine.Prepare(ctx, engine.Call{Session: in, Principal: c.principal.Name, Text: a.text, Client: c.agent(), Path: a.path})
}

// runPrepared has the effect of prepared, which it closes, sooner or later. An effect needs a session that stays, so a statement with one that was prepared
// in a passing session is prepared again in the caller's own.
func (s *Server) runPrepared(ctx context.Context, prepared engine.Prepared, in *session.Session, a arrived, args arrow.RecordBatch) (_ *outcome, err error) {
	if prepared.IsUpdate() {
		own, err := s.ownSession(ctx)
		if err != nil {
			prepared.Close()
			return nil, err
		}
		if own != in {
			prepared.Close()
			if prepared, err = s.prepare(ctx, own, a); err != nil {
				return nil, err
			}
			in = own
		}
	}
	s.announce(ctx, callerOf(ctx).formOf(in.State(), a.path == preparedPath), prepared.Schema())
	result, err := s.runOnce(ctx, prepared, args)
	if err != nil {
		prepared.Close()
		return nil, err
	}
	state := in.State()
	return &outcome{result, prepared, state, callerOf(ctx).formOf(state, a.path == preparedPath)}, nil
}

// runOnce checks the number of parameters and runs.
func (s *Server) runOnce(ctx context.Context, prepared engine.Prepared, args arrow.RecordBatch) (engine.Result, error) {
	given := 0
	if args != nil {
		given = int(args.NumCols())
	}
	if want := prepared.Parameters().NumFields(); want != given {
		return nil, fault.New(fault.Invalid, "the statement has %s, %d given", numberOf(want, "parameter"), given)
	}
	switch {
	case given == 0:
		args = nil
	case callerOf(ctx).isJava():
		args = s.withDecimals(prepared.Parameters(), args)
		defer args.Release()
	}
	return prepared.Run(ctx, args)
}

func numberOf(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// refuseTransaction refuses a statement that claims to be in a transaction: there are none.
func refuseTransaction(id []byte) error {
	if len(id) > 0 {
		return fault.New(fault.Unsupported, "transactions are not supported")
	}
	return nil
}

// GetFlightInfoStatement has the statement's effect and says where its rows are.
func (s *Server) GetFlightInfoStatement(ctx context.Context, q upstream.StatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if err := refuseTransaction(q.GetTransactionId()); err != nil {
		return nil, err
	}
	result, err := s.run(ctx, arrived{q.GetQuery(), queryPath})
	if err != nil {
		return nil, err
	}
	defer result.Close()
	return s.flightInfo(result, d)
}

// GetSchemaStatement prepares without effect. A statement with an effect has no rows of its own and a schema without fields.
func (s *Server) GetSchemaStatement(ctx context.Context, q upstream.StatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	if err := refuseTransaction(q.GetTransactionId()); err != nil {
		return nil, err
	}
	return s.schemaOf(ctx, arrived{q.GetQuery(), queryPath})
}

func (s *Server) schemaOf(ctx context.Context, a arrived) (*flight.SchemaResult, error) {
	current, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	prepared, err := s.prepare(ctx, current, a)
	if err != nil {
		return nil, err
	}
	defer prepared.Close()
	schema := arrow.NewSchema(nil, nil)
	if !prepared.IsUpdate() {
		if schema, err = callerOf(ctx).formOf(current.State(), a.path == preparedPath).schema(prepared.Schema()); err != nil {
			return nil, err
		}
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(schema, s.mem)}, nil
}
