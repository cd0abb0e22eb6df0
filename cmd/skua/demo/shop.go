package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

// The sizes of the star schema.
const (
	salesRows     = 300_000
	customerRows  = 5_000
	productRows   = 500
	storeRows     = 24
	salesPerWrite = 100_000
)

var (
	cities     = []string{"Oslo", "Lima", "Osaka", "Porto", "Accra", "Quito", "Turin", "Graz"}
	categories = []string{"books", "garden", "games", "kitchen", "music", "outdoor", "toys"}
	segments   = []string{"consumer", "business", "school"}
)

func day(year int, month time.Month, d int) int32 {
	return int32(time.Date(year, month, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func text(f func(i int) string) func(array.Builder, int) {
	return func(b array.Builder, i int) { b.(*array.StringBuilder).Append(f(i)) }
}

func int32s(f func(i int) int32) func(array.Builder, int) {
	return func(b array.Builder, i int) { b.(*array.Int32Builder).Append(f(i)) }
}

func int64s(f func(i int) int64) func(array.Builder, int) {
	return func(b array.Builder, i int) { b.(*array.Int64Builder).Append(f(i)) }
}

func days(f func(i int) int32) func(array.Builder, int) {
	return func(b array.Builder, i int) { b.(*array.Date32Builder).Append(arrow.Date32(f(i))) }
}

func cents(f func(i int) int64) func(array.Builder, int) {
	return func(b array.Builder, i int) { b.(*array.Decimal128Builder).Append(decimal128.FromI64(f(i))) }
}

var money = &arrow.Decimal128Type{Precision: 9, Scale: 2}

func price(product int) int64 { return int64(199 + pick(product, 7, 49_800)) }

func salesColumns() []column {
	product := func(i int) int { return pick(i, 2, productRows) }
	quantity := func(i int) int32 { return int32(1 + pick(i, 4, 5)) }
	return []column{
		{"sale_id", iceberg.Int64Type{}, arrow.PrimitiveTypes.Int64, true, "key", int64s(func(i int) int64 { return int64(i + 1) })},
		{"sold_on", iceberg.DateType{}, arrow.FixedWidthTypes.Date32, true, "day of the sale", days(func(i int) int32 { return day(2025, 1, 1) + int32(i*365/salesRows) })},
		{"customer_id", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, true, "", int32s(func(i int) int32 { return int32(1 + pick(i, 1, customerRows)) })},
		{"product_id", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, true, "", int32s(func(i int) int32 { return int32(1 + product(i)) })},
		{"store_id", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, false, "null: sold online", func(b array.Builder, i int) {
			if s := pick(i, 3, storeRows+6); s < storeRows {
				b.(*array.Int32Builder).Append(int32(s + 1))
				return
			}
			b.AppendNull()
		}},
		{"quantity", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, true, "", int32s(quantity)},
		{"amount", iceberg.DecimalTypeOf(9, 2), money, true, "quantity times price", cents(func(i int) int64 { return int64(quantity(i)) * price(product(i)) })},
	}
}

func customerColumns() []column {
	return []column{
		{"customer_id", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, true, "key", int32s(func(i int) int32 { return int32(i + 1) })},
		{"name", iceberg.StringType{}, arrow.BinaryTypes.String, true, "", text(func(i int) string { return fmt.Sprintf("Customer %05d", i+1) })},
		{"segment", iceberg.StringType{}, arrow.BinaryTypes.String, false, "", text(func(i int) string { return segments[pick(i, 11, len(segments))] })},
		{"city", iceberg.StringType{}, arrow.BinaryTypes.String, false, "", text(func(i int) string { return cities[pick(i, 12, len(cities))] })},
		{"since", iceberg.DateType{}, arrow.FixedWidthTypes.Date32, false, "", days(func(i int) int32 { return day(2018, 1, 1) + int32(pick(i, 13, 2500)) })},
	}
}

func productColumns() []column {
	return []column{
		{"product_id", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, true, "key", int32s(func(i int) int32 { return int32(i + 1) })},
		{"name", iceberg.StringType{}, arrow.BinaryTypes.String, true, "", text(func(i int) string { return fmt.Sprintf("Product %03d", i+1) })},
		{"category", iceberg.StringType{}, arrow.BinaryTypes.String, false, "", text(func(i int) string { return categories[pick(i, 21, len(categories))] })},
		{"price", iceberg.DecimalTypeOf(9, 2), money, true, "", cents(price)},
	}
}

func storeColumns() []column {
	return []column{
		{"store_id", iceberg.Int32Type{}, arrow.PrimitiveTypes.Int32, true, "key", int32s(func(i int) int32 { return int32(i + 1) })},
		{"city", iceberg.StringType{}, arrow.BinaryTypes.String, true, "", text(func(i int) string { return cities[i%len(cities)] })},
		{"opened", iceberg.DateType{}, arrow.FixedWidthTypes.Date32, false, "", days(func(i int) int32 { return day(2010, 3, 1) + int32(i*97) })},
	}
}

// makeShop makes the star schema: one fact table in several snapshots, three dimensions.
func makeShop(ctx context.Context, cat *hadoop.Catalog, say func(string, ...any)) error {
	if err := cat.CreateNamespace(ctx, table.Identifier{"shop"}, nil); err != nil {
		return err
	}
	for _, t := range []struct {
		name    string
		columns []column
		rows    int
		step    int
	}{
		{"customers", customerColumns(), customerRows, customerRows},
		{"products", productColumns(), productRows, productRows},
		{"stores", storeColumns(), storeRows, storeRows},
		{"sales", salesColumns(), salesRows, salesPerWrite},
	} {
		made, err := create(ctx, cat, table.Identifier{"shop", t.name}, t.columns, nil, iceberg.Properties{"format-version": "2"})
		if err != nil {
			return err
		}
		for from := 0; from < t.rows; from += t.step {
			if made, err = fill(ctx, made, t.columns, from, min(from+t.step, t.rows)); err != nil {
				return err
			}
		}
		say("  shop.%-10s %7d rows", t.name, t.rows)
	}
	return nil
}
