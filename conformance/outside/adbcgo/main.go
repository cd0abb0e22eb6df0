// Command adbcgo holds sessions with a Flight SQL server through ADBC's driver for Go and asks what package outside says, a JSON object a line.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/driver/flightsql"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/conformance"
)

// hello is the first line.
type hello struct {
	URI, User, Password string
	Roots               string `json:"tls_roots"`
}

// request is a line after it.
type request struct {
	ID          int
	Do, Session string
	Path        conformance.Path
	SQL         string
	Args        []string
	Varies      bool
}

func main() {
	if err := serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "adbcgo:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	var h hello
	if err := json.Unmarshal(line, &h); err != nil {
		return err
	}
	if err := out.Encode(map[string]any{"name": "adbc-go"}); err != nil {
		return err
	}
	sessions := map[string]*session{}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the caller went away
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		answer := map[string]any{"id": r.ID}
		if err := do(ctx, h, sessions, r, answer); err != nil {
			code := "Unknown"
			if e := (adbc.Error{}); errors.As(err, &e) {
				code = codeOf(e)
			}
			answer["error"] = map[string]string{"code": code, "message": err.Error()}
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}

// codes are gRPC's names of the statuses that ADBC gives others.
var codes = map[adbc.Status]string{
	adbc.StatusNotImplemented: "Unimplemented", adbc.StatusNotFound: "NotFound", adbc.StatusAlreadyExists: "AlreadyExists", adbc.StatusInvalidArgument: "InvalidArgument",
	adbc.StatusInvalidState: "FailedPrecondition", adbc.StatusInvalidData: "DataLoss", adbc.StatusIntegrity: "Internal", adbc.StatusInternal: "Internal", adbc.StatusIO: "Unavailable",
	adbc.StatusCancelled: "Canceled", adbc.StatusTimeout: "DeadlineExceeded", adbc.StatusUnauthenticated: "Unauthenticated", adbc.StatusUnauthorized: "PermissionDenied",
}

// codeOf gives the code that the server sent: the driver's text names it, its own status merges some.
func codeOf(e adbc.Error) string {
	for _, name := range []string{"ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "DataLoss", "Unavailable", "InvalidArgument", "NotFound", "Unimplemented", "Internal"} {
		if strings.Contains(e.Msg, name+"; ") || strings.Contains(e.Msg, name+":") {
			return name
		}
	}
	if name, ok := codes[e.Code]; ok {
		return name
	}
	return "Unknown"
}

func do(ctx context.Context, h hello, sessions map[string]*session, r request, answer map[string]any) error {
	if r.Do == "open" {
		s, err := open(ctx, h)
		if err == nil {
			sessions[r.Session] = s
		}
		return err
	}
	s := sessions[r.Session]
	if s == nil {
		return fmt.Errorf("there is no session %s", r.Session)
	}
	switch r.Do {
	case "close":
		delete(sessions, r.Session)
		return s.close()
	case "effect":
		return s.effect(ctx, r)
	}
	text, err := s.ask(ctx, r)
	answer["ipc"] = text
	return err
}

// session is a connection.
type session struct {
	database   adbc.Database
	connection adbc.Connection
}

func open(ctx context.Context, h hello) (*session, error) {
	options := map[string]string{adbc.OptionKeyURI: strings.Replace(h.URI, "grpc://", "grpc+tcp://", 1), flightsql.OptionCookieMiddleware: "true", flightsql.OptionTimeoutQuery: "120"}
	if h.User != "" {
		options[adbc.OptionKeyUsername], options[adbc.OptionKeyPassword] = h.User, h.Password
	}
	if h.Roots != "" {
		pem, err := os.ReadFile(h.Roots)
		if err != nil {
			return nil, err
		}
		options[flightsql.OptionSSLRootCerts] = string(pem)
	}
	database, err := flightsql.NewDriver(memory.DefaultAllocator).NewDatabase(options)
	if err != nil {
		return nil, err
	}
	connection, err := database.Open(ctx)
	if err != nil {
		return nil, errors.Join(err, database.Close())
	}
	return &session{database, connection}, nil
}

func (s *session) close() error { return errors.Join(s.connection.Close(), s.database.Close()) }

// statement makes one, prepared where the path says so.
func (s *session) statement(ctx context.Context, r request) (adbc.Statement, error) {
	st, err := s.connection.NewStatement()
	if err != nil {
		return nil, err
	}
	if err = st.SetSqlQuery(r.SQL); err == nil && (r.prepares() || len(r.Args) > 0) {
		err = st.Prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

func (r request) prepares() bool {
	return r.Path == conformance.PathPrepared || r.Path == conformance.PathTwice
}

// times is how often the statement is executed.
func (r request) times() int {
	if r.Path == conformance.PathTwice {
		return 2
	}
	return 1
}

func (s *session) effect(ctx context.Context, r request) error {
	st, err := s.statement(ctx, r)
	if err != nil {
		return err
	}
	defer st.Close()
	for range r.times() {
		if r.Path != conformance.PathQuery {
			if _, err := st.ExecuteUpdate(ctx); err != nil {
				return err
			}
			continue
		}
		if _, _, err := s.rows(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// ask gives the rows as an Arrow stream in base64.
func (s *session) ask(ctx context.Context, r request) (string, error) {
	st, err := s.statement(ctx, r)
	if err != nil {
		return "", err
	}
	defer st.Close()
	var schema *arrow.Schema
	var batches []arrow.RecordBatch
	var before []string
	for i := range r.times() {
		if len(r.Args) > 0 {
			arguments, err := conformance.Bind(r.Args)
			if err != nil {
				return "", err
			}
			if err := st.Bind(ctx, arguments); err != nil {
				return "", err
			}
		}
		if schema, batches, err = s.rows(ctx, st); err != nil {
			return "", err
		}
		rows, _ := conformance.Spell(schema, batches)
		slices.Sort(rows)
		if i > 0 && !r.Varies && !slices.Equal(rows, before) {
			return "", errors.New("executed a second time it gives other rows")
		}
		before = rows
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

func (s *session) rows(ctx context.Context, st adbc.Statement) (*arrow.Schema, []arrow.RecordBatch, error) {
	var stream array.RecordReader
	stream, _, err := st.ExecuteQuery(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer stream.Release()
	var out []arrow.RecordBatch
	for stream.Next() {
		b := stream.RecordBatch()
		b.Retain()
		out = append(out, b)
	}
	return stream.Schema(), out, stream.Err()
}
