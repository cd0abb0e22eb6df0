package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/skua-data/skua/fault"
)

// CreatePreparedStatement prepares without effect. For a query it tells the exact schema; for a statement with an effect it says so and gives no schema, which is
// how JDBC and ADBC both tell an update from a query. An update that answers with rows gives no schema and leaves open what it is: JDBC, which goes by the
// schema, takes it for an update, and ADBC, which goes by is_update, shows the rows.
func (s *Server) CreatePreparedStatement(ctx context.Context, req upstream.ActionCreatePreparedStatementRequest) (out upstream.ActionCreatePreparedStatementResult, err error) {
	if err := refuseTransaction(req.GetTransactionId()); err != nil {
		return out, err
	}
	current, err := s.session(ctx)
	if err != nil {
		return out, err
	}
	ready := &readyPrepared{session: current, state: current.State(), made: s.config.Now()}
	if ready.prepared, err = s.prepare(ctx, current, arrived{req.GetQuery(), preparedPath}); err != nil {
		return out, err
	}
	c := callerOf(ctx)
	if err := c.describe(ready, &out); err != nil {
		ready.prepared.Close()
		return out, err
	}
	out.Handle = s.handles.add(s.scope(c), c.connKey(), c.principal, req.GetQuery(), ready)
	return out, nil
}

// describe tells a caller what a statement is.
func (c *caller) describe(ready *readyPrepared, out *upstream.ActionCreatePreparedStatementResult) (err error) {
	isUpdate := ready.prepared.IsUpdate()
	if !isUpdate || ready.prepared.Schema() == nil {
		out.IsUpdate = &isUpdate
	}
	if out.ParameterSchema, err = parameterSchema(ready.prepared.Parameters(), c.isJava()); err != nil || isUpdate {
		return err
	}
	out.DatasetSchema, err = c.formOf(ready.state, true).schema(ready.prepared.Schema())
	return err
}

// ClosePreparedStatement forgets a statement. The second time it does nothing.
func (s *Server) ClosePreparedStatement(ctx context.Context, req upstream.ActionClosePreparedStatementRequest) error {
	s.handles.close(req.GetPreparedStatementHandle(), callerOf(ctx).principal)
	return nil
}

// DoPutPreparedStatementQuery binds parameters for the next runs on the query path. The handle it returns is the statement's own: clients use whatever comes
// back, so it must not be empty.
func (s *Server) DoPutPreparedStatementQuery(ctx context.Context, q upstream.PreparedStatementQuery, r flight.MessageReader, _ flight.MetadataWriter) ([]byte, error) {
	id := q.GetPreparedStatementHandle()
	h, err := s.handles.get(id, callerOf(ctx).principal)
	if err != nil {
		return nil, err
	}
	defer h.release()
	args, err := s.readParameters(r)
	if err != nil {
		return nil, err
	}
	if args != nil {
		defer args.Release()
	}
	return id, s.handles.bind(id, callerOf(ctx).principal, args)
}

// runHandle has a prepared statement's effect once, in the caller's session as it is now.
func (s *Server) runHandle(ctx context.Context, h *lease, args arrow.RecordBatch) (*outcome, error) {
	current, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	if first := h.take(); first != nil {
		if first.usable(s.config.Now(), current) {
			return s.runPrepared(ctx, first.prepared, current, arrived{h.text, preparedPath}, args)
		}
		first.prepared.Close()
	}
	prepared, err := s.prepare(ctx, current, arrived{h.text, preparedPath})
	if err != nil {
		return nil, err
	}
	return s.runPrepared(ctx, prepared, current, arrived{h.text, preparedPath}, args)
}

// GetFlightInfoPreparedStatement has the statement's effect with the parameters bound last and says where its rows are. Several rows of parameters give their
// results one after the other.
func (s *Server) GetFlightInfoPreparedStatement(ctx context.Context, q upstream.PreparedStatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	h, err := s.handles.get(q.GetPreparedStatementHandle(), callerOf(ctx).principal)
	if err != nil {
		return nil, err
	}
	defer h.release()
	result, err := s.runHandle(ctx, h, h.args)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	return s.flightInfo(result, d)
}

// GetSchemaPreparedStatement prepares again, without effect.
func (s *Server) GetSchemaPreparedStatement(ctx context.Context, q upstream.PreparedStatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	h, err := s.handles.get(q.GetPreparedStatementHandle(), callerOf(ctx).principal)
	if err != nil {
		return nil, err
	}
	defer h.release()
	return s.schemaOf(ctx, arrived{h.text, preparedPath})
}

// DoPutCommandStatementIngest is refused before the router comes here.
func (s *Server) DoPutCommandStatementIngest(context.Context, upstream.StatementIngest, flight.MessageReader) (int64, error) {
	return 0, fault.New(fault.Unsupported, "Skua reads only: bulk ingestion is not supported")
}
