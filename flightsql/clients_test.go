package flightsql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/fault"
)

// strict knows a password and a token, and lets nobody else in.
type strict struct{ until time.Time }

func (s strict) Authenticate(_ context.Context, c auth.Credentials) (auth.Identity, error) {
	switch {
	case c.Scheme == auth.Basic && c.User == "ada" && c.Password == "p:w":
		return auth.Identity{Principal: auth.Principal{Name: "ada"}}, nil
	case c.Scheme == auth.Bearer && c.Token == "good":
		return auth.Identity{Principal: auth.Principal{Name: "ada"}, Until: s.until}, nil
	case c.Scheme == auth.Bearer && c.Token == "unreachable":
		return auth.Identity{}, fault.New(fault.Unavailable, "the keys cannot be read")
	}
	return auth.Identity{}, fault.New(fault.Unauthenticated, "log in")
}

func (strict) Stands(auth.Principal, string) error { return nil }

func TestLoginsAtHandshakeAndOnEveryCall(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = strict{} })
	for name, c := range map[string]struct {
		header string
		want   codes.Code
	}{
		"Basic as Go writes it":    {"Basic YWRhOnA6dw", codes.OK},
		"Basic as others write it": {"Basic YWRhOnA6dw==", codes.OK},
		"any case, more blanks":    {"bASIC   YWRhOnA6dw", codes.OK},
		"Bearer":                   {"Bearer good", codes.OK},
		"wrong password":           {"Basic YWRhOng", codes.Unauthenticated},
		"wrong token":              {"Bearer bad", codes.Unauthenticated},
		"nothing":                  {"", codes.Unauthenticated},
		"not base64":               {"Basic !!", codes.Unauthenticated},
		"no colon":                 {"Basic YWRh", codes.Unauthenticated},
		"another scheme":           {"Digest x", codes.Unauthenticated},
		"keys out of reach":        {"Bearer unreachable", codes.Unavailable},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{"authorization", c.header}
		}
		client := w.connect(headers...)
		client.t = t
		_, err := client.Execute(client.ctx, "SELECT 1")
		md, logged := handshake(client)
		if c.want != codes.OK {
			t.Log(name)
			wantCode(t, err, c.want, "")
			wantCode(t, logged, c.want, "")
			continue
		}
		if err != nil || logged != nil {
			t.Errorf("%s: %v, %v", name, err, logged)
			continue
		}
		w.connect("authorization", md.Get("authorization")[0]).query("SELECT 1")
	}
}

// TestATokenEndsWithTheLoginThatItWasMadeOf: a login by a token of an identity provider ends when that does, and no renewal outlives it.
func TestATokenEndsWithTheLoginThatItWasMadeOf(t *testing.T) {
	w := start(t, nil)
	until := w.now.Add(time.Hour)
	w.server.config.Auth = strict{until}
	c := w.login("authorization", "Bearer good")
	c.query(setX)
	w.now = w.now.Add(35 * time.Minute)
	_, info := c.query("SELECT 1")
	c.fetch(info)
	w.now = until.Add(time.Second)
	_, err := c.Execute(c.ctx, "SELECT 1")
	wantCode(t, err, codes.Unauthenticated, "log in again")
}

// passwords knows one user, whose password can be changed.
type passwords struct{ current *string }

func (p passwords) Authenticate(_ context.Context, c auth.Credentials) (auth.Identity, error) {
	if c.Scheme == auth.Basic && c.Password == *p.current {
		return auth.Identity{Principal: auth.Principal{Name: c.User}, Proof: "of " + *p.current}, nil
	}
	return auth.Identity{}, fault.New(fault.Unauthenticated, "wrong user or password")
}

func (p passwords) Stands(_ auth.Principal, proof string) error {
	if proof != "of "+*p.current {
		return fault.New(fault.Unauthenticated, "the password changed; log in again")
	}
	return nil
}

func TestATokenEndsWithThePasswordThatItWasMadeOf(t *testing.T) {
	password := "x"
	w := start(t, func(c *Config) { c.Auth = passwords{&password} })
	c := w.login("authorization", alice)
	c.query(setX)
	c.wantX("mine")
	password = "new"
	_, err := c.Execute(c.ctx, "SELECT 1")
	wantCode(t, err, codes.Unauthenticated, "password changed")
	password = "x"
	c.wantX("mine")
}

func TestMessagesOverTheLimitAreRefused(t *testing.T) {
	w := start(t, func(c *Config) { c.Limits.MaxReceive = 1 << 20 })
	c := w.connect()
	p, err := c.Prepare(c.ctx, "ECHO ?")
	check(t, err)
	d := descriptor(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: p.Handle()})
	wantCode(t, c.put(&flight.FlightData{FlightDescriptor: d, DataBody: make([]byte, 2<<20)}), codes.ResourceExhausted, "")
	_, err = c.Execute(c.ctx, "SELECT 1 -- "+strings.Repeat("x", 2<<20))
	wantCode(t, err, codes.ResourceExhausted, "")
	c.query("SELECT 1")
}

// infoTexts gives SqlInfo as texts, by code.
func (c *client) infoTexts() map[upstream.SqlInfo]string {
	c.t.Helper()
	info, err := c.GetSqlInfo(c.ctx, nil)
	check(c.t, err)
	r, err := c.DoGet(c.ctx, info.Endpoint[0].Ticket)
	check(c.t, err)
	defer r.Release()
	out := map[upstream.SqlInfo]string{}
	for r.Next() {
		names, values := r.RecordBatch().Column(0).(*array.Uint32), r.RecordBatch().Column(1).(*array.DenseUnion)
		for i := range names.Len() {
			member := values.Field(int(values.TypeCode(i)))
			out[upstream.SqlInfo(names.Value(i))] = member.ValueStr(int(values.ValueOffset(i)))
		}
	}
	return out
}

func TestServerInfoTellsWhatToolsBuildStatementsWith(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	info := c.infoTexts()
	for code, want := range map[upstream.SqlInfo]string{
		upstream.SqlInfoFlightSqlServerReadOnly:         "true",
		upstream.SqlInfoFlightSqlServerCancel:           "true",
		upstream.SqlInfoFlightSqlServerTransaction:      "0",
		upstream.SqlInfoIdentifierQuoteChar:             "`",
		upstream.SqlInfoSearchStringEscape:              `\`,
		upstream.SqlInfoSchemaTerm:                      "schema",
		upstream.SqlInfoCatalogTerm:                     "catalog",
		upstream.SqlInfoSupportedGroupBy:                "3",
		upstream.SqlInfoOuterJoinsSupportLevel:          "6",
		upstream.SqlInfoSupportedSubqueries:             "15",
		upstream.SqlInfoSupportedUnions:                 "3",
		upstream.SqlInfoNullOrdering:                    "3",
		upstream.SqlInfoTransactionsSupported:           "false",
		upstream.SqlInfoSupportsColumnAliasing:          "true",
		upstream.SqlInfoCorrelatedSubqueriesSupported:   "true",
		upstream.SqlInfoSupportsExpressionsInOrderBy:    "true",
		upstream.SqlInfoSelectForUpdateSupported:        "false",
		upstream.SqlInfoFlightSqlServerSubstrait:        "false",
		upstream.SqlInfoFlightSqlServerStatementTimeout: "0",
	} {
		if info[code] != want {
			t.Errorf("code %d is %q, want %q", code, info[code], want)
		}
	}
	if v := info[upstream.SqlInfoFlightSqlServerVersion]; !regexp.MustCompile(`^\d+\.\d+`).MatchString(v) {
		t.Errorf("version %q", v)
	}
	if f := info[upstream.SqlInfoStringFunctions]; !strings.Contains(f, "SUBSTRING") || strings.Contains(f, "SOUNDEX") {
		t.Errorf("functions %s", f)
	}
	c.query("SET " + dialectOption + "=spark")
	if got := c.infoTexts()[upstream.SqlInfoNullOrdering]; got != "1" {
		t.Errorf("in Spark's dialect nulls sort as %s", got)
	}
	_, err := c.BeginTransaction(c.ctx)
	wantCode(t, err, codes.Unimplemented, "")
	_, err = c.Client.Client.GetFlightInfo(c.ctx, descriptor(t, &pb.CommandStatementQuery{Query: "SELECT 1", TransactionId: []byte("x")}))
	wantCode(t, err, codes.Unimplemented, "transactions")
}

func TestTheOldCancelActionWorks(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	info, err := c.Execute(c.ctx, "ENDLESS")
	check(t, err)
	raw, err := proto.Marshal(info)
	check(t, err)
	s, err := c.Client.Client.DoAction(c.ctx, &flight.Action{Type: upstream.CancelQueryActionType, Body: pack(t, &pb.ActionCancelQueryRequest{Info: raw})})
	check(t, err)
	_, err = s.Recv()
	check(t, err)
	_, err = c.read(info.Endpoint[0].Ticket, nil)
	wantCode(t, err, codes.Canceled, "cancelled")
}

func TestFlightInfoTellsRowsAndNoPlaces(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	for sql, rows := range map[string]int64{"ROWS 3 7": 21, "ENDLESS": -1} {
		info, err := c.Execute(c.ctx, sql)
		check(t, err)
		if info.TotalRecords != rows || len(info.Endpoint[0].Location) != 0 || info.Endpoint[0].ExpirationTime == nil {
			t.Errorf("%s: %v", sql, info)
		}
	}
}

func TestADeadlineStopsTheEngine(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	info, err := c.Execute(c.ctx, "ENDLESS")
	check(t, err)
	short, cancel := context.WithTimeout(c.ctx, 200*time.Millisecond)
	defer cancel()
	r, err := c.DoGet(short, info.Endpoint[0].Ticket)
	check(t, err)
	defer r.Release()
	for r.Next() {
	}
	wantCode(t, r.Err(), codes.DeadlineExceeded, "")
	for end := time.Now().Add(10 * time.Second); w.engine.closedReaders.Load() == 0; {
		if time.Now().After(end) {
			t.Fatal("the engine reads on")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestTwoLoginsOfAUserAreTwoSessions, and each says so through every way of asking.
func TestTwoLoginsOfAUserAreTwoSessions(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	a, b := w.login("authorization", alice), w.login("authorization", alice)
	a.query(setX)
	a.wantX("mine")
	b.wantX("")
	got, err := a.GetSessionOptions(a.ctx, &flight.GetSessionOptionsRequest{})
	check(t, err)
	keys := make([]string, 0, len(got.SessionOptions))
	for k, v := range got.SessionOptions {
		keys = append(keys, fmt.Sprintf("%s=%s", k, v.GetStringValue()))
	}
	slices.Sort(keys)
	if strings.Join(keys, " ") != "catalog=lake schema=a spark.sql.x=mine" {
		t.Errorf("options %q", keys)
	}
}
