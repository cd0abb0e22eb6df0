package server

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"
)

func load(t *testing.T, flags ...string) *Settings {
	t.Helper()
	s, err := Load(Given{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConfigProblems(t *testing.T) {
	const spark = "=org.apache.iceberg.spark.SparkCatalog"
	for _, c := range []struct {
		name  string
		flags []string
		want  []string // parts of the error; none: good
	}{
		{"defaults", nil, nil},
		{"another port", []string{"skua.listen=localhost:0"}, nil},
		{"ipv6 loopback", []string{"skua.listen=[::1]:0"}, nil},
		{"not an address", []string{"skua.listen=31337"}, []string{"skua.listen", "host:port"}},
		{"every interface in plain text", []string{"skua.listen=0.0.0.0:31337"}, []string{"skua.tls.certificate-file", "skua.auth.users-file", "skua.listen.insecure"}},
		{"an empty host is every interface", []string{"skua.listen=:31337"}, []string{"reachable from other machines"}},
		{"TLS without login", []string{"skua.listen=0.0.0.0:1", "skua.tls.certificate-file=a", "skua.tls.key-file=b"}, []string{"skua.auth.users-file"}},
		{"TLS with login", []string{"skua.listen=0.0.0.0:1", "skua.tls.certificate-file=config.go", "skua.tls.key-file=config.go", "skua.auth.users-file=config.go"}, nil},
		{"a file that is not there", []string{"skua.auth.users-file=/no/such/file"}, []string{"skua.auth.users-file", "/no/such/file"}},
		{"a default catalog that is not there", []string{"spark.sql.catalog.lake" + spark, "spark.sql.catalog.lake.type=hadoop", "spark.sql.defaultCatalog=lak"}, []string{"did you mean lake?"}},
		{"insecure on purpose", []string{"skua.listen=0.0.0.0:1", "skua.listen.insecure=true"}, nil},
		{"half of TLS", []string{"skua.tls.certificate-file=a"}, []string{"go together"}},
		{"several at once", []string{"skua.drain.timeout=soon", "skua.memory.limit=big", "skua.nonesuch=1"}, []string{"skua.drain.timeout", "skua.memory.limit", "skua.nonesuch", "unknown key"}},
		{"a near miss", []string{"skua.drain.timeou=1s"}, []string{"did you mean skua.drain.timeout?"}},
		{"properties without a class", []string{"spark.sql.catalog.x.type=hadoop"}, []string{"spark.sql.catalog.x"}},
		{"hadoop without a warehouse fails at its first use", []string{"spark.sql.catalog.x" + spark, "spark.sql.catalog.x.type=hadoop"}, nil},
		{"unknown class", []string{"spark.sql.catalog.x=no.such.Class", "spark.sql.catalog.x.type=hadoop"}, []string{"no.such.Class"}},
		{"type and impl", []string{"spark.sql.catalog.x" + spark, "spark.sql.catalog.x.type=hadoop", "spark.sql.catalog.x.catalog-impl=a.B"},
			[]string{"Cannot create catalog x, both type and catalog-impl are set: type=hadoop, catalog-impl=a.B"}},
		{"half a location map", []string{"skua.location-map.1.from=file:/a"}, []string{"from and to must both be set"}},
		{"a location map", []string{"skua.location-map.1.from=file:/a", "skua.location-map.1.to=/b"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewConfig(load(t, c.flags...))
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("error %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

func TestCheckExplains(t *testing.T) {
	t.Setenv("SKUA_TEST_SECRET", "hunter3")
	s, err := Load(Given{Environment: []string{"SKUA_TEST_SECRET=hunter3"}, Flags: []string{
		"spark.sql.catalog.lake=com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog", "spark.sql.catalog.lake.type=hadoop",
		"spark.sql.catalog.lake.warehouse=ftp://lake", "spark.sql.catalog.lake.s3.acl=private", "spark.sql.catalog.lake.s3.secret-access-key=hunter2", "spark.sql.catalog.lake.warehose=x",
		"spark.sql.catalog.lake.uri=jdbc:x://h/d?password=hunter4", "spark.sql.catalog.lake.mine=${env:SKUA_TEST_SECRET}", "spark.shuffle.manager=x",
		"spark.sql.catlog.pond=x", "spark.rapids.iceberg.bogus=1", "spark.rapids.iceberg.table-setting.lake.db.t.read-split-size=1",
		"spark.rapids.iceberg.global-setting.read-split-target-size=512m", "spark.rapids.iceberg.catalog-setting.lake.read-split-open-file-cost=abc",
		"skua.plugin.folder=" + t.TempDir(), "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions", "wholly.unknown=1"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Check(t.Context(), &out, s); err == nil || !strings.Contains(err.Error(), "1 of 1 catalogs") {
		t.Errorf("a catalog without a plugin must be told: %v", err)
	}
	for _, part := range []string{"catalog lake: hadoop", "session overrides active", "wholly.unknown", "spark.sql.extensions", "--conf", "catalog lake: FAILED",
		"spark.sql.catlog.pond (--conf) is unknown and without effect; did you mean spark.sql.catalog.pond?",
		"spark.rapids.iceberg.bogus (--conf) is unknown and without effect; there are only spark.rapids.iceberg.table-setting.*",
		"t.read-split-size (--conf) ends in no known name, and every scan that it concerns fails; there are only read-split-target-size, ",
		"write the number 536870912 for 512m", "read-split-open-file-cost (--conf) has a value that cannot be used",
		"no store for ftp://", "Did you mean warehouse?", "spark.sql.catalog.lake.s3.acl has no effect: it concerns writing"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("lacks %q:\n%s", part, out.String())
		}
	}
	if strings.Contains(out.String(), "hunter") {
		t.Errorf("a secret is shown:\n%s", out.String())
	}
	if conf := s.Conf(); strings.Contains(fmt.Sprint(maps.Collect(conf.All())), "hunter") {
		t.Error("a secret reaches sessions")
	}
	var good bytes.Buffer
	if err := Check(t.Context(), &good, load(t, "skua.drain.timeout=5s")); err != nil || !strings.Contains(good.String(), "The configuration is good.") {
		t.Errorf("%v\n%s", err, good.String())
	}
	if err := Check(t.Context(), &out, load(t, "skua.listen=nowhere")); err == nil {
		t.Error("a bad configuration must fail")
	}
}

// TestCachesAreAPartOfTheMemory: a quarter of the limit at most, each.
func TestCachesAreAPartOfTheMemory(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want int64
	}{
		{nil, 256 << 20},
		{[]string{"skua.metadata.cache.limit=1g"}, 1 << 30},
		{[]string{"skua.memory.limit=400m"}, 100 << 20},
		{[]string{"skua.memory.limit=8g", "skua.metadata.cache.limit=64m"}, 64 << 20},
	} {
		config, err := NewConfig(load(t, c.set...))
		if err != nil || config.MetadataCache != c.want {
			t.Errorf("%v: %d, %v, want %d", c.set, config.MetadataCache, err, c.want)
		}
		for i := range c.set {
			c.set[i] = strings.Replace(c.set[i], "metadata", "delete", 1)
		}
		if config, err = NewConfig(load(t, c.set...)); err != nil || config.DeleteCache != c.want {
			t.Errorf("%v: %d, %v, want %d", c.set, config.DeleteCache, err, c.want)
		}
	}
}

// TestCheckSaysThatUnknownKeysOfItsOwnAreRefused: it must not also say that they are kept.
func TestCheckSaysThatUnknownKeysOfItsOwnAreRefused(t *testing.T) {
	for key, want := range map[string]string{"skua.nonsense": "docs/options.md", "skua.sql.dialekt": "skua.sql.dialect?"} {
		settings, err := Load(Given{Flags: []string{key + "=1"}})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = Check(t.Context(), &out, settings)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", key, err)
		}
		if text := out.String(); strings.Contains(text, "kept") || !strings.Contains(text, "(refused)") || !strings.Contains(text, want) {
			t.Errorf("%s: %s", key, text)
		}
	}
}
