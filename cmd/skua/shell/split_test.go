package shell

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		run  bool // complete
	}{
		{"", nil, false},
		{"SELECT 1", []string{"SELECT 1"}, false},
		{"SELECT 1;", []string{"SELECT 1"}, true},
		{" SELECT 1 ; ; SELECT ';' ;\n", []string{"SELECT 1", "SELECT ';'"}, true},
		{"SELECT 1; -- done; really\n", []string{"SELECT 1"}, true},
		{"SELECT /* a;b /* c; */ ; */ 1; x", []string{"SELECT /* a;b /* c; */ ; */ 1", "x"}, false},
		{"SELECT `a;b`, \"c;d\", 'it''s; \\'; ' ;", []string{"SELECT `a;b`, \"c;d\", 'it''s; \\'; '"}, true},
		{"SELECT 'open; ", []string{"SELECT 'open;"}, false},
		{"/* only a comment */; -- another", nil, true},
	} {
		if got := Split(c.text); !slices.Equal(got, c.want) {
			t.Errorf("Split(%q) = %q, want %q", c.text, got, c.want)
		}
		if got := complete(c.text); got != c.run {
			t.Errorf("complete(%q) = %t", c.text, got)
		}
	}
}
