package storage

import "testing"

func TestMapOpensTheLongestPrefix(t *testing.T) {
	m, err := NewMap([]Mapping{{"file:/a/", "/x/"}, {"file:/a/b", "/y"}, {"s3://bucket", "file:///z"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ at, want string }{
		{"file:/a/c", "/x/c"},
		{"file:/a/b/c", "/y/c"},
		{"file:/a/b", "/y"},
		{"file:/a/bc", "/x/bc"},
		{"s3://bucket/k", "file:///z/k"},
		{"s3://bucket2/k", "s3://bucket2/k"},
		{"file:///a/c", "file:///a/c"},
	} {
		if got := m.Open(c.at); got != c.want {
			t.Errorf("Open(%q) = %q, want %q", c.at, got, c.want)
		}
	}
	for _, bad := range [][]Mapping{{{"", "x"}}, {{"a", ""}}, {{"a", "b"}, {"a", "c"}}} {
		if _, err := NewMap(bad); err == nil {
			t.Errorf("NewMap(%v) must fail", bad)
		}
	}
}
