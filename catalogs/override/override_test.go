package override

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/session"
)

const (
	tableKey   = "spark.rapids.iceberg.table-setting."
	catalogKey = "spark.rapids.iceberg.catalog-setting."
	globalKey  = "spark.rapids.iceberg.global-setting."
	size       = "read-split-target-size"
	lookback   = "read-split-planning-lookback"
	cost       = "read-split-open-file-cost"
)

// TestResolve holds the reference's own cases and those it does not cover. want is the options with their scopes, or the start of an error.
func TestResolve(t *testing.T) {
	table := tableKey + "spark_catalog.default.test_tbl."
	plain := SourceName{"spark_catalog", []string{"default"}, "test_tbl"}
	dotted := SourceName{"hadoop.prod", []string{"default"}, "t"}
	conf := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	for _, c := range []struct {
		name     string
		conf     map[string]string
		source   SourceName
		explicit map[string]string
		want     string
	}{
		{"nothing set", nil, plain, nil, ""},
		{"table scope", conf(table+size, "111111111"), plain, nil, "split-size=111111111(table)"},
		{"all three of a table", conf(table+size, "111111111", table+lookback, "444", table+cost, "5555555"), plain, nil,
			"split-size=111111111(table) lookback=444(table) file-open-cost=5555555(table)"},
		{"explicit over table", conf(table+size, "1"), plain, conf("split-size", "536870912"), ""},
		{"explicit over catalog", conf(catalogKey+"spark_catalog."+size, "1"), plain, conf("split-size", "536870912"), ""},
		{"explicit over global", conf(globalKey+size, "1"), plain, conf("split-size", "536870912"), ""},
		{"explicit in another case", conf(globalKey+size, "1"), plain, conf("SPLIT-SIZE", "2"), ""},
		{"explicit in camel case", conf(globalKey+size, "1", globalKey+cost, "2"), plain, conf("splitSize", "2", "fileOpenCost", "3"), ""},
		{"another table's key", conf(tableKey+"spark_catalog.default.other_tbl."+size, "1"), plain, nil, ""},
		{"bad suffix of a table", conf(table+"read-split-bogus", "1"), plain, nil, "error: …Unrecognized suffix 'read-split-bogus' in conf '" + table + "read-split-bogus'. Supported suffixes: [read-split-target-size, read-split-planning-lookback, read-split-open-file-cost]."},
		{"dotted catalog with a table key", conf(tableKey+"hadoop.prod.default.t."+size, "1"), dotted, nil, "error: Cannot apply spark.rapids.iceberg.table-setting.* session overrides for hadoop.prod.default.t: identifier component(s) [hadoop.prod] contain '.', which makes the conf prefix ambiguous"},
		{"dotted catalog without a key", nil, dotted, nil, ""},
		{"dotted catalog with a global key", conf(globalKey+size, "7"), dotted, nil, "split-size=7(global)"},
		{"dotted catalog with a catalog key", conf(catalogKey+"hadoop.prod."+size, "7"), dotted, nil, "split-size=7(catalog)"},
		{"dotted namespace", conf(tableKey+"c.a.b.t."+size, "1"), SourceName{"c", []string{"a.b"}, "t"}, nil, "error: Cannot apply"},
		{"catalog scope", conf(catalogKey+"spark_catalog."+size, "2"), plain, nil, "split-size=2(catalog)"},
		{"global scope", conf(globalKey+size, "3"), plain, nil, "split-size=3(global)"},
		{"table over catalog", conf(table+size, "1", catalogKey+"spark_catalog."+size, "2"), plain, nil, "split-size=1(table)"},
		{"table over global", conf(table+size, "1", globalKey+size, "3"), plain, nil, "split-size=1(table)"},
		{"table over both", conf(table+size, "1", catalogKey+"spark_catalog."+size, "2", globalKey+size, "3"), plain, nil, "split-size=1(table)"},
		{"catalog over global", conf(catalogKey+"spark_catalog."+size, "2", globalKey+size, "3"), plain, nil, "split-size=2(catalog)"},
		{"each from another scope", conf(table+size, "1", catalogKey+"spark_catalog."+lookback, "2", globalKey+cost, "3"), plain, nil,
			"split-size=1(table) lookback=2(catalog) file-open-cost=3(global)"},
		{"bad suffix of a catalog", conf(catalogKey+"spark_catalog.read-split-bogus", "1"), plain, nil, "error: …Unrecognized suffix 'read-split-bogus'"},
		{"bad suffix of another catalog", conf(catalogKey+"other.read-split-bogus", "1"), plain, nil, ""},
		{"bad global suffix", conf(globalKey+"read-split-bogus", "1"), plain, nil, "error: …Unrecognized suffix 'read-split-bogus'"},
		{"bad key in spite of explicit options", conf(globalKey+"x", "1"), plain, conf("split-size", "1", "lookback", "1", "file-open-cost", "1"), "error: …Unrecognized suffix 'x'"},

		{"table at the root", conf(tableKey+"c.t."+size, "1"), SourceName{"c", nil, "t"}, nil, "split-size=1(table)"},
		{"three levels", conf(tableKey+"c.a.b.d.t."+size, "1"), SourceName{"c", []string{"a", "b", "d"}, "t"}, nil, "split-size=1(table)"},
		{"key of a metadata table while its base is read", conf(tableKey+"c.a.t.files."+size, "1"), SourceName{"c", []string{"a"}, "t"}, nil, ""},
		{"key of a metadata table", conf(tableKey+"c.a.t.files."+size, "1", tableKey+"c.a.t."+size, "2"), SourceName{"c", []string{"a", "t"}, "files"}, nil, "split-size=1(table)"},
		{"key of a deeper table", conf(tableKey+"c.a.b.c."+size, "1"), SourceName{"c", []string{"a"}, "b"}, nil, ""},
		{"property's spelling at table scope", conf(table+"read.split.target-size", "1"), plain, nil, "error: …Unrecognized suffix 'read.split.target-size'"},
		{"property's spelling at catalog scope", conf(catalogKey+"spark_catalog.read.split.target-size", "1"), plain, nil, "error: …Unrecognized suffix 'read.split.target-size'"},
		{"property's spelling at global scope", conf(globalKey+"read.split.target-size", "1"), plain, nil, "error: …Unrecognized suffix 'read.split.target-size'"},
		{"catalog key with more segments", conf(catalogKey+"spark_catalog.default.t."+size, "1"), plain, nil, "error: …Unrecognized suffix 'default.t.read-split-target-size'"},
		{"empty global suffix", conf(globalKey, "1"), plain, nil, "error: …Unrecognized suffix ''"},
		{"empty segment", conf(table+"."+size, "1"), plain, nil, "error: …Unrecognized suffix '.read-split-target-size'"},
		{"every bad key is named, sorted", conf(globalKey+"b", "1", globalKey+"a", "1"), plain, nil, "error: …Unrecognized suffix 'a' in conf '" + globalKey + "a'. Supported suffixes: [read-split-target-size, read-split-planning-lookback, read-split-open-file-cost]. Unrecognized suffix 'b'"},
		{"values are not looked at", conf(globalKey+lookback, "2G", globalKey+size, ""), plain, nil, "split-size=(global) lookback=2G(global)"},
		{"keys are case-sensitive", conf(tableKey+"spark_catalog.default.TEST_TBL."+size, "1"), plain, nil, ""},
		{"an older shape without scope", conf("spark.rapids.iceberg.spark_catalog.default.test_tbl."+size, "1"), plain, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings, err := Resolve(session.NewConf(c.conf), catalogs.Class{Wraps: true}, c.source, c.explicit)
			var parts []string
			for _, s := range settings {
				parts = append(parts, fmt.Sprintf("%s=%s(%s)", s.Option, s.Value, s.Scope))
				if v := c.conf[s.Key]; v != s.Value {
					t.Errorf("key %s holds %q", s.Key, v)
				}
			}
			got := strings.Join(parts, " ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if want, open := strings.CutPrefix(c.want, "error: …"); open && err != nil {
				if text := err.Error(); !strings.Contains(text, want) || !strings.HasPrefix(text, "read options of "+strings.Join(c.source.parts(), ".")+", ") {
					t.Errorf("%s, want %s", text, want)
				}
			} else if got != c.want && !(err != nil && c.want != "" && strings.HasPrefix(got, c.want)) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if settings, err := Resolve(session.NewConf(c.conf), catalogs.Class{}, c.source, c.explicit); err != nil || settings != nil {
				t.Error("a class that does not wrap is affected")
			}
		})
	}
}

// walked counts the keys that are looked at.
type walked struct {
	session.Conf
	keys *int
}

func (w walked) Prefix(prefix string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for k, v := range w.Conf.Prefix(prefix) {
			*w.keys++
			if !yield(k, v) {
				return
			}
		}
	}
}

// manyKeys sets options for very many other tables and catalogs, and three for one table.
func manyKeys(n int) (session.Conf, SourceName) {
	conf := session.Conf{}
	for i := range n / 2 {
		conf = conf.With(fmt.Sprintf("%sc.ns.t%06d.%s", tableKey, i, size), "1").With(fmt.Sprintf("%scatalog%06d.%s", catalogKey, i, size), "1")
	}
	conf = conf.With(tableKey+"c.ns.t."+size, "1").With(catalogKey+"c."+lookback, "2").With(globalKey+cost, "3")
	return conf, SourceName{"c", []string{"ns"}, "t"}
}

func TestManyKeysAreNotLookedAt(t *testing.T) {
	conf, name := manyKeys(10000)
	keys := 0
	settings, err := Resolve(walked{conf, &keys}, catalogs.Class{Wraps: true}, name, nil)
	if err != nil || len(settings) != 3 || keys != 3 {
		t.Errorf("%v, %v: %d keys were looked at, want 3", settings, err, keys)
	}
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{0, 1000, 100000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			conf, name := manyKeys(n)
			state := session.State{Conf: conf, Startup: session.NewConf(map[string]string{"spark.sql.catalog.c": "x"})}
			for b.Loop() {
				if _, err := Resolve(state, catalogs.Class{Wraps: true}, name, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestList gives what is set, by scope, with what it addresses.
func TestList(t *testing.T) {
	conf := session.NewConf(map[string]string{globalKey + size: "1", globalKey + "x.y": "2", catalogKey + "c." + cost: "3", catalogKey + "c.ns.t." + cost: "4",
		tableKey + "c.ns.t." + lookback: "5", tableKey + "c.ns.t.bogus": "6", tableKey + "odd": "7", catalogKey + "odd": "8", "spark.rapids.iceberg.c.t." + size: "9"})
	var got []string
	for _, l := range List(conf) {
		got = append(got, fmt.Sprintf("%s %s[%s]=%s", l.Scope, l.Option, l.Target, l.Value))
	}
	want := "global split-size[]=1, global []=2, catalog [c]=4, catalog file-open-cost[c]=3, catalog [odd]=8, table [c.ns.t]=6, table lookback[c.ns.t]=5, table [odd]=7"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestOptionTableKnowsTheSuffixes: the table says of each of the three families what its members end in.
func TestOptionTableKnowsTheSuffixes(t *testing.T) {
	var want []string
	for _, s := range suffixes {
		want = append(want, s.suffix)
	}
	for _, root := range []string{tableRoot, catalogRoot, globalRoot} {
		if o, ok := session.Lookup(root + "x"); !ok || o.Key != root+"*" || !slices.Equal(o.Members, want) {
			t.Errorf("%s: %v, want %v", root, o.Members, want)
		}
	}
}
