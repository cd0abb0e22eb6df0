package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// holdPage holds a table of docs/gpu.md, between a comment that names it and the next, to what a test makes of the code.
func holdPage(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "gpu.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := fmt.Sprintf("<!-- %s: written by a test -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	before, rest, found := strings.Cut(string(text), begin)
	got, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("docs/gpu.md has no table %s", name)
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("docs/gpu.md says\n%s\nand should say\n%s\nRun the test with -update", got, want)
		return
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
