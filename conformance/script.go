package conformance

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a step expects.
type Kind string

// The kinds of steps.
const (
	Effect Kind = "effect"
	Query  Kind = "query"
	Error  Kind = "error"
	Plan   Kind = "plan"
	Call   Kind = "call"
)

var kinds = []Kind{Effect, Query, Error, Plan, Call}

// Step is one statement with what must come of it.
type Step struct {
	Kind      Kind
	Session   string // empty: the case's own
	Ordered   bool
	Contains  bool
	Analyze   bool     // of a Plan: what running it took is told, too
	Code      string   // of an Error: gRPC's name of the code, such as InvalidArgument
	Endpoints int      // of a Query; 0: any number
	Elsewhere bool     // fetched over another connection
	Arguments []string // TYPE VALUE for each parameter
	SQL       string   // of a Call: its name and arguments
	Schema    string   // of a Query: name type[!], …
	Lines     []string // rows, facts of a plan, or texts that must occur
	Line      int      // where the step begins in its script
}

// Heading is what a case declares of itself. Before the first case of a script it holds for all of them, and a case adds to it.
type Heading struct {
	Rule     string      // the specification rule that is checked
	Features []string    // ids of the features it proves
	Needs    []string    // capabilities of the server, beside those that its steps imply
	Tables   []string    // reference tables that must be there, beside those that its statements name
	On       []Dimension // dimensions along which it is also run elsewhere than at the base
	Except   []Exception // where it does not hold
	Smoke    bool        // part of the short profile
}

// Exception is a value of a dimension at which a case does not hold, with the reason.
type Exception struct {
	Dimension Dimension
	Value     string
	Reason    string
}

// Case is a named list of steps.
type Case struct {
	Name string
	Heading
	Steps []Step
	Line  int
}

// Script is a parsed file.
type Script struct {
	Name  string
	Head  []string // comment lines before the first case, kept by Write
	All   Heading  // holds for every case
	Cases []Case
}

// Heading gives what a case declares, with what its script declares for all.
func (s *Script) Heading(c *Case) Heading {
	h := c.Heading
	if h.Rule == "" {
		h.Rule = s.All.Rule
	}
	h.Features = append(slices.Clone(s.All.Features), h.Features...)
	h.Needs = append(slices.Clone(s.All.Needs), h.Needs...)
	h.Tables = append(slices.Clone(s.All.Tables), h.Tables...)
	h.On = append(slices.Clone(s.All.On), h.On...)
	h.Except = append(slices.Clone(s.All.Except), h.Except...)
	h.Smoke = h.Smoke || s.All.Smoke
	return h
}

// Parse reads a script. Errors name the line.
func Parse(name string, r io.Reader) (*Script, error) {
	p := &parser{script: &Script{Name: name}, in: bufio.NewScanner(r)}
	p.in.Buffer(nil, 16<<20)
	if err := p.run(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.line, err)
	}
	return p.script, p.in.Err()
}

type parser struct {
	script *Script
	in     *bufio.Scanner
	line   int
}

func (p *parser) next() (string, bool) {
	if !p.in.Scan() {
		return "", false
	}
	p.line++
	return p.in.Text(), true
}

func (p *parser) run() error {
	for {
		text, more := p.next()
		if !more {
			return nil
		}
		if err := p.begin(text); err != nil {
			return err
		}
	}
}

// begin reads a line that begins something.
func (p *parser) begin(text string) error {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(text, "#"):
		if len(p.script.Cases) == 0 {
			p.script.Head = append(p.script.Head, text)
		}
	case strings.TrimSpace(text) == "":
	case word == "case":
		for _, c := range p.script.Cases {
			if c.Name == rest {
				return fmt.Errorf("there are two cases %s", rest)
			}
		}
		p.script.Cases = append(p.script.Cases, Case{Name: rest, Line: p.line})
	case slices.Contains(kinds, Kind(word)):
		if len(p.script.Cases) == 0 {
			return fmt.Errorf("%q before the first case", text)
		}
		return p.step(Kind(word), strings.Fields(rest))
	default:
		h := &p.script.All
		if n := len(p.script.Cases); n > 0 {
			h = &p.script.Cases[n-1].Heading
		}
		return h.read(word, rest)
	}
	return nil
}

// read takes one line of a heading.
func (h *Heading) read(word, rest string) error {
	switch word {
	case "rule":
		h.Rule = rest
	case "feature":
		h.Features = append(h.Features, strings.Fields(rest)...)
	case "needs":
		for _, need := range strings.Fields(rest) {
			if _, ok := capabilities[need]; !ok {
				return fmt.Errorf("needs: %q is no capability", need)
			}
			h.Needs = append(h.Needs, need)
		}
	case "table":
		for _, t := range strings.Fields(rest) {
			if tableName.FindString(t) != t {
				return fmt.Errorf("table: %q is no reference table, such as lake.session.t", t)
			}
			h.Tables = append(h.Tables, t)
		}
	case "on":
		for _, w := range strings.Fields(rest) {
			if !slices.Contains(Dimensions(), Dimension(w)) {
				return fmt.Errorf("on: %q is no dimension", w)
			}
			h.On = append(h.On, Dimension(w))
		}
	case "except":
		where, reason, _ := strings.Cut(rest, " ")
		dimension, value, ok := strings.Cut(where, "=")
		if !ok || reason == "" || !slices.Contains(Dimensions(), Dimension(dimension)) {
			return fmt.Errorf("except: expected DIMENSION=VALUE and the reason, not %q", rest)
		}
		h.Except = append(h.Except, Exception{Dimension(dimension), value, reason})
	case "smoke":
		h.Smoke = true
	default:
		return fmt.Errorf("expected case, a line of a heading or a step, not %q", word+" "+rest)
	}
	return nil
}

func (p *parser) current() *Case { return &p.script.Cases[len(p.script.Cases)-1] }

func (p *parser) step(kind Kind, words []string) error {
	s := Step{Kind: kind, Line: p.line}
	for _, w := range words {
		if err := s.word(w); err != nil {
			return err
		}
	}
	if kind == Error && s.Code == "" {
		return fmt.Errorf("error needs a code")
	}
	p.body(&s)
	if s.SQL == "" {
		return fmt.Errorf("%s without a statement", kind)
	}
	c := p.current()
	c.Steps = append(c.Steps, s)
	return nil
}

// word takes one word behind the kind of a step.
func (s *Step) word(w string) error {
	name, value, _ := strings.Cut(w, "=")
	rows := s.Kind == Query || s.Kind == Call
	switch {
	case name == "session" && value != "":
		s.Session = value
	case name == "endpoints" && s.Kind == Query && value != "":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: %q is no number of endpoints", s.Kind, value)
		}
		s.Endpoints = n
	case w == "elsewhere" && (s.Kind == Query || s.Kind == Error):
		s.Elsewhere = true
	case w == "ordered" && rows:
		s.Ordered = true
	case w == "contains" && rows:
		s.Contains = true
	case w == "analyze" && s.Kind == Plan:
		s.Analyze = true
	case s.Kind == Error && s.Code == "":
		s.Code = w
	default:
		return fmt.Errorf("%s: unknown word %q", s.Kind, w)
	}
	return nil
}

// body reads the statement, and the expectation after ----, up to a blank line or the next step.
func (p *parser) body(s *Step) {
	var sql []string
	for expected := false; ; {
		text, more := p.next()
		switch {
		case !more || text == "":
			s.SQL = strings.Join(sql, "\n")
			return
		case text == "----" && !expected:
			expected = true
		case !expected && len(sql) == 0 && strings.HasPrefix(text, "arg ") && s.Kind != Effect:
			s.Arguments = append(s.Arguments, strings.TrimPrefix(text, "arg "))
		case !expected:
			sql = append(sql, text)
		case (s.Kind == Query || s.Kind == Call) && s.Schema == "":
			s.Schema = text
		default:
			s.Lines = append(s.Lines, text)
		}
		if s.Kind == Effect {
			s.SQL = text
			return
		}
	}
}

// Write writes a script so that Parse reads the same.
func Write(w io.Writer, s *Script) error {
	out := bufio.NewWriter(w)
	for _, line := range s.Head {
		fmt.Fprintln(out, line)
	}
	var all strings.Builder
	s.All.write(&all)
	if all.Len() > 0 && len(s.Head) > 0 {
		fmt.Fprintln(out)
	}
	io.WriteString(out, all.String())
	for i, c := range s.Cases {
		if i > 0 || len(s.Head) > 0 || all.Len() > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "case %s\n", c.Name)
		c.Heading.write(out)
		for i, step := range c.Steps {
			if i > 0 && c.Steps[i-1].Kind != Effect {
				fmt.Fprintln(out)
			}
			step.write(out)
		}
	}
	return out.Flush()
}

func (h *Heading) write(w io.Writer) {
	if h.Rule != "" {
		fmt.Fprintln(w, "rule "+h.Rule)
	}
	if len(h.Features) > 0 {
		fmt.Fprintln(w, "feature "+strings.Join(h.Features, " "))
	}
	if len(h.Needs) > 0 {
		fmt.Fprintln(w, "needs "+strings.Join(h.Needs, " "))
	}
	if len(h.Tables) > 0 {
		fmt.Fprintln(w, "table "+strings.Join(h.Tables, " "))
	}
	if len(h.On) > 0 {
		words := make([]string, len(h.On))
		for i, d := range h.On {
			words[i] = string(d)
		}
		fmt.Fprintln(w, "on "+strings.Join(words, " "))
	}
	for _, e := range h.Except {
		fmt.Fprintf(w, "except %s=%s %s\n", e.Dimension, e.Value, e.Reason)
	}
	if h.Smoke {
		fmt.Fprintln(w, "smoke")
	}
}

func (s *Step) write(w io.Writer) {
	words := []string{string(s.Kind)}
	for _, word := range []struct {
		text string
		on   bool
	}{
		{s.Code, s.Code != ""}, {"session=" + s.Session, s.Session != ""}, {"ordered", s.Ordered}, {"contains", s.Contains}, {"analyze", s.Analyze},
		{"endpoints=" + strconv.Itoa(s.Endpoints), s.Endpoints > 0}, {"elsewhere", s.Elsewhere},
	} {
		if word.on {
			words = append(words, word.text)
		}
	}
	fmt.Fprintln(w, strings.Join(words, " "))
	for _, a := range s.Arguments {
		fmt.Fprintln(w, "arg "+a)
	}
	fmt.Fprintln(w, s.SQL)
	if s.Kind == Effect {
		return
	}
	fmt.Fprintln(w, "----")
	if s.Kind == Query || s.Kind == Call {
		fmt.Fprintln(w, s.Schema)
	}
	for _, line := range s.Lines {
		fmt.Fprintln(w, line)
	}
}
