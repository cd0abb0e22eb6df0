package catalogs

import (
	"fmt"
	"testing"
)

func TestPartitionNames(t *testing.T) {
	for _, c := range []struct {
		name string
		want string
	}{
		{"country=CH/day=2026-01-01", "CH,2026-01-01"},
		{"COUNTRY=a%2Fb%3D%25/day=__HIVE_DEFAULT_PARTITION__", "a/b=%,null"},
		{"country=%/day=%zz%4", "%,%zz%4"},
		{"country=a=b/day=", "a=b,"},
		{"country=x%20y/day=%C3%A9", "x y,é"},
		{"day=1/country=2", "false"}, {"country=1", "false"}, {"country=1/day=2/x=3", "false"}, {"country/day=1", "false"},
	} {
		values, ok := PartitionValues(c.name, []string{"country", "day"})
		got := "false"
		if ok {
			got = ""
			for i, v := range values {
				if i > 0 {
					got += ","
				}
				if v == nil {
					got += "null"
				} else {
					got += *v
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, fmt.Sprint(c.want))
		}
	}
}

func TestPartitionsAreNamedAsInTheirFolders(t *testing.T) {
	text := func(s string) *string { return &s }
	for want, values := range map[string][]*string{
		"Country=CH/a%3Ab=2026-01-01":                          {text("CH"), text("2026-01-01")},
		"Country=a%2Fb%3D%25/a%3Ab=__HIVE_DEFAULT_PARTITION__": {text("a/b=%"), nil},
		"Country=__HIVE_DEFAULT_PARTITION__/a%3Ab=x y,é%0A":    {text(""), text("x y,é\n")},
	} {
		got := PartitionName([]string{"Country", "a:b"}, values)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if back, ok := PartitionValues(got, []string{"country", "a:b"}); !ok || (back[1] == nil) != (values[1] == nil) || back[1] != nil && *back[1] != *values[1] {
			t.Errorf("%s reads as %v, %v", got, back, ok)
		}
	}
}
