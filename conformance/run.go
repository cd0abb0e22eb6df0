package conformance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Config says how scripts are run. Connect is required; the zero value of every other field works.
type Config struct {
	Connect     Connector
	Cell        Cell                                     // where in the matrix; a path that is not set is PathQuery
	Profile     *Profile                                 // nil: Reference
	StepTimeout time.Duration                            // of one statement; 0: a minute
	CaseTimeout time.Duration                            // of one case; 0: two minutes
	GiveUp      int                                      // after so many cases in a row whose time ran out the rest is not asked; 0: 3
	Smoke       bool                                     // only cases of the short profile
	Only        string                                   // only cases whose SCRIPT/CASE matches, with * for anything; empty: all
	Missing     func(ctx context.Context, t string) bool // whether a reference table is absent; nil: none is
	Done        func(Outcome)                            // told of each outcome as it comes; may be nil
}

const (
	stepTimeout = time.Minute
	caseTimeout = 2 * time.Minute
)

func (c Config) filled() Config {
	if c.Profile == nil {
		c.Profile = Reference()
	}
	if c.StepTimeout == 0 {
		c.StepTimeout = stepTimeout
	}
	if c.CaseTimeout == 0 {
		c.CaseTimeout = caseTimeout
	}
	if c.GiveUp == 0 {
		c.GiveUp = 3
	}
	if c.Cell.Path == "" {
		c.Cell.Path = PathQuery
	}
	return c
}

// Run runs the cases of scripts in one cell. A case's first failing step ends that case; the others go on. Cases that the cell or the configuration
// is not about have no outcome; those that cannot be run are skipped with the reason. It ends by itself, whatever the server does.
func Run(ctx context.Context, config Config, scripts ...*Script) []Outcome {
	r := &runner{Config: config.filled()}
	r.names = NewRenames(r.Profile.Names, r.Profile.Texts)
	var out []Outcome
	for _, s := range scripts {
		for i := range s.Cases {
			if o, ok := r.run(ctx, s, &s.Cases[i]); ok {
				out = append(out, o)
				if r.Done != nil {
					r.Done(o)
				}
			}
		}
	}
	return out
}

type runner struct {
	Config
	names    Renames
	timeouts int // cases in a row
}

// run runs a case, unless it is not meant here.
func (r *runner) run(ctx context.Context, s *Script, c *Case) (o Outcome, meant bool) {
	h := s.Heading(c)
	o = Outcome{Script: s.Name, Case: c.Name, Rule: h.Rule, Features: h.Features, Cell: r.Cell, Status: Skipped}
	if !h.declares(r.Cell) || r.Smoke && !h.Smoke || !r.chosen(o.ID()) {
		return o, false
	}
	if o.Reason = r.skipped(ctx, s, c, h); o.Reason != "" {
		return o, true
	}
	if r.timeouts >= r.GiveUp {
		o.Status, o.Failures = Failed, []string{fmt.Sprintf("not asked: time ran out for the last %d cases", r.timeouts)}
		return o, true
	}
	started := time.Now()
	limited, cancel := context.WithTimeout(ctx, r.CaseTimeout)
	defer cancel()
	err := r.steps(limited, c, r.check)
	o.Elapsed, o.Status = time.Since(started), Passed
	if err != nil {
		o.Status, o.Failures = Failed, []string{clipTo(err.Error(), 3*mostShown)}
		o.Timeout = limited.Err() != nil || timedOut(err)
	}
	if r.timeouts++; !o.Timeout {
		r.timeouts = 0
	}
	return o, true
}

// chosen reports whether Only names the case, or its whole script.
func (r *runner) chosen(id string) bool {
	ok, _ := path.Match(r.Only, id)
	return ok || r.Only == "" || strings.HasPrefix(id, r.Only+"/")
}

func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
}

// skipped gives why a case cannot be run, or "".
func (r *runner) skipped(ctx context.Context, s *Script, c *Case, h Heading) string {
	if reason := h.excepted(r.Cell); reason != "" {
		return reason
	}
	if reason := r.Profile.skips(s.Name, c, h); reason != "" {
		return reason
	}
	if r.Missing == nil {
		return ""
	}
	for _, t := range c.Tables(h) {
		if r.Missing(ctx, r.names.SQL(t)) {
			return "the reference table " + r.names.SQL(t) + " is not there"
		}
	}
	return ""
}

// Complete runs scripts and fills in what came as what is expected, for a person to review as a diff. A step that fails to run, or a query that
// gives an error, is reported and left alone.
func Complete(ctx context.Context, config Config, s *Script) error {
	r := &runner{Config: config.filled()}
	var errs []error
	for i := range s.Cases {
		if err := r.steps(ctx, &s.Cases[i], r.fill); err != nil {
			errs = append(errs, fmt.Errorf("%s: case %s: %w", s.Name, s.Cases[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// steps asks a case's statements in order and has each judged, until one is not to its judge's liking.
func (r *runner) steps(ctx context.Context, c *Case, judge func(s *Step, got *result, err error) error) (err error) {
	sessions := map[string]Session{}
	defer func() {
		for _, s := range sessions {
			s.Close()
		}
	}()
	for i := range c.Steps {
		step := &c.Steps[i]
		session, ok := sessions[step.Session]
		if !ok {
			if session, err = r.connect(ctx); err != nil {
				return fmt.Errorf("connect: %w", err)
			}
			sessions[step.Session] = session
		}
		got, err := r.ask(ctx, session, step)
		if err := judge(step, got, err); err != nil {
			return fmt.Errorf("line %d: %s: %w", step.Line, step.SQL, err)
		}
	}
	return nil
}

// connect makes a session within a step's time.
func (r *runner) connect(ctx context.Context) (_ Session, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.StepTimeout)
	defer cancel()
	defer unreadable(&err)
	return r.Connect(ctx)
}

// result is what came, as text.
type result struct {
	schema    string
	columns   []string
	cells     [][]string
	untyped   bool // texts of a client that tells no types
	update    bool
	endpoints int
}

// rows gives each row as a line.
func (g *result) rows() []string {
	out := make([]string, len(g.cells))
	for i, row := range g.cells {
		out[i] = strings.Join(row, "\t")
	}
	return out
}

func (r *runner) ask(ctx context.Context, session Session, s *Step) (_ *result, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.StepTimeout)
	defer cancel()
	defer unreadable(&err)
	sql := r.names.SQL(s.SQL)
	var answer *Answer
	switch s.Kind {
	case Effect:
		return &result{update: true}, session.Effect(ctx, r.Cell.Path, sql)
	case Call:
		words := strings.Fields(s.SQL)
		for i := range words[1:] {
			words[1+i] = r.names.Text(words[1+i])
		}
		answer, err = session.Call(ctx, words[0], words[1:])
	default:
		if s.Kind == Plan {
			form := "EXPLAIN (FORMAT JSON) "
			if s.Analyze {
				form = "EXPLAIN (FORMAT JSON, ANALYZE) "
			}
			sql = form + sql
		}
		q := Question{SQL: sql, Path: r.Cell.Path, Elsewhere: s.Elsewhere, Texts: s.Arguments, Varies: s.Contains || s.Kind == Plan, Keep: !r.Profile.Can("tickets")}
		if len(s.Arguments) > 0 {
			if q.Arguments, err = Bind(s.Arguments); err != nil {
				return nil, err
			}
			defer q.Arguments.Release()
		}
		answer, err = session.Ask(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	defer answer.Release()
	return answer.result(), nil
}

func (a *Answer) result() *result {
	out := &result{update: a.Update, endpoints: a.Endpoints}
	switch {
	case a.Update:
	case a.Text != nil:
		out.untyped, out.columns, out.cells = true, a.Text.Columns, a.Text.Rows
	default:
		out.schema, out.cells = schemaText(a.Schema), a.cells()
		for _, f := range a.Schema.Fields() {
			out.columns = append(out.columns, f.Name)
		}
	}
	return out
}

func (r *runner) fill(s *Step, got *result, err error) error {
	switch {
	case s.Kind == Error:
		return r.check(s, got, err)
	case err != nil:
		return err
	case s.Kind == Effect:
		return nil
	case s.Kind == Plan:
		return s.fillFacts(got.cells)
	}
	s.Schema = got.schema
	if s.Contains {
		return nil
	}
	s.Lines = got.rows()
	if !s.Ordered {
		slices.Sort(s.Lines)
	}
	return nil
}

// check compares what came with what the step expects.
func (r *runner) check(s *Step, got *result, err error) error {
	if s.Kind == Error {
		return r.checkError(s, err)
	}
	switch {
	case err != nil:
		return err
	case s.Kind == Effect:
		return nil
	case got.update:
		return &mismatch{"the server takes it for an update", "rows", "none"}
	case s.Kind == Plan:
		return checkFacts(s, got.cells, r.names)
	}
	if err := r.checkSchema(s, got); err != nil {
		return err
	}
	if s.Endpoints != 0 && got.endpoints != 0 && got.endpoints != s.Endpoints {
		return &mismatch{"another number of endpoints", strconv.Itoa(s.Endpoints), strconv.Itoa(got.endpoints)}
	}
	rows := got.rows()
	if got.untyped && !s.Contains {
		plain := *s
		plain.Lines = make([]string, len(s.Lines))
		for i, line := range s.Lines {
			plain.Lines[i] = canonicalLine(line)
		}
		for i, row := range rows {
			rows[i] = canonicalLine(row)
		}
		s = &plain
	}
	return compareRows(s, rows, r.names)
}

func (r *runner) checkError(s *Step, err error) error {
	if err == nil {
		return &mismatch{"no error", s.Code + ": " + strings.Join(s.Lines, "; "), "rows"}
	}
	var wrong *mismatch
	if errors.As(err, &wrong) || timedOut(err) && s.Code != codes.DeadlineExceeded.String() {
		return err
	}
	got := status.Convert(err)
	told := r.Cell.Value(Through) == base[Through] || got.Code() != codes.Unknown // another client may hide the code
	if r.Profile.Can("error-codes") && told && got.Code().String() != s.Code {
		return &mismatch{"another code", s.Code, got.Code().String() + ": " + got.Message()}
	}
	if got.Code() == codes.Unavailable && s.Code != codes.Unavailable.String() {
		return err // a server that went away did not refuse anything
	}
	if !r.Profile.Can("error-texts") {
		return nil
	}
	for _, part := range s.Lines {
		if !strings.Contains(got.Message(), r.names.Text(part)) {
			return &mismatch{"another message", r.names.Text(part), got.Message()}
		}
	}
	return nil
}

func (r *runner) checkSchema(s *Step, got *result) error {
	want, have := r.names.Text(s.Schema), got.schema
	if got.untyped {
		want, have = strings.Join(schemaColumns(want), ", "), strings.Join(got.columns, ", ")
	} else if !r.Profile.Can("nullability") || !r.Profile.Can("types-spark") {
		want, have = strings.ReplaceAll(want, "!", ""), strings.ReplaceAll(have, "!", "")
		if !r.Profile.Can("types-spark") {
			want, have = strings.Join(schemaColumns(want), ", "), strings.Join(schemaColumns(have), ", ")
		}
	}
	if want != have {
		return &mismatch{"another schema", want, have}
	}
	return nil
}

// schemaColumns gives the names of a schema as scripts spell it: name, blank, type, with a comma and a blank between. Inside of <> neither counts.
func schemaColumns(schema string) (out []string) {
	if schema == "" {
		return nil
	}
	depth, from, blank := 0, 0, 0
	for i, c := range []byte(schema + ", ") {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == ' ' && depth == 0 && i > from && schema[i-1] != ',':
			blank = i
		case c == ',' && depth == 0 && (i == len(schema) || strings.HasPrefix(schema[i:], ", ")) && blank > from:
			out = append(out, schema[from:blank])
			from, blank = i+2, 0
		}
	}
	return out
}

func compareRows(s *Step, rows []string, names Renames) error {
	lines := make([]string, len(s.Lines))
	for i, line := range s.Lines {
		lines[i] = names.Text(line)
	}
	if s.Contains {
		text := strings.Join(rows, "\n")
		for _, part := range lines {
			if !strings.Contains(text, part) && !strings.Contains(text, escaper.Replace(part)) {
				return &mismatch{"a part is missing", part, text}
			}
		}
		return nil
	}
	have := slices.Clone(rows)
	if !s.Ordered {
		slices.Sort(lines)
		slices.Sort(have)
	}
	if slices.Equal(lines, have) {
		return nil
	}
	return &mismatch{rowDifference(lines, have), strings.Join(lines, " ⏎ "), strings.Join(have, " ⏎ ")}
}

// rowDifference says in a few words how rows differ.
func rowDifference(want, have []string) string {
	if len(want) != len(have) {
		return fmt.Sprintf("other rows: %d where %d are expected", len(have), len(want))
	}
	for i := range want {
		if want[i] != have[i] {
			return fmt.Sprintf("other rows, the first that differs is number %d", i+1)
		}
	}
	return "other rows"
}
