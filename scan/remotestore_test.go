package scan

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/adls"
	"github.com/skua-data/skua/storage/gcs"
	"github.com/skua-data/skua/storage/s3"
	"github.com/skua-data/skua/storage/storetest"
)

// remoteStores are the stores that are tried, each with a way to start one and the properties to reach it.
var remoteStores = []struct {
	base, bucket string
	kind         storage.Kind
	start        func(testing.TB) *storetest.Server
	properties   func(url string) map[string]string
	broken       storetest.Fault
}{
	{"s3://bucket/", "bucket", s3.Kind, storetest.NewS3, func(url string) map[string]string {
		return map[string]string{"s3.endpoint": url, "s3.path-style-access": "true", "s3.access-key-id": "me", "s3.secret-access-key": storetest.Secret,
			"s3.retry.min-wait-ms": "1", "s3.retry.max-wait-ms": "4"}
	}, storetest.Status(503, storetest.S3Error("SlowDown"))},
	{"gs://bucket/", "bucket", gcs.Kind, storetest.NewGCS, func(url string) map[string]string {
		return map[string]string{"gcs.service.host": url, "gcs.oauth2.token": storetest.Secret}
	}, nil},
	{"abfss://box@acct.dfs.core.windows.net/", "box", adls.Kind, storetest.NewADLS, func(url string) map[string]string {
		return map[string]string{"adls.connection-string.acct": url + "/acct", "adls.sas-token.acct": "sig=" + storetest.Secret}
	}, nil},
}

// remoteScanner has the oracle's files in a store.
func remoteScanner(t *testing.T, at int) (*Scanner, *storetest.Server, map[string]string) {
	t.Helper()
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	r := remoteStores[at]
	server := r.start(t)
	root := os.DirFS("testdata/oracle")
	err := fs.WalkDir(root, "warehouse", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		server.Put(r.bucket+"/"+path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	locations, err := storage.NewMap([]storage.Mapping{{From: "file:/skua-oracle/", To: r.base}, {From: "file:///skua-oracle/", To: r.base}})
	if err != nil {
		t.Fatal(err)
	}
	properties := r.properties(server.URL)
	decoder := kernels.Prefer(cpu.New(), parquet.NewFallback())
	t.Cleanup(func() { decoder.Close() })
	return NewScanner(Config{Stores: storage.NewMux([]storage.Kind{r.kind}, locations), Decoder: decoder}), server, properties
}

// wholeTable reads a table of the oracle whole, with split options.
func wholeTable(t *testing.T, s *Scanner, properties map[string]string, namespace, name string, options ...Option) (string, *resource.Counters, error) {
	t.Helper()
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer checked.AssertSize(t, 0)
	statement := resource.NewPool(resource.Config{Cores: 2, Allocator: checked}).NewStatement("t")
	ctx := resource.With(t.Context(), statement)
	table, err := remoteTable(ctx, t, s, properties, namespace, name)
	if err != nil {
		return "", &statement.Counters, err
	}
	source, err := table.Source(ctx, Reference{})
	if err != nil {
		return "", &statement.Counters, err
	}
	batch, err := readAll(ctx, source, Request{Fields: fieldIDs(source.Schema()), Limit: -1, Options: options})
	if err != nil {
		return "", &statement.Counters, err
	}
	defer batch.Release()
	text, err := array.RecordToStructArray(batch).MarshalJSON()
	return string(text), &statement.Counters, err
}

func remoteTable(ctx context.Context, t *testing.T, s *Scanner, properties map[string]string, namespace, name string) (*Table, error) {
	t.Helper()
	folder := filepath.Join("testdata/oracle/warehouse", namespace, name, "metadata")
	hint, err := os.ReadFile(filepath.Join(folder, "version-hint.text"))
	if err != nil {
		t.Fatal(err)
	}
	file := "v" + strings.TrimSpace(string(hint)) + ".metadata.json"
	if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
		file = "v" + strings.TrimSpace(string(hint)) + ".gz.metadata.json"
	}
	return s.Table(ctx, &catalogs.Table{Catalog: "oracle", Identifier: []string{namespace, name}, Config: properties,
		MetadataLocation: "file:/skua-oracle/warehouse/" + namespace + "/" + name + "/metadata/" + file})
}

func TestTablesInRemoteStores(t *testing.T) {
	local := oracleScanner(t, "testdata/oracle")
	for at, r := range remoteStores {
		scanner, _, properties := remoteScanner(t, at)
		for _, name := range []string{"pos_v2", "eq_v2", "dv_v3"} {
			if _, err := os.Stat(filepath.Join("testdata/oracle/warehouse/deletes", name)); err != nil {
				continue
			}
			for _, split := range []string{"1", "134217728"} {
				want, _, err := wholeTable(t, local, nil, "deletes", name, Option{Name: "split-size", Value: split})
				if err != nil {
					t.Fatal(err)
				}
				got, counters, err := wholeTable(t, scanner, properties, "deletes", name, Option{Name: "split-size", Value: split})
				if err != nil || got != want {
					t.Errorf("%s, %s: %v\n%s\nwant\n%s", r.base, name, err, got, want)
				}
				if counters.Requests.Load() == 0 && split == "1" || counters.Retries.Load() != 0 {
					t.Errorf("%s, %s: %d requests, %d again", r.base, name, counters.Requests.Load(), counters.Retries.Load())
				}
			}
		}
	}
}

// TestStoreThatFailsAtRandomGivesNoOtherRows lets every third request fail in one of several ways: rows are right, or the statement fails.
func TestStoreThatFailsAtRandomGivesNoOtherRows(t *testing.T) {
	want, _, err := wholeTable(t, oracleScanner(t, "testdata/oracle"), nil, "deletes", "pos_v2", Option{Name: "split-size", Value: "1"})
	if err != nil {
		t.Fatal(err)
	}
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	faults := []storetest.Fault{remoteStores[0].broken, storetest.CutAfter(0), storetest.CutAfter(100), storetest.CutAfter(1000), storetest.Status(500, ""),
		storetest.Status(429, ""), storetest.Status(200, storetest.S3Error("InternalError")), storetest.Status(206, "short"),
		storetest.Header("Content-Range", func(string) string { return "bytes 0-9/10" }), storetest.Header("ETag", func(string) string { return `"other"` })}
	failed := 0
	for seed := range rounds {
		random := rand.New(rand.NewPCG(7, uint64(seed)))
		scanner, server, properties := remoteScanner(t, 0)
		var plan []storetest.Fault
		for range 200 {
			if random.IntN(3) == 0 {
				plan = append(plan, faults[random.IntN(len(faults))])
				continue
			}
			plan = append(plan, nil)
		}
		server.Fail(plan...)
		got, counters, err := wholeTable(t, scanner, properties, "deletes", "pos_v2", Option{Name: "split-size", Value: "1"})
		switch {
		case err == nil && got != want:
			t.Errorf("seed %d: other rows\n%s\nwant\n%s", seed, got, want)
		case err != nil:
			failed++
			if k := fault.KindOf(err); k != fault.Unavailable && k != fault.Corrupt {
				t.Errorf("seed %d: %v", seed, err)
			}
			if strings.Contains(err.Error(), storetest.Secret) {
				t.Errorf("the secret shows: %v", err)
			}
		case counters.Retries.Load() == 0:
			t.Errorf("seed %d: nothing failed", seed)
		}
	}
	t.Logf("%d of %d statements failed", failed, rounds)
	if failed == rounds {
		t.Error("no statement came through")
	}
}

func TestRefusalsNameTheFile(t *testing.T) {
	scanner, server, properties := remoteScanner(t, 0)
	server.Refuse(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ".parquet") })
	_, _, err := wholeTable(t, scanner, properties, "deletes", "pos_v2")
	if !fault.Is(err, fault.Denied) || !strings.Contains(fmt.Sprint(err), ".parquet") || strings.Contains(fmt.Sprint(err), "s3://") {
		t.Errorf("got %v", err)
	}
}

// TestFilesAreOpenedAhead holds back the answers for data files until several were asked for, as one worker alone would not do.
func TestFilesAreOpenedAhead(t *testing.T) {
	scanner, server, properties := remoteScanner(t, 0)
	var mu sync.Mutex
	asked, enough := 0, make(chan struct{})
	server.Refuse(func(r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, ".parquet") || strings.Contains(r.URL.Path, "deletes.parquet") {
			return false
		}
		mu.Lock()
		if asked++; asked == 4 {
			close(enough)
		}
		mu.Unlock()
		select {
		case <-enough:
		case <-time.After(10 * time.Second):
			t.Error("the files are opened one after the other")
		}
		return false
	})
	statement := resource.NewPool(resource.Config{Cores: 1}).NewStatement("t")
	ctx := resource.With(t.Context(), statement)
	table, err := remoteTable(ctx, t, scanner, properties, "parts", "evolved")
	if err != nil {
		t.Fatal(err)
	}
	source, err := table.Source(ctx, Reference{})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := readAll(ctx, source, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	batch.Release()
	if files, requests := statement.Counters.Files.Load(), int64(asked); files < 4 || requests != files {
		t.Errorf("%d files were read with %d requests", files, requests)
	}
}
