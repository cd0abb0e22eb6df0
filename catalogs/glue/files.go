package glue

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/plain"
	"github.com/skua-data/skua/fault"
)

// storedOf gives a table of Glue as package plain reads it. Where nothing tells its format, what a crawler found does.
func storedOf(t *types.Table, name string) plain.Stored {
	out := plain.Stored{Name: name, Keys: columnsOf(t.PartitionKeys), Parameters: maps.Clone(t.Parameters), Type: aws.ToString(t.TableType)}
	if store := t.StorageDescriptor; store != nil {
		out.Columns, out.Location, out.InputFormat = columnsOf(store.Columns), aws.ToString(store.Location), aws.ToString(store.InputFormat)
		if store.SerdeInfo != nil {
			out.SerDe, out.SerDeParameters = aws.ToString(store.SerdeInfo.SerializationLibrary), store.SerdeInfo.Parameters
		}
	}
	if catalogs.FormatOf(out.SerDe, out.InputFormat) == "unknown" || foreign(t) {
		out.SerDe = strings.TrimSpace(t.Parameters["table_type"] + " " + t.Parameters["classification"])
	}
	return out
}

// foreign reports whether a table is one of another table format, whatever class reads its files.
func foreign(t *types.Table) bool {
	return catalogs.FormatOf(t.Parameters["table_type"]) != "unknown"
}

func columnsOf(list []types.Column) (out []plain.Column) {
	for _, c := range list {
		out = append(out, plain.Column{Name: aws.ToString(c.Name), Type: aws.ToString(c.Type), Comment: aws.ToString(c.Comment)})
	}
	return out
}

// Partitions implements catalogs.PartitionLister: page after page, each partition with its location. Of none are names asked for, since all come whole.
func (c *catalog) Partitions(ctx context.Context, req catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error] {
	return plain.Partitions(req, sound, noTable, func(more func(catalogs.Partition) bool) error {
		return c.call(ctx, func(ctx context.Context, client *glue.Client) error {
			answer, err := client.GetTable(ctx, &glue.GetTableInput{CatalogId: c.id, DatabaseName: &req.Identifier[0], Name: &req.Identifier[1]})
			if err != nil {
				return err
			}
			if answer.Table == nil {
				return fault.New(fault.Unavailable, "Glue answered without a table")
			}
			table := storedOf(answer.Table, strings.Join(req.Identifier, "."))
			pages := glue.NewGetPartitionsPaginator(client, &glue.GetPartitionsInput{CatalogId: c.id, DatabaseName: &req.Identifier[0], TableName: &req.Identifier[1],
				ExcludeColumnSchema: aws.Bool(true)})
			watch := paging{}
			for pages.HasMorePages() {
				page, err := pages.NextPage(ctx)
				if err == nil {
					err = watch.took(0, page.NextToken) // they are not held, however many there are
				}
				if err != nil {
					return err
				}
				for i := range page.Partitions {
					p, err := partitionOf(table, &page.Partitions[i])
					if err != nil {
						return err
					}
					if len(req.Names) > 0 && !slices.Contains(req.Names, p.Name) {
						continue
					}
					if !more(p) {
						return nil
					}
				}
			}
			return nil
		})
	})
}

func partitionOf(table plain.Stored, p *types.Partition) (catalogs.Partition, error) {
	out := catalogs.Partition{Name: strings.Join(p.Values, "/")}
	for _, v := range p.Values {
		out.Values = append(out.Values, catalogs.PartitionValue(v))
	}
	store := p.StorageDescriptor
	if store == nil || aws.ToString(store.Location) == "" {
		return out, fault.New(fault.Corrupt, "Glue has no location of the partition %q", p.Values)
	}
	out.Location = *store.Location
	if store.SerdeInfo != nil {
		out.Format = table.FormatOfPartition(aws.ToString(store.SerdeInfo.SerializationLibrary), aws.ToString(store.InputFormat))
	}
	if out.Format == "unknown" { // crawlers may leave it to the table
		out.Format = ""
	}
	return out, nil
}
