package hive

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/hive/hivetest"
	"github.com/skua-data/skua/fault"
)

// logs is a table of Parquet files by country and day.
func logs(parameters map[string]string) map[int16]any {
	return hivetest.ParquetTable("sales", "logs", "file:/w/logs", []map[int16]any{hivetest.Column("id", "bigint")},
		[]map[int16]any{hivetest.Column("country", "string"), hivetest.Column("day", "date")}, parameters)
}

func TestTablesOfParquetFilesAreDescribed(t *testing.T) {
	for version, lacks := range map[string][]string{"2": hivetest.Hive2, "3": hivetest.Hive3, "4": hivetest.Hive4} {
		t.Run("hive "+version, func(t *testing.T) {
			s := content()
			s.Lacks = lacks
			s.Tables["sales.logs"] = logs(map[string]string{"owner.team": "birds"})
			s.Partitions = map[string][]map[int16]any{}
			for i := range 450 { // more than two batches
				s.Partitions["sales.logs"] = append(s.Partitions["sales.logs"], hivetest.ParquetPartition("sales", "logs", fmt.Sprintf("s3://b/%d", i), nil, fmt.Sprint("a/", i), "2026-01-01"))
			}
			s.Partitions["sales.logs"][7] = hivetest.ParquetPartition("sales", "logs", "hdfs://n/seven", nil, "__HIVE_DEFAULT_PARTITION__", "2026-01-07")
			orc := hivetest.ParquetPartition("sales", "logs", "s3://b/8", nil, "x", "2026-01-08")
			orc[6].(map[int16]any)[3], orc[6].(map[int16]any)[7] = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", map[int16]any{2: "org.apache.hadoop.hive.ql.io.orc.OrcSerde"}
			s.Partitions["sales.logs"][8] = orc
			c := open(t, "uri", start(t, s))
			loaded, err := load(c, t, "sales", "logs")
			if err != nil || loaded.Kind != catalogs.KindFiles || loaded.Format != "parquet" || loaded.Files == nil {
				t.Fatalf("%+v, %v", loaded, err)
			}
			f := loaded.Files
			if f.Location != "file:/w/logs" || !f.Listed || fmt.Sprint(f.Partitions) != "[country day]" || f.Schema.NumFields() != 3 || f.Properties["owner.team"] != "birds" {
				t.Errorf("%+v", f)
			}
			list := func(names []string) (out []string, asked []string) {
				t.Helper()
				request := catalogs.PartitionRequest{Identifier: table.Identifier{"sales", "logs"}, Names: names}
				for p, err := range c.(catalogs.PartitionLister).Partitions(t.Context(), request) {
					if err != nil {
						t.Fatal(err)
					}
					var values []string
					for _, v := range p.Values {
						if v == nil {
							values = append(values, "null")
							continue
						}
						values = append(values, *v)
					}
					out, asked = append(out, strings.Join(values, ",")+" "+p.Location+" "+p.Format), append(asked, p.Name)
				}
				sort.Strings(out)
				return out, asked
			}
			all, names := list(nil)
			if len(all) != 450 || all[0] != "a/0,2026-01-01  " || all[449] != "x,2026-01-08  " {
				t.Fatalf("%d partitions, %q … %q", len(all), all[0], all[len(all)-1])
			}
			if s.Count("get_partitions_by_names")+s.Count("get_partitions_by_names_req") != 0 {
				t.Error("names alone brought whole partitions")
			}
			whole, _ := list(append(names, "country=gone/day=2020-01-01"))
			if len(whole) != 450 || whole[0] != "a/0,2026-01-01 s3://b/0 " || whole[448] != "null,2026-01-07 hdfs://n/seven " || whole[449] != "x,2026-01-08 s3://b/8 orc" {
				t.Errorf("%d partitions, %q … %q", len(whole), whole[0], whole[max(0, len(whole)-2):])
			}
		})
	}
}

func TestPartitionsThatCannotBe(t *testing.T) {
	s := content()
	s.Tables["sales.logs"] = logs(nil)
	c := open(t, "uri", start(t, s)).(catalogs.PartitionLister)
	failure := func(name string, names ...string) (failed error) {
		for _, err := range c.Partitions(t.Context(), catalogs.PartitionRequest{Identifier: table.Identifier{"sales", name}, Names: names}) {
			failed = err
		}
		return failed
	}
	if err := failure("gone"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a table that is gone: %v", err)
	}
	if err := failure("logs"); err != nil {
		t.Errorf("no partitions: %v", err)
	}
	s.Partitions = map[string][]map[int16]any{"sales.logs": {hivetest.ParquetPartition("sales", "logs", "", nil, "x", "2026-01-01")}}
	if err := failure("logs", "country=x/day=2026-01-01"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("no location: %v", err)
	}
	s.Partitions["sales.logs"][0][0] = "country=x"
	if err := failure("logs"); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "country=x") {
		t.Errorf("a name of other columns: %v", err)
	}
}
