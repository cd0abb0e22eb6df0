package hive

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/catalogs/hive/hivetest"
	"github.com/skua-data/skua/fault"
)

func content() *hivetest.Server {
	ice := func(at string) map[string]string {
		return map[string]string{"table_type": "ICEBERG", "metadata_location": at, "EXTERNAL": "TRUE"}
	}
	s := &hivetest.Server{
		Databases: map[string]map[string]string{"sales": {"owner": "them"}, "default": {}, "_b": {}},
		Tables: map[string]map[int16]any{
			"sales.orders": stored("sales", "orders", "EXTERNAL_TABLE", ice("s3://b/o.json")),
			"sales.recent": stored("sales", "recent", "VIRTUAL_VIEW", map[string]string{"table_type": "iceberg-view", "metadata_location": "s3://b/v.json"}),
			"sales.plain":  stored("sales", "plain", "MANAGED_TABLE", map[string]string{}),
		},
	}
	return s
}

func open(t testing.TB, more ...string) catalogs.Catalog {
	t.Helper()
	p := iceberg.Properties{}
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

func load(c catalogs.Catalog, t testing.TB, id ...string) (*catalogs.Table, error) {
	return c.Load(t.Context(), catalogs.LoadRequest{Identifier: id})
}

func TestSuiteAgainstEachVersion(t *testing.T) {
	for version, lacks := range map[string][]string{"2": hivetest.Hive2, "3": hivetest.Hive3, "4": hivetest.Hive4} {
		t.Run("hive "+version, func(t *testing.T) {
			s := content()
			s.Lacks = lacks
			for i := range 510 { // more than a batch
				name := fmt.Sprintf("t%04d", i)
				s.Tables["default."+name] = stored("default", name, "EXTERNAL_TABLE", map[string]string{"table_type": "iceberg", "metadata_location": "s3://b/" + name})
			}
			uri := start(t, s)
			catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
				expected := catalogtest.Expected{
					Capabilities: catalogs.Capabilities{Views: true, Files: true, Partitions: true},
					Namespaces: []catalogtest.Namespace{{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"owner": "them", "location": "file:/w/sales.db"}},
						{Identifier: table.Identifier{"default"}}, {Identifier: table.Identifier{"_b"}}},
					Tables: []catalogtest.Table{
						{Identifier: table.Identifier{"sales", "orders"}, MetadataLocation: "s3://b/o.json", LocationOnly: true},
						{Identifier: table.Identifier{"sales", "recent"}, Kind: catalogs.KindView, MetadataLocation: "s3://b/v.json", LocationOnly: true},
					},
				}
				delete(s.Tables, "sales.plain")
				for i := range 510 {
					name := fmt.Sprintf("t%04d", i)
					expected.Tables = append(expected.Tables, catalogtest.Table{Identifier: table.Identifier{"default", name}, MetadataLocation: "s3://b/" + name, LocationOnly: true})
				}
				return open(t, "uri", uri), expected
			})
			if n := s.Count("get_table_req") > 0; n == false {
				t.Error("get_table_req was never asked")
			}
			if version == "2" && s.Count("get_table_req") > 40 {
				t.Errorf("a method that is missing was asked %d times", s.Count("get_table_req"))
			}
		})
	}
}

func TestTablesOfOtherFormatsAreListedAndNamed(t *testing.T) {
	s := content()
	c := open(t, "uri", start(t, s))
	var got []string
	for e, err := range c.Tables(t.Context(), table.Identifier{"SALES"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Identifier[1], e.Kind))
	}
	if want := "[orders0 plain2 recent1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	loaded, err := load(c, t, "sales", "plain")
	if err != nil || loaded.Kind != catalogs.KindFiles || loaded.Format != "csv" || loaded.MetadataLocation != "" {
		t.Errorf("%+v, %v", loaded, err)
	}
	s.Tables["sales.spark"] = stored("sales", "spark", "EXTERNAL_TABLE", map[string]string{"spark.sql.sources.provider": "delta"})
	if loaded, err := load(c, t, "sales", "spark"); err != nil || loaded.Format != "delta" {
		t.Errorf("%+v, %v", loaded, err)
	}
	s.Tables["sales.view"] = stored("sales", "view", "VIRTUAL_VIEW", map[string]string{})
	if _, err := load(c, t, "sales", "view"); !fault.Is(err, fault.Unsupported) {
		t.Errorf("a view of Hive: %v", err)
	}
	s.Tables["sales.torn"] = stored("sales", "torn", "EXTERNAL_TABLE", map[string]string{"table_type": "ICEBERG"})
	if _, err := load(c, t, "sales", "torn"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a table without metadata: %v", err)
	}
}

func TestABrokenConnectionIsReplaced(t *testing.T) {
	s := content()
	c := open(t, "uri", start(t, s))
	for round := range 5 {
		if loaded, err := load(c, t, "sales", "orders"); err != nil || loaded.MetadataLocation != "s3://b/o.json" {
			t.Fatalf("round %d: %v", round, err)
		}
		s.Cut()
	}
	s.HangUp = "get_table_req" // on a connection that served before: asked again
	if _, err := load(c, t, "sales", "orders"); err != nil {
		t.Error(err)
	}
}

func TestTheNextServerIsTried(t *testing.T) {
	a, b := content(), content()
	first, second := start(t, a), start(t, b)
	c := open(t, "uri", first+", "+second)
	if _, err := load(c, t, "sales", "orders"); err != nil || a.Count("get_table_req") != 1 {
		t.Fatalf("%v", err)
	}
	a.Stop()
	for range 3 {
		if _, err := load(c, t, "sales", "orders"); err != nil {
			t.Fatal(err)
		}
	}
	if b.Count("get_table_req") != 3 {
		t.Errorf("the second server was asked %d times", b.Count("get_table_req"))
	}
	b.Stop()
	_, err := load(c, t, "sales", "orders")
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "spark.sql.catalog.lake.uri") || !strings.Contains(err.Error(), "get_table_req") {
		t.Errorf("no server: %v", err)
	}
}

func TestFramedTransport(t *testing.T) {
	s := content()
	s.Framed = true
	if _, err := load(open(t, "uri", start(t, s), "hadoop.hive.metastore.thrift.framed.transport.enabled", "true"), t, "sales", "orders"); err != nil {
		t.Error(err)
	}
}

func TestStrangeAnswers(t *testing.T) {
	for name, garbage := range map[string]string{
		"http": "HTTP/1.1 400 Bad Request\r\n\r\n", "an endless string": "\x80\x01\x00\x02\x7f\xff\xff\xff", "negative": "\x80\x01\x00\x02\xff\xff\xff\xff",
		"another method": "\x80\x01\x00\x02\x00\x00\x00\x01x\x00\x00\x00\x01\x00", "deep": "\x80\x01\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01" + strings.Repeat("\x0c\x00\x01", 100),
		"a huge list": "\x80\x01\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\x0f\x00\x00\x02\x7f\xff\xff\xff",
	} {
		s := content()
		s.Garbage = []byte(garbage)
		c := open(t, "uri", start(t, s), "hive.metastore.client.socket.timeout", "2s")
		if _, err := load(c, t, "sales", "orders"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
		s.Recover()
		if _, err := load(c, t, "sales", "orders"); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func TestAMetastoreThatIsSilentEndsTheCallAlone(t *testing.T) {
	s := content()
	s.Garbage = []byte{}
	c := open(t, "uri", start(t, s), "hadoop.hive.metastore.client.socket.timeout", "200ms")
	if _, err := load(c, t, "sales", "orders"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c = open(t, "uri", start(t, &hivetest.Server{Garbage: []byte{}}))
	if _, err := c.Load(ctx, catalogs.LoadRequest{Identifier: table.Identifier{"a", "b"}}); !fault.Is(err, fault.Deadline) {
		t.Errorf("%v", err)
	}
}

func TestSettings(t *testing.T) {
	folder := t.TempDir()
	site := `<?xml version="1.0"?><configuration><property><name>hive.metastore.uris</name><value> thrift://site:1, thrift://two </value></property></configuration>`
	if err := os.WriteFile(filepath.Join(folder, "hive-site.xml"), []byte(site), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"HIVE_CONF_DIR", "HADOOP_CONF_DIR", "SPARK_CONF_DIR"} {
		t.Setenv(v, "")
	}
	for _, c := range []struct {
		properties iceberg.Properties
		want       string
	}{
		{iceberg.Properties{"uri": "thrift://a:1,thrift://[::1]:2"}, "[a:1 [::1]:2]"},
		{iceberg.Properties{"uri": "thrift://a/"}, "[a:9083]"},
		{iceberg.Properties{"hive-conf-dir": folder}, "[site:1 two:9083]"},
		{iceberg.Properties{"hive-conf-dir": folder, "hadoop.hive.metastore.uris": "thrift://h:3"}, "[h:3]"},
		{iceberg.Properties{"hive-conf-dir": folder, "uri": "thrift://u:4"}, "[u:4]"},
		{iceberg.Properties{}, "spark.sql.catalog.lake.uri"},
		{iceberg.Properties{"uri": "http://a"}, "thrift://host:port"},
		{iceberg.Properties{"uri": "thrift://a:1", "clients": "0"}, "clients"},
		{iceberg.Properties{"uri": "thrift://a:1", "hive-conf-dir": "/nowhere"}, "hive-site.xml"},
		{iceberg.Properties{"uri": "thrift://a:1", "hadoop.hive.metastore.sasl.enabled": "true"}, "Kerberos"},
		{iceberg.Properties{"uri": "thrift://a:1", "hive.metastore.client.thrift.transport.mode": "http"}, "over HTTP"},
		{iceberg.Properties{"uri": "thrift://a:1", "hive.metastore.client.socket.timeout": "long"}, "socket.timeout"},
	} {
		s, err := readSettings("lake", c.properties)
		if got := fmt.Sprint(s.addresses); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %s, %v, want %s", c.properties, got, err, c.want)
		}
	}
	t.Setenv("HIVE_CONF_DIR", folder)
	if s, err := readSettings("lake", iceberg.Properties{}); err != nil || s.addresses[0] != "site:1" {
		t.Errorf("%v, %v", s, err)
	}
	for text, want := range map[string]time.Duration{"5": 5 * time.Second, "600s": 10 * time.Minute, "2min": 2 * time.Minute, "10sec": 10 * time.Second, "50ms": 50 * time.Millisecond} {
		if got, err := parseTime(text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(encode("get_table_req", 1, record{1: record{1: "a", 2: map[string]string{"k": "v"}}, 2: []string{"x"}, 3: true, 4: int32(5)}))
	f.Add([]byte("\x80\x01\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\x0d\x00\x00\x0b\x0c\x00\x00\x00\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDecoder(bufio.NewReader(bytes.NewReader(data)))
		_, _, _, body, err := d.message()
		if err == nil && body == nil {
			t.Error("neither a body nor an error")
		}
	})
}

func TestAnEmptyCatalog(t *testing.T) {
	for version, lacks := range map[string][]string{"2": hivetest.Hive2, "3": hivetest.Hive3, "4": hivetest.Hive4} {
		for name, databases := range map[string]map[string]string{"no database": {}, "default": {"default": ""}} {
			t.Run("hive "+version+", "+name, func(t *testing.T) {
				s := &hivetest.Server{Databases: map[string]map[string]string{}, Lacks: lacks}
				var namespaces []catalogtest.Namespace
				for database := range databases {
					s.Databases[database] = map[string]string{}
					namespaces = append(namespaces, catalogtest.Namespace{Identifier: table.Identifier{database}})
				}
				uri := start(t, s)
				catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
					return open(t, "uri", uri), catalogtest.Expected{Capabilities: catalogs.Capabilities{Views: true, Files: true, Partitions: true}, Namespaces: namespaces}
				})
			})
		}
	}
}
