package shell

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

func answers() map[string]arrow.RecordBatch {
	return map[string]arrow.RecordBatch{
		"SET a=b":                  texts([]string{"key", "value"}, "a", "b"),
		"SET":                      texts([]string{"key", "value"}, "a", "b"),
		"USE x":                    counting("affected_rows", 0),
		"INSERT 2":                 counting("affected_rows", 2),
		"SELECT 7":                 counting("n", 7),
		"SELECT 1 affected_rows":   counting("affected_rows", 1),
		"-- c\nSELECT commented":   counting("n", 1),
		"CALL affected_rows.one()": counting("affected_rows", 1),
	}
}

const setTable = "key | value\n----+------\na   | b\n(1 row)\n"

func TestEffectsAreTheServersWord(t *testing.T) {
	prepares := &fake{answers: answers(), prepares: true, updates: map[string]bool{"SET a=b": true, "USE x": true, "INSERT 2": true}}
	silent := &fake{answers: answers()}
	for _, c := range []struct {
		server             *fake
		text, table, lines string
	}{
		{prepares, "SET a=b", "OK\n", ""},
		{prepares, "SET", setTable, "key,value\r\na,b\r\n"},
		{prepares, "USE x", "OK\n", ""},
		{prepares, "INSERT 2", "OK, 2 rows affected\n", ""},
		{prepares, "SELECT 7", "n\n-\n7\n(1 row)\n", "n\r\n7\r\n"},
		{prepares, "SELECT 1 affected_rows", "affected_rows\n-------------\n            1\n(1 row)\n", "affected_rows\r\n1\r\n"},
		{prepares, "CALL affected_rows.one()", "affected_rows\n-------------\n            1\n(1 row)\n", "affected_rows\r\n1\r\n"},
		{silent, "SET a=b", setTable, "key,value\r\na,b\r\n"},
		{silent, "USE x", "OK\n", ""},
		{silent, "INSERT 2", "OK, 2 rows affected\n", ""},
	} {
		uri := c.server.serve(t)
		for format, want := range map[string]string{"table": c.table, "csv": c.lines} {
			var out bytes.Buffer
			if err := Run(context.Background(), Config{URI: uri, Format: format, Out: &out, Execute: Split("", c.text)}); err != nil || out.String() != want {
				t.Errorf("%s as %s: %v\n%s", c.text, format, err, out.String())
			}
		}
	}
}

func TestArrowRunHoldsOneResult(t *testing.T) {
	uri := (&fake{answers: answers()}).serve(t)
	var one, two bytes.Buffer
	run := func(out *bytes.Buffer, text string) error {
		return Run(context.Background(), Config{URI: uri, Format: "arrow", Out: out, Execute: Split("", text)})
	}
	if err := run(&one, "USE x; SELECT 7; USE x"); err != nil {
		t.Error(err)
	}
	if err := run(&two, "SELECT 7; SELECT 7"); err == nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("two results: %v, %d and %d bytes", err, one.Len(), two.Len())
	}
}

func TestErrorsTellWhereTheStatementIs(t *testing.T) {
	server := &fake{answers: answers()}
	uri := server.serve(t)
	var out bytes.Buffer
	config := Config{URI: uri, Out: &out, In: strings.NewReader("SELECT 7;\n\n-- now\nSELECT\nbad;\nSELECT 7")}
	err := Run(context.Background(), config)
	if err == nil || err.Error() != "stdin:4: INVALID_ARGUMENT: syntax error" {
		t.Errorf("%v", err)
	}
	if asked := server.questions(); len(asked) != 2 || asked[1] != "SELECT\nbad" {
		t.Errorf("asked %q", asked)
	}
}

func TestLostSessionIsToldAndTheNextStatementRuns(t *testing.T) {
	server := &fake{answers: answers()}
	var out bytes.Buffer
	config := Config{URI: server.serve(t), Format: "table", Out: &out}
	c, err := connect(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{config: config, client: c}
	defer func() { s.client.close(context.Background()) }()
	server.end()
	if err := s.one(context.Background(), "SELECT 7"); err == nil || strings.Contains(err.Error(), "SET and USE") {
		t.Errorf("before any session: %v", err)
	}
	if err := s.one(context.Background(), "SELECT 7"); err != nil {
		t.Fatal(err)
	}
	server.end()
	if err := s.one(context.Background(), "SELECT 7"); err == nil || !strings.Contains(err.Error(), "what SET and USE had set is gone") || s.client == c {
		t.Errorf("after: %v", err)
	}
	if err := s.one(context.Background(), "SELECT 7"); err != nil {
		t.Error(err)
	}
}

func TestTimingCountsInWords(t *testing.T) {
	var out bytes.Buffer
	config := Config{URI: (&fake{answers: answers()}).serve(t), Out: &out, Timing: true, Execute: Split("", "SELECT 7; USE x")}
	if err := Run(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "\n1 row in ") || strings.Contains(got, "-1") {
		t.Errorf("%s", got)
	}
}

func TestTarget(t *testing.T) {
	for uri, want := range map[string]target{
		"grpc://127.0.0.1":                 {"", "127.0.0.1:31337", false},
		"grpc://127.0.0.1:1":               {"", "127.0.0.1:1", false},
		"grpc+tls://lake":                  {"", "lake:31337", true},
		"grpcs://[::1]":                    {"", "[::1]:31337", true},
		"grpc://[::1]:2":                   {"", "[::1]:2", false},
		"grpc://lake:":                     {"", "lake:31337", false},
		"lake":                             {"", "lake:31337", false},
		"lake:5":                           {"", "lake:5", false},
		"::1":                              {"", "[::1]:31337", false},
		"flightsql://lake:5":               {"", "lake:5", true},
		"flightsql://lake:5?transport=tcp": {"", "lake:5", false},
	} {
		want.uri = uri
		if got, err := parseTarget(uri); err != nil || got != want {
			t.Errorf("%s: %v, %v", uri, got, err)
		}
	}
	for _, uri := range []string{"http://a", "grpc://", "", "grpc://u:p@a", "a:b:c", "grpc://%"} {
		if got, err := parseTarget(uri); err == nil {
			t.Errorf("%s: %v", uri, got)
		}
	}
}

// failing runs a statement that has no server, or the wrong one, and gives the error's text.
func failing(t *testing.T, config Config) string {
	t.Helper()
	config.Out, config.Execute = os.Stdout, Split("", "SELECT 7")
	err := Run(context.Background(), config)
	if err == nil {
		t.Fatal("no error")
	}
	return err.Error()
}

func TestNoConnectionTellsWhatToTry(t *testing.T) {
	plain := (&fake{answers: answers()}).serve(t)
	address := strings.TrimPrefix(plain, "grpc://")
	secure := httptest.NewUnstartedServer(nil)
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	free.Close()
	for uri, want := range map[string]string{
		"grpc+tls://" + address:                         "does not speak TLS\nTry --uri grpc://" + address,
		"grpc://" + nobody:                              "connection refused\nIs the server running",
		"grpc+tls://" + secure.Listener.Addr().String(): "authority that is not known here\nGive the authority with --ca-file",
	} {
		if got := failing(t, Config{URI: uri}); !strings.Contains(got, want) {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

func TestUnreachable(t *testing.T) {
	for _, c := range []struct {
		secure, answered bool
		message, want    string
	}{
		{false, false, `connection error: desc = "error reading server preface: EOF"`, "try --uri grpc+tls://a:1"},
		{false, true, `error reading from server: EOF`, ""},
		{true, false, "write tcp: write: broken pipe", "--client-certificate"},
		{true, false, "remote error: tls: certificate required", "--client-key"},
		{true, false, "tls: failed to verify certificate: x509: certificate is valid for b, not a", "is not valid: "},
		{false, false, "dns: A record lookup error: lookup a: no such host", "unknown host in grpc://a"},
		{false, false, "dial tcp: i/o timeout", "no answer from a:1"},
		{false, false, "the server is draining", ""},
		{false, false, "catalog bad: listing tables: dial tcp 127.0.0.1:1: connect: connection refused", ""},
		{false, false, "catalog bad: lookup b: no such host", ""},
	} {
		client := &client{target: target{"grpc://a", "a:1", c.secure}, answered: c.answered}
		if got := client.unreachable(c.message); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q: %q", c.message, got)
		}
	}
}
