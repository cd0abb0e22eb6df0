package flightsql

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

const (
	setX = "SET spark.sql.x=mine"
	getX = "GET spark.sql.x"
)

func (c *client) wantX(want string) {
	c.t.Helper()
	if rows, _ := c.query(getX); !slices.Equal(rows, []string{want}) {
		c.t.Fatalf("the session has %q, want %q", rows, want)
	}
}

func TestAConnectionWithoutCookiesKeepsItsSession(t *testing.T) {
	w := start(t, nil)
	a, b := w.connect(), w.connect()
	a.query(setX)
	a.wantX("mine")
	b.wantX("")
	a.conn.Close()
	deadline := time.Now().Add(5 * time.Second)
	for w.sessions.Len() > 0 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if n := w.sessions.Len(); n != 0 {
		t.Errorf("%d sessions after their connection is gone", n)
	}
}

func TestATokenIsASessionOnEveryConnection(t *testing.T) {
	w := start(t, nil)
	login := w.connect()
	md, err := handshake(login)
	check(t, err)
	token := md.Get("authorization")[0]
	a, b, other := w.connect("authorization", token), w.connect("authorization", token), w.login()
	a.query(setX)
	b.wantX("mine")
	other.wantX("")
	// A handshake with the token, as JDBC does it, stays in the session.
	md, err = handshake(w.connect("authorization", token))
	check(t, err)
	w.connect("authorization", md.Get("authorization")[0]).wantX("mine")
}

func TestASetGivesACookieThatLeadsToTheSessionFromAnywhere(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	a := w.connect("authorization", alice)
	var header metadata.MD
	_, err := a.Execute(a.ctx, setX, grpc.Header(&header))
	check(t, err)
	cookie := header.Get("set-cookie")
	if len(cookie) != 1 || !strings.HasPrefix(cookie[0], "arrow_flight_session_id=") || header.Get("x-skua-session")[0] != strings.TrimPrefix(cookie[0], "arrow_flight_session_id=") {
		t.Fatalf("header %v", header)
	}
	w.connect("authorization", alice, "cookie", "a=b; "+cookie[0]).wantX("mine")
	w.connect("authorization", alice, "x-skua-session", header.Get("x-skua-session")[0]).wantX("mine")
	// Another user's, or nobody's.
	for _, stranger := range []*client{w.connect("authorization", bob, "cookie", cookie[0]),
		w.connect("authorization", alice, "cookie", "arrow_flight_session_id="+strings.Repeat("A", 26))} {
		_, err = stranger.Execute(stranger.ctx, "SELECT 1")
		wantCode(t, err, codes.Unauthenticated, "session has ended")
	}
}

func TestMalformedHeadersAreIgnoredOrRefused(t *testing.T) {
	w := start(t, nil)
	for _, c := range []struct {
		key, value string
		want       codes.Code
	}{
		{"cookie", "arrow_flight_session_id=nobody", codes.OK},
		{"cookie", "arrow_flight_session=%%%", codes.OK},
		{"cookie", "a=b; c", codes.OK},
		{"cookie", strings.Repeat("=", 5000), codes.OK},
		{"x-skua-session", "../../etc", codes.OK},
		{"x-trace", "whatever", codes.OK},
		{"authorization", "Basic ###", codes.Unauthenticated},
		{"authorization", "Basic bm9jb2xvbg", codes.Unauthenticated},
		{"authorization", "Bearer no.such.token", codes.Unauthenticated},
		{"authorization", "Bearer", codes.OK}, // a token that was left out
		{"authorization", "Digest x", codes.Unauthenticated},
		{"authorization", "", codes.OK},
		{"catalog", "nowhere", codes.NotFound},
		{"schema", "nowhere", codes.OK},
		{"schema", "a..b", codes.OK},
		{"database", "`a", codes.OK},
		{"spark.sql.casesensitive", "perhaps", codes.InvalidArgument},
		{"skua.listen", "0.0.0.0:1", codes.PermissionDenied},
	} {
		client := w.connect(c.key, c.value)
		_, err := client.Execute(client.ctx, "SELECT 1")
		wantCode(t, err, c.want, "")
	}
}

func TestHeadersAreTheFirstOptionsOfASession(t *testing.T) {
	w := start(t, nil)
	c := w.connect("catalog", "other", "database", "b.`c`", "spark.sql.x", "from header", "spark.sql.casesensitive", "true", "applicationname", "x")
	c.wantX("from header")
	c.query("SET spark.sql.y=1") // the session is made with the headers in it
	options := c.options()
	for key, want := range map[string]string{"catalog": "other", "schema": "b.c", "spark.sql.x": "from header", "spark.sql.caseSensitive": "true", "spark.sql.y": "1"} {
		if options[key] != want {
			t.Errorf("%s is %q, want %q", key, options[key], want)
		}
	}
	c.query(setX)
	c.wantX("mine")
}

func (c *client) options() map[string]string {
	c.t.Helper()
	got, err := c.GetSessionOptions(c.ctx, &flight.GetSessionOptionsRequest{})
	check(c.t, err)
	out := map[string]string{}
	for k, v := range got.SessionOptions {
		text, _, err := optionText(v)
		check(c.t, err)
		out[k] = text
	}
	return out
}

func (c *client) set(options map[string]any) map[string]string {
	c.t.Helper()
	values, err := flight.NewSessionOptionValues(options)
	check(c.t, err)
	result, err := c.SetSessionOptions(c.ctx, &flight.SetSessionOptionsRequest{SessionOptions: values})
	check(c.t, err)
	refused := map[string]string{}
	for k, e := range result.Errors {
		refused[k] = e.Value.String()
	}
	return refused
}

func TestSessionOptionsAreConvertedAndRefusedOneByOne(t *testing.T) {
	c := start(t, nil).connect()
	refused := c.set(map[string]any{"spark.sql.a": "text", "spark.sql.b": true, "spark.sql.c": int64(-5), "spark.sql.d": float64(1 << 20), "spark.sql.e": 0.5,
		"spark.sql.f": []string{"x", "y"}, "no such option": "1", "skua.unheard-of": "1", "skua.listen": "x", "spark.sql.caseSensitive": "perhaps",
		"catalog": "nowhere", "schema": "a.b"})
	want := map[string]string{"no such option": "INVALID_NAME", "skua.unheard-of": "INVALID_NAME", "skua.listen": "ERROR", "spark.sql.caseSensitive": "INVALID_VALUE",
		"catalog": "INVALID_VALUE"}
	if fmt.Sprint(refused) != fmt.Sprint(want) {
		t.Errorf("refused %v, want %v", refused, want)
	}
	options := c.options()
	for key, value := range map[string]string{"spark.sql.a": "text", "spark.sql.b": "true", "spark.sql.c": "-5", "spark.sql.d": "1048576", "spark.sql.e": "0.5",
		"spark.sql.f": "x,y", "catalog": "lake", "schema": "a.b"} {
		if options[key] != value {
			t.Errorf("%s is %q, want %q", key, options[key], value)
		}
	}
	if refused := c.set(map[string]any{"spark.sql.a": nil, "schema": nil}); len(refused) != 0 {
		t.Errorf("erasing was refused: %v", refused)
	}
	if options := c.options(); options["schema"] != "a" {
		t.Errorf("schema is %q after it was erased", options["schema"])
	} else if _, still := options["spark.sql.a"]; still {
		t.Error("an erased option is still there")
	}
}

// TestSessionOptionsAreReadBackInTheTypeThatTheyWereGivenIn until SQL, or another type, gives them another text.
func TestSessionOptionsAreReadBackInTheTypeThatTheyWereGivenIn(t *testing.T) {
	c := start(t, nil).connect()
	kept := map[string]any{"spark.sql.a": "text", "spark.sql.b": true, "spark.sql.c": int64(-5), "spark.sql.d": 0.5, "spark.sql.e": []string{"x", "y"}}
	changed := map[string]any{"spark.sql.x": int64(7), "spark.some.password": int64(1234)}
	c.set(kept)
	c.set(changed)
	c.query(setX)
	got, err := c.GetSessionOptions(c.ctx, &flight.GetSessionOptionsRequest{})
	check(t, err)
	kept["spark.sql.x"], kept["spark.some.password"] = "mine", session.Redacted
	for key, value := range kept {
		want, err := flight.NewSessionOptionValue(value)
		check(t, err)
		if !proto.Equal(got.SessionOptions[key], &want) {
			t.Errorf("%s is %v, want %v", key, got.SessionOptions[key], &want)
		}
	}
}

func TestSecretsAreMaskedAndSQLSeesOptions(t *testing.T) {
	c := start(t, nil).connect()
	c.set(map[string]any{"spark.some.password": "hush", "spark.sql.x": "seen"})
	if v := c.options()["spark.some.password"]; v != session.Redacted {
		t.Errorf("a secret shows as %q", v)
	}
	c.wantX("seen")
}

// TestWhoSharesASessionKeepsItsStatementsWhenAnotherClosesIt: a token that several connections show is one session, and each client closes it when it is done.
func TestWhoSharesASessionKeepsItsStatementsWhenAnotherClosesIt(t *testing.T) {
	w := start(t, nil)
	first := w.login()
	md, _ := metadata.FromOutgoingContext(first.ctx)
	second := w.connect("authorization", md.Get("authorization")[0])
	first.query(setX)
	mine, err := first.Prepare(first.ctx, "SELECT 1")
	check(t, err)
	theirs, err := second.Prepare(second.ctx, "SELECT 1")
	check(t, err)
	_, err = second.CloseSession(second.ctx, &flight.CloseSessionRequest{})
	check(t, err)
	info, err := mine.Execute(first.ctx)
	check(t, err)
	if rows := first.fetch(info); len(rows) != 1 {
		t.Errorf("rows %q", rows)
	}
	_, err = theirs.Execute(second.ctx)
	wantCode(t, err, codes.NotFound, "not known")
	first.wantX("") // what was set has ended for both
}

func TestCloseSessionTwice(t *testing.T) {
	w := start(t, nil)
	for name, c := range map[string]*client{"connection": w.connect(), "token": w.login()} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			before := w.sessions.Len()
			c.query(setX)
			p, err := c.Prepare(c.ctx, "SELECT 1")
			check(t, err)
			result, err := c.CloseSession(c.ctx, &flight.CloseSessionRequest{})
			check(t, err)
			if result.Status != flight.CloseSessionResultClosed {
				t.Errorf("status %s", result.Status)
			}
			_, err = c.CloseSession(c.ctx, &flight.CloseSessionRequest{})
			wantCode(t, err, codes.NotFound, "no session")
			if w.sessions.Len() != before {
				t.Error("a session was made to be closed")
			}
			_, err = p.Execute(c.ctx)
			if err == nil {
				t.Error("a prepared statement outlives its session")
			}
			c.wantX("") // the client goes on, without what it had set
			c.query(setX)
			c.wantX("mine")
		})
	}
	fresh := w.connect() // nothing was ever set
	_, err := fresh.CloseSession(fresh.ctx, &flight.CloseSessionRequest{})
	check(t, err)
	_, err = fresh.CloseSession(fresh.ctx, &flight.CloseSessionRequest{})
	wantCode(t, err, codes.NotFound, "no session")
}

func TestAnExpiredSessionIsAnErrorAndNoFreshOne(t *testing.T) {
	w := start(t, nil)
	for name, c := range map[string]*client{"connection": w.connect(), "token": w.login()} {
		c.query(setX)
		w.now = w.now.Add(time.Hour)
		_, err := c.Execute(c.ctx, getX)
		t.Log(name)
		wantCode(t, err, codes.Unauthenticated, "session has ended")
	}
	idle := w.login() // has nothing to lose
	w.now = w.now.Add(2 * time.Hour)
	idle.wantX("")
}

func TestATokenOfAnEarlierStartAuthenticatesAndOpensNoSession(t *testing.T) {
	first, second := start(t, nil), start(t, nil)
	md, err := handshake(first.connect())
	check(t, err)
	c := second.connect("authorization", md.Get("authorization")[0])
	_, err = c.Execute(c.ctx, "SELECT 1")
	wantCode(t, err, codes.Unauthenticated, "log in again")
	a := first.connect("authorization", md.Get("authorization")[0])
	_, info := a.query("SELECT 1")
	if rows := c.fetch(info); len(rows) != 1 {
		t.Error("a ticket needs no session")
	}
}

func TestTokensExpireAndAreRenewedBefore(t *testing.T) {
	w := start(t, nil)
	c := w.login()
	var header metadata.MD
	_, err := c.Execute(c.ctx, "SELECT 1", grpc.Header(&header))
	check(t, err)
	if len(header.Get("authorization")) != 0 {
		t.Error("a young token was renewed")
	}
	w.now = w.now.Add(13 * time.Hour)
	_, err = c.Execute(c.ctx, "SELECT 1", grpc.Header(&header))
	check(t, err)
	renewed := w.connect("authorization", header.Get("authorization")[0])
	w.now = w.now.Add(12 * time.Hour)
	_, err = c.Execute(c.ctx, "SELECT 1")
	wantCode(t, err, codes.Unauthenticated, "log in again")
	renewed.query("SELECT 1")
}

func TestCallsAloneMakeNoSessions(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	for range 300 {
		c.query("SELECT 1")
	}
	if n := w.sessions.Len(); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	w := start(t, func(c *Config) { c.Sessions = session.NewStore(session.StoreConfig{Max: 3}) })
	var clients []*client
	for range 3 {
		c := w.connect()
		c.query(setX)
		clients = append(clients, c)
	}
	c := w.connect()
	_, err := c.Execute(c.ctx, setX)
	wantCode(t, err, codes.ResourceExhausted, "skua.session.max")
	c.query("SELECT 1")
	clients[0].wantX("mine")
}

func TestARemoteConnectionAloneIsASessionOnlyWhereAllowed(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		w := start(t, func(c *Config) { c.Limits.RemoteByAddress = allowed })
		remote := &caller{conn: &connection{key: "connection:1"}}
		if key := w.server.bindingKey(remote); (key != "") != allowed {
			t.Errorf("allowed %v: key %q", allowed, key)
		}
	}
}

func TestNamesOfSchemas(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"a", []string{"a"}}, {"a.b", []string{"a", "b"}}, {"`a.b`.c", []string{"a.b", "c"}}, {"`a``b`", []string{"a`b"}}, {"", nil},
	} {
		got, err := engine.ParseSchemaName(c.text)
		check(t, err)
		if !slices.Equal(got, c.want) || engine.SchemaName(got) != c.text {
			t.Errorf("%s: %q, back %s", c.text, got, engine.SchemaName(got))
		}
	}
	for _, bad := range []string{".", "a.", ".a", "a..b", "`a", "`a`b", "``x"} {
		if got, err := engine.ParseSchemaName(bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %q, %v", bad, got, err)
		}
	}
}

func TestListActionsNamesWhatWorks(t *testing.T) {
	c := start(t, nil).connect()
	stream, err := c.Client.Client.ListActions(c.ctx, &flight.Empty{})
	check(t, err)
	var names []string
	for a, err := stream.Recv(); err == nil; a, err = stream.Recv() {
		names = append(names, a.Type)
	}
	slices.Sort(names)
	want := []string{"CancelFlightInfo", "CancelQuery", "ClosePreparedStatement", "CloseSession", "CreatePreparedStatement", "GetSessionOptions", "RenewFlightEndpoint", "SetSessionOptions"}
	if !slices.Equal(names, want) {
		t.Errorf("actions %v", names)
	}
	_, err = c.action("NoSuchAction", &pb.Empty{}, false)
	wantCode(t, err, codes.InvalidArgument, "")
}
