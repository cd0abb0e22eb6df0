// Package conformance holds scripts that any Flight SQL server over Iceberg can be asked, and their runner: statements, sessions, expected
// schemas, rows and errors. It is a client; it starts nothing (inprocess does) and knows nothing of how a server works.
//
// A script is a text of cases. A case is a name, the rule it checks, and steps that share the case's sessions:
//
//	case set-is-seen-by-the-next-statement
//	rule architecture §5.12
//	effect session=a
//	SET my.key=v1
//	query session=a
//	SET my.key
//	----
//	key string!, value string!
//	my.key	v1
//
//	error NotFound
//	SELECT * FROM lake.nope.t
//	----
//	TABLE_OR_VIEW_NOT_FOUND
//
// A step begins with a line effect, query or error and ends at a blank line; an effect is one line and needs none. effect: the statement must succeed. query: after ---- comes the
// schema, then the rows, tab-separated; NULL is null, and \t, \n, \\ are escaped; rows are compared as a multiset unless the step says ordered. With contains, the lines after the schema must
// each occur in the result's text instead. error: the gRPC code, and lines that must each occur in the message. session=NAME names a session;
// without one, the case's own. Lines arg TYPE VALUE before the statement are the values of its parameters, which makes it travel prepared on every
// path. endpoints=N is the number of endpoints that the result must be offered as, and elsewhere fetches them over another connection than the one
// that planned, after all handles are closed. Lines that begin with # are comments.
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
)

// Step is one statement with what must come of it.
type Step struct {
	Kind      Kind
	Session   string // empty: the case's own
	Ordered   bool
	Contains  bool
	Code      string   // of an Error: gRPC's name of the code, such as InvalidArgument
	Endpoints int      // of a Query; 0: any number
	Elsewhere bool     // fetched over another connection
	Arguments []string // TYPE VALUE for each parameter
	SQL       string
	Schema    string   // of a Query: name type[!], …
	Lines     []string // rows, or texts that must occur
	Line      int      // where the step begins in its script
}

// Case is a named list of steps.
type Case struct {
	Name  string
	Rule  string // the specification rule it checks
	Steps []Step
	Line  int
}

// Script is a parsed file.
type Script struct {
	Name  string
	Head  []string // comment lines before the first case, kept by Write
	Cases []Case
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
		word, rest, _ := strings.Cut(text, " ")
		switch {
		case strings.HasPrefix(text, "#"):
			if len(p.script.Cases) == 0 {
				p.script.Head = append(p.script.Head, text)
			}
		case strings.TrimSpace(text) == "":
		case word == "case":
			p.script.Cases = append(p.script.Cases, Case{Name: rest, Line: p.line})
		case len(p.script.Cases) == 0:
			return fmt.Errorf("%q before the first case", text)
		case word == "rule":
			p.current().Rule = rest
		case slices.Contains([]Kind{Effect, Query, Error}, Kind(word)):
			if err := p.step(Kind(word), strings.Fields(rest)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("expected case, rule, effect, query or error, not %q", text)
		}
	}
}

func (p *parser) current() *Case { return &p.script.Cases[len(p.script.Cases)-1] }

func (p *parser) step(kind Kind, words []string) error {
	s := Step{Kind: kind, Line: p.line}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch {
		case name == "session" && value != "":
			s.Session = value
		case name == "endpoints" && kind == Query && value != "":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("%s: %q is no number of endpoints", kind, value)
			}
			s.Endpoints = n
		case w == "elsewhere" && kind != Effect:
			s.Elsewhere = true
		case w == "ordered" && kind == Query:
			s.Ordered = true
		case w == "contains" && kind == Query:
			s.Contains = true
		case kind == Error && s.Code == "":
			s.Code = w
		default:
			return fmt.Errorf("%s: unknown word %q", kind, w)
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
		case s.Kind == Query && s.Schema == "":
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
	for i, c := range s.Cases {
		if i > 0 || len(s.Head) > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "case %s\n", c.Name)
		if c.Rule != "" {
			fmt.Fprintf(out, "rule %s\n", c.Rule)
		}
		for i, step := range c.Steps {
			if i > 0 && c.Steps[i-1].Kind != Effect {
				fmt.Fprintln(out)
			}
			step.write(out)
		}
	}
	return out.Flush()
}

func (s *Step) write(w io.Writer) {
	words := []string{string(s.Kind)}
	for _, word := range []struct {
		text string
		on   bool
	}{
		{s.Code, s.Code != ""}, {"session=" + s.Session, s.Session != ""}, {"ordered", s.Ordered}, {"contains", s.Contains},
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
	if s.Kind == Query {
		fmt.Fprintln(w, s.Schema)
	}
	for _, line := range s.Lines {
		fmt.Fprintln(w, line)
	}
}
