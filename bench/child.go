package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// runChild reads with one reader, throws every batch away, and prints the sample.
func runChild(ctx context.Context, reader, dir string, w work, address string, rows int) error {
	read := readIceberg
	if reader == "skua" {
		read = readFlight
	}
	var s sample
	if err := read(ctx, dir, w, address, rows, &s); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	if s.Peak, err = peakOf(string(status)); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

func (s *sample) add(b arrow.RecordBatch) {
	s.Rows += b.NumRows()
	for _, column := range b.Columns() {
		s.Bytes += int64(column.Data().SizeInBytes())
	}
}

func readIceberg(ctx context.Context, dir string, w work, _ string, rows int, s *sample) error {
	catalog, err := hadoop.NewCatalog("bench", filepath.Join(dir, "warehouse"), iceberg.Properties{})
	if err != nil {
		return err
	}
	t, err := catalog.LoadTable(ctx, benchTable)
	if err != nil {
		return err
	}
	var options []table.ScanOption
	switch w.name {
	case "proj3":
		options = append(options, table.WithSelectedFields("orderkey", "quantity", "shipdate"))
	case "filter1pct":
		key := iceberg.Reference("orderkey")
		from, to := keys(rows)
		options = append(options, table.WithRowFilter(iceberg.NewAnd(iceberg.GreaterThanEqual(key, from), iceberg.LessThan(key, to))))
	}
	_, batches, err := t.Scan(options...).ToArrowRecords(ctx)
	if err != nil {
		return err
	}
	for b, err := range batches {
		if err != nil {
			return err
		}
		s.add(b)
		b.Release()
	}
	return nil
}

func readFlight(ctx context.Context, _ string, w work, address string, rows int, s *sample) error {
	client, err := flightsql.NewClientCtx(ctx, address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer client.Close()
	arguments := []any{"bench.db.lineitem"}
	if w.name == "filter1pct" {
		from, to := keys(rows)
		arguments = append(arguments, from, to)
	}
	info, err := client.Execute(ctx, fmt.Sprintf(w.sql, arguments...))
	if err != nil {
		return err
	}
	for _, endpoint := range info.Endpoint {
		reader, err := client.DoGet(ctx, endpoint.Ticket)
		if err != nil {
			return err
		}
		for reader.Next() {
			s.add(reader.RecordBatch())
		}
		err = reader.Err()
		reader.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
