package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// child is a reader in a process of its own, so that its processor time, its peak of memory and its reads are nobody else's.
type child struct {
	dir, address string
	work         work
	cost         cost
}

// run reads, throws every batch away, and prints what it cost.
func (c *child) run(ctx context.Context, reader string) error {
	read := map[string]func(context.Context) error{icebergGo: c.readIceberg, pqArrow: c.readFiles, throughFlight: c.readFlight}[reader]
	if read == nil {
		return fmt.Errorf("no reader %q", reader)
	}
	before, start, err := rusage(), time.Now(), error(nil)
	from, err := readsOf("self")
	if err != nil {
		return err
	}
	if err := read(ctx); err != nil {
		return err
	}
	after := rusage()
	to, err := readsOf("self")
	if err != nil {
		return err
	}
	c.cost.Wall = time.Since(start).Seconds()
	c.cost.User, c.cost.System = seconds(after.Utime)-seconds(before.Utime), seconds(after.Stime)-seconds(before.Stime)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	if c.cost.Peak, err = peakOf(string(status)); err != nil {
		return err
	}
	c.cost.ReadBytes, c.cost.Reads = to.bytes-from.bytes, to.calls-from.calls
	return json.NewEncoder(os.Stdout).Encode(c.cost)
}

func rusage() (r syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func (c *child) add(b arrow.RecordBatch) {
	c.cost.Rows += b.NumRows()
	for _, column := range b.Columns() {
		c.cost.Bytes += int64(column.Data().SizeInBytes())
	}
}

// readIceberg reads with iceberg-go's own reader.
func (c *child) readIceberg(ctx context.Context) error {
	lake, err := hadoop.NewCatalog("bench", filepath.Join(c.dir, "warehouse"), iceberg.Properties{})
	if err != nil {
		return err
	}
	t, err := lake.LoadTable(ctx, c.work.table.identifier())
	if err != nil {
		return err
	}
	var options []table.ScanOption
	if c.work.columns != nil {
		options = append(options, table.WithSelectedFields(c.work.columns...))
	}
	if c.work.below > 0 {
		options = append(options, table.WithRowFilter(iceberg.LessThan(iceberg.Reference(keyName), c.work.below)))
	}
	_, batches, err := t.Scan(options...).ToArrowRecords(ctx)
	if err != nil {
		return err
	}
	for b, err := range batches {
		if err != nil {
			return err
		}
		c.add(b)
		b.Release()
	}
	return nil
}

// readFiles reads the bare files with arrow-go's reader, without what Iceberg knows of them.
func (c *child) readFiles(ctx context.Context) error {
	paths, err := filepath.Glob(filepath.Join(c.work.table.folder(c.dir), "data", "*.parquet"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := c.readFile(ctx, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (c *child) readFile(ctx context.Context, path string) error {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{Parallel: true, BatchSize: 1 << 16}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	var leaves []int
	for i := range f.MetaData().Schema.NumColumns() {
		if c.work.columns == nil || slices.Contains(c.work.columns, f.MetaData().Schema.Column(i).Name()) {
			leaves = append(leaves, i)
		}
	}
	batches, err := r.GetRecordReader(ctx, leaves, nil)
	if err != nil {
		return err
	}
	defer batches.Release()
	for batches.Next() {
		c.add(batches.RecordBatch())
	}
	return batches.Err()
}

// readFlight receives every batch from Skua's server.
func (c *child) readFlight(ctx context.Context) error {
	client, err := flightsql.NewClientCtx(ctx, c.address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer client.Close()
	info, err := client.Execute(ctx, c.work.sql())
	if err != nil {
		return err
	}
	for _, endpoint := range info.Endpoint {
		reader, err := client.DoGet(ctx, endpoint.Ticket)
		if err != nil {
			return err
		}
		for reader.Next() {
			c.add(reader.RecordBatch())
		}
		err = reader.Err()
		reader.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
