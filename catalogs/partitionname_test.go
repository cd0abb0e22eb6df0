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
