package engine

import (
	"slices"
	"testing"
)

func TestLevelsWithDotsAreTakenApart(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"a.b"}, []string{"a", "b"}},
		{[]string{"x", "a.b.c"}, []string{"x", "a", "b", "c"}},
		{[]string{"a.`b.c`"}, []string{"a", "b.c"}},
		{[]string{"a", "b"}, nil},
		{[]string{"a..b"}, nil},
		{[]string{"."}, nil},
		{[]string{"`a.b`"}, nil},
	} {
		if got := nestedLevels(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}
