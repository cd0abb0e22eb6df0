package shell

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Statement
		run  bool // complete
	}{
		{"", nil, false},
		{"SELECT 1", []Statement{{"SELECT 1", "q.sql:1"}}, false},
		{"SELECT 1;", []Statement{{"SELECT 1", "q.sql:1"}}, true},
		{" SELECT 1 ; ; SELECT ';' ;\n", []Statement{{"SELECT 1", "q.sql:1"}, {"SELECT ';'", "q.sql:1"}}, true},
		{"SELECT 1; -- done; really\n", []Statement{{"SELECT 1", "q.sql:1"}}, true},
		{"SELECT /* a;b /* c; */ ; */ 1; x", []Statement{{"SELECT /* a;b /* c; */ ; */ 1", "q.sql:1"}, {"x", "q.sql:1"}}, false},
		{"SELECT `a;b`, \"c;d\", 'it''s; \\'; ' ;", []Statement{{"SELECT `a;b`, \"c;d\", 'it''s; \\'; '", "q.sql:1"}}, true},
		{"SELECT 'open; ", []Statement{{"SELECT 'open;", "q.sql:1"}}, false},
		{"/* only a comment */; -- another", nil, true},
		{"-- a report\n/* of\ntwo */ SELECT 1;\n\n\nSELECT\n2;\nSELECT 3", []Statement{{"SELECT 1", "q.sql:3"}, {"SELECT\n2", "q.sql:6"}, {"SELECT 3", "q.sql:8"}}, false},
	} {
		if got := Split("q.sql", c.text); !slices.Equal(got, c.want) {
			t.Errorf("Split(%q) = %q, want %q", c.text, got, c.want)
		}
		if got := complete(c.text); got != c.run {
			t.Errorf("complete(%q) = %t", c.text, got)
		}
	}
	if got := Split("", "x"); len(got) != 1 || got[0].Source != "" {
		t.Errorf("without a file: %q", got)
	}
}

func TestInside(t *testing.T) {
	for text, want := range map[string]bool{
		"":               false,
		"SELECT\n":       false,
		"SELECT 'a\n":    true,
		"SELECT 'a'\n":   false,
		"SELECT 'a'":     false,
		"SELECT 'a\\'":   true,
		"SELECT `a\n":    true,
		"/* a /* b */":   true,
		"/* a */":        false,
		"SELECT -- 'a\n": false,
	} {
		if got := inside(text); got != want {
			t.Errorf("inside(%q) = %t", text, got)
		}
	}
}
