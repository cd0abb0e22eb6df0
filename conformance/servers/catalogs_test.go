package servers

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/skua-data/skua/catalogs/hive/hivetest"
)

// namespaces are those of the tables.
func namespaces(all map[string]string) map[string]bool {
	out := map[string]bool{}
	for name := range all {
		ns, _, _ := strings.Cut(name, ".")
		out[ns] = true
	}
	return out
}

func TestRESTFixture(t *testing.T) {
	wanted(t, "rest")
	script(t, "iceberg-rest", "ICEBERG_REST_PORT=18181")
	const at = "http://127.0.0.1:18181"
	all, _ := tables(t)
	for ns := range namespaces(all) {
		post(t, http.MethodPost, at+"/v1/namespaces", map[string]any{"namespace": []string{ns}})
	}
	post(t, http.MethodPost, at+"/v1/namespaces", map[string]any{"namespace": []string{"shop", "deep er"}})
	for name, location := range all {
		ns, table, _ := strings.Cut(name, ".")
		post(t, http.MethodPost, at+"/v1/namespaces/"+ns+"/register", map[string]any{"name": table, "metadata-location": location})
	}
	c := check(t, map[string]string{"type": "rest", "uri": at, "credential": "me:planted", "rest-page-size": "1"})
	if got := ask(t, c, "SHOW NAMESPACES IN real.shop"); !strings.Contains(got, "deep er") {
		t.Errorf("%s", got)
	}
}

func TestHive3(t *testing.T) { hive(t, "3") }
func TestHive4(t *testing.T) { hive(t, "4") }

func hive(t *testing.T, version string) {
	wanted(t, "hive"+version)
	port := "1908" + version
	script(t, "hms", "HMS_HIVE="+version, "HMS_PORT="+port, "READY_TIMEOUT=300")
	all, folder := tables(t)
	ctx := context.Background()
	call := func(method string, arguments map[int16]any) {
		t.Helper()
		if _, err := hivetest.Call(ctx, "127.0.0.1:"+port, method, arguments); err != nil {
			t.Fatal(err)
		}
	}
	for ns := range namespaces(all) {
		call("create_database", map[int16]any{1: map[int16]any{1: ns, 3: "file://" + filepath.Join(folder, ns)}})
	}
	for name, location := range all {
		ns, table, _ := strings.Cut(name, ".")
		stored := hivetest.Table(ns, table, "EXTERNAL_TABLE", map[string]string{"EXTERNAL": "TRUE", "table_type": "ICEBERG", "metadata_location": location})
		stored[7].(map[int16]any)[2] = "file://" + filepath.Join(folder, ns, table)
		call("create_table", map[int16]any{1: stored})
	}
	c := check(t, map[string]string{"type": "hive", "uri": "thrift://127.0.0.1:1,thrift://127.0.0.1:" + port})
	if got := ask(t, c, "SELECT * FROM real.no_such.t"); !strings.Contains(got, "TABLE_OR_VIEW_NOT_FOUND") {
		t.Errorf("a missing database: %s", got)
	}
}

// bucket starts an S3 store with the bucket warehouse: Nessie is not ready without one, whether or not it serves tables from it.
func bucket(t *testing.T, port string) string {
	t.Helper()
	script(t, "moto", "MOTO_PORT="+port)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://127.0.0.1:"+port+"/warehouse", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("make the bucket: %+v, %v", response, err)
	}
	_ = response.Body.Close()
	return "http://127.0.0.1:" + port
}

func TestNessie(t *testing.T) {
	wanted(t, "nessie")
	script(t, "nessie", "NESSIE_PORT=19520", "NESSIE_MANAGEMENT_PORT=19521", "READY_TIMEOUT=600", "S3_ENDPOINT="+bucket(t, "15001"))
	const at = "http://127.0.0.1:19520/api/v2"
	seedNessie(t, at)
	c := check(t, map[string]string{"type": "nessie", "uri": at, "ref": "main"})
	if got := ask(t, c, "SELECT count(*) FROM real.shop.`sales@empty`"); !strings.Contains(got, "TABLE_OR_VIEW_NOT_FOUND") {
		t.Errorf("a branch without the table: %s", got)
	}
	for _, name := range []string{"sales@main", "sales@kept"} {
		if got, want := ask(t, c, "SELECT count(*) FROM real.shop.`"+name+"`"), ask(t, c, "SELECT count(*) FROM real.shop.sales"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := ask(t, c, "SELECT count(*) FROM real.shop.`sales@gone`"); !strings.Contains(got, "no reference") {
		t.Errorf("a missing branch: %s", got)
	}
}

// seedNessie makes the branch empty, commits the tables to main and tags that as kept.
func seedNessie(t *testing.T, at string, headers ...string) {
	t.Helper()
	main := post(t, http.MethodGet, at+"/trees/main", nil, headers...)["reference"].(map[string]any)
	post(t, http.MethodPost, at+"/trees?name=empty&type=BRANCH", main, headers...)
	all, _ := tables(t)
	var operations []any
	for ns := range namespaces(all) {
		operations = append(operations, map[string]any{"type": "PUT", "key": map[string]any{"elements": []string{ns}}, "content": map[string]any{"type": "NAMESPACE", "elements": []string{ns}}})
	}
	for name, location := range all {
		operations = append(operations, map[string]any{"type": "PUT", "key": map[string]any{"elements": strings.Split(name, ".")}, "content": map[string]any{"type": "ICEBERG_TABLE",
			"metadataLocation": location, "snapshotId": 1, "schemaId": 0, "specId": 0, "sortOrderId": 0}})
	}
	done := post(t, http.MethodPost, at+"/trees/main@"+main["hash"].(string)+"/history/commit", map[string]any{"commitMeta": map[string]any{"message": "tables"}, "operations": operations}, headers...)
	post(t, http.MethodPost, at+"/trees?name=kept&type=TAG", done["targetBranch"], headers...)
}

func TestNessieWithOIDC(t *testing.T) {
	wanted(t, "oidc")
	script(t, "oidc", "OIDC_PORT=18085")
	script(t, "nessie", "NESSIE_PORT=19620", "NESSIE_MANAGEMENT_PORT=19621", "READY_TIMEOUT=600", "NESSIE_OIDC=http://localhost:18085",
		"S3_ENDPOINT="+bucket(t, "15002"))
	const at, issuer = "http://127.0.0.1:19620/api/v2", "http://localhost:18085"
	response, err := http.PostForm(issuer+"/token", map[string][]string{"grant_type": {"client_credentials"}, "scope": {"nessie"}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var said struct {
		Token string `json:"access_token"`
	}
	if err := decode(response.Body, &said); err != nil {
		t.Fatal(err)
	}
	seedNessie(t, at, "Authorization", "Bearer "+said.Token)
	check(t, map[string]string{"type": "nessie", "uri": at, "authentication.type": "OAUTH2", "authentication.oauth2.issuer-url": issuer, "authentication.oauth2.client-id": "skua",
		"authentication.oauth2.client-secret": "planted", "authentication.oauth2.client-scopes": "nessie"})
	check(t, map[string]string{"type": "nessie", "uri": at, "authentication.type": "BEARER", "authentication.token": said.Token})
	c := open(t, map[string]string{"type": "nessie", "uri": at, "authentication.type": "BEARER", "authentication.token": said.Token + "planted"})
	if got := ask(t, c, "SHOW NAMESPACES IN real"); !strings.Contains(got, "401") || strings.Contains(got, "planted") {
		t.Errorf("a damaged token: %s", got)
	}
}

func TestGlue(t *testing.T) {
	wanted(t, "glue")
	script(t, "moto", "MOTO_PORT=15000")
	const at = "http://127.0.0.1:15000"
	client := glue.New(glue.Options{Region: "us-east-1", BaseEndpoint: aws.String(at), Credentials: credentials.NewStaticCredentialsProvider("test", "planted", "")})
	all, _ := tables(t)
	for ns := range namespaces(all) {
		if _, err := client.CreateDatabase(t.Context(), &glue.CreateDatabaseInput{DatabaseInput: &types.DatabaseInput{Name: &ns}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, location := range all {
		ns, table, _ := strings.Cut(name, ".")
		if _, err := client.CreateTable(t.Context(), &glue.CreateTableInput{DatabaseName: &ns, TableInput: &types.TableInput{Name: &table, TableType: aws.String("EXTERNAL_TABLE"),
			Parameters: map[string]string{"table_type": "ICEBERG", "metadata_location": location}}}); err != nil {
			t.Fatal(err)
		}
	}
	check(t, map[string]string{"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog", "glue.endpoint": at, "client.region": "us-east-1", "glue.access-key-id": "test",
		"glue.secret-access-key": "planted", "http-client.type": "apache", "warehouse": "s3://warehouse"})
}

// layout makes a JdbcCatalog's tables as Java does, V1.
const layout = `CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
	metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))`

// register writes the tables into a database.
func register(t *testing.T, db *sql.DB, parameter func(n int) string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), layout); err != nil {
		t.Fatal(err)
	}
	all, _ := tables(t)
	for name, location := range all {
		ns, table, _ := strings.Cut(name, ".")
		insert := fmt.Sprintf("INSERT INTO iceberg_tables VALUES ('real', %s, %s, %s, NULL, 'TABLE')", parameter(1), parameter(2), parameter(3))
		if _, err := db.ExecContext(t.Context(), insert, ns, table, location); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPostgres(t *testing.T) {
	wanted(t, "postgres")
	script(t, "postgres", "POSTGRES_PORT=15433")
	db, err := sql.Open("pgx", "postgres://skua:skua@127.0.0.1:15433/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	register(t, db, func(n int) string { return fmt.Sprint("$", n) })
	check(t, map[string]string{"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", "uri": "jdbc:postgresql://127.0.0.1:15433/postgres", "jdbc.user": "skua", "jdbc.password": "skua",
		"jdbc.verifyServerCertificate": "true", "warehouse": "file:/w"})
	c := open(t, map[string]string{"type": "jdbc", "uri": "jdbc:postgresql://127.0.0.1:15433/postgres?user=skua&password=planted"})
	if got := ask(t, c, "SHOW NAMESPACES IN real"); !strings.Contains(got, "authentication failed") || strings.Contains(got, "planted") {
		t.Errorf("a wrong password: %s", got)
	}
}

func TestStatic(t *testing.T) {
	wanted(t, "static")
	all, _ := tables(t)
	var lines []string
	for name, location := range all {
		lines = append(lines, fmt.Sprintf("%q: %q", name, location))
	}
	path := filepath.Join(t.TempDir(), "tables.json")
	if err := os.WriteFile(path, []byte("{"+strings.Join(lines, ",")+"}"), 0o644); err != nil {
		t.Fatal(err)
	}
	check(t, map[string]string{"type": "static", "uri": path})
}
