package catalogs

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

func TestASessionCatalogHasSparksOwnBehindIt(t *testing.T) {
	front := &fake{spaces: []string{"a", "c"}, location: "/front", capabilities: Capabilities{Unchanged: true, NestedNamespaces: true}}
	back := &listed{fake: fake{spaces: []string{"b", "c"}, location: "/back", capabilities: Capabilities{Files: true}}}
	var opened []Definition
	s := newSet(t, func(_ context.Context, d Definition, _ storage.Map) (Catalog, error) {
		opened = append(opened, d)
		if d.Type == "hive" {
			return back, nil
		}
		return front, nil
	}, nil, define(t, "spark_catalog", session, "hadoop.hive.metastore.uris", "thrift://h:1", "cache-enabled", "false"))
	c, err := s.Catalog(t.Context(), "spark_catalog")
	if err != nil {
		t.Fatal(err)
	}
	if len(opened) != 2 || opened[1].Type != "hive" || opened[1].Properties["warehouse"] != "" || opened[1].Properties[metastores] != "thrift://h:1" {
		t.Errorf("opened %+v", opened)
	}
	if got := c.Capabilities(); !got.Files || !got.Unchanged || !got.NestedNamespaces {
		t.Errorf("%+v", got)
	}
	names := func(list func(yield func(string, error) bool)) (out []string) {
		for name, err := range list {
			if err != nil {
				name = "error"
			}
			out = append(out, name)
		}
		return out
	}
	spaces := names(func(yield func(string, error) bool) {
		for ns, err := range c.Namespaces(t.Context(), nil) {
			if !yield(fmt.Sprint(ns), err) {
				return
			}
		}
	})
	if fmt.Sprint(spaces) != "[[a] [b] [c] [default]]" {
		t.Errorf("%v", spaces)
	}
	for ns, want := range map[string]string{"a": "[[a t] 0]", "b": "[[b f] 2 [b t] 0]", "c": "[[c f] 2 [c t] 0]", "z": "[error]"} {
		got := names(func(yield func(string, error) bool) {
			for e, err := range c.Tables(t.Context(), table.Identifier{ns}) {
				if !yield(fmt.Sprint(e.Identifier, e.Kind), err) {
					return
				}
			}
		})
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", ns, got, want)
		}
	}
	load := func() string {
		loaded, err := s.Load(t.Context(), "spark_catalog", table.Identifier{"c", "t"}, "", "")
		if err != nil {
			return err.Error()
		}
		return loaded.MetadataLocation
	}
	if got := load(); got != "/front" {
		t.Error(got)
	}
	front.move("missing")
	if got := load(); got != "/back" {
		t.Error(got)
	}
	front.failure = fault.New(fault.Unavailable, "gone")
	if got := load(); got != "catalog spark_catalog: load table c.t: gone" {
		t.Error(got)
	}
	if err := s.Close(); err != nil || front.closed != 1 || back.closed != 1 {
		t.Errorf("%v, closed %d and %d times", err, front.closed, back.closed)
	}
	for _, d := range []Definition{define(t, "c", plain, metastores, "thrift://h:1"), define(t, "spark_catalog", session)} {
		if _, two := d.builtin(); two {
			t.Errorf("%+v has another behind it", d)
		}
	}
}

// partitioned is a catalog that lists one partition of every table but those that it does not have.
type partitioned struct {
	fake
	lacks string
}

func (p *partitioned) Partitions(_ context.Context, req PartitionRequest) iter.Seq2[Partition, error] {
	return func(yield func(Partition, error) bool) {
		if req.Identifier[1] == p.lacks {
			yield(Partition{}, fault.New(fault.NotFound, "no table %s", p.lacks))
			return
		}
		yield(Partition{Name: p.location}, nil)
	}
}

func TestPartitionsComeFromTheCatalogThatHasTheTable(t *testing.T) {
	lists := Capabilities{Files: true, Partitions: true}
	back := &partitioned{fake: fake{location: "/back", capabilities: lists}}
	for _, c := range []struct {
		front Catalog
		name  string
		want  string
	}{
		{&fake{}, "t", "/back"},
		{&partitioned{fake: fake{location: "/front", capabilities: lists}}, "t", "/front"},
		{&partitioned{fake: fake{location: "/front", capabilities: lists}, lacks: "t"}, "t", "/back"},
	} {
		both := tandem{c.front, back}
		if !both.Capabilities().Partitions {
			t.Error("no partitions are announced")
		}
		var got []string
		for p, err := range both.Partitions(t.Context(), PartitionRequest{Identifier: table.Identifier{"ns", c.name}}) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, p.Name)
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
	for _, err := range partitionsOf(t.Context(), &fake{}, PartitionRequest{}) {
		if !fault.Is(err, fault.Unsupported) {
			t.Errorf("a catalog that lists none: %v", err)
		}
	}
}
