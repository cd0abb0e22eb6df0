package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestMapsThatAreFilteredKeepTheirKeys takes runs of maps, which array.Map then looks into past the offset of its entries.
func TestMapsThatAreFilteredKeepTheirKeys(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	typ := arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)
	a, _, err := array.FromJSON(mem, typ, strings.NewReader(`[[{"key":"a","value":1}],[{"key":"b","value":2},{"key":"c","value":3}],null,[],[{"key":"d","value":4}]]`))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	for _, c := range []struct {
		runs []rows
		want string
	}{
		{[]rows{{1, 2}, {3, 4}}, "b:2 c:3 |"}, {[]rows{{0, 1}, {4, 5}}, "a:1 |d:4 "}, {[]rows{{1, 3}, {4, 5}}, "b:2 c:3 ||d:4 "}, {[]rows{{3, 4}, {4, 5}}, "|d:4 "},
	} {
		n := 0
		for _, r := range c.runs {
			n += r.To - r.From
		}
		out, err := take(a, c.runs, n, mem)
		if err != nil {
			t.Fatal(err)
		}
		m := out.(*array.Map)
		var got []string
		for i := range m.Len() {
			from, to := m.ValueOffsets(i)
			text := ""
			for j := int(from); j < int(to); j++ {
				text += fmt.Sprintf("%s:%d ", m.Keys().(*array.String).Value(j), m.Items().(*array.Int64).Value(j))
			}
			got = append(got, text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%v: %q, want %q", c.runs, strings.Join(got, "|"), c.want)
		}
		out.Release()
	}
}
