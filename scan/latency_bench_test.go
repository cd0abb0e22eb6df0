package scan

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/s3"
	"github.com/skua-data/skua/storage/storetest"
)

// distance is how long the store of the benchmark takes to answer.
const distance = 30 * time.Millisecond

// farStore is a store of S3's protocol whose answers take a while, and which notes what it was asked.
type farStore struct {
	*storetest.Server
	url string

	mu    sync.Mutex
	trips []trip
}

type trip struct{ from, to time.Time }

func newFarStore(b *testing.B) *farStore {
	f := &farStore{Server: storetest.NewS3(b)}
	near, err := url.Parse(f.URL)
	if err != nil {
		b.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(near)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		time.Sleep(distance)
		proxy.ServeHTTP(w, r)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.trips = append(f.trips, trip{started, time.Now()})
	}))
	b.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// told gives how many requests there were since the last time, and how many of them came one after the other at least.
func (f *farStore) told() (requests, rounds int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortFunc(f.trips, func(a, b trip) int { return a.to.Compare(b.to) })
	var last time.Time
	for _, s := range f.trips {
		if !s.from.Before(last) {
			rounds, last = rounds+1, s.to
		}
	}
	requests, f.trips = len(f.trips), nil
	return requests, rounds
}

// BenchmarkFarStore reads tables cold from a store that takes 30 ms for an answer, and tells the requests, how many of them waited for another, and the time in
// units of the store's.
func BenchmarkFarStore(b *testing.B) {
	for _, c := range []struct {
		name                 string
		columns, files, rows int
		filter               func(a arrow.Field) predicate.Expr
	}{
		{"one row group of 16 columns", 16, 1, 400_000, nil},
		{"100 files of 1 MB", 16, 100, 8_000, nil},
		{"100 files of 3 MB", 16, 100, 24_000, nil},
		{"100 files of 3 MB, one row of them", 16, 100, 24_000, func(a arrow.Field) predicate.Expr {
			return predicate.Comparison{Op: predicate.Eq, Field: predicate.Field{ID: FieldID(a), Path: []string{a.Name}, Type: a.Type}, Value: predicate.Literal{Type: a.Type, Value: int64(1_200_005)}}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			store := newFarStore(b)
			b.Setenv("AWS_EC2_METADATA_DISABLED", "true")
			m := makeWide(b, c.columns, c.files, c.rows)
			text := m.metadataText()
			entries, err := os.ReadDir(m.dir)
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range entries {
				data, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
				if err != nil {
					b.Fatal(err)
				}
				store.Put("bucket/t/"+e.Name(), data)
			}
			locations, err := storage.NewMap([]storage.Mapping{{From: "file:" + m.dir, To: "s3://bucket/t"}})
			if err != nil {
				b.Fatal(err)
			}
			properties := map[string]string{"s3.endpoint": store.url, "s3.path-style-access": "true", "s3.access-key-id": "me", "s3.secret-access-key": storetest.Secret}
			requests, rounds := 0, 0
			for b.Loop() {
				decoder := kernels.Prefer(cpu.New(), parquet.NewFallback())
				s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{s3.Kind}, locations), Decoder: decoder})
				ctx := resource.With(b.Context(), resource.NewPool(resource.Config{Cores: 2}).NewStatement("far"))
				table, err := s.Table(ctx, &catalogs.Table{Catalog: "made", Identifier: []string{"far"}, Config: properties, MetadataLocation: m.location("v1.metadata.json"), Metadata: []byte(text)})
				if err != nil {
					b.Fatal(err)
				}
				source, err := table.Source(ctx, Reference{})
				if err != nil {
					b.Fatal(err)
				}
				request, want := Request{Fields: fieldIDs(source.Schema()), Limit: -1}, int64(c.files*c.rows)
				if c.filter != nil {
					request.Filter, want = c.filter(source.Schema().Field(0)), 1
				}
				plan, err := source.Plan(ctx, request)
				if err != nil {
					b.Fatal(err)
				}
				reader, err := plan.Open(ctx, 0, plan.Splits())
				if err != nil {
					b.Fatal(err)
				}
				var rows int64
				for reader.Next() {
					rows += reader.RecordBatch().NumRows()
				}
				if reader.Err() != nil || rows != want {
					b.Fatal(fmt.Errorf("%d rows of %d, %w", rows, want, reader.Err()))
				}
				reader.Release()
				decoder.Close()
				n, r := store.told()
				requests, rounds = requests+n, rounds+r
			}
			b.ReportMetric(float64(requests)/float64(b.N), "requests")
			b.ReportMetric(float64(rounds)/float64(b.N), "rounds")
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(distance), "answers")
			b.ReportMetric(0, "ns/op")
		})
	}
}
