// Package outside runs conformance scripts through clients that are no part of this program: a program in any language that holds sessions with a
// Flight SQL server and is told, a JSON object a line, what to ask. adbc.py is one for ADBC from Python, adbcgo
// one for ADBC from Go, Jdbc.java one for Arrow's JDBC driver.
//
// The first line a program reads is {"uri", "user", "password", "tls_roots"}; it answers {"name": NAME}. Then come requests, one at a time, with id
// and do: open and close of a session, ask and effect with session, path, sql, args ("TYPE VALUE" each) and varies, which says that rows may be others
// when executed again. An answer repeats the id and has one of
// ipc (an Arrow stream in base64), columns with rows (texts, spelled as scripts spell values), update (true), error (code, message), or ok.
package outside

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
)

// Config says which program, and whom it asks.
type Config struct {
	Program                           string // a file: *.py is run by $SKUA_PYTHON or python3, *.java by java with $SKUA_JDBC_DRIVER, anything else as it is
	URI, User, PasswordFile, TLSRoots string
}

// Client is a running program. Its sessions may be used one at a time.
type Client struct {
	config Config
	hello  []byte
	name   string

	mu       sync.Mutex
	process  *process // nil: it has to be started
	sessions int
	requests int
}

// process is one start of the program.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte
	errors  *tail
}

// Start starts the program and waits for its name. It ends with Close, or with ctx.
func Start(ctx context.Context, c Config) (*Client, error) {
	password := ""
	if c.PasswordFile != "" {
		data, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return nil, err
		}
		password, _, _ = strings.Cut(string(data), "\n")
	}
	hello, err := json.Marshal(map[string]string{"uri": c.URI, "user": c.User, "password": strings.TrimRight(password, "\r"), "tls_roots": c.TLSRoots})
	if err != nil {
		return nil, err
	}
	out := &Client{config: c, hello: append(hello, '\n')}
	out.mu.Lock()
	defer out.mu.Unlock()
	return out, out.start(ctx)
}

// Name is what the program calls itself.
func (c *Client) Name() string { return c.name }

// Close ends the program.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kill()
	return nil
}

func (c *Client) kill() {
	if c.process == nil {
		return
	}
	c.process.in.Close()
	_ = c.process.command.Process.Kill() // it may have ended
	for range c.process.lines {
	}
	_ = c.process.command.Wait() // that it was killed is no news
	c.process = nil
}

func (c *Client) command(ctx context.Context) (*exec.Cmd, error) {
	switch filepath.Ext(c.config.Program) {
	case ".py":
		python := os.Getenv("SKUA_PYTHON")
		if python == "" {
			python = "python3"
		}
		return exec.CommandContext(ctx, python, c.config.Program), nil
	case ".java":
		driver := os.Getenv("SKUA_JDBC_DRIVER")
		if driver == "" {
			return nil, errors.New("SKUA_JDBC_DRIVER must name the jar of Arrow's Flight SQL JDBC driver")
		}
		return exec.CommandContext(ctx, "java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-Duser.timezone=UTC", "-cp", driver, c.config.Program), nil
	}
	return exec.CommandContext(ctx, c.config.Program), nil
}

// start starts the program. The caller holds the lock.
func (c *Client) start(ctx context.Context) error {
	command, err := c.command(context.WithoutCancel(ctx)) // it outlives the case in which it is started again; Close ends it
	if err != nil {
		return err
	}
	p := &process{command: command, lines: make(chan []byte, 1), errors: &tail{}}
	if p.in, err = command.StdinPipe(); err != nil {
		return err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	command.Stderr = p.errors
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.config.Program, err)
	}
	go p.read(out)
	c.process = p
	answer, err := c.exchange(ctx, c.hello)
	if err != nil {
		c.kill()
		return fmt.Errorf("start %s: %w", c.config.Program, err)
	}
	c.name = answer.Name
	return nil
}

func (p *process) read(out io.Reader) {
	defer close(p.lines)
	lines := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		p.lines <- line
	}
}

// answer is one line of the program.
type answer struct {
	ID      int
	Name    string
	IPC     string
	Columns []string
	Rows    [][]string
	Update  bool
	Error   *struct{ Code, Message string }
}

// exchange sends a line and waits for one. The caller holds the lock. A program that does not answer in time is killed.
func (c *Client) exchange(ctx context.Context, line []byte) (*answer, error) {
	p := c.process
	if _, err := p.in.Write(line); err != nil {
		c.kill()
		return nil, fmt.Errorf("the client's program ended: %w: %s", err, p.errors)
	}
	select {
	case <-ctx.Done():
		c.kill()
		return nil, ctx.Err()
	case got, ok := <-p.lines:
		if !ok {
			c.kill() // which waits for the last it has to say
			return nil, fmt.Errorf("the client's program ended: %s", p.errors)
		}
		out := &answer{}
		if err := json.Unmarshal(got, out); err != nil {
			c.kill()
			return nil, fmt.Errorf("the client's program said %.200q: %w", got, err)
		}
		return out, nil
	}
}

// do makes a request.
func (c *Client) do(ctx context.Context, request map[string]any) (*answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		if request["do"] != "open" {
			return nil, status.Error(codes.Unavailable, "the session ended with the client's program")
		}
		if err := c.start(ctx); err != nil {
			return nil, err
		}
	}
	c.requests++
	request["id"] = c.requests
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	got, err := c.exchange(ctx, append(line, '\n'))
	switch {
	case err != nil:
		return nil, err
	case got.ID != c.requests:
		c.kill()
		return nil, fmt.Errorf("the client's program answered request %d, not %d", got.ID, c.requests)
	case got.Error != nil:
		return nil, status.Error(codeOf(got.Error.Code), got.Error.Message)
	}
	return got, nil
}

// codeOf finds a code by its name in any of the spellings that clients have: NotFound, NOT_FOUND.
func codeOf(name string) codes.Code {
	bare := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if strings.ToLower(c.String()) == bare {
			return c
		}
	}
	return codes.Unknown
}

// Sessions makes sessions that the program holds.
func (c *Client) Sessions() conformance.Connector {
	return func(ctx context.Context) (conformance.Session, error) {
		c.mu.Lock()
		c.sessions++
		name := strconv.Itoa(c.sessions)
		c.mu.Unlock()
		if _, err := c.do(ctx, map[string]any{"do": "open", "session": name}); err != nil {
			return nil, err
		}
		return &session{c, name, context.WithoutCancel(ctx)}, nil
	}
}

type session struct {
	client *Client
	name   string
	ctx    context.Context // of Close, which has none of its own
}

// Ask has the program ask.
func (s *session) Ask(ctx context.Context, q conformance.Question) (*conformance.Answer, error) {
	got, err := s.client.do(ctx, map[string]any{"do": "ask", "session": s.name, "path": q.Path, "sql": q.SQL, "args": q.Texts, "varies": q.Varies})
	switch {
	case err != nil:
		return nil, err
	case got.Update:
		return &conformance.Answer{Update: true}, nil
	case got.IPC == "":
		return &conformance.Answer{Text: &conformance.Text{Columns: got.Columns, Rows: got.Rows}}, nil
	}
	return decode(got.IPC)
}

func decode(text string) (*conformance.Answer, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	out := &conformance.Answer{Schema: r.Schema()}
	for r.Next() {
		b := r.RecordBatch()
		b.Retain()
		out.Batches = append(out.Batches, b)
	}
	if r.Err() != nil {
		out.Release()
		return nil, r.Err()
	}
	return out, nil
}

// Effect has the program run a statement for its effect.
func (s *session) Effect(ctx context.Context, path conformance.Path, sql string) error {
	_, err := s.client.do(ctx, map[string]any{"do": "effect", "session": s.name, "path": path, "sql": sql})
	return err
}

// Call is refused: what a client makes of Flight SQL's metadata is its own.
func (s *session) Call(context.Context, string, []string) (*conformance.Answer, error) {
	return nil, status.Error(codes.Unimplemented, "metadata calls are made by the Go client only")
}

// closing is how long a program has to close a session.
const closing = 10 * time.Second

// Close ends the session, if the program still lives. One that does not close it in time is ended itself.
func (s *session) Close() error {
	ctx, cancel := context.WithTimeout(s.ctx, closing)
	defer cancel()
	_, err := s.client.do(ctx, map[string]any{"do": "close", "session": s.name})
	return err
}

// tail keeps the last that a program wrote to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - 4000; over > 0 {
		t.text = t.text[over:]
	}
	return len(b), nil
}

// String gives it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
