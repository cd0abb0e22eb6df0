package lint

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Other people's packages by what they are for us. An import belongs to the longest prefix here; one that belongs to none is refused, so
// that a new dependency is decided on this page.
const (
	arrow    = "github.com/apache/arrow-go/v18/arrow"
	flight   = "github.com/apache/arrow-go/v18/arrow/flight"
	parquet  = "github.com/apache/arrow-go/v18/parquet"
	iceberg  = "github.com/apache/iceberg-go"
	writer   = "github.com/apache/iceberg-go/catalog" // iceberg-go's own catalogs, which can also write
	uuid     = "github.com/google/uuid"
	compress = "github.com/klauspost/compress"
	lz4      = "github.com/pierrec/lz4/v4"
	brotli   = "github.com/andybalholm/brotli"
	libzstd  = "github.com/DataDog/zstd" // C, behind a build constraint
	xxhash   = "github.com/cespare/xxhash/v2"
	plugin   = "github.com/hashicorp/go-plugin"
	hclog    = "github.com/hashicorp/go-hclog"
	grpc     = "google.golang.org/grpc"
	protobuf = "google.golang.org/protobuf"
	jwt      = "github.com/golang-jwt/jwt/v5"
	sqlite   = "modernc.org/sqlite"
	postgres = "github.com/jackc/pgx/v5"
	mysql    = "github.com/go-sql-driver/mysql"
	thrift   = "github.com/apache/thrift"
	aws      = "github.com/aws/aws-sdk-go-v2"
	smithy   = "github.com/aws/smithy-go"
	google   = "google.golang.org/api"
	oauth2   = "golang.org/x/oauth2"
	azure    = "github.com/Azure/azure-sdk-for-go"
	hdfs     = "github.com/colinmarc/hdfs/v2"
	cobra    = "github.com/spf13/cobra"
	cuda     = "gorgonia.org/cu" // under a build tag
	readline = "github.com/chzyer/readline"
	isatty   = "github.com/mattn/go-isatty"
	bindings = "github.com/duckdb/duckdb-go-bindings"
	adbc     = "github.com/apache/arrow-adbc/go/adbc" // of a module of its own
)

// row says what the files of a package, tests aside, may import: which of our packages, and which of others'.
type row struct{ ours, others []string }

func may(ours ...string) row                { return row{ours: ours} }
func (r row) and(others ...string) row      { return row{r.ours, append(slices.Clip(r.others), others...)} }
func (r row) allows(unit string) bool       { return slices.Contains(r.others, unit) }
func (r row) allowsOurs(folder string) bool { return slices.Contains(r.ours, folder) }

// table is ARCHITECTURE.md's import table. A package without a row is refused.
var table = map[string]row{
	// Leaves that know nothing of the rest.
	"fault":            may(),
	"session":          may(),
	"engine/syntax":    may(),
	"engine/arith":     may("fault"),
	"engine/sparktext": may("fault"),
	"engine/sparkjson": may("engine/sparktext"),
	"engine/sparktype": may("engine/sparktext", "engine/syntax", "fault").and(arrow),
	"engine/sparkname": may("engine/sparktype", "engine/syntax"),
	"engine/constant":  may("engine/arith", "engine/sparkname", "engine/sparktext", "engine/sparktype", "engine/syntax", "fault").and(arrow),
	"internal/lint":    may(),
	"predicate":        may("fault").and(arrow),
	"resource":         may("fault").and(arrow),
	"auth":             may("fault").and(jwt),

	// Bytes and pages.
	"storage":                     may("fault", "resource"),
	"storage/local":               may("storage", "fault", "resource"),
	"storage/hadoopconf":          may("fault"),
	"storage/remote":              may("storage", "fault", "resource"),
	"storage/s3":                  may("storage", "storage/remote", "fault").and(aws, smithy),
	"storage/gcs":                 may("storage", "storage/remote", "fault").and(google, oauth2),
	"storage/adls":                may("storage", "storage/remote", "fault").and(azure),
	"storage/hdfs":                may("storage", "storage/remote", "fault").and(hdfs),
	"storage/storetest":           may("storage", "fault", "resource"),
	"kernels":                     may("fault", "predicate", "resource").and(arrow, parquet),
	"kernels/nested":              may("kernels", "fault").and(arrow),
	"kernels/convert":             may("fault").and(arrow, parquet),
	"kernels/pages":               may("kernels", "fault").and(parquet),
	"kernels/cpu":                 may("kernels", "kernels/convert", "kernels/nested", "kernels/pages", "predicate", "resource", "fault").and(arrow, parquet, compress, lz4, brotli, libzstd),
	"kernels/ptxsim":              may(),
	"kernels/cuda/ptx":            may(),
	"kernels/cuda/device":         may("kernels/ptxsim", "fault"),
	"kernels/cuda/driver":         may("kernels/cuda/device", "kernels/cuda/driver/cudart", "kernels/cuda/driver/standin", "fault").and(cuda),
	"kernels/cuda/driver/cudart":  may(),
	"kernels/cuda/driver/standin": may("kernels/ptxsim"),
	"kernels/cuda":                may("kernels", "kernels/cpu", "kernels/nested", "kernels/cuda/device", "kernels/cuda/ptx", "predicate", "resource", "fault").and(arrow, parquet),
	"kernels/kernelstest":         may("kernels", "kernels/pages", "predicate", "resource", "fault").and(arrow, parquet),

	// Catalogs and the process they live in. The plugin protocol carries storage's plain types: credentials and the location map.
	"catalogs":                      may("fault", "session", "storage").and(iceberg),
	"catalogs/override":             may("catalogs", "session", "fault"),
	"catalogs/catalogtest":          may("catalogs", "fault").and(iceberg),
	"catalogs/hadoop":               may("catalogs", "storage", "fault").and(iceberg),
	"catalogs/httpapi":              may("fault"),
	"catalogs/rest":                 may("catalogs", "catalogs/httpapi", "storage", "fault").and(iceberg, aws),
	"catalogs/plain":                may("catalogs", "fault").and(iceberg),
	"catalogs/hive":                 may("catalogs", "catalogs/plain", "storage", "fault").and(iceberg),
	"catalogs/glue":                 may("catalogs", "catalogs/plain", "storage", "fault").and(iceberg, aws, smithy),
	"catalogs/nessie":               may("catalogs", "catalogs/httpapi", "storage", "fault").and(iceberg),
	"catalogs/hive/hivetest":        may().and(thrift),
	"catalogs/static":               may("catalogs", "storage", "fault").and(iceberg),
	"catalogs/jdbc":                 may("catalogs", "storage", "fault").and(iceberg, sqlite, postgres, mysql),
	"plugins":                       may("catalogs", "fault", "storage", "plugins/proto/skua/catalog/v1").and(iceberg, plugin, grpc, protobuf),
	"plugins/host":                  may("plugins", "catalogs", "fault", "storage").and(iceberg, plugin, hclog, grpc),
	"plugins/sdk":                   may("plugins", "catalogs", "fault").and(plugin, hclog, grpc),
	"plugins/sdk/example":           may("plugins/sdk", "catalogs", "fault").and(iceberg),
	"plugins/proto/skua/catalog/v1": may().and(grpc, protobuf),

	// From a table to batches. The metadata tables know metadata only: scan makes them into sources.
	"scan/parquet":             may("kernels", "kernels/convert", "kernels/nested", "kernels/pages", "storage", "predicate", "resource", "fault", "variant").and(arrow, parquet, compress, lz4, xxhash),
	"scan/parquet/parquettest": may("kernels", "scan/parquet").and(arrow),
	"scan/avro":                may("kernels", "storage", "predicate", "resource", "fault", "scan/avrofile", "scan/parquet").and(arrow, uuid),
	"scan/avrofile":            may("fault").and(compress),
	"scan/manifest":            may("fault", "scan/avrofile"),
	"scan/metatable":           may("fault").and(arrow, iceberg, uuid),
	"scan": may("catalogs", "kernels", "predicate", "resource", "storage", "fault", "scan/parquet", "scan/avro", "scan/avrofile", "scan/manifest", "scan/metatable").
		and(arrow, iceberg, uuid),

	// Statements, and the wire.
	"engine/bind": may("engine/constant", "engine/sparkname", "engine/sparktext", "engine/sparktype", "engine/syntax", "scan", "predicate", "fault").
		and(arrow),
	"engine": may("catalogs", "catalogs/override", "engine/bind", "engine/constant", "engine/sparkname", "engine/sparktype", "engine/syntax", "scan", "predicate", "resource", "session", "fault").
		and(arrow, compress, iceberg),
	"engine/duckdb":         may("catalogs", "engine", "engine/arith", "engine/duckdb/dialect", "engine/sparkjson", "engine/sparktext", "engine/syntax", "fault", "predicate", "resource", "scan", "variant").and(arrow, bindings, uuid),
	"variant":               may("fault"),
	"engine/duckdb/dialect": may("engine/arith", "engine/sparktext", "engine/syntax", "fault").and(arrow),
	"flightsql":             may("auth", "engine", "session", "resource", "fault").and(arrow, flight, grpc, protobuf),

	// What composes them: neither a catalog's implementation nor the conformance suite.
	"server": may("auth", "catalogs", "engine", "engine/duckdb", "fault", "flightsql", "kernels", "kernels/cpu", "kernels/cuda", "kernels/cuda/device", "kernels/cuda/driver", "kernels/cuda/ptx", "plugins/host", "resource", "scan", "scan/parquet", "session",
		"storage", "storage/adls", "storage/gcs", "storage/hadoopconf", "storage/hdfs", "storage/local", "storage/s3").and(iceberg, grpc),
	"cmd/skua":         may("server", "cmd/skua/shell", "cmd/skua/demo").and(cobra),
	"cmd/skua/shell":   may().and(arrow, flight, grpc, readline, isatty),
	"cmd/skua/demo":    may().and(arrow, iceberg, writer),
	"cmd/skua-catalog": may("catalogs", "catalogs/glue", "catalogs/hadoop", "catalogs/hive", "catalogs/jdbc", "catalogs/nessie", "catalogs/rest", "catalogs/static", "storage", "storage/adls", "storage/gcs", "storage/hdfs", "storage/local", "storage/s3", "plugins/sdk", "fault"),
	"cmd/skua-conformance": may("conformance", "conformance/feature", "conformance/inprocess", "conformance/oracle", "conformance/outside", "conformance/plugintest",
		"conformance/report", "storage").and(cobra, grpc),

	// Outside of the product: clients that judge it.
	"conformance":                may().and(arrow, flight, grpc),
	"conformance/feature":        may("conformance"),
	"conformance/fixtures":       may("conformance").and(arrow, iceberg),
	"conformance/inprocess":      may("conformance", "server").and(grpc),
	"conformance/oracle":         may("conformance").and(arrow),
	"conformance/outside":        may("conformance").and(arrow, grpc),
	"conformance/outside/adbcgo": may("conformance").and(adbc, arrow),
	"conformance/plugintest":     may("catalogs", "catalogs/catalogtest", "conformance", "plugins/host", "storage").and(iceberg),
	"conformance/report":         may("conformance"),
	"conformance/scantest": may("catalogs", "engine", "engine/duckdb", "fault", "kernels", "kernels/cpu", "predicate", "resource", "scan", "scan/parquet", "session", "storage", "storage/local").
		and(arrow, iceberg, parquet),
	"conformance/lake":           may("cmd/skua/demo").and(iceberg),
	"conformance/servers/launch": may(),
	"conformance/servers/start":  may("conformance/servers/launch"),
	"bench":                      may().and(arrow, parquet, compress, flight, grpc, iceberg, writer),
	"bench/local": may("catalogs", "kernels", "kernels/cpu", "predicate", "resource", "scan", "scan/parquet", "storage", "storage/local").
		and(arrow, iceberg),
}

// cgoOwners are the packages that may call C.
var cgoOwners = []string{"engine/duckdb", "kernels/cuda/driver/cudart", "kernels/cuda/driver/standin"}

// units are the prefixes that imports are judged by.
var units = []string{arrow, flight, parquet, iceberg, writer, uuid, compress, lz4, brotli, libzstd, xxhash, plugin, hclog, grpc, protobuf, jwt, sqlite, postgres, mysql, thrift, aws, smithy, google, oauth2, azure, hdfs, cobra, cuda, readline, isatty, bindings, adbc}

// unit gives the longest prefix that an import belongs to, or "".
func unit(imported string) string {
	best := ""
	for _, u := range units {
		if (imported == u || strings.HasPrefix(imported, u+"/")) && len(u) > len(best) {
			best = u
		}
	}
	return best
}

// checkImports gives what the files import against the table.
func checkImports(sources []*source, table map[string]row) []string {
	var findings []string
	known := map[string]bool{}
	for _, s := range sources {
		if s.test() || known[s.dir] {
			continue
		}
		known[s.dir] = true
		if _, ok := table[s.dir]; !ok {
			findings = append(findings, s.dir+": the package has no row in the import table")
		}
	}
	for _, s := range sources {
		for _, i := range s.file.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				findings = append(findings, s.at(i.Pos())+": "+err.Error())
			}
			if problem := judge(s, imported, table); problem != "" {
				findings = append(findings, fmt.Sprintf("%s: imports %s: %s", s.at(i.Pos()), imported, problem))
			}
		}
	}
	return findings
}

// judge says what is wrong with one import, or "".
func judge(s *source, imported string, table map[string]row) string {
	first, _, _ := strings.Cut(imported, "/")
	ours, own := strings.CutPrefix(imported, modulePath+"/")
	row, known := table[s.dir]
	switch {
	case imported == "C" && !slices.Contains(cgoOwners, s.dir):
		return "cgo belongs in packages that own it"
	case imported == "testing" && !s.test() && !strings.HasSuffix(path.Base(s.dir), "test") && s.dir != "conformance/inprocess":
		return "testing belongs in tests and in packages for them"
	case own && !s.test() && known && !row.allowsOurs(ours):
		return "the import table does not allow it"
	case own || !strings.Contains(first, "."):
		return ""
	case unit(imported) == "":
		return "an unknown dependency: decide on it in the import table"
	case !s.test() && known && !row.allows(unit(imported)):
		return "the import table gives it to other packages"
	}
	return ""
}

func TestImports(t *testing.T) {
	sources := module(t)
	report(t, checkImports(sources, table))
	folders := map[string]bool{}
	for _, s := range sources {
		folders[s.dir] = true
	}
	for folder, r := range table {
		for _, name := range append([]string{folder}, r.ours...) {
			if !folders[name] {
				t.Errorf("the import table names %s, which does not exist", name)
			}
		}
	}
}

func TestImportsFinds(t *testing.T) {
	table := map[string]row{"scan": may("fault").and(arrow), "fault": may()}
	finds(t, checkImports([]*source{
		sample(t, "scan/plan.go", `package scan
			import (
				"context"
				"testing"
				"github.com/apache/arrow-go/v18/arrow/array"
				"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
				"github.com/skua-data/skua/fault"
				"github.com/skua-data/skua/engine"
				"example.com/thing"
			)`),
		sample(t, "scan/plan_test.go", `package scan
			import (
				"testing"
				"github.com/skua-data/skua/engine"
				"example.com/other"
			)`),
		sample(t, "rogue/rogue.go", `package rogue
			import "C"`),
	}, table),
		"rogue: the package has no row",
		"scan/plan.go:4: imports testing: testing belongs",
		"flightsql: the import table gives it to other packages",
		"engine: the import table does not allow it",
		"example.com/thing: an unknown dependency",
		"example.com/other: an unknown dependency",
		"rogue/rogue.go:2: imports C: cgo",
	)
}
