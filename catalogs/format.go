package catalogs

import "strings"

// formats tells a format by a word in a name of Spark's or Hive's, the more telling first.
var formats = []struct{ word, format string }{
	{"parquet", "parquet"}, {"orc", "orc"}, {"avro", "avro"}, {"delta", "delta"}, {"hudi", "hudi"}, {"hoodie", "hudi"}, {"json", "json"}, {"csv", "csv"},
	{"sequencefile", "sequencefile"}, {"rcfile", "rcfile"}, {"kudu", "kudu"}, {"hbase", "hbase"}, {"jdbc", "jdbc"}, {"text", "text"}, {"lazysimple", "text"},
}

// FormatOf names the format of a table that is none of Iceberg's by what a metastore says of it: Spark's provider, the class that reads its rows, its
// input format. The first that tells counts; "unknown" where none does.
func FormatOf(said ...string) string {
	for _, s := range said {
		for _, f := range formats {
			if strings.Contains(strings.ToLower(s), f.word) {
				return f.format
			}
		}
	}
	return "unknown"
}
