//go:build cgo

package duckdb

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestILikeOfPatternsFromRows: letters are the same where they are in lower case, whether a pattern comes from a row or is a literal; a regular expression alone
// would also take the long s for an s and one sigma for the other.
func TestILikeOfPatternsFromRows(t *testing.T) {
	f := newFixture(t)
	f.tables["t"] = newTable(t, `[{"t":"ſ","p":"S"},{"t":"Σ","p":"ς"},{"t":"σ","p":"Σ"},{"t":"K","p":"k"},{"t":"É.x","p":"é._"},{"t":"a\n[B]","p":"A%[b]"},{"t":"ab","p":"a."},{"t":"ẞ","p":"ß"},{"t":null,"p":"a"},{"t":"a","p":null}]`, 10,
		arrow.Field{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "p", Type: arrow.BinaryTypes.String, Nullable: true})
	want := `[{"r":false},{"r":false},{"r":true},{"r":true},{"r":true},{"r":true},{"r":false},{"r":true},{"r":null},{"r":null}]`
	for _, dialect := range []string{"ansi", "spark"} {
		for text, want := range map[string]string{"SELECT t ILIKE p r FROM t": want, "SELECT t NOT ILIKE p r FROM t": strings.NewReplacer("true", "false", "false", "true").Replace(want)} {
			q := f.query(text, nil)
			q.Dialect, q.Zone = dialect, time.UTC
			p, err := f.run.Compile(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(strings.Fields(read(t, p.(*program))), ""); got != want {
				t.Errorf("%s, %s: %s, want %s", dialect, text, got, want)
			}
		}
	}
}
