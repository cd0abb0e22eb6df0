package bind

import (
	"testing"

	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// FuzzConstant wants an error or a value from any expression, never a panic.
func FuzzConstant(f *testing.F) {
	for _, s := range []string{"1", "CAST('1e400' AS DECIMAL(38,37))", "TIMESTAMP'2024-01-01 00:00:00+1:2'", "1 / 3.0 % 2", "DATE'9999999-01-01' + 1",
		"CAST(9223372036854775807 AS TIMESTAMP)", "timestamp_micros(-9223372036854775808L)", "CAST(DATE'5881580-07-11' AS TIMESTAMP)", "-(-128Y)",
		"CAST(TIMESTAMP'294247-01-10 04:00:54.775807' AS STRING)", "'a' LIKE '\\\\%'", "1 IN (2, 3.5, '4')"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := syntax.NewParser("SELECT " + text).Select()
		if err != nil || len(tree.Items) == 0 || tree.Items[0].Expr == nil {
			return
		}
		b := testBinder("America/New_York")
		if c, err := b.Evaluate(tree.Items[0].Expr); err == nil {
			_, _ = c.SQL(), sparkname.Of(tree.Items[0].Expr)
		}
		if _, err := b.Predicate(tree.Items[0].Expr); err != nil && fault.Is(err, fault.Internal) {
			t.Errorf("%s: %v", text, err)
		}
	})
}
