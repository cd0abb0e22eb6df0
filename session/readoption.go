package session

import "strings"

// ReadOption is an option of one scan, as WITH (…) gives it.
type ReadOption struct {
	Name   string // hyphenated and lower-case
	Camel  bool   // Spark spells it in camelCase only
	Level  Level
	Doc    string // one or two sentences
	Effect bool   // false: accepted without effect, and Doc says why
}

// Level says who reads an option.
type Level uint8

// The levels.
const (
	ScanLevel   Level = iota // the scan: it decides how files are cut and read
	EngineLevel              // the statement: it chooses what is read
)

var readOptions = []ReadOption{
	{Name: "split-size", Effect: true, Doc: "The target size of splits in bytes. Given, it switches adaptive sizing off."},
	{Name: "lookback", Effect: true, Doc: "How many splits are kept open while files are packed."},
	{Name: "file-open-cost", Effect: true, Doc: "The least weight of a file, in bytes."},
	{Name: "batch-size", Effect: true, Doc: "Rows in a record batch at most. Unset: as many as fit the bytes of a batch."},
	{Name: "branch", Level: EngineLevel, Effect: true, Doc: "Reads the head of a branch."},
	{Name: "version-as-of", Camel: true, Level: EngineLevel, Effect: true, Doc: "Reads a snapshot, a branch or a tag, as `VERSION AS OF` does."},
	{Name: "timestamp-as-of", Camel: true, Level: EngineLevel, Effect: true, Doc: "Reads what was current at a time, as `TIMESTAMP AS OF` does."},
	{Name: "snapshot-id", Level: EngineLevel, Effect: true, Doc: "Reads a snapshot. Refused, as by Iceberg 1.11, unless `skua.sql.time-travel-options` is set."},
	{Name: "as-of-timestamp", Level: EngineLevel, Effect: true, Doc: "Reads what was current at a time in milliseconds since 1970. Refused, as by Iceberg 1.11, unless `skua.sql.time-travel-options` is set."},
	{Name: "tag", Level: EngineLevel, Effect: true, Doc: "Reads the snapshot of a tag. Refused, as by Iceberg 1.11, unless `skua.sql.time-travel-options` is set."},
	{Name: "aggregate-push-down-enabled", Level: EngineLevel, Effect: true,
		Doc: "Whether `count`, `min` and `max` are answered from metadata where metadata knows them exactly: `true`, the default, and every other word is false."},
	{Name: "start-snapshot-id", Level: EngineLevel, Effect: true, Doc: "Only what snapshots after this one appended is read; of `t.changes`, what they changed."},
	{Name: "end-snapshot-id", Level: EngineLevel, Effect: true, Doc: "Up to this snapshot, with it; beside `start-snapshot-id`, unless of `t.changes`. Unset: the current one."},
	{Name: "start-timestamp", Level: EngineLevel, Effect: true, Doc: "Of `t.changes` only: what changed after this time, in milliseconds."},
	{Name: "end-timestamp", Level: EngineLevel, Effect: true, Doc: "Of `t.changes` only: what changed up to this time, in milliseconds."},
	{Name: "vectorization-enabled", Doc: "Every read works on columns."},
	{Name: "locality", Doc: "It places work on Spark's executors."},
	{Name: "preserve-data-grouping", Doc: "As in Iceberg, only the setting `spark.sql.iceberg.planning.preserve-data-grouping` counts."},
	{Name: "stream-from-timestamp", Doc: "Nothing is streamed in micro-batches."},
	{Name: "streaming-skip-delete-snapshots", Doc: "Nothing is streamed in micro-batches."},
	{Name: "streaming-skip-overwrite-snapshots", Doc: "Nothing is streamed in micro-batches."},
	{Name: "streaming-max-files-per-micro-batch", Doc: "Nothing is streamed in micro-batches."},
	{Name: "streaming-max-rows-per-micro-batch", Doc: "Nothing is streamed in micro-batches."},
	{Name: "streaming-snapshot-polling-interval-ms", Doc: "Nothing is streamed in micro-batches."},
	{Name: "async-micro-batch-planning-enabled", Doc: "Nothing is streamed in micro-batches."},
	{Name: "async-queue-preload-file-limit", Doc: "Nothing is streamed in micro-batches."},
	{Name: "async-queue-preload-row-limit", Doc: "Nothing is streamed in micro-batches."},
	{Name: "scan-task-set-id", Doc: "It serves compaction inside Spark."},
	{Name: "path", Doc: "A table is named in FROM."},
}

// ReadOptions gives the table of read options, in its order.
func ReadOptions() []ReadOption { return append([]ReadOption(nil), readOptions...) }

// LookupReadOption finds a read option by its hyphenated or its camelCase spelling, in any case.
func LookupReadOption(spelled string) (ReadOption, bool) {
	lower := strings.ToLower(spelled)
	for _, o := range readOptions {
		if lower == o.Name || lower == strings.ReplaceAll(o.Name, "-", "") {
			return o, true
		}
	}
	return ReadOption{}, false
}

// Spelled is the name as the documentation has it.
func (o ReadOption) Spelled() string {
	if !o.Camel {
		return o.Name
	}
	var b strings.Builder
	for i, part := range strings.Split(o.Name, "-") {
		if i > 0 {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// tableProperties are the properties of tables that concern reading: name, default, effect.
var tableProperties = []struct {
	name, value string
	effect      bool
	doc         string
}{
	{"read.split.target-size", "134217728", true, "The target size of splits in bytes, below `split-size` and the settings that stand for it."},
	{"read.split.metadata-target-size", "33554432", true, "The target size of splits of the table's metadata tables in bytes, below `split-size` and the settings that stand for it."},
	{"read.split.planning-lookback", "10", true, "How many splits are kept open while files are packed, below the read option `lookback` and the settings that stand for it."},
	{"read.split.open-file-cost", "4194304", true, "The least weight of a file in bytes, below the read option `file-open-cost` and the settings that stand for it."},
	{"read.split.adaptive-size.enabled", "true", true, "Whether the target size is lowered for small scans. It does not reach metadata tables."},
	{"write.wap.enabled", "false", true, "Whether `spark.wap.branch` counts for the table."},
	{"schema.name-mapping.default", "–", true, "The names by which columns are found in files without field ids."},
	{"read.parquet.vectorization.enabled", "true", false, "Every read works on columns."},
	{"read.parquet.vectorization.batch-size", "5000", false, "Batches are sized by their bytes; see the read option `batch-size`."},
	{"read.orc.vectorization.enabled", "false", false, "Every read works on columns."},
	{"read.orc.vectorization.batch-size", "5000", false, "Batches are sized by their bytes; see the read option `batch-size`."},
	{"read.data-planning-mode", "auto", false, "Planning is always local."},
	{"read.delete-planning-mode", "auto", false, "Planning is always local."},
}
