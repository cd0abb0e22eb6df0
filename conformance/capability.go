package conformance

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
)

// capabilities are what a case can need of a server, with what each means.
var capabilities = map[string]string{
	"scans":              "SELECT of a table's columns with filters and limits",
	"tables":             "the reference tables, under the names that the profile gives",
	"sql-engine":         "joins, grouping, ordering, functions, set operations, windows",
	"parameters":         "prepared statements with parameters",
	"update-path":        "statements with an effect over CommandStatementUpdate",
	"time-travel":        "VERSION AS OF, TIMESTAMP AS OF and the selectors in names",
	"metadata-tables":    "tables about a table, such as t.snapshots",
	"metadata-columns":   "_file, _pos and their like",
	"changelog":          "t.changes and ranges of snapshots",
	"read-options":       "WITH (…) behind a table's name",
	"session-options":    "SET, RESET and their effect on the session",
	"overrides":          "the spark.rapids.iceberg.…-setting keys",
	"session-namespace":  "USE and SHOW CURRENT NAMESPACE",
	"listings":           "SHOW … and DESCRIBE with Spark's columns",
	"procedures":         "CALL of procedures that read",
	"information-schema": "information_schema",
	"plans":              "EXPLAIN (FORMAT JSON) with Skua's keys",
	"explain":            "EXPLAIN with Skua's text",
	"spark-dialect":      "skua.sql.dialect=spark",
	"spark-functions":    "Spark's functions in constants",
	"variant":            "variant_get and its like",
	"tickets":            "tickets that stand alone: fetched over another connection, after handles are closed",
	"partitions":         "results offered as several endpoints where skua.flight.partitions asks for them",
	"calls":              "Flight SQL's metadata calls",
	"format-v3":          "tables of format version 3",
	"avro":               "Avro data files",
	"error-texts":        "Spark's texts of errors; without it only codes are compared",
	"error-codes":        "gRPC codes of errors as Skua has them; without it any error will do",
	"nullability":        "whether a column can be null, as Iceberg has it; without it this is not compared",
	"reads-only":         "refuses whatever writes; without it no statement that writes is sent",
	"types-spark":        "types of results that are computed, such as those of count, as Spark has them",
}

// lenient are the capabilities whose lack makes a comparison milder rather than skipping a case.
var lenient = []string{"error-texts", "error-codes", "nullability", "types-spark"}

// Capabilities gives every capability with what it means.
func Capabilities() map[string]string { return maps.Clone(capabilities) }

// tableName finds the reference tables in a statement: lake.NAMESPACE.TABLE, and what follows of dotted parts.
var tableName = regexp.MustCompile("(?i)\\blake\\.([a-z_0-9]+)(?:\\.(?:[a-z_0-9]+|`[^`]*`+))+")

// refreshes finds the only statement with an effect that needs a table; the keys of SET may look like tables.
var refreshes = regexp.MustCompile(`(?i)^\s*REFRESH\b`)

// Tables gives the reference tables that the case needs, each once: those that its heading declares and those that its statements name, as they name
// them: what follows a table's name may select a part of it or a metadata table. What must not be found need not be there, nor what must not be written.
func (c *Case) Tables(h Heading) (out []string) {
	out = slices.Clone(h.Tables)
	for _, s := range c.Steps {
		switch {
		case s.Kind == Call, s.Kind == Effect && !refreshes.MatchString(s.SQL):
			continue
		case s.Kind == Error && (s.Code == codes.NotFound.String() || s.Code == codes.PermissionDenied.String()):
			continue
		}
		for _, m := range tableName.FindAllStringSubmatch(s.SQL, -1) {
			if strings.EqualFold(m[1], "information_schema") || strings.EqualFold(m[1], "system") || slices.Contains(out, m[0]) {
				continue
			}
			out = append(out, m[0])
		}
	}
	return out
}

// Needs gives every capability that a case needs: those of its heading and those that its steps imply.
func (c *Case) Needs(h Heading) []string {
	out := slices.Clone(h.Needs)
	if len(h.Tables) > 0 {
		out = append(out, "tables")
	}
	for _, s := range c.Steps {
		switch s.Kind {
		case Plan:
			out = append(out, "plans")
		case Call:
			out = append(out, "calls")
		}
		if len(s.Arguments) > 0 {
			out = append(out, "parameters")
		}
		if s.Elsewhere {
			out = append(out, "tickets")
		}
		if s.Endpoints > 0 {
			out = append(out, "partitions")
		}
		if s.Kind != Call && strings.Contains(s.SQL, "lake.") {
			out = append(out, "tables")
		}
		if writes(s.SQL) {
			out = append(out, "reads-only")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// writing finds statements that would change something on a server that lets them. It sees too much rather than too little.
var writing = regexp.MustCompile(`(?is)(?:^|;|\)|^\s*EXPLAIN\s+(?:ANALYZE\s+)?)\s*(?:INSERT|UPDATE|DELETE|MERGE|CREATE|DROP|ALTER|TRUNCATE|REPLACE|COPY|LOAD|ATTACH|DETACH|` +
	`GRANT|REVOKE|OPTIMIZE|VACUUM|RENAME|COMMENT|MSCK|EXPORT|IMPORT|INSTALL|PRAGMA|ANALYZE|CALL|EXECUTE|DO)\b`)

// reading are the calls that change nothing.
var reading = regexp.MustCompile(`(?is)^\s*CALL\s+\S*\bancestors_of\s*\(`)

var sqlComment = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)

// writes reports whether a statement would write.
func writes(sql string) bool {
	bare := sqlComment.ReplaceAllString(sql, " ")
	return writing.MatchString(bare) && !reading.MatchString(bare)
}

// describes finds statements that tell of a table without reading its rows.
var describes = regexp.MustCompile(`(?i)^\s*(?:DESC|DESCRIBE|SHOW)\b`)

// Refusal reports whether the case shows that its feature is not supported: some step must give Unimplemented, and no other reads rows. A case about what
// a server must refuse, such as bad values, shows that the server has that feature.
func (c *Case) Refusal() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Kind == Error && s.Code == codes.Unimplemented.String() }) &&
		!slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Kind != Error && s.Kind != Effect && !describes.MatchString(s.SQL) })
}
