package scan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// positioned is a table of two files of ten row groups, with deletes of every third row and of the last, in two files that name both.
func positioned(t *testing.T) (*madeTable, []string) {
	t.Helper()
	m := makeTable(t, idAndName)
	var rows [2][]string
	for i := range 200 {
		rows[i/100] = append(rows[i/100], fmt.Sprintf(`{"id":%d,"s":"s%03d"}`, i, i))
	}
	for _, r := range rows {
		m.commit(madeFile{fields: idAndNameFields, rows: "[" + strings.Join(r, ",") + "]", group: 10})
	}
	var deletes [2][]string
	var left []string
	for i := range 200 {
		if i%3 != 0 && i != 199 {
			left = append(left, fmt.Sprintf(`[%d,"%d"]`, i, i%100))
			continue
		}
		at := fmt.Sprintf(`{"file_path":%q,"pos":%d}`, m.location(fmt.Sprintf("%05d.parquet", 1+i/100)), i%100)
		deletes[i%2] = append(deletes[i%2], at)
	}
	slices.Reverse(deletes[0])
	for _, d := range deletes {
		m.commit(madeFile{positions: true, fields: []arrow.Field{withID(idDeletePath, "file_path", textType), withID(idDeletePos, "pos", int64Type)},
			rows: "[" + strings.Join(d, ",") + "]", group: 7})
	}
	slices.Sort(left)
	return m, left
}

func TestPositionsAreOrdinalsOfTheFile(t *testing.T) {
	m, left := positioned(t)
	source, err := m.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []string{"1", "100", "1000", "100000000"} {
		batch, err := readAll(t.Context(), source, Request{Fields: []int{1, idPos}, Limit: -1, Options: []Option{{Name: "split-size", Value: size}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(batch); !slices.Equal(got, left) {
			t.Errorf("split-size %s: %s", size, got)
		}
		batch.Release()
	}
	m.wantWhere("id,_pos", "id", predicate.GtEq, int64(185), `[185,"85"]`, `[187,"87"]`, `[188,"88"]`, `[190,"90"]`, `[191,"91"]`, `[193,"93"]`, `[194,"94"]`, `[196,"96"]`, `[197,"97"]`)
	m.wantWhere("_pos", "s", predicate.Eq, "s098", `["98"]`)
	m.wantWhere("_pos", "s", predicate.Eq, "s099")
	m.wantWhere("id,_deleted", "_pos", predicate.Eq, int64(99), "[199,true]", "[99,true]")
}

func TestSizesThatManifestsHaveWrong(t *testing.T) {
	for _, size := range []int64{1, 100, 1 << 40} {
		for _, deletes := range []bool{false, true} {
			m := makeTable(t, idAndName)
			data := madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"},{"id":2,"s":"y"}]`, group: 1}
			gone := madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{2}}
			if deletes {
				gone.size = size
			} else {
				data.size = size
			}
			m.commit(data)
			m.commit(gone)
			if got, err := m.read("id"); err == nil && !slices.Equal(got, []string{"[2]"}) || err != nil && fault.Is(err, fault.Internal) {
				t.Errorf("a size of %d: %s, %v", size, got, err)
			}
		}
	}
}
