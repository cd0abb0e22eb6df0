package session

import (
	"slices"
	"strings"
)

// overrides are the names at the end of keys that override read options.
var overrides = []string{"read-split-target-size", "read-split-planning-lookback", "read-split-open-file-cost"}

// options is the table, in the order of docs/options.md. A family ends in *; the longest matching one counts.
var options = []Option{
	// Names, types and time.
	{Key: "spark.sql.defaultCatalog", Type: String, Effect: true, Scope: PerSession,
		Doc: "The catalog a fresh session starts in. Unset: `spark_catalog` if it is configured, else the only configured catalog. It is read when a session begins."},
	{Key: "spark.sql.caseSensitive", Type: Bool, Default: "false", Scope: PerSession, Effect: true,
		Doc: "Whether column names are matched with their case."},
	{Key: "spark.sql.session.timeZone", Type: Zone, Default: "UTC", Scope: PerSession, Effect: true,
		Doc: "The zone in which text becomes a timestamp and a timestamp becomes a date: a region such as Europe/Oslo, or an offset such as +02:00."},
	{Key: "skua.sql.time-travel-options", Type: Bool, Default: "false", Scope: PerSession, Effect: true,
		Doc: "Whether `WITH (…)` takes the time-travel options `snapshot-id`, `as-of-timestamp` and `tag`, which Iceberg 1.11 refuses. `branch`, `versionAsOf` and `timestampAsOf` are always taken."},
	{Key: "skua.sql.dialect", Type: Enum, Values: []string{"ansi", "spark"}, Default: "ansi", Scope: PerSession, Effect: true,
		Doc: "Whose meaning the SQL engine gives what Spark and ANSI SQL read differently, such as the order of nulls or the type `TIMESTAMP`: `ansi` or `spark`. docs/dialect.md has the list."},

	// How scans are cut.
	{Key: "spark.sql.shuffle.partitions", Type: Int, Default: "200", Scope: PerSession, Effect: true,
		Doc: "How many splits adaptive sizing aims at, unless `spark.sql.iceberg.read.adaptive-split-size.parallelism` says so or `spark.default.parallelism` is larger."},
	{Key: "spark.default.parallelism", Type: Int, Scope: PerSession, Effect: true,
		Doc: "The least number of splits that adaptive sizing aims at. As in Spark, only the value at start counts."},
	{Key: "spark.rapids.iceberg.table-setting.*", Type: String, Members: overrides, Scope: PerSession, Effect: true,
		Doc: "A read option of one table: `<catalog>.<namespace>.<table>.` and `read-split-target-size`, `read-split-planning-lookback` or `read-split-open-file-cost`. It counts for Iceberg's tables in catalogs whose class is one of the RAPIDS classes. The value is a whole number, which the scan checks."},
	{Key: "spark.rapids.iceberg.catalog-setting.*", Type: String, Members: overrides, Scope: PerSession, Effect: true,
		Doc: "A read option of every table of one catalog: `<catalog>.` and `read-split-target-size`, `read-split-planning-lookback` or `read-split-open-file-cost`. A table's own setting wins. The value is a whole number, which the scan checks."},
	{Key: "spark.rapids.iceberg.global-setting.*", Type: String, Members: overrides, Scope: PerSession, Effect: true,
		Doc: "A read option of every table of every catalog whose class is one of the RAPIDS classes: `read-split-target-size`, `read-split-planning-lookback` or `read-split-open-file-cost`. The settings of a table and of a catalog win. The value is a whole number, which the scan checks."},
	{Key: "spark.sql.iceberg.read.split-size", Type: String, Number: true, Scope: PerSession, Effect: true,
		Doc: "The target size of splits in bytes for every Iceberg table, below the read options and above the table's property. The scan checks the value."},

	{Key: "spark.sql.iceberg.read.adaptive-split-size.enabled", Type: String, Scope: PerSession, Effect: true,
		Doc: "Whether the target size is lowered for small scans, unless a read option or a setting gives the size: `true`, and every other word is false. Unset: what the table's property says, else true."},
	{Key: "spark.sql.iceberg.read.adaptive-split-size.parallelism", Type: String, Number: true, Scope: PerSession, Effect: true,
		Doc: "How many splits adaptive sizing aims at. The scan checks the value."},
	{Key: "spark.sql.iceberg.planning.preserve-data-grouping", Type: String, Default: "false", Scope: PerSession, Effect: true,
		Doc: "Whether a split keeps to one partition: `true`, and every other word is false."},
	{Key: "spark.sql.iceberg.aggregate-push-down.enabled", Type: String, Default: "true", Scope: PerSession, Effect: true,
		Doc: "Whether `count`, `min` and `max` are answered from metadata where metadata knows them exactly: `true`, and every other word is false."},
	{Key: "spark.comet.scan.icebergNative.enabled", Type: Bool, Default: "true", Scope: PerSession, Effect: true,
		Doc: "Whether the session's scans read each Parquet column with the fastest decoder that takes it; `false` reads all with the general one. The rows do not depend on it."},
	{Key: "spark.sql.parquet.datetimeRebaseModeInRead", Type: Enum, Values: []string{"CORRECTED", "LEGACY", "EXCEPTION"}, Default: "CORRECTED", Scope: PerSession, Effect: true,
		Doc: "How dates before 1582-10-15 and timestamps before 1900 are read in plain Parquet files that do not tell that Spark wrote them: `CORRECTED` as they stand, `LEGACY` as of the Julian calendar, `EXCEPTION` not at all. The default is Spark 4's; Spark 3's is `EXCEPTION`."},
	{Key: "spark.sql.parquet.int96RebaseModeInRead", Type: Enum, Values: []string{"CORRECTED", "LEGACY", "EXCEPTION"}, Default: "CORRECTED", Scope: PerSession, Effect: true,
		Doc: "How timestamps of the type INT96 before 1900 are read in plain Parquet files that do not tell that Spark wrote them: `CORRECTED` as they stand, `LEGACY` as of the Julian calendar, `EXCEPTION` not at all."},
	{Key: "spark.sql.readSideCharPadding", Type: Enum, Values: []string{"true"}, Default: "true", Scope: PerSession, Effect: true,
		Doc: "Texts of `char(n)` columns of plain Parquet tables are padded to n characters as they are read. `false` is not supported."},
	{Key: "skua.decoder", Type: Enum, Values: []string{"auto", "cpu", "gpu"}, Default: "auto", Scope: PerSession, Effect: true,
		Doc: "Where the session's scans decode Parquet columns: `auto` where it is faster, `cpu` on the CPU alone, `gpu` on a GPU all that its kernels can do. The rows do not depend on it."},
	{Key: "skua.scan.concurrency", Type: Int, Scope: PerSession, Effect: true,
		Doc: "How many splits of a scan one stream reads at once, at most: 1 or more, which the scan checks. Unset, or more than `skua.cores`: as many as there are cores. It wins over `spark.comet.scan.icebergNative.dataFileConcurrencyLimit`."},
	{Key: "spark.comet.scan.icebergNative.dataFileConcurrencyLimit", Type: Int, Scope: PerSession, Effect: true,
		Doc: "How many splits of a scan one stream reads at once, at most, unless `skua.scan.concurrency` is set: 1 or more, which the scan checks. Unset, or more than `skua.cores`: as many as there are cores."},
	{Key: "skua.catalog-reference.*", Type: String, Scope: PerSession, Effect: true,
		Doc: "`skua.catalog-reference.<catalog>` is the branch, tag or commit of the whole catalog whose tables the session reads, for catalogs that have them (Nessie); listings stay with the configured one."},
	{Key: "spark.wap.branch", Type: String, Scope: PerSession, Effect: true,
		Doc: "Reads the branch of this name of every table that has it and has `write.wap.enabled=true`, unless the statement chooses a snapshot. It counts whatever the catalog's class is."},

	// Iceberg's settings without effect here. Spark takes any text for them.
	{Key: "spark.sql.iceberg.vectorization.enabled", Type: String, Scope: PerSession,
		Doc: "Every read works on columns."},
	{Key: "spark.sql.iceberg.data-planning-mode", Type: String, Scope: PerSession,
		Doc: "Planning is always local."},
	{Key: "spark.sql.iceberg.delete-planning-mode", Type: String, Scope: PerSession,
		Doc: "Planning is always local."},
	{Key: "spark.sql.iceberg.locality.enabled", Type: String, Scope: PerSession, Doc: "It places work on Spark's executors."},
	{Key: "spark.sql.iceberg.executor-cache.*", Type: String, Scope: PerSession, Doc: "It concerns Spark's executors."},
	{Key: "spark.sql.iceberg.report-column-stats", Type: String, Scope: PerSession, Doc: "It serves Spark's optimizer."},
	{Key: "spark.sql.iceberg.identifier-fields-rely", Type: String, Scope: PerSession, Doc: "It serves Spark's optimizer."},
	{Key: "spark.sql.iceberg.parquet.reader-type", Type: String, Scope: PerSession, Doc: "There is one way to read Parquet, and Iceberg 1.11 has dropped the setting."},
	{Key: "spark.sql.iceberg.async-micro-batch-planning-enabled", Type: String, Scope: PerSession, Doc: "Nothing is streamed in micro-batches."},
	{Key: "spark.datasource.iceberg.*", Type: String, Scope: PerSession,
		Doc: "In Spark these are read options of DataFrame reads only; SQL never sees them."},
	{Key: "spark.comet.*", Type: String, Scope: PerSession, Doc: "It steers Comet's operators inside Spark."},
	{Key: "spark.wap.id", Type: String, Scope: PerSession, Doc: "It concerns writes."},
	{Key: "spark.sql.iceberg.*", Type: String, Scope: PerSession, Doc: "It is a setting of Iceberg's Spark module that steers Spark."},

	// Catalogs and stores.
	{Key: "spark.sql.catalog.*", Type: String, Scope: Startup, Effect: true,
		Doc: "`spark.sql.catalog.<name>` is a catalog's class, `spark.sql.catalog.<name>.<property>` one of its properties."},
	{Key: "spark.sql.extensions", Type: String, Scope: Startup, Doc: "Iceberg's SQL extensions need no switch."},
	{Key: "spark.hadoop.*", Type: String, Scope: Startup, Effect: true,
		Doc: "Properties for the stores of every catalog; a catalog's own `hadoop.<key>` wins."},
	{Key: "skua.location-map.*", Type: String, Scope: Startup, Effect: true,
		Doc: "`skua.location-map.<n>.from` and `.to`: files under the first prefix are opened under the second, and keep their spelling everywhere else."},

	// The server.
	{Key: "skua.listen", Type: String, Default: "127.0.0.1:31337", Scope: Startup, Effect: true,
		Doc: "The address to serve, host:port; port 0 picks a free one."},
	{Key: "skua.listen.insecure", Type: Bool, Default: "false", Scope: Startup, Effect: true,
		Doc: "Allows an address that other machines reach without TLS and login."},
	{Key: "skua.tls.certificate-file", Type: String, Scope: Startup, Effect: true, Doc: "The server's certificate chain, PEM."},
	{Key: "skua.tls.key-file", Type: String, Scope: Startup, Effect: true, Doc: "The key of the certificate, PEM."},
	{Key: "skua.tls.client-ca-file", Type: String, Scope: Startup, Effect: true, Doc: "Clients must show a certificate that one of these authorities signed, PEM. It is also their login, unless they show a password or a token."},
	{Key: "skua.tls.client-principal", Type: Enum, Values: []string{"common-name", "subject", "dns", "email", "uri"}, Default: "common-name", Scope: Startup, Effect: true,
		Doc: "Which field of a client's certificate names the user: the common name, the whole subject, or the first alternative name of a kind."},
	{Key: "skua.auth.users-file", Type: String, Scope: Startup, Effect: true, Doc: "Users and passwords, as `skua user` writes them. Without it, `skua.auth.jwt.keys` and `skua.tls.client-ca-file` everybody is anonymous."},
	{Key: "skua.auth.jwt.keys", Type: String, Scope: Startup, Effect: true,
		Doc: "The JSON Web Key Set of an identity provider whose bearer tokens are taken: a file, or an https URL. It is read when first needed, then as `skua.auth.jwt.refresh` says, and once more, at most every 10 seconds, for a token with a key that is not in it."},
	{Key: "skua.auth.jwt.issuer", Type: String, Scope: Startup, Effect: true, Doc: "What the claim `iss` of a bearer token must be. Needed with `skua.auth.jwt.keys`."},
	{Key: "skua.auth.jwt.audience", Type: String, Scope: Startup, Effect: true, Doc: "What the claim `aud` of a bearer token must hold. Needed with `skua.auth.jwt.keys`."},
	{Key: "skua.auth.jwt.user-claim", Type: String, Default: "sub", Scope: Startup, Effect: true, Doc: "The claim of a bearer token that names the user."},
	{Key: "skua.auth.jwt.algorithms", Type: String, Default: "RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA", Scope: Startup, Effect: true,
		Doc: "How bearer tokens may be signed, with commas between."},
	{Key: "skua.auth.jwt.leeway", Type: Duration, Default: "30s", Scope: Startup, Effect: true, Doc: "How far the clocks of an identity provider and of this server may differ, such as `30s`."},
	{Key: "skua.auth.jwt.refresh", Type: Duration, Default: "15m", Scope: Startup, Effect: true, Doc: "How long the keys of an identity provider are used before they are read again, such as `15m`."},
	{Key: "skua.auth.key-file", Type: String, Scope: Startup, Effect: true,
		Doc: "The key that signs tokens and tickets; servers that share it take each other's. Unset: a fresh key at each start."},
	{Key: "skua.plugin.folder", Type: String, Scope: Startup, Effect: true,
		Doc: "Where the catalog plugins lie. Unset: beside the running binary."},
	{Key: "skua.drain.timeout", Type: Duration, Default: "30s", Scope: Startup, Effect: true,
		Doc: "How long running streams may take after a request to stop, such as `30s` or `5m`."},
	{Key: "skua.log.level", Type: Enum, Values: []string{"debug", "info", "warn", "error"}, Default: "info", Scope: Startup, Effect: true, Doc: "The least level that is logged."},
	{Key: "skua.log.format", Type: Enum, Values: []string{"text", "json"}, Default: "text", Scope: Startup, Effect: true, Doc: "How a log line looks."},

	// Limits.
	{Key: "skua.scan.decoder", Type: Enum, Values: []string{"auto", "fallback"}, Default: "auto", Scope: Startup, Effect: true,
		Doc: "What decodes Parquet: `auto` reads each column with the fastest decoder that takes it, `fallback` reads all with the general one. The rows do not depend on it."},
	{Key: "skua.gpu.memory.limit", Type: Bytes, Default: "2g", Scope: Startup, Effect: true,
		Doc: "Memory of each GPU that decoding may take, such as `2g`; a part of it is page-locked on the host too. One batch needs 448 MiB. Only builds made with `make build-gpu` use GPUs."},
	{Key: "skua.gpu.fallback", Type: Bool, Default: "false", Scope: Startup, Effect: true,
		Doc: "Whether `skua.decoder=gpu` reads on the CPU where there is no GPU, rather than being refused."},
	{Key: "skua.cores", Type: Int, Default: "0", Scope: Startup, Effect: true, Doc: "Workers that decode at once; 0: one for each core."},
	{Key: "skua.memory.limit", Type: Bytes, Scope: Startup, Effect: true,
		Doc: "Memory of all statements together: Arrow data, metadata that is decoded, and the plans and metadata that are kept; such as `8g`; 0: no limit. Unset: half of what the machine or the container has. " +
			"A statement that runs counts for 24 MiB, a quarter of a small limit at most, or for what it holds where that is more: batches, pages that are unpacked, dictionaries, footers and deletes. " +
			"It reads a row group once there is memory for it. At the limit new statements wait, in order, and those that run read no further ahead than their clients wait for; one alone may go over it for a row group that needs more. " +
			"Resident memory is that, up to a quarter more and 64 MiB for Go's heap, beside what the idle server takes."},
	{Key: "skua.memory.wait", Type: Duration, Default: "1m", Scope: Startup, Effect: true,
		Doc: "How long a statement waits for memory at `skua.memory.limit`, counted from when one of those before it was last let in, until it fails, such as `30s`; it must be more than 0. A thousand wait at most, and one more fails at once."},
	{Key: "skua.metadata.cache.limit", Type: Bytes, Default: "256m", Scope: Startup, Effect: true, Doc: "Memory for table metadata, decoded manifests and, in a quarter of it, the columns that listings tell, which are kept for the next statement, such as `1g`; part of `skua.memory.limit`, of which it takes a quarter at most."},
	{Key: "skua.delete.cache.limit", Type: Bytes, Default: "256m", Scope: Startup, Effect: true, Doc: "Memory for decoded delete files and deletion vectors that are kept for the next statement, such as `1g`; part of `skua.memory.limit`, of which it takes a quarter at most."},
	{Key: "skua.statement.memory.limit", Type: Bytes, Default: "1g", Scope: Startup, Effect: true, Doc: "Arrow memory of one statement, such as `512m`; 0: no limit."},
	{Key: "skua.sql.memory.limit", Type: Bytes, Default: "0", Scope: Startup, Effect: true, Doc: "Memory of the SQL engine for all statements together, beyond which it spills; 0: a quarter of the machine's. It is beside `skua.memory.limit`, in which a statement of the engine counts for 24 MiB or for the batches that it holds; while its client takes no rows, for what it holds alone, its part of the engine's memory among that, up to 24 MiB."},
	{Key: "skua.sql.spill.folder", Type: String, Scope: Startup, Effect: true, Doc: "Where the SQL engine makes a folder of its own to spill into; empty: in the system's temporary one. It is removed at the end, or by the next server where one was killed."},
	{Key: "skua.sql.spill.limit", Type: Bytes, Default: "32g", Scope: Startup, Effect: true, Doc: "Bytes that the SQL engine may spill."},
	{Key: "skua.sql.timeout", Type: Duration, Default: "1h", Scope: Startup, Effect: true, Doc: "How long one statement may run in the SQL engine."},
	{Key: "skua.fetch.stall.timeout", Type: Duration, Default: "10m", Scope: Startup, Effect: true,
		Doc: "How long a client may take no message of a result, such as `30m`, until the fetch ends with an error and what it holds is given back: a client that stops reading, but stays connected, would keep it for ever. Its transport buffers up to 16 MiB and tells late of what was taken of it, so a client that takes nothing is waited for a few times as long: once for each message of the last 4 MiB, 16 at most. 0: for ever."},
	{Key: "skua.session.max", Type: Int, Default: "10000", Scope: Startup, Effect: true, Doc: "Sessions that live at once: 1 or more."},
	{Key: "skua.session.max-per-principal", Type: Int, Default: "1000", Scope: Startup, Effect: true, Doc: "Sessions of one user that live at once; 0: as many as `skua.session.max` allows."},
	{Key: SettingsSize, Type: Bytes, Default: "4m", Scope: Startup, Effect: true,
		Doc: "What the keys and values that one session sets may take together."},
	{Key: "skua.session.idle-timeout", Type: Duration, Default: "1h", Scope: Startup, Effect: true, Doc: "A session that is unused for so long ends, such as `30m` or `12h`; it must be more than 0."},

	// The wire.
	{Key: "skua.flight.partitions", Type: Count, Default: "1", Scope: PerSession, Effect: true,
		Doc: "How many endpoints a result is offered as, at most: a number, or true for one per split. Clients that fetch endpoints in parallel gain by it."},
	{Key: "skua.flight.compression", Type: Enum, Values: []string{"none", "lz4", "zstd"}, Default: "none", Scope: PerSession, Effect: true,
		Doc: "How the bodies of batches are compressed. Clients of Java get them plain, since Arrow's JDBC driver cannot read others."},
	{Key: "skua.flight.dictionaries", Type: Bool, Default: "false", Scope: PerSession, Effect: true,
		Doc: "Whether columns of strings are sent dictionary-encoded. Clients of Java get them plain, since Arrow's JDBC driver shows the indices."},
	{Key: "skua.result.timestamps", Type: Enum, Values: []string{"auto", "zoned", "zoneless"}, Default: "auto", Scope: PerSession, Effect: true,
		Doc: "Whether timestamps with a zone are sent as such or without, showing UTC. `auto` is zoned, except for prepared statements of Arrow's JDBC driver 18.3, which fails on zones."},
	{Key: "skua.result.nested", Type: Enum, Values: []string{"arrow", "json"}, Default: "arrow", Scope: PerSession, Effect: true,
		Doc: "Whether lists, maps and structs are sent as such or as JSON text, for tools that show nothing else."},
	{Key: "skua.result.uuids", Type: Enum, Values: []string{"binary", "text"}, Default: "binary", Scope: PerSession, Effect: true,
		Doc: "Whether uuids are sent as 16 bytes, with Arrow's extension type, or as text."},
	{Key: "skua.result.decimals", Type: Enum, Values: []string{"decimal", "double"}, Default: "decimal", Scope: PerSession, Effect: true,
		Doc: "Whether decimals are sent exactly or as doubles, for tools that have no decimals."},
	{Key: "skua.result.table-types", Type: Enum, Values: []string{"auto", "upper", "lower"}, Default: "auto", Scope: PerSession, Effect: true,
		Doc: "Whether metadata calls say `TABLE` and `VIEW` or `table` and `view`. `auto` is lower case for clients of ADBC, whose drivers for other databases say so, and upper case for the rest."},
	{Key: "skua.flight.max-message-size", Type: Bytes, Default: "0", Scope: PerSession, Effect: true,
		Doc: "The largest message that the client takes, such as `64m`: a single row that does not fit is refused by the name of its column. 0: 16 MiB for clients of ADBC, whose option `adbc.flight.sql.client_option.with_max_msg_size` raises it, and 2 GiB for others."},
	{Key: "skua.flight.max-receive-size", Type: Bytes, Default: "16m", Scope: Startup, Effect: true, Doc: "The largest message a client may send, such as `16m`."},
	{Key: "skua.flight.max-streams", Type: Int, Default: "256", Scope: Startup, Effect: true, Doc: "Calls that one connection may have open at once."},
	{Key: "skua.flight.reflection", Type: Bool, Default: "true", Scope: Startup, Effect: true, Doc: "Whether gRPC reflection is served."},

	// Everybody else's.
	{Key: "spark.*", Type: String, Scope: PerSession, Doc: "A setting that steers Spark itself: it is kept and shown."},
}

// Options gives the table, in its order. The caller must not change what Values hold.
func Options() []Option { return slices.Clone(options) }

// Lookup gives a key's option: its own row, else the longest family it is in. An unknown key inside skua.* is an error of whoever set it;
// any other unknown key is kept and shown.
func Lookup(key string) (Option, bool) {
	best := -1
	for i, o := range options {
		family, isFamily := strings.CutSuffix(o.Key, "*")
		switch {
		case o.Key == key:
			return o, true
		case isFamily && strings.HasPrefix(key, family) && (best < 0 || len(o.Key) > len(options[best].Key)):
			best = i
		}
	}
	if best < 0 {
		return Option{}, false
	}
	return options[best], true
}

// Known reports whether a key may be set at all: everything may that is not inside skua.*, and there what the table lists.
func Known(key string) bool {
	_, ok := Lookup(key)
	return ok || !strings.HasPrefix(key, "skua.")
}
