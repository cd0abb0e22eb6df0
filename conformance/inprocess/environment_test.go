package inprocess

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/storage/storetest"
)

// warehouse is where the reference tables lie, and root is where their metadata believes they do.
const (
	warehouse = "../testdata/warehouse"
	root      = "file:/skua-oracle/warehouse"
)

// reference is one of the tables: its name's parts and the location of its metadata.
type reference struct {
	name     []string
	metadata string
}

// references gives every table of the warehouse with the metadata that its version hint names.
func references(t testing.TB) (out []reference) {
	t.Helper()
	hints, err := fs.Glob(os.DirFS(warehouse), "*/*/metadata/version-hint.text")
	if err != nil {
		t.Fatal(err)
	}
	for depth := "*/*/*"; len(depth) < 20; depth += "/*" {
		more, err := fs.Glob(os.DirFS(warehouse), depth+"/metadata/version-hint.text")
		if err != nil {
			t.Fatal(err)
		}
		hints = append(hints, more...)
	}
	for _, hint := range hints {
		table := path.Dir(path.Dir(hint))
		version, err := os.ReadFile(filepath.Join(warehouse, hint))
		if err != nil {
			t.Fatal(err)
		}
		found, err := fs.Glob(os.DirFS(filepath.Join(warehouse, table, "metadata")), "v"+strings.TrimSpace(string(version))+".*metadata.json*")
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: metadata %v, %v", table, found, err)
		}
		out = append(out, reference{strings.Split(table, "/"), root + "/" + table + "/metadata/" + found[0]})
	}
	return out
}

// environment gives the settings of a server that lies at a cell of the matrix, or why there is none.
func environment(t testing.TB, cell conformance.Cell) (settings map[string]string, missing string) {
	t.Helper()
	settings = lake(t)
	switch decoder := cell.Value(conformance.Decoder); decoder {
	case "cpu":
	case "fallback":
		settings["skua.scan.decoder"] = "fallback"
	case "gpu", "gpu-simulated":
		if decoder != gpu {
			return nil, gpuMissing[decoder]
		}
		settings["skua.decoder"] = "gpu"
	default:
		t.Fatalf("no decoder %s", decoder)
	}
	where, missing := catalogsOf(t, cell.Value(conformance.Catalog))
	if missing != "" {
		return nil, missing
	}
	maps.Copy(settings, where)
	maps.Copy(settings, storesOf(t, cell.Value(conformance.Store)))
	return settings, ""
}

// catalogsOf gives the settings that make catalog lake one of a type, over the same files.
func catalogsOf(t testing.TB, kind string) (settings map[string]string, missing string) {
	t.Helper()
	const lake = "spark.sql.catalog.lake."
	settings = map[string]string{lake + "type": kind}
	switch kind {
	case "hadoop":
	case "static":
		content := map[string]any{}
		for _, r := range references(t) {
			content[joined(r.name)] = r.metadata
		}
		settings[lake+"uri"] = "file://" + jsonFile(t, content)
	case "jdbc":
		settings[lake+"uri"] = "jdbc:sqlite:" + sqliteCatalog(t)
		settings[lake+"jdbc.schema-version"] = "V1"
	case "rest":
		settings[lake+"uri"] = restCatalog(t)
	default:
		return nil, "catalog type " + kind + " needs a service that is not part of this test: make servers runs it"
	}
	return settings, ""
}

// joined spells a name for the static catalog.
func joined(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		if out[i] = p; strings.ContainsAny(p, ".`") {
			out[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
		}
	}
	return strings.Join(out, ".")
}

func jsonFile(t testing.TB, content any) string {
	t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "catalog.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// sqliteCatalog makes the database that Iceberg's JdbcCatalog would have.
func sqliteCatalog(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "catalog.db")
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
		metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE iceberg_namespace_properties(catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
		property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key))`); err != nil {
		t.Fatal(err)
	}
	for _, r := range references(t) {
		last := len(r.name) - 1
		if _, err := db.Exec("INSERT INTO iceberg_tables VALUES ('lake', ?, ?, ?, NULL, 'TABLE')", strings.Join(r.name[:last], "."), r.name[last], r.metadata); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// restCatalog serves the tables by Iceberg's REST protocol.
func restCatalog(t testing.TB) string {
	t.Helper()
	tables := map[string]reference{}
	for _, r := range references(t) {
		last := len(r.name) - 1
		tables[strings.Join(r.name[:last], "\x1f")+"/"+r.name[last]] = r
	}
	server := httptest.NewServer(restService(tables))
	t.Cleanup(server.Close)
	return server.URL
}

type restService map[string]reference

// ServeHTTP answers configuration, listings and loads.
func (s restService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/v1/"), "/")
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i])
	}
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	absent := func(kind string) {
		w.WriteHeader(http.StatusNotFound)
		answer(map[string]any{"error": map[string]any{"message": "it is not there", "type": kind, "code": 404}})
	}
	switch {
	case parts[0] == "config":
		answer(map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{}})
	case parts[0] != "namespaces":
		absent("NoSuchEndpoint")
	case len(parts) == 1:
		answer(map[string]any{"namespaces": s.children(r.URL.Query().Get("parent"))})
	case !s.has(parts[1]):
		absent("NoSuchNamespaceException")
	case len(parts) == 2:
		answer(map[string]any{"namespace": strings.Split(parts[1], "\x1f"), "properties": map[string]string{}})
	case len(parts) == 3:
		identifiers := []any{}
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if ns, name, _ := strings.Cut(key, "/"); ns == parts[1] && parts[2] == "tables" {
				identifiers = append(identifiers, map[string]any{"namespace": strings.Split(ns, "\x1f"), "name": name})
			}
		}
		answer(map[string]any{"identifiers": identifiers})
	default:
		found, ok := s[parts[1]+"/"+parts[3]]
		file := filepath.Join(warehouse, strings.TrimPrefix(found.metadata, root))
		metadata, err := os.ReadFile(file)
		if !ok || err != nil || parts[2] != "tables" {
			absent("NoSuchTableException")
			return
		}
		if strings.HasSuffix(file, ".gz.metadata.json") || strings.HasSuffix(file, ".gz") {
			if metadata, err = gunzipped(metadata); err != nil {
				absent("NoSuchTableException")
				return
			}
		}
		answer(map[string]any{"metadata-location": found.metadata, "metadata": json.RawMessage(metadata), "config": map[string]string{}})
	}
}

func (s restService) has(namespace string) bool {
	for key := range s {
		if ns, _, _ := strings.Cut(key, "/"); ns == namespace || strings.HasPrefix(ns, namespace+"\x1f") {
			return true
		}
	}
	return false
}

func (s restService) children(parent string) [][]string {
	var out [][]string
	depth := 1
	if parent != "" {
		depth += len(strings.Split(parent, "\x1f"))
	}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		ns, _, _ := strings.Cut(key, "/")
		levels := strings.Split(ns, "\x1f")
		if len(levels) < depth || parent != "" && !strings.HasPrefix(ns, parent+"\x1f") {
			continue
		}
		if child := levels[:depth]; !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, child) }) {
			out = append(out, child)
		}
	}
	return out
}

// storesOf gives the settings that put the tables' files into a store, under the names that their metadata knows.
func storesOf(t testing.TB, kind string) map[string]string {
	t.Helper()
	const lake = "spark.sql.catalog.lake."
	var server *storetest.Server
	var to string
	settings := map[string]string{}
	switch kind {
	case "local":
		return nil
	case "s3":
		server, to = storetest.NewS3(t), "s3://bucket/w"
		settings[lake+"s3.endpoint"] = server.URL
		settings[lake+"s3.path-style-access"] = "true"
		settings[lake+"s3.access-key-id"], settings[lake+"s3.secret-access-key"] = "key", "secret"
		settings[lake+"client.region"] = "us-east-1"
	case "gcs":
		server, to = storetest.NewGCS(t), "gs://bucket/w"
		settings[lake+"gcs.service.host"], settings[lake+"gcs.no-auth"] = server.URL, "true"
	case "adls":
		server, to = storetest.NewADLS(t), "abfss://bucket@account.dfs.core.windows.net/w"
		settings[lake+"adls.connection-string.account"] = server.URL + "/account"
		settings[lake+"adls.auth.shared-key.account.name"], settings[lake+"adls.auth.shared-key.account.key"] = "account", "c2VjcmV0"
	default:
		t.Fatalf("no store %s", kind)
	}
	put(t, server, "bucket/w")
	settings["skua.location-map.short.to"], settings["skua.location-map.long.to"] = to, to
	return settings
}

// put copies the warehouse into a store.
func put(t testing.TB, server *storetest.Server, under string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(warehouse), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(warehouse, name))
		server.Put(under+"/"+name, data)
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("copy the warehouse: %w", err))
	}
}
