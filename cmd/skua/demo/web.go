package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

// Events come in three thirds: before the schema changes, up to the launch, and after it.
const (
	eventRows    = 60_000
	evolvedFrom  = eventRows / 3
	launchedFrom = 2 * evolvedFrom
	branchRows   = 100
)

var (
	pages = []string{"/", "/search", "/cart", "/checkout", "/help", "/account"}
	hosts = []string{"search.example", "news.example", "mail.example"}
)

// page is what event i is about. After the launch /faq takes the place of /help, so that no row comes back to a page whose rows were deleted.
func page(i int) string {
	if p := pages[pick(i, 31, len(pages))]; p != "/help" || i < launchedFrom {
		return p
	}
	return "/faq"
}

// eventColumns are the columns before (two columns fewer, int duration) and after the schema changed.
func eventColumns(evolved bool) []column {
	start := time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	step := int64(12*24*time.Hour/time.Microsecond) / eventRows
	out := []column{
		{"event_id", iceberg.Int64Type{}, arrow.PrimitiveTypes.Int64, true, "key", int64s(func(i int) int64 { return int64(i + 1) })},
		{"ts", iceberg.TimestampTzType{}, arrow.FixedWidthTypes.Timestamp_us, true, "when it happened", func(b array.Builder, i int) {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(start + int64(i)*step))
		}},
		{"page", iceberg.StringType{}, arrow.BinaryTypes.String, true, "", text(page)},
		{"visitor", iceberg.StringType{}, arrow.BinaryTypes.String, false, "null: not known", func(b array.Builder, i int) {
			if pick(i, 32, 10) == 0 {
				b.AppendNull()
				return
			}
			b.(*array.StringBuilder).Append(fmt.Sprintf("v%04d", pick(i, 33, 4000)))
		}},
	}
	if !evolved {
		return append(out, column{"took", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, false, "", int32s(func(i int) int32 { return int32(20 + pick(i, 34, 900)) })})
	}
	return append(out,
		column{"took_ms", iceberg.Int64Type{}, arrow.PrimitiveTypes.Int64, false, "", int64s(func(i int) int64 { return int64(20 + pick(i, 34, 900)) })},
		column{"referrer", iceberg.StringType{}, arrow.BinaryTypes.String, false, "since the second week", text(func(i int) string { return hosts[pick(i, 35, len(hosts))] })})
}

// makeWeb makes web.events: partitioned by day, then by day and page; a column renamed and widened, one added; merge-on-read deletes of files with either
// schema; a tag before them, a branch with rows of its own. The deletes come before the partitioning changes: iceberg-go writes position deletes under the
// table's present spec, and they count for no data file of another one.
func makeWeb(ctx context.Context, cat *hadoop.Catalog, say func(string, ...any)) error {
	if err := cat.CreateNamespace(ctx, table.Identifier{"web"}, nil); err != nil {
		return err
	}
	columns := eventColumns(false)
	spec := iceberg.NewPartitionSpec(iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Name: "ts_day", Transform: iceberg.DayTransform{}})
	t, err := create(ctx, cat, table.Identifier{"web", "events"}, columns, &spec, iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"})
	if err != nil {
		return err
	}
	if t, err = fill(ctx, t, columns, 0, evolvedFrom); err != nil {
		return err
	}
	if t, err = evolveSchema(ctx, t); err != nil {
		return fmt.Errorf("evolve web.events: %w", err)
	}
	if t, err = launch(ctx, cat, t); err != nil {
		return err
	}
	if t, err = evolvePartitions(ctx, t); err != nil {
		return fmt.Errorf("partition web.events by page: %w", err)
	}
	evolved := eventColumns(true)
	if t, err = fill(ctx, t, evolved, launchedFrom, eventRows); err != nil {
		return err
	}
	if t, err = reference(ctx, cat, t, "experiment", table.BranchRef); err != nil {
		return err
	}
	if err := appendToBranch(ctx, t, evolved); err != nil {
		return err
	}
	say("  web.events      %7d rows written, those of page /help deleted; tag launch, branch experiment", eventRows)
	return nil
}

// launch writes the second third, tags it, and deletes the page /help.
func launch(ctx context.Context, cat *hadoop.Catalog, t *table.Table) (*table.Table, error) {
	t, err := fill(ctx, t, eventColumns(true), evolvedFrom, launchedFrom)
	if err != nil {
		return nil, err
	}
	if t, err = reference(ctx, cat, t, "launch", table.TagRef); err != nil {
		return nil, err
	}
	if t, err = t.Delete(ctx, iceberg.EqualTo(iceberg.Reference("page"), "/help"), nil); err != nil {
		return nil, fmt.Errorf("delete from web.events: %w", err)
	}
	return t, nil
}

// evolveSchema renames and widens took and adds referrer.
func evolveSchema(ctx context.Context, t *table.Table) (*table.Table, error) {
	change := t.NewTransaction()
	err := change.UpdateSchema(true, false).
		UpdateColumn([]string{"took"}, table.ColumnUpdate{FieldType: iceberg.Optional[iceberg.Type]{Val: iceberg.Int64Type{}, Valid: true}}).
		RenameColumn([]string{"took"}, "took_ms").
		AddColumn([]string{"referrer"}, iceberg.StringType{}, "since the second week", false, nil).
		Commit()
	if err != nil {
		return nil, err
	}
	return change.Commit(ctx)
}

// evolvePartitions partitions by page too.
func evolvePartitions(ctx context.Context, t *table.Table) (*table.Table, error) {
	change := t.NewTransaction()
	if err := change.UpdateSpec(true).AddIdentity("page").Commit(); err != nil {
		return nil, err
	}
	return change.Commit(ctx)
}

func appendToBranch(ctx context.Context, t *table.Table, columns []column) error {
	reader, err := rows(columns, eventRows, eventRows+branchRows)
	if err != nil {
		return err
	}
	defer reader.Release()
	change := t.NewTransactionOnBranch("experiment")
	if err := change.Append(ctx, reader, nil); err != nil {
		return fmt.Errorf("append to branch experiment: %w", err)
	}
	_, err = change.Commit(ctx)
	return err
}
