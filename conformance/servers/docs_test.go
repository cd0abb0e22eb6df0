package servers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheTestsOfWhatServersDoAreThere: docs/catalogs.md names a test for each thing that clients trip over.
func TestTheTestsOfWhatServersDoAreThere(t *testing.T) {
	text, err := os.ReadFile("../../docs/catalogs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| seen | test |")
	if !found {
		t.Fatal("the table is gone")
	}
	rows, folder := 0, ""
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 2 || strings.HasPrefix(line, "| ---") {
			continue
		}
		rows++
		named := regexp.MustCompile("`[a-z/0-9]+`|Test[A-Za-z0-9]+").FindAllString(cells[1], -1)
		tests := 0
		for _, word := range named {
			if strings.HasPrefix(word, "`") {
				folder = strings.Trim(word, "`")
				continue
			}
			if tests++; !has(t, folder, word) {
				t.Errorf("%s has no %s", folder, word)
			}
		}
		if tests == 0 {
			t.Errorf("no test is named: %s", line)
		}
	}
	if rows < 30 {
		t.Errorf("%d rows", rows)
	}
}

// has reports whether a folder has a test of that name.
func has(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
