package flightsql

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"

	"github.com/skua-data/skua/session"
)

// The four ways in which a client can send a statement.
var ways = map[string]func(c *client, sql string){
	"query": func(c *client, sql string) {
		_, err := c.Execute(c.ctx, sql)
		check(c.t, err)
	},
	"update": func(c *client, sql string) {
		n, err := c.ExecuteUpdate(c.ctx, sql)
		check(c.t, err)
		if n != 0 {
			c.t.Errorf("%d rows, want 0", n)
		}
	},
	"prepared query": func(c *client, sql string) {
		p, err := c.Prepare(c.ctx, sql)
		check(c.t, err)
		_, err = p.Execute(c.ctx)
		check(c.t, err)
		check(c.t, p.Close(c.ctx))
	},
	"prepared update": func(c *client, sql string) {
		p, err := c.Prepare(c.ctx, sql)
		check(c.t, err)
		_, err = p.ExecuteUpdate(c.ctx)
		check(c.t, err)
		check(c.t, p.Close(c.ctx))
	},
}

func TestEachWayHasTheEffectOnceAndDoGetHasNone(t *testing.T) {
	for name, run := range ways {
		t.Run(name, func(t *testing.T) {
			w := start(t, nil)
			c := w.connect()
			run(c, "SET spark.sql.x=7")
			if n := w.engine.effects.Load(); n != 1 {
				t.Fatalf("%d effects, want 1", n)
			}
			if rows, _ := c.query("GET spark.sql.x"); !slices.Equal(rows, []string{"7"}) {
				t.Fatalf("the session has %v", rows)
			}
		})
	}
	w := start(t, nil)
	c := w.connect()
	rows, info := c.query("SET spark.sql.x=7")
	again := c.fetch(info)
	if !slices.Equal(rows, []string{"spark.sql.x|7"}) || !slices.Equal(again, rows) || w.engine.effects.Load() != 1 {
		t.Fatalf("rows %v, again %v, %d effects", rows, again, w.engine.effects.Load())
	}
}

func TestAQueryOnTheUpdatePathGivesAnUnknownCount(t *testing.T) {
	c := start(t, nil).connect()
	n, err := c.ExecuteUpdate(c.ctx, "SELECT 1")
	check(t, err)
	if n != -1 {
		t.Errorf("%d rows", n)
	}
}

func TestPrepareTellsUpdatesFromQueriesAndHasNoEffect(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	for sql, want := range map[string]struct{ told, update, schema bool }{
		"USE x":             {told: true, update: true},
		"SET spark.sql.x=1": {}, // an update to JDBC, rows to ADBC
		"SELECT 1":          {told: true, schema: true},
		"GET spark.sql.x":   {told: true, schema: true},
	} {
		p, err := c.Prepare(c.ctx, sql)
		check(t, err)
		if update, told := p.IsUpdate(); told != want.told || update != want.update {
			t.Errorf("%s: is_update %v, told %v", sql, update, told)
		}
		if has := p.DatasetSchema() != nil; has != want.schema {
			t.Errorf("%s: dataset schema %v", sql, p.DatasetSchema())
		}
		if p.ParameterSchema() == nil || p.ParameterSchema().NumFields() != 0 {
			t.Errorf("%s: parameter schema %v", sql, p.ParameterSchema())
		}
	}
	if w.engine.effects.Load() != 0 || w.sessions.Len() != 0 {
		t.Errorf("%d effects, %d sessions", w.engine.effects.Load(), w.sessions.Len())
	}
}

func TestSchemasAreTheSameEverywhereAndCarryNoMetadata(t *testing.T) {
	w := start(t, nil)
	hidden := arrow.NewMetadata([]string{"REMARKS", "PARQUET:field_id"}, []string{"a comment", "3"})
	w.engine.hidden = &hidden
	c := w.connect()
	p, err := c.Prepare(c.ctx, "ROWS 1 1")
	check(t, err)
	viaPrepared, err := p.Execute(c.ctx)
	check(t, err)
	_, info := c.query("ROWS 1 1")
	viaGetSchema, err := c.GetExecuteSchema(c.ctx, "ROWS 1 1")
	check(t, err)
	for name, raw := range map[string][]byte{"FlightInfo": info.Schema, "prepared FlightInfo": viaPrepared.Schema, "GetSchema": viaGetSchema.Schema} {
		got, err := flight.DeserializeSchema(raw, memory.DefaultAllocator)
		check(t, err)
		if !got.Equal(p.DatasetSchema()) || !got.Equal(numbers) || got.HasMetadata() {
			t.Errorf("%s has %s", name, got)
		}
	}
}

func TestParametersAreTextOrMillisecondsAndBindReturnsTheHandle(t *testing.T) {
	c := start(t, nil).connect()
	p, err := c.Prepare(c.ctx, "ECHO ?")
	check(t, err)
	if f := p.ParameterSchema().Field(0); f.Type.ID() != arrow.STRING {
		t.Errorf("an unknown type is told as %s", f.Type)
	}
	for _, values := range [][]int64{{1}, {2, 3, 4}, {}} {
		p.SetRecordReader(newReader(t, int64Batch(values...)))
		info, err := p.Execute(c.ctx)
		check(t, err)
		rows := c.fetch(info)
		if len(rows) != len(values) {
			t.Errorf("%v bound, %v came back", values, rows)
		}
		if len(p.Handle()) == 0 {
			t.Fatal("the handle is gone")
		}
	}
	nulls := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "p", Type: arrow.Null, Nullable: true}}, nil), []arrow.Array{array.NewNull(1)}, 1)
	p.SetParameters(nulls) // what Python binds for None; the fake engine cannot convert it
	info, err := p.Execute(c.ctx)
	check(t, err)
	_, err = c.read(info.Endpoint[0].Ticket, info.Schema)
	wantCode(t, err, codes.Internal, "not an int64")
	two := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, two)
	b.Field(0).(*array.Int64Builder).Append(1)
	b.Field(1).(*array.Int64Builder).Append(1)
	p.SetParameters(b.NewRecordBatch())
	_, err = p.Execute(c.ctx)
	wantCode(t, err, codes.InvalidArgument, "1 parameter, 2 given")
	_, err = c.Execute(c.ctx, "ECHO ?")
	wantCode(t, err, codes.InvalidArgument, "1 parameter, 0 given")
	ts, err := parameterSchema(arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us}}, nil), false)
	check(t, err)
	if !arrow.TypeEqual(ts.Field(0).Type, arrow.FixedWidthTypes.Timestamp_ms) {
		t.Errorf("timestamps are told as %s", ts.Field(0).Type)
	}
}

// TestParametersOfJavaAreWhatItsDriverCanBind: doubles in place of decimals that they keep, and milliseconds in place of every time.
func TestParametersOfJavaAreWhatItsDriverCanBind(t *testing.T) {
	for _, c := range []struct{ is, told arrow.DataType }{
		{arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time32ms},
		{&arrow.Decimal128Type{Precision: 12, Scale: 2}, arrow.PrimitiveTypes.Float64},
		{&arrow.Decimal128Type{Precision: 16, Scale: 2}, &arrow.Decimal128Type{Precision: 16, Scale: 2}},
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "p", Type: c.is}}, nil)
		for java, want := range map[bool]arrow.DataType{true: c.told, false: c.is} {
			got, err := parameterSchema(schema, java)
			check(t, err)
			if !arrow.TypeEqual(got.Field(0).Type, want) {
				t.Errorf("%s is told as %s, want %s (Java: %t)", c.is, got.Field(0).Type, want, java)
			}
		}
	}
	w := start(t, nil)
	parameters := arrow.NewSchema([]arrow.Field{{Name: "p", Type: &arrow.Decimal128Type{Precision: 5, Scale: 2}, Nullable: true}}, nil)
	for values, want := range map[string]string{`[{"p": 1.5}, {"p": null}]`: "decimal(5, 2) [1.5 (null)]", `[{"p": -999.99}]`: "decimal(5, 2) [-999.99]", `[{"p": 1.005}]`: "float64 [1.005]", `[{"p": 1000}]`: "float64 [1000]", `[{"p": 1e-7}]`: "float64 [1e-07]"} {
		args, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "p", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil), strings.NewReader(values))
		check(t, err)
		got := w.server.withDecimals(parameters, args)
		if text := fmt.Sprint(got.Column(0).DataType(), got.Column(0)); text != want {
			t.Errorf("%s becomes %s, want %s", values, text, want)
		}
		got.Release()
		args.Release()
	}
}

func TestUpdatesRunOncePerRowOfParameters(t *testing.T) {
	for _, c := range []struct {
		name  string
		batch arrow.RecordBatch
		want  int64
	}{
		{"no columns", nil, 1},
		{"no rows", int64Batch(), 0},
		{"three rows", int64Batch(1, 2, 3), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, nil)
			client := w.connect()
			sql := "SET k=1"
			if c.batch != nil {
				sql = "SET k=?"
			}
			p, err := client.Prepare(client.ctx, sql)
			check(t, err)
			if c.batch != nil {
				p.SetRecordReader(newReader(t, c.batch))
			}
			_, err = p.ExecuteUpdate(client.ctx)
			check(t, err)
			if n := w.engine.effects.Load(); n != c.want {
				t.Errorf("%d effects, want %d", n, c.want)
			}
		})
	}
}

func TestAPreparedStatementSeesTheSessionAsItIsWhenItRuns(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	p, err := c.Prepare(c.ctx, "GET spark.sql.x")
	check(t, err)
	c.query("SET spark.sql.x=later")
	for range 2 {
		info, err := p.Execute(c.ctx)
		check(t, err)
		if rows := c.fetch(info); !slices.Equal(rows, []string{"later"}) {
			t.Fatalf("got %v", rows)
		}
	}
}

func TestPreparedStatementsAreBoundedAndExpireAndCloseTwice(t *testing.T) {
	w := start(t, func(c *Config) { c.Limits = Limits{Prepared: 10, PreparedTotal: 25, PreparedIdle: time.Minute} })
	clients := []*client{w.login(), w.login(), w.login()}
	var last []*upstream.PreparedStatement
	for _, c := range clients {
		for range 40 {
			p, err := c.Prepare(c.ctx, "SELECT 1")
			check(t, err)
			last = append(last, p)
		}
	}
	if n := len(w.server.handles.byID); n > 25 {
		t.Errorf("%d handles", n)
	}
	newest, oldest := last[len(last)-1], last[0]
	c := clients[2]
	_, err := newest.Execute(c.ctx)
	check(t, err)
	_, err = oldest.Execute(clients[0].ctx)
	wantCode(t, err, codes.NotFound, "prepared statement is not known")
	check(t, newest.Close(c.ctx))
	body := &pb.ActionClosePreparedStatementRequest{PreparedStatementHandle: []byte("gone")}
	_, err = c.action(upstream.ClosePreparedStatementActionType, body, true)
	check(t, err)
	w.now = w.now.Add(2 * time.Minute)
	_, err = c.Prepare(c.ctx, "SELECT 1")
	check(t, err)
	if n := len(w.server.handles.byID); n != 1 {
		t.Errorf("%d handles after all but one expired", n)
	}
}

func TestAPreparedStatementWorksOnAnotherConnectionOfTheUser(t *testing.T) {
	w := start(t, nil)
	a, b := w.connect(), w.connect()
	p, err := a.Prepare(a.ctx, "SELECT 1")
	check(t, err)
	info, err := b.Client.Client.GetFlightInfo(b.ctx, descriptor(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: p.Handle()}))
	check(t, err)
	if rows := b.fetch(info); !slices.Equal(rows, []string{"1"}) {
		t.Fatalf("got %v", rows)
	}
}

func TestPlainFlightClientsSendBareSQLAndPaths(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	bare := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte("  SELECT 1 -- é\n")}
	info, err := c.Client.Client.GetFlightInfo(c.ctx, bare)
	check(t, err)
	if rows := c.fetch(info); !slices.Equal(rows, []string{"1"}) || !proto.Equal(info.FlightDescriptor, bare) {
		t.Errorf("got %v, descriptor %v", rows, info.FlightDescriptor)
	}
	_, err = c.Client.Client.GetSchema(c.ctx, bare)
	check(t, err)
	path := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"lake", "odd`name"}}
	routed, err := routable(path)
	check(t, err)
	var command anypb.Any
	check(t, proto.Unmarshal(routed.Cmd, &command))
	var q pb.CommandStatementQuery
	check(t, command.UnmarshalTo(&q))
	if q.Query != "SELECT * FROM `lake`.`odd``name`" {
		t.Errorf("the path became %s", q.Query)
	}
	for _, junk := range []string{"", " ", "\x00\x01", "\xff\xfe"} {
		_, err = c.Client.Client.GetFlightInfo(c.ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(junk)})
		wantCode(t, err, codes.InvalidArgument, "")
	}
}

func TestPollingIsCompleteAtOnceForEverything(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	for _, m := range []proto.Message{&pb.CommandStatementQuery{Query: "SET spark.sql.x=1"}, &pb.CommandGetCatalogs{}} {
		poll, err := c.Client.Client.PollFlightInfo(c.ctx, descriptor(t, m))
		check(t, err)
		if poll.FlightDescriptor != nil || poll.GetProgress() != 1 || len(c.fetch(poll.Info)) == 0 {
			t.Errorf("%T: %v", m, poll)
		}
	}
	if n := w.engine.effects.Load(); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func TestEndpointsFollowTheSessionsWish(t *testing.T) {
	for _, c := range []struct {
		sql, wish string
		want      int
	}{
		{"ROWS 10 2", "", 1}, {"ROWS 10 2", "false", 1}, {"ROWS 10 2", "true", 8}, {"ROWS 10 2", "3", 3}, {"ROWS 2 2", "true", 2},
		{"ROWS 0 2", "true", 1}, {"ORDERED 10 2", "true", 1}, {"SELECT 1", "5", 1},
	} {
		w := start(t, func(c *Config) { c.Limits.Endpoints = 8 })
		client := w.connect()
		if c.wish != "" {
			client.query("SET skua.flight.partitions=" + c.wish)
		}
		rows, info := client.query(c.sql)
		if len(info.Endpoint) != c.want {
			t.Errorf("%s with %q: %d endpoints, want %d", c.sql, c.wish, len(info.Endpoint), c.want)
		}
		if strings.HasPrefix(c.sql, "ROWS 10") && (len(rows) != 20 || rows[19] != "19" || info.TotalRecords != 20) {
			t.Errorf("%s with %q: %d of %d rows", c.sql, c.wish, len(rows), info.TotalRecords)
		}
		for _, e := range info.Endpoint {
			if len(e.Location) != 0 || e.ExpirationTime == nil || len(e.AppMetadata) == 0 {
				t.Errorf("endpoint %v", e)
			}
		}
	}
}

func TestErrorsHaveCodesAndPositions(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	_, err := c.Execute(c.ctx, "SELEC\n 1")
	wantCode(t, err, codes.InvalidArgument, "[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'. SQLSTATE: 42601 (line 2, pos 4)")
	_, err = c.Prepare(c.ctx, "CREATE TABLE t (a INT)")
	wantCode(t, err, codes.Unimplemented, "Skua reads only")
	_, err = c.ExecuteIngest(c.ctx, newReader(t, int64Batch(1)), &upstream.ExecuteIngestOpts{Table: "t",
		TableDefinitionOptions: &upstream.TableDefinitionOptions{IfNotExist: upstream.TableDefinitionOptionsTableNotExistOptionCreate}})
	wantCode(t, err, codes.Unimplemented, "Skua reads only")
	_, err = c.BeginTransaction(c.ctx)
	wantCode(t, err, codes.Unimplemented, "")
	info, err := c.Execute(c.ctx, "BREAK 3")
	check(t, err)
	rows, err := c.read(info.Endpoint[0].Ticket, info.Schema)
	wantCode(t, err, codes.DataLoss, "truncated page (file:/t/data.parquet)")
	if len(rows) != 3 {
		t.Errorf("%d rows before the error", len(rows))
	}
}

func TestADrainingServerRefusesNewWorkAndFinishesWhatItAccepted(t *testing.T) {
	draining := false
	w := start(t, func(c *Config) { c.Draining = func() bool { return draining } })
	c := w.connect()
	_, info := c.query("ROWS 2 2")
	draining = true
	if rows := c.fetch(info); len(rows) != 4 {
		t.Errorf("%d rows", len(rows))
	}
	_, err := c.Execute(c.ctx, "SELECT 1")
	wantCode(t, err, codes.Unavailable, "shutting down")
	_, err = c.Prepare(c.ctx, "SELECT 1")
	wantCode(t, err, codes.Unavailable, "shutting down")
	for range 50 { // when the refusal comes before the client has sent, its library tells the end of the stream instead
		if _, err = c.ExecuteUpdate(c.ctx, "SET a.b=1"); !errors.Is(err, io.EOF) {
			break
		}
	}
	wantCode(t, err, codes.Unavailable, "shutting down")
	_, err = c.CloseSession(c.ctx, &flight.CloseSessionRequest{})
	check(t, err)
}

func TestPartsOfAStateDecideWhetherAPreparedStatementIsStillGood(t *testing.T) {
	now := time.Now()
	state := session.State{Conf: session.NewConf(map[string]string{"a": "1"}), Catalog: "c", Namespace: []string{"n"}}
	in := session.New("x", "u", state, now)
	for name, c := range map[string]struct {
		change func(*readyPrepared)
		want   bool
	}{
		"as it was":         {func(*readyPrepared) {}, true},
		"too old":           {func(r *readyPrepared) { r.made = now.Add(-time.Minute) }, false},
		"other conf":        {func(r *readyPrepared) { r.state.Conf = r.state.Conf.With("a", "2") }, false},
		"other catalog":     {func(r *readyPrepared) { r.state.Catalog = "d" }, false},
		"other namespace":   {func(r *readyPrepared) { r.state.Namespace = nil }, false},
		"effect, elsewhere": {func(r *readyPrepared) { r.prepared = &fakePrepared{update: true} }, false},
		"effect, here":      {func(r *readyPrepared) { r.prepared, r.session = &fakePrepared{update: true}, in }, true},
	} {
		r := &readyPrepared{prepared: &fakePrepared{}, session: session.New("", "u", state, now), state: in.State(), made: now}
		if c.change(r); r.usable(now, in) != c.want {
			t.Errorf("%s: usable %v", name, !c.want)
		}
	}
}

func newReader(t *testing.T, b arrow.RecordBatch) array.RecordReader {
	t.Helper()
	r, err := array.NewRecordReader(b.Schema(), []arrow.RecordBatch{b})
	check(t, err)
	return r
}

func descriptor(t *testing.T, m proto.Message) *flight.FlightDescriptor {
	t.Helper()
	command, err := anypb.New(m)
	check(t, err)
	cmd, err := proto.Marshal(command)
	check(t, err)
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd}
}

// action calls an action and gives its first result.
func (c *client) action(name string, body proto.Message, wrapped bool) ([]byte, error) {
	c.t.Helper()
	if wrapped {
		a, err := anypb.New(body)
		check(c.t, err)
		body = a
	}
	raw, err := proto.Marshal(body)
	check(c.t, err)
	stream, err := c.Client.Client.DoAction(c.ctx, &flight.Action{Type: name, Body: raw})
	if err != nil {
		return nil, err
	}
	r, err := stream.Recv()
	return r.GetBody(), err
}
