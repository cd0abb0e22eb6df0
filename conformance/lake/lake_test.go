package lake

import (
	"strings"
	"testing"
)

func TestEveryPathIsOfTheLocation(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 360,000 rows")
	}
	const base = "s3://bucket/a/lake"
	l, err := Write(t.Context(), t.TempDir(), base)
	if err != nil {
		t.Fatal(err)
	}
	if want := base + "/shop/sales/metadata/v4.metadata.json"; l.Tables["shop.sales"] != want || len(l.Tables) != 5 || len(l.Namespaces()) != 2 {
		t.Errorf("%v, want %s", l.Tables, want)
	}
	found := map[string]bool{}
	err = l.Each(func(name string, data []byte) error {
		found[base+"/"+name] = true
		if strings.HasSuffix(name, ".json") && (strings.Contains(string(data), l.Folder) || !strings.Contains(string(data), base)) {
			t.Errorf("%s: %.200s", name, data)
		}
		return nil
	})
	for name, location := range l.Tables {
		if err != nil || !found[location] {
			t.Errorf("%s: no file %s, %v", name, location, err)
		}
	}
}
