package predicate

import (
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// BenchmarkEvaluate reports the cost of a filter over one batch; bytes are rows.
func BenchmarkEvaluate(b *testing.B) {
	const rows = 8192
	in := newBatch(rand.New(rand.NewSource(1)), memory.DefaultAllocator, rows)
	defer in.release()
	literal := func(id int) Literal { return Literal{in.fields[id].Type, in.rows[id][indexOfValue(in.rows[id])]} }
	many := In{Field: in.fields[4]}
	for i := range int64(50) {
		many.Values = append(many.Values, Literal{in.fields[4].Type, i})
	}
	for name, e := range map[string]Expr{
		"int64 less":     Comparison{Lt, in.fields[4], literal(4)},
		"float64 less":   Comparison{Lt, in.fields[10], literal(10)},
		"decimal equal":  Comparison{Eq, in.fields[11], literal(11)},
		"string equal":   Comparison{Eq, in.fields[18], literal(18)},
		"string prefix":  StartsWith{in.fields[18], "ab"},
		"dictionary":     Comparison{Eq, in.fields[25], literal(25)},
		"int64 in of 50": many,
		"null":           IsNull{in.fields[4]},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(rows)
			for b.Loop() {
				out, err := Evaluate(e, rows, in, memory.DefaultAllocator)
				if err != nil {
					b.Fatal(err)
				}
				out.Release()
			}
		})
	}
}

func indexOfValue(values []any) int {
	for i, v := range values {
		if v != nil {
			return i
		}
	}
	return 0
}
