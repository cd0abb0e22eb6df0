package conformance

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/grpc/status"
)

// Config says how scripts are run.
type Config struct {
	Target  Target
	Path    Path
	Timeout time.Duration // of one step; 0: a minute
}

// Outcome is what became of one case.
type Outcome struct {
	Script, Case, Rule string
	Path               Path
	Failures           []string // none: passed
	Elapsed            time.Duration
}

// Passed reports whether every step came out as expected.
func (o Outcome) Passed() bool { return len(o.Failures) == 0 }

// mismatch is a step that came out otherwise.
type mismatch struct{ what, want, got string }

// Error tells both sides.
func (m *mismatch) Error() string {
	return fmt.Sprintf("%s\n    expected: %s\n    seen:     %s", m.what, m.want, m.got)
}

// Run runs every case of a script. A case's first failing step ends that case; the others go on.
func Run(ctx context.Context, config Config, s *Script) []Outcome {
	out := make([]Outcome, 0, len(s.Cases))
	for _, c := range s.Cases {
		started := time.Now()
		o := Outcome{Script: s.Name, Case: c.Name, Rule: c.Rule, Path: config.Path}
		if err := runCase(ctx, config, &c, false); err != nil {
			o.Failures = append(o.Failures, err.Error())
		}
		o.Elapsed = time.Since(started)
		out = append(out, o)
	}
	return out
}

// Complete runs a script and fills in what came as what is expected, for a person to review as a diff. A step that fails to run, or a query that
// gives an error, is reported and left alone.
func Complete(ctx context.Context, config Config, s *Script) error {
	for i := range s.Cases {
		if err := runCase(ctx, config, &s.Cases[i], true); err != nil {
			return fmt.Errorf("%s: case %s: %w", s.Name, s.Cases[i].Name, err)
		}
	}
	return nil
}

func runCase(ctx context.Context, config Config, c *Case, complete bool) (err error) {
	sessions := map[string]*Client{}
	defer func() {
		for _, s := range sessions {
			s.Close()
		}
	}()
	for i := range c.Steps {
		step := &c.Steps[i]
		session, ok := sessions[step.Session]
		if !ok {
			if session, err = config.Target.Connect(ctx); err != nil {
				return err
			}
			sessions[step.Session] = session
		}
		if err := runStep(ctx, config, session, step, complete); err != nil {
			return fmt.Errorf("line %d: %s: %w", step.Line, step.SQL, err)
		}
	}
	return nil
}

func runStep(ctx context.Context, config Config, c *Client, s *Step, complete bool) error {
	timeout := config.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if s.Kind == Effect {
		return c.Effect(ctx, config.Path, s.SQL)
	}
	got, err := ask(ctx, config, c, s)
	if s.Kind == Error {
		return checkError(s, err)
	}
	if err != nil {
		return err
	}
	if complete {
		s.fill(got)
		return nil
	}
	return checkRows(s, got)
}

// result is what came, as text.
type result struct {
	schema    *arrow.Schema
	rows      []string
	endpoints int
}

func ask(ctx context.Context, config Config, c *Client, s *Step) (*result, error) {
	q := Question{SQL: s.SQL, Path: config.Path, Elsewhere: s.Elsewhere}
	if len(s.Arguments) > 0 {
		arguments, err := arguments(s.Arguments)
		if err != nil {
			return nil, err
		}
		defer arguments.Release()
		q.Arguments = arguments
	}
	answer, err := c.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	defer answer.Release()
	if answer.Update {
		return nil, &mismatch{"the server takes it for an update", "rows", "none"}
	}
	out := &result{schema: answer.Schema, endpoints: answer.Endpoints}
	for _, b := range answer.Batches {
		out.rows = append(out.rows, rowsOf(b)...)
	}
	return out, nil
}

func (s *Step) fill(got *result) {
	s.Schema = schemaText(got.schema)
	if s.Contains {
		return
	}
	s.Lines = slices.Clone(got.rows)
	if !s.Ordered {
		slices.Sort(s.Lines)
	}
}

func checkError(s *Step, err error) error {
	if err == nil {
		return &mismatch{"no error", s.Code, "rows"}
	}
	got := status.Convert(err)
	if got.Code().String() != s.Code {
		return &mismatch{"another code", s.Code, got.Code().String() + ": " + got.Message()}
	}
	for _, part := range s.Lines {
		if !strings.Contains(got.Message(), part) {
			return &mismatch{"another message", part, got.Message()}
		}
	}
	return nil
}

func checkRows(s *Step, got *result) error {
	if schema := schemaText(got.schema); schema != s.Schema {
		return &mismatch{"another schema", s.Schema, schema}
	}
	if s.Endpoints != 0 && got.endpoints != s.Endpoints {
		return &mismatch{"another number of endpoints", strconv.Itoa(s.Endpoints), strconv.Itoa(got.endpoints)}
	}
	return compareRows(s, got.rows)
}

func compareRows(s *Step, rows []string) error {
	if s.Contains {
		text := strings.Join(rows, "\n")
		for _, part := range s.Lines {
			if !strings.Contains(text, part) && !strings.Contains(text, escaper.Replace(part)) {
				return &mismatch{"a part is missing", part, text}
			}
		}
		return nil
	}
	want, have := slices.Clone(s.Lines), slices.Clone(rows)
	if !s.Ordered {
		slices.Sort(want)
		slices.Sort(have)
	}
	if !slices.Equal(want, have) {
		return &mismatch{"other rows", strings.Join(want, " ⏎ "), strings.Join(have, " ⏎ ")}
	}
	return nil
}

// Report writes outcomes as text, failures whole, and returns how many passed and failed.
func Report(w io.Writer, outcomes []Outcome) (passed, failed int) {
	for _, o := range outcomes {
		if o.Passed() {
			passed++
			continue
		}
		failed++
		fmt.Fprintf(w, "FAIL %s: %s (%s path)\n  rule: %s\n", o.Script, o.Case, o.Path, o.Rule)
		for _, f := range o.Failures {
			fmt.Fprintln(w, "  "+f)
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed\n", passed, failed)
	return passed, failed
}
