package plugins_test

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"testing"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
)

// TestOnlyNamesThatAreWantedAreSent, and the catalog is told of them.
func TestOnlyNamesThatAreWantedAreSent(t *testing.T) {
	var told string
	f := &fake{tables: func(ctx context.Context, _ table.Identifier) iter.Seq2[catalogs.Entry, error] {
		if told = "all"; catalogs.Names(ctx) != nil {
			told = catalogs.Names(ctx).String()
		}
		return each(catalogs.Entry{Identifier: table.Identifier{"ns", "alpha"}}, catalogs.Entry{Identifier: table.Identifier{"ns", "Beta"}})
	}}
	remote := remote(t, f, nil)
	for pattern, want := range map[string]string{"": "[alpha Beta]", "(?i)^b": "[Beta]", "^none$": "[]"} {
		ctx, wanted := t.Context(), "all"
		if pattern != "" {
			ctx, wanted = catalogs.WithNames(ctx, regexp.MustCompile(pattern)), pattern
		}
		var got []string
		for e, err := range remote.Tables(ctx, table.Identifier{"ns"}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Identifier[1])
		}
		if fmt.Sprintf("%v", got) != want || told != wanted {
			t.Errorf("%q: %v, and the catalog was told %q", pattern, got, told)
		}
	}
}
