package flightsql

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageOfClientsNamesTestsThatExist holds the table in docs/clients.md against the tests' sources, and its options against the table of options.
func TestThePageOfClientsNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "clients.md"))
	check(t, err)
	options, err := os.ReadFile(filepath.Join("..", "docs", "options.md"))
	check(t, err)
	for _, key := range regexp.MustCompile("skua\\.[a-z.-]+[a-z]").FindAllString(string(page), -1) {
		if !strings.Contains(string(options), "`"+key+"`") {
			t.Errorf("the page names %s, which is no option", key)
		}
	}
	rows := regexp.MustCompile("(?m)^\\| .* \\| `([a-z/]+)` (Test\\w+) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 70 {
		t.Fatalf("%d rows", len(rows))
	}
	sources := map[string]string{}
	for _, row := range rows {
		if sources[row[1]] == "" {
			files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(row[1]), "*_test.go"))
			check(t, err)
			for _, f := range files {
				text, err := os.ReadFile(f)
				check(t, err)
				sources[row[1]] += string(text)
			}
		}
		if !strings.Contains(sources[row[1]], "\nfunc "+row[2]+"(t *testing.T) {") {
			t.Errorf("there is no %s in %s", row[2], row[1])
		}
	}
}
