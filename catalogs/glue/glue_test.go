package glue

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/fault"
)

// service is Glue, and STS, in memory. It pages by two, in an order of its own.
type service struct {
	databases map[string]map[string]any
	tables    map[string]map[string]any // by database.table

	partitions map[string]map[string]any // of every table
	deny       bool
	round      bool // pages lead to the first one again

	mu   sync.Mutex
	seen []map[string]any
	auth []string
	sts  []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Amz-Target") == "" {
		s.assume(w, r)
		return
	}
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	s.mu.Lock()
	s.seen, s.auth = append(s.seen, in), append(s.auth, r.Header.Get("Authorization"))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	text := func(k string) string { v, _ := in[k].(string); return v }
	fail := func(code string) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"__type":%q,"Message":"said %s"}`, code, code)
	}
	missing := func() { fail("EntityNotFoundException") }
	if s.deny {
		fail("AccessDeniedException")
		return
	}
	switch op := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AWSGlue."); op {
	case "GetDatabase":
		if d, ok := s.databases[text("Name")]; ok {
			_ = json.NewEncoder(w).Encode(map[string]any{"Database": d})
			return
		}
		missing()
	case "GetTable":
		if t, ok := s.tables[text("DatabaseName")+"."+text("Name")]; ok {
			_ = json.NewEncoder(w).Encode(map[string]any{"Table": t})
			return
		}
		missing()
	case "GetPartitions":
		if _, ok := s.tables[text("DatabaseName")+"."+text("TableName")]; !ok {
			missing()
			return
		}
		s.page(w, "Partitions", s.partitions, text("NextToken"))
	case "GetDatabases", "GetTables":
		field, from := "DatabaseList", s.databases
		if op == "GetTables" {
			if _, ok := s.databases[text("DatabaseName")]; !ok {
				missing()
				return
			}
			field, from = "TableList", map[string]map[string]any{}
			for k, t := range s.tables {
				if strings.HasPrefix(k, text("DatabaseName")+".") {
					from[k] = t
				}
			}
		}
		s.page(w, field, from, text("NextToken"))
	default:
		fail("UnknownOperationException")
	}
}

func (s *service) page(w http.ResponseWriter, field string, from map[string]map[string]any, token string) {
	var names []string
	for k := range from {
		names = append(names, k)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(names)))
	start := 0
	_, _ = fmt.Sscan(token, &start)
	end := min(start+2, len(names))
	list := []any{}
	for _, n := range names[start:end] {
		list = append(list, from[n])
	}
	out := map[string]any{field: list}
	if end < len(names) {
		out["NextToken"] = fmt.Sprint(end)
	}
	if s.round {
		out["NextToken"] = "0"
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (s *service) assume(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	s.sts = append(s.sts, r.PostForm.Encode())
	s.mu.Unlock()
	fmt.Fprint(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASSUMED</AccessKeyId>
		<SecretAccessKey>planted</SecretAccessKey><SessionToken>planted-token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
}

func stored(name string, parameters map[string]string, more map[string]any) map[string]any {
	out := map[string]any{"Name": name, "Parameters": parameters}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func sample() *service {
	ice := func(at string) map[string]string {
		return map[string]string{"table_type": "ICEBERG", "metadata_location": at}
	}
	s := &service{
		databases: map[string]map[string]any{"sales": {"Name": "sales", "LocationUri": "s3://b/sales", "Description": "all of it", "Parameters": map[string]string{"owner": "crew"}},
			"empty": {"Name": "empty"}, "x": {"Name": "x"}},
		tables: map[string]map[string]any{},
	}
	for _, name := range []string{"orders", "b", "a", "_c", "z z"} {
		s.tables["sales."+name] = stored(name, ice("s3://b/"+name), nil)
	}
	return s
}

func start(t testing.TB, s *service) string {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	for _, v := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(v, "")
	}
	for _, v := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(v, "/nonexistent")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return h.URL
}

func open(t testing.TB, endpoint string, more ...string) catalogs.Catalog {
	t.Helper()
	p := iceberg.Properties{"glue.endpoint": endpoint, "client.region": "eu-west-1", "glue.access-key-id": "AKID", "glue.secret-access-key": "planted"}
	for i := 0; i < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	c, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestSuite(t *testing.T) {
	at := start(t, sample())
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		expected := catalogtest.Expected{Capabilities: catalogs.Capabilities{Views: true, Files: true, Partitions: true},
			Namespaces: []catalogtest.Namespace{{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"location": "s3://b/sales", "comment": "all of it", "owner": "crew"}},
				{Identifier: table.Identifier{"empty"}}, {Identifier: table.Identifier{"x"}}}}
		for _, name := range []string{"orders", "b", "a", "_c", "z z"} {
			expected.Tables = append(expected.Tables, catalogtest.Table{Identifier: table.Identifier{"sales", name}, MetadataLocation: "s3://b/" + name, LocationOnly: true})
		}
		return open(t, at), expected
	})
}

func TestOtherTables(t *testing.T) {
	s := sample()
	s.tables = map[string]map[string]any{
		"x.p": stored("p", nil, map[string]any{"PartitionKeys": []any{map[string]any{"Name": "day", "Type": "date"}}, "StorageDescriptor": parquetAt("s3://b/p")}),
		"x.h": stored("h", map[string]string{"table_type": "HUDI"}, map[string]any{"StorageDescriptor": parquetAt("s3://b/h")}),
		"x.c": stored("c", map[string]string{"classification": "csv"}, nil),
		"x.v": stored("v", nil, map[string]any{"TableType": "VIRTUAL_VIEW"}), "x.t": stored("t", map[string]string{"table_type": "iceberg"}, nil),
	}
	c := open(t, start(t, s))
	var got []string
	for e, err := range c.Tables(t.Context(), table.Identifier{"x"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Identifier[1], e.Kind))
	}
	if fmt.Sprint(got) != "[c2 h2 p2 t0 v1]" {
		t.Errorf("%v", got)
	}
	load := func(name string) (*catalogs.Table, error) {
		return c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"x", name}})
	}
	p, err := load("p")
	if err != nil || p.Format != "parquet" || p.Kind != catalogs.KindFiles || p.Files.Location != "s3://b/p" || !p.Files.Listed || p.Files.Schema.String() != "table {\n\t1: id: optional long\n\t2: day: optional date\n}" {
		t.Errorf("%+v, %+v, %v", p, p.Files, err)
	}
	for name, format := range map[string]string{"h": "hudi", "c": "csv"} {
		if p, err := load(name); err != nil || p.Format != format || p.Files != nil {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for name, kind := range map[string]fault.Kind{"v": fault.Unsupported, "t": fault.Corrupt} {
		if _, err := load(name); !fault.Is(err, kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// parquetAt is the storage of Parquet files as Glue keeps it.
func parquetAt(location string) map[string]any {
	return map[string]any{"Location": location, "InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat", "Columns": []any{map[string]any{"Name": "id", "Type": "bigint"}},
		"SerdeInfo": map[string]any{"SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"}}
}

func TestPartitions(t *testing.T) {
	s := sample()
	s.tables = map[string]map[string]any{"x.p": stored("p", nil, map[string]any{"StorageDescriptor": parquetAt("s3://b/p")})}
	s.partitions = map[string]map[string]any{}
	for i := range 5 {
		s.partitions[fmt.Sprint(i)] = map[string]any{"Values": []string{fmt.Sprint("2026-01-0", i)}, "StorageDescriptor": parquetAt(fmt.Sprint("s3://b/", i))}
	}
	s.partitions["n"] = map[string]any{"Values": []string{"__HIVE_DEFAULT_PARTITION__"}, "StorageDescriptor": map[string]any{"Location": "s3://b/n", "InputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
		"SerdeInfo": map[string]any{"SerializationLibrary": "org.apache.hadoop.hive.ql.io.orc.OrcSerde"}}}
	lister := open(t, start(t, s)).(catalogs.PartitionLister)
	list := func(name string, names ...string) (out []string) {
		for p, err := range lister.Partitions(t.Context(), catalogs.PartitionRequest{Identifier: table.Identifier{"x", name}, Names: names}) {
			if err != nil {
				return append(out, err.Error())
			}
			value := "null"
			if p.Values[0] != nil {
				value = *p.Values[0]
			}
			out = append(out, value+" "+p.Location+" "+p.Format)
		}
		sort.Strings(out)
		return out
	}
	if got := list("p"); len(got) != 6 || got[0] != "2026-01-00 s3://b/0 " || got[5] != "null s3://b/n orc" {
		t.Errorf("%q", got)
	}
	if got := list("p", "2026-01-03"); len(got) != 1 {
		t.Errorf("one by its name: %q", got)
	}
	if got := list("gone"); len(got) != 1 || !strings.Contains(got[0], "Table does not exist") {
		t.Errorf("%q", got)
	}
	s.partitions["torn"] = map[string]any{"Values": []string{"x"}}
	if got := list("p"); !strings.Contains(strings.Join(got, ";"), "no location of the partition") {
		t.Errorf("%q", got)
	}
}

func TestAListingThatGoesRoundInCirclesEnds(t *testing.T) {
	s := sample()
	s.round, s.partitions = true, map[string]map[string]any{"1": {"Values": []string{"1"}, "StorageDescriptor": parquetAt("s3://b/1")}}
	c := open(t, start(t, s))
	lists := map[string]func() error{
		"databases": func() (last error) {
			for _, last = range c.Namespaces(t.Context(), nil) {
			}
			return last
		},
		"tables": func() (last error) {
			for _, last = range c.Tables(t.Context(), table.Identifier{"sales"}) {
			}
			return last
		},
		"partitions": func() (last error) {
			for _, last = range c.(catalogs.PartitionLister).Partitions(t.Context(), catalogs.PartitionRequest{Identifier: table.Identifier{"sales", "orders"}}) {
			}
			return last
		},
	}
	for what, list := range lists {
		if err := list(); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "the same page again and again") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestKeysRegionAndCatalog(t *testing.T) {
	s := sample()
	at := start(t, s)
	ask := func(more ...string) error {
		_, err := open(t, at, more...).LoadNamespace(t.Context(), table.Identifier{"sales"})
		return err
	}
	if err := ask("glue.id", "123", "glue.skip-archive", "true"); err != nil {
		t.Fatal(err)
	}
	if s.seen[0]["CatalogId"] != "123" || !strings.Contains(s.auth[0], "Credential=AKID/") || !strings.Contains(s.auth[0], "/eu-west-1/glue/") {
		t.Errorf("%v, %s", s.seen[0], s.auth[0])
	}
	if err := ask("client.factory", "org.apache.iceberg.aws.AssumeRoleAwsClientFactory", "client.assume-role.arn", "arn:r", "client.assume-role.region", "us-east-2",
		"client.assume-role.external-id", "ext", "client.assume-role.tags.team", "birds", "sts.endpoint", at); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.auth[1], "Credential=ASSUMED/") || !strings.Contains(s.sts[0], "RoleArn=arn%3Ar") || !strings.Contains(s.sts[0], "ExternalId=ext") || !strings.Contains(s.sts[0], "team") {
		t.Errorf("%s, %v", s.auth[1], s.sts)
	}
	s.deny = true
	if err := ask(); !fault.Is(err, fault.Denied) || strings.Contains(err.Error(), "planted") {
		t.Errorf("%v", err)
	}
	if err := ask("client.region", ""); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "spark.sql.catalog.lake.client.region") {
		t.Errorf("no region: %v", err)
	}
	for property, value := range map[string]string{"client.factory": "com.my.Factory", "client.credentials-provider": "com.my.Provider", "glue.lakeformation-enabled": "true", "glue.endpoint": "nowhere"} {
		_, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: iceberg.Properties{property: value}})
		if err == nil || !strings.Contains(err.Error(), "spark.sql.catalog.lake."+property) {
			t.Errorf("%s: %v", property, err)
		}
	}
}

func TestAnEmptyCatalog(t *testing.T) {
	at := start(t, &service{})
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		return open(t, at), catalogtest.Expected{Capabilities: catalogs.Capabilities{Views: true, Files: true, Partitions: true}}
	})
}
