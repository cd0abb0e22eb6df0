package syntax

import (
	"errors"
	"strings"
	"testing"
)

func TestCommandsReadByCursor(t *testing.T) {
	p := NewParser("/* c */ show tables IN lake.`sp ace`.\"x\"\"y\" LIKE 'a*' ;")
	if p.Keyword("SHOW", "VIEWS") || !p.Keyword("SHOW", "TABLES") || !p.Keyword("IN") {
		t.Fatal("the words do not match")
	}
	name, err := p.Name()
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, part := range name {
		parts = append(parts, part.Text)
	}
	if got := QuoteName(parts); got != "lake.`sp ace`.`x\"y`" {
		t.Errorf("name is %s", got)
	}
	if !p.Keyword("LIKE") {
		t.Fatal("LIKE is not read")
	}
	if pattern, err := p.String(); err != nil || pattern != "a*" {
		t.Errorf("pattern is %q, %v", pattern, err)
	}
	if err := p.End(); err != nil {
		t.Error(err)
	}
	for range 3 {
		if p.Next().Kind != EndOfText {
			t.Error("the cursor moves behind the end")
		}
	}
}

func TestRawIsVerbatim(t *testing.T) {
	for _, c := range []struct{ sql, want, rest string }{
		{"SET a = b  ", "a = b", ""},
		{"SET", "", ""},
		{"SET ;", "", ""},
		{"SET k='a;b';", "k='a;b'", ""},
		{"SET `k;l`=1; SELECT 1", "`k;l`=1", "SELECT"},
		{"SET a=it's -- x", "a=it's -- x", ""},
		{"SET a=b /* c;d */;", "a=b /* c;d */", ""},
		{"SET p=/data/x\\y?a=1&b=#", "p=/data/x\\y?a=1&b=#", ""},
	} {
		p := NewParser(c.sql)
		if !p.Keyword("SET") {
			t.Fatal(c.sql)
		}
		if got := p.Raw(); got != c.want {
			t.Errorf("%s: the rest is %q, want %q", c.sql, got, c.want)
		}
		err := p.End()
		if (err != nil) != (c.rest != "") || err != nil && !strings.Contains(err.Error(), "extra input '"+c.rest+"'") {
			t.Errorf("%s: the end gives %v", c.sql, err)
		}
	}
}

func TestQuoteIsSparks(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "A_1": "A_1", "1a": "1a", "12": "`12`", "": "``", "a b": "`a b`", "t`s": "`t``s`", "ü": "`ü`", "a.b": "`a.b`", "select": "select",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) is %s, want %s", in, got, want)
		}
	}
}

func TestStringInDoubleQuotes(t *testing.T) {
	p := NewParser(`"a""b\n" x`)
	if got, err := p.String(); err != nil || got != "a\"b\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := p.String(); err == nil {
		t.Error("a bare word is read as a string")
	}
}

func TestPositions(t *testing.T) {
	s, err := read("SELECT 'é', a.b AS c\n FROM /* x\n*/ t WHERE\n  d = 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		got  Pos
		want Pos
	}{
		{"column", s.Items[1].Expr.Pos(), Pos{1, 12, 13}},
		{"alias", s.Items[1].Alias.Pos, Pos{1, 19, 20}},
		{"table", s.From.Name[0].Pos, Pos{3, 3, 36}},
		{"filter", s.Where.Pos(), Pos{4, 2, 46}},
	} {
		if c.got != c.want {
			t.Errorf("%s is at %v, want %v", c.what, c.got, c.want)
		}
	}
	if s.Items[1].Text != "a.b" || s.Items[0].Text != "'é'" {
		t.Errorf("source texts are %q, %q", s.Items[0].Text, s.Items[1].Text)
	}
}

func TestTimeTravelKeepsItsSource(t *testing.T) {
	s, err := read("SELECT 1 FROM t TIMESTAMP AS OF  date_sub(current_date,  1)  x")
	if err != nil {
		t.Fatal(err)
	}
	if s.From.At.Source != "date_sub(current_date,  1)" || s.From.At.Version || s.From.Alias.Text != "x" {
		t.Errorf("got %+v", s.From.At)
	}
}

func TestParametersAreCounted(t *testing.T) {
	s, err := read("SELECT ?, :a FROM t WHERE x IN (?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	in := s.Where.(*In)
	first, named, last := s.Items[0].Expr.(*Parameter), s.Items[1].Expr.(*Parameter), in.List[1].(*Parameter)
	if first.Index != 0 || named.Index != -1 || named.Name != "a" || last.Index != 2 {
		t.Errorf("got %+v %+v %+v", first, named, last)
	}
}

// TestHostileText feeds texts that are quadratic or too deep for a careless parser. Every one of them ends soon, mostly in an error.
func TestHostileText(t *testing.T) {
	const n = 1 << 14
	for _, c := range []struct{ name, text, condition string }{
		{"parentheses", "SELECT " + strings.Repeat("(", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"queries", strings.Repeat("(", n) + "SELECT 1", "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"relations", "SELECT 1 FROM " + strings.Repeat("(", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"subqueries", "SELECT 1 FROM " + strings.Repeat("(SELECT 1 FROM ", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"unions", strings.Repeat("(SELECT 1 UNION ", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"not", "SELECT " + strings.Repeat("NOT ", n) + "a", "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"signs", "SELECT " + strings.Repeat("- ", n) + "a", "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"case", "SELECT " + strings.Repeat("CASE WHEN ", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"intervals", "SELECT " + strings.Repeat("INTERVAL ", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"lambdas", "SELECT " + strings.Repeat("x -> ", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"calls", "SELECT " + strings.Repeat("f(", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"types", "SELECT CAST(a AS " + strings.Repeat("array<", n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"sums", "SELECT 1" + strings.Repeat("+1", 4*n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"casts", "SELECT 1" + strings.Repeat("::int", 4*n), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"quotes", "SELECT " + strings.Repeat(`'\`, n), "PARSE_SYNTAX_ERROR"},
		{"quotes of all kinds", "SELECT " + strings.Repeat("'\\'\"`", n) + "'", "PARSE_SYNTAX_ERROR"},
		{"raw quotes", "SELECT " + strings.Repeat("r'' ", n) + "r'", "PARSE_SYNTAX_ERROR"},
		{"comments", strings.Repeat("/*", n), "UNCLOSED_BRACKETED_COMMENT"},
		{"points", "SELECT " + strings.Repeat("1.1a", n), ""},
		{"digits", "SELECT 1." + strings.Repeat("L", n), ""},
		{"hyphens", "SELECT 1 FROM a" + strings.Repeat("-a", n), "INVALID_IDENTIFIER"},
		{"subscripts", "SELECT a" + strings.Repeat("[0]", n), ""},
		{"and", "SELECT a" + strings.Repeat(" AND a", n), ""},
		{"nested limits", "SELECT " + strings.Repeat("((SELECT 1) LIMIT 1) + ", n/8) + "1", ""},
		{"list", "SELECT a FROM t WHERE a IN (1" + strings.Repeat(",1", n) + ")", ""},
		{"name", "SELECT a" + strings.Repeat(".a", n) + " FROM t", ""},
		{"joins", "SELECT a FROM t" + strings.Repeat(" JOIN t", n), ""},
		{"too long", strings.Repeat(" ", maxText+1), "FAILED_TO_PARSE_TOO_COMPLEX"},
		{"invalid UTF-8", "SELECT \xff", "PARSE_SYNTAX_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := read(c.text)
			var e *Error
			switch {
			case c.condition == "" && err != nil:
				t.Errorf("fails: %.300s", err)
			case c.condition != "" && (!errors.As(err, &e) || e.Condition != c.condition):
				t.Errorf("gives %.300v, want %s", err, c.condition)
			case len(errorText(err)) > 2000:
				t.Error("the error repeats the text")
			case err == nil && len(s.String()) == 0:
				t.Error("prints as nothing")
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzSelect(f *testing.F) {
	for _, file := range transcripts {
		for _, r := range records(f, file) {
			f.Add(r.sql)
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := read(sql)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 0 {
				t.Fatalf("%q: error without a place: %v", sql, err)
			}
			return
		}
		checkPrinted(t, s)
	})
}
