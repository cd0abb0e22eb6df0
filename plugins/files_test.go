package plugins_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins"
)

// files is a catalog that lists partitions, too.
type files struct {
	fake
	partitions func(ctx context.Context, req catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error]
}

func (f *files) Partitions(ctx context.Context, req catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error] {
	return f.partitions(ctx, req)
}

func remoteFiles(t *testing.T, f *files) *plugins.Catalog {
	t.Helper()
	server := plugins.NewServer(plugins.ServerConfig{Open: func(string) (catalogs.Constructor, error) {
		return func(context.Context, catalogs.Config) (catalogs.Catalog, error) { return f, nil }, nil
	}})
	client, _ := connect(t, server)
	c, err := client.Open(t.Context(), "fake", catalogs.Config{Name: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPlainFilesCross(t *testing.T) {
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Doc: "key"},
		iceberg.NestedField{ID: 2, Name: "s", Type: &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 4, Name: "x", Type: &iceberg.ListType{ElementID: 5, Element: iceberg.DecimalTypeOf(9, 2)}}}}},
		iceberg.NestedField{ID: 3, Name: "day", Type: iceberg.PrimitiveTypes.Date})
	f := &files{}
	f.capabilities = catalogs.Capabilities{Files: true, Partitions: true}
	sent := &catalogs.Files{Schema: schema, Partitions: []string{"day"}, Location: "s3://b/t", Listed: true, Properties: iceberg.Properties{"k": "v"}, Comment: "said",
		Types: map[int]string{1: "smallint", 5: "char(3)"}}
	f.load = func(context.Context, catalogs.LoadRequest) (*catalogs.Table, error) {
		return &catalogs.Table{Identifier: table.Identifier{"a", "t"}, Kind: catalogs.KindFiles, Format: "parquet", Files: sent}, nil
	}
	var asked catalogs.PartitionRequest
	f.partitions = func(_ context.Context, req catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error] {
		asked = req
		return func(yield func(catalogs.Partition, error) bool) {
			for i := range 250 {
				day, empty := fmt.Sprint(i), ""
				if !yield(catalogs.Partition{Name: "day=" + day, Values: []*string{&day, nil, &empty}, Location: "s3://b/" + day, Format: "orc"}, nil) {
					return
				}
			}
		}
	}
	c := remoteFiles(t, f)
	if !c.Capabilities().Partitions {
		t.Errorf("%+v", c.Capabilities())
	}
	loaded, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"a", "t"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded.Files; !got.Schema.Equals(schema) || got.Schema.Field(0).Doc != "key" || got.Location != sent.Location || !got.Listed || fmt.Sprintf("%v %v %v %v", got.Partitions, got.Properties, got.Comment, got.Types) != "[day] map[k:v] said map[1:smallint 5:char(3)]" {
		t.Errorf("%+v", got)
	}
	got, err := collect(c.Partitions(t.Context(), catalogs.PartitionRequest{Identifier: table.Identifier{"a", "t"}, Principal: "me", Names: []string{"x", "y"}}))
	if err != nil || len(got) != 250 || fmt.Sprintf("%v %v %v", asked.Identifier, asked.Principal, asked.Names) != "[a t] me [x y]" {
		t.Fatalf("%d partitions, asked %+v, %v", len(got), asked, err)
	}
	if p := got[249]; p.Name != "day=249" || p.Location != "s3://b/249" || p.Format != "orc" || *p.Values[0] != "249" || p.Values[1] != nil || *p.Values[2] != "" {
		t.Errorf("%+v", p)
	}
	for range c.Partitions(t.Context(), catalogs.PartitionRequest{}) {
		break // ends the call in the plugin
	}
	f.partitions = func(context.Context, catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error] {
		return func(yield func(catalogs.Partition, error) bool) {
			yield(catalogs.Partition{}, fault.New(fault.NotFound, "gone"))
		}
	}
	if _, err := collect(c.Partitions(t.Context(), catalogs.PartitionRequest{})); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
	sent.Schema = nil
	if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"a", "t"}}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a table without a schema: %v", err)
	}
}

func TestPartitionsOfACatalogThatListsNone(t *testing.T) {
	c := remote(t, &fake{}, nil)
	if _, err := collect(c.Partitions(t.Context(), catalogs.PartitionRequest{})); !fault.Is(err, fault.Unsupported) {
		t.Errorf("%v", err)
	}
	client, _ := connect(t, opening(&fake{capabilities: catalogs.Capabilities{Partitions: true}}))
	if _, err := client.Open(t.Context(), "fake", catalogs.Config{Name: "prod"}); !fault.Is(err, fault.Internal) {
		t.Errorf("announced and not there: %v", err)
	}
}
