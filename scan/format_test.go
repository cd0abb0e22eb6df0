package scan

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
)

// TestFormats reads the files of one table that are written in different formats, each format on its own, cut in pieces of every size.
func TestFormats(t *testing.T) {
	s := oracleScanner(t, "testdata/oracle")
	table := oracleTable(t, s, "testdata/oracle", []string{"layout"}, "formats")
	lines := oracleFile(t, "testdata/oracle/expected/layout.formats.jsonl")
	at := slices.IndexFunc(lines, func(l oracleLine) bool { return strings.HasPrefix(l.SQL, "SELECT *, _file") })
	for _, format := range []string{"parquet", "avro"} {
		t.Run(format, func(t *testing.T) {
			checked := kernelstest.NewSoiled()
			defer checked.AssertSize(t, 0)
			ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Allocator: checked}).NewStatement(""))
			source, err := table.Source(ctx, Reference{})
			if err != nil {
				t.Fatal(err)
			}
			ids := append(fieldIDs(source.Schema()), idFile, idPos, idSpec, idPartition, idDeleted)
			plan, err := source.Plan(ctx, Request{Fields: ids, Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			p := plan.(*tablePlan)
			files := map[*dataFile]bool{}
			for _, split := range p.splits {
				for _, task := range split.Tasks {
					if strings.HasSuffix(task.File.Path, format) {
						files[task.File] = true
					}
				}
			}
			for _, length := range []int64{7, 100, 1 << 20} {
				var got []string
				for f := range files {
					for start := int64(0); start < f.Size; start += length {
						err := p.readTask(ctx, task{f, start, length}, newSizer(p), checked, func(b arrow.RecordBatch) error {
							got = append(got, rowsOf(b)...)
							b.Release()
							return nil
						})
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				compareRows(t, got, lines[at], plan.Schema(), format)
			}
		})
	}
}

func compareRows(t *testing.T, got []string, l oracleLine, schema *arrow.Schema, format string) {
	t.Helper()
	var want []string
	for _, row := range l.Rows {
		out, mine := []any{}, false
		for i, v := range row {
			out = append(out, normal(v, schema.Field(i).Type))
			path, _ := v.(string)
			mine = mine || schema.Field(i).Name == "_file" && strings.HasSuffix(path, format)
		}
		if mine {
			want = append(want, asJSON(out))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
