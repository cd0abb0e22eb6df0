package servers

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/skua-data/skua/catalogs/hive/hivetest"
	"github.com/skua-data/skua/conformance/lake"
	"github.com/skua-data/skua/conformance/servers/launch"
)

// listen serves a handler on loopback and gives its address.
func listen(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(l) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

// post sends JSON and gives the answer's.
func post(t *testing.T, method, to string, body any, headers ...string) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, to, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s, %s, %v", method, to, response.Status, said, err)
	}
	out := map[string]any{}
	_ = json.Unmarshal(said, &out)
	return out
}

func openREST(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	// The fixture reads the metadata that it is given: from S3, whose keys it hands out, and for the other stores from the lake's own folder.
	shadow := t.TempDir()
	settings := launch.Settings{"shadow": shadow, "io-impl": "org.apache.iceberg.io.ResolvingFileIO"}
	if asked("s3") {
		settings = with(storeOf(t, "s3").properties, "include-credentials", "true", "io-impl", settings["io-impl"], "shadow", shadow)
	}
	at := "http://" + start(t, "rest", settings).Address
	return func(t *testing.T, l *lake.Lake, prefix string) {
			overshadow(t, shadow, l)
			enterREST(t, at, l, prefix)
		}, map[string]string{"type": "rest", "uri": at, "credential": "me:planted", "rest-page-size": "1",
			"s3.access-key-id": "", "s3.secret-access-key": ""} // those that are vended must do
}

// overshadow has a lake's folder stand for its location below the folder of a ShadowStore.
func overshadow(t *testing.T, shadow string, l *lake.Lake) {
	t.Helper()
	at, err := url.Parse(l.Base)
	if err != nil {
		t.Fatal(err)
	}
	authority := at.Host
	if at.User != nil {
		authority = at.User.String() + "@" + at.Host
	}
	link := filepath.Join(shadow, at.Scheme+"-"+authority, at.Path)
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(l.Folder, link); err != nil {
		t.Fatal(err)
	}
}

func enterREST(t *testing.T, at string, l *lake.Lake, prefix string) {
	for ns := range l.Namespaces() {
		post(t, http.MethodPost, at+"/v1/namespaces", map[string]any{"namespace": []string{prefix + ns}})
	}
	post(t, http.MethodPost, at+"/v1/namespaces", map[string]any{"namespace": []string{prefix + "shop", "deep er"}})
	for name, location := range l.Tables {
		ns, table, _ := strings.Cut(name, ".")
		post(t, http.MethodPost, at+"/v1/namespaces/"+prefix+ns+"/register", map[string]any{"name": table, "metadata-location": location})
	}
}

// openHive starts a metastore; an address in front of it answers nobody.
func openHive(t *testing.T, name string) (func(*testing.T, *lake.Lake, string), map[string]string) {
	at := start(t, name, nil).Address
	call := func(t *testing.T, method string, arguments map[int16]any) {
		t.Helper()
		if _, err := hivetest.Call(t.Context(), at, method, arguments); err != nil {
			t.Fatal(err)
		}
	}
	return func(t *testing.T, l *lake.Lake, prefix string) {
		for ns := range l.Namespaces() {
			call(t, "create_database", map[int16]any{1: map[int16]any{1: prefix + ns, 3: l.Base + "/" + ns}})
		}
		for name, location := range l.Tables {
			ns, table, _ := strings.Cut(name, ".")
			stored := hivetest.Table(prefix+ns, table, "EXTERNAL_TABLE", map[string]string{"EXTERNAL": "TRUE", "table_type": "ICEBERG", "metadata_location": location})
			stored[7].(map[int16]any)[2] = l.Base + "/" + ns + "/" + table
			call(t, "create_table", map[int16]any{1: stored})
		}
	}, map[string]string{"type": "hive", "uri": "thrift://127.0.0.1:1,thrift://" + at}
}

// plainTable puts the table shop.old_logs, which is plain CSV, into a metastore.
func plainTable(t *testing.T, at string) {
	t.Helper()
	stored := hivetest.Table("shop", "old_logs", "EXTERNAL_TABLE", map[string]string{"EXTERNAL": "TRUE"})
	stored[7].(map[int16]any)[2] = "file://" + t.TempDir()
	stored[7].(map[int16]any)[3] = "org.apache.hadoop.mapred.TextInputFormat"
	if _, err := hivetest.Call(t.Context(), at, "create_table", map[int16]any{1: stored}); err != nil {
		t.Fatal(err)
	}
}

// bucket makes the bucket of an S3 server that has none.
func bucket(t *testing.T, at string) string {
	t.Helper()
	if _, err := s3Client(at).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(launch.Bucket)}); err != nil {
		t.Fatal(err)
	}
	return at
}

func openNessie(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	// Nessie is not ready without an S3 store, whether or not it reads tables from there.
	server := start(t, "nessie", launch.Settings{"s3": "http://" + bucket(t, start(t, "moto", nil).Address)})
	at := "http://" + server.Address + "/api/v2"
	branchOff(t, at)
	return func(t *testing.T, l *lake.Lake, prefix string) { enterNessie(t, at, l, prefix) }, map[string]string{"type": "nessie", "uri": at, "ref": "main"}
}

// branchOff makes the branch empty.
func branchOff(t *testing.T, at string, headers ...string) {
	t.Helper()
	main := post(t, http.MethodGet, at+"/trees/main", nil, headers...)["reference"].(map[string]any)
	post(t, http.MethodPost, at+"/trees?name=empty&type=BRANCH", main, headers...)
}

// enterNessie commits the tables to main, in one commit, and tags that as kept-<prefix>.
func enterNessie(t *testing.T, at string, l *lake.Lake, prefix string, headers ...string) {
	t.Helper()
	main := post(t, http.MethodGet, at+"/trees/main", nil, headers...)["reference"].(map[string]any)
	var operations []any
	for ns := range l.Namespaces() {
		name := []string{prefix + ns}
		operations = append(operations, map[string]any{"type": "PUT", "key": map[string]any{"elements": name}, "content": map[string]any{"type": "NAMESPACE", "elements": name}})
	}
	for name, location := range l.Tables {
		operations = append(operations, map[string]any{"type": "PUT", "key": map[string]any{"elements": strings.Split(prefix+name, ".")}, "content": map[string]any{"type": "ICEBERG_TABLE",
			"metadataLocation": location, "snapshotId": 1, "schemaId": 0, "specId": 0, "sortOrderId": 0}})
	}
	done := post(t, http.MethodPost, at+"/trees/main@"+main["hash"].(string)+"/history/commit", map[string]any{"commitMeta": map[string]any{"message": "tables"}, "operations": operations}, headers...)
	post(t, http.MethodPost, at+"/trees?name=kept-"+prefix+"&type=TAG", done["targetBranch"], headers...)
}

func TestNessieReferences(t *testing.T) {
	wanted(t, "nessie")
	enter, properties := openNessie(t)
	enter(t, lakeAt(t, ""), "")
	c := serve(t, map[string]map[string]string{"real": properties})
	all := ask(t, c, "SELECT count(*) FROM real.shop.sales")
	for _, name := range []string{"sales@main", "sales@kept-"} {
		if got := ask(t, c, "SELECT count(*) FROM real.shop.`"+name+"`"); got != all || strings.HasPrefix(got, "error") {
			t.Errorf("%s: %s, want %s", name, got, all)
		}
	}
	if got := ask(t, c, "SELECT count(*) FROM real.shop.`sales@empty`"); !strings.Contains(got, "TABLE_OR_VIEW_NOT_FOUND") {
		t.Errorf("a branch without the table: %s", got)
	}
	if got := ask(t, c, "SELECT count(*) FROM real.shop.`sales@gone`"); !strings.Contains(got, "no reference") {
		t.Errorf("a missing branch: %s", got)
	}
}

// TestNessieVendsKeys reads by Nessie's REST face, which gets keys for each load from a token service, through a gate that no other key passes.
func TestNessieVendsKeys(t *testing.T) {
	wanted(t, "nessie")
	moto := bucket(t, start(t, "moto", nil).Address)
	g, gated := newGate(t, moto, launch.S3Key)
	l := lakeAt(t, "s3://"+launch.Bucket+"/vended")
	if err := l.Each(putS3(t, moto, "vended")); err != nil {
		t.Fatal(err)
	}
	server := start(t, "nessie", launch.Settings{"s3": "http://" + gated, "sts": "http://" + moto})
	branchOff(t, "http://"+server.Address+"/api/v2")
	enterNessie(t, "http://"+server.Address+"/api/v2", l, "")
	for _, uri := range []string{"/iceberg", "/iceberg/main"} {
		c := serve(t, map[string]map[string]string{"real": {"type": "rest", "uri": "http://" + server.Address + uri}})
		// Nessie serves a table at its own commit alone: older snapshots, tags and branches of the table are not there.
		const absent = 3
		if right, failures := compare(t, c, "", ""); right < len(questions)-absent {
			t.Errorf("%s: %s", uri, failures)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	owners := map[string]string{}
	for folder, tokens := range g.tokens {
		for token := range tokens {
			if other := owners[token]; other != "" {
				t.Errorf("the keys of %s were used for %s", other, folder)
			}
			owners[token] = folder
		}
	}
	if len(g.tokens) < 3 || g.barred > 0 {
		t.Errorf("tokens for %d tables, %d requests without a token", len(g.tokens), g.barred)
	}
	t.Logf("%d session tokens for %d tables", len(owners), len(g.tokens))
}

func TestNessieWithAnIssuer(t *testing.T) {
	wanted(t, "nessie", "issuer")
	issuer := start(t, "issuer", nil).Client["issuer"]
	server := start(t, "nessie", launch.Settings{"s3": "http://" + bucket(t, start(t, "moto", nil).Address), "issuer": issuer})
	at := "http://" + server.Address + "/api/v2"
	response, err := http.PostForm(issuer+"/token", url.Values{"grant_type": {"client_credentials"}, "scope": {"nessie"}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var said struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		t.Fatal(err)
	}
	branchOff(t, at, "Authorization", "Bearer "+said.Token)
	enterNessie(t, at, lakeAt(t, ""), "", "Authorization", "Bearer "+said.Token)
	for name, properties := range map[string]map[string]string{
		"client credentials": {"authentication.type": "OAUTH2", "authentication.oauth2.issuer-url": issuer, "authentication.oauth2.client-id": "skua",
			"authentication.oauth2.client-secret": "planted", "authentication.oauth2.client-scopes": "nessie"},
		"token": {"authentication.type": "BEARER", "authentication.token": said.Token},
	} {
		c := serve(t, map[string]map[string]string{"real": with(properties, "type", "nessie", "uri", at)}, said.Token)
		if right, failures := compare(t, c, "", ""); right != len(questions) {
			t.Errorf("%s: %s", name, failures)
		}
	}
	c := serve(t, map[string]map[string]string{"real": {"type": "nessie", "uri": at, "authentication.type": "BEARER", "authentication.token": said.Token + "planted"}}, said.Token)
	if got := ask(t, c, "SHOW NAMESPACES IN real"); !strings.Contains(got, "401") || strings.Contains(got, said.Token) {
		t.Errorf("a damaged token: %s", got)
	}
}

func openGlue(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	at := "http://" + start(t, "moto", nil).Address
	client := glue.New(glue.Options{Region: "us-east-1", BaseEndpoint: aws.String(at), Credentials: credentials.NewStaticCredentialsProvider("test", "planted", "")})
	return func(t *testing.T, l *lake.Lake, prefix string) {
			for ns := range l.Namespaces() {
				if _, err := client.CreateDatabase(t.Context(), &glue.CreateDatabaseInput{DatabaseInput: &types.DatabaseInput{Name: aws.String(prefix + ns)}}); err != nil {
					t.Fatal(err)
				}
			}
			for name, location := range l.Tables {
				ns, table, _ := strings.Cut(name, ".")
				if _, err := client.CreateTable(t.Context(), &glue.CreateTableInput{DatabaseName: aws.String(prefix + ns), TableInput: &types.TableInput{Name: &table,
					TableType: aws.String("EXTERNAL_TABLE"), Parameters: map[string]string{"table_type": "ICEBERG", "metadata_location": location}}}); err != nil {
					t.Fatal(err)
				}
			}
		}, map[string]string{"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog", "glue.endpoint": at, "client.region": "us-east-1", "glue.access-key-id": "test",
			"glue.secret-access-key": "planted", "http-client.type": "apache", "warehouse": "s3://warehouse"}
}

// layouts make a JdbcCatalog's tables as Java does: V0, and V1 with the column that tells views from tables.
var layouts = []string{
	`CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
	metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, table_name))`,
	`ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)`,
}

// openDatabase makes a layout in a database and gives what enters tables there.
func openDatabase(t *testing.T, driver, at string, layout int, parameter func(n int) string) func(*testing.T, *lake.Lake, string) {
	t.Helper()
	db, err := sql.Open(driver, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range layouts[:layout+1] {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return func(t *testing.T, l *lake.Lake, prefix string) {
		for name, location := range l.Tables {
			ns, table, _ := strings.Cut(name, ".")
			insert := fmt.Sprintf("INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) VALUES ('real', %s, %s, %s)", parameter(1), parameter(2), parameter(3))
			if _, err := db.ExecContext(t.Context(), insert, prefix+ns, table, location); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func questionMark(int) string { return "?" }

func openSQLite(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	at := filepath.Join(t.TempDir(), "catalog.db")
	return openDatabase(t, "sqlite", at, 0, questionMark), map[string]string{"type": "jdbc", "uri": "jdbc:sqlite:" + at, "warehouse": "file:/w"}
}

func openPostgres(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	at := start(t, "postgres", nil).Address
	properties := map[string]string{"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", "uri": "jdbc:postgresql://" + at + "/postgres", "jdbc.user": launch.User,
		"jdbc.password": launch.Password, "jdbc.verifyServerCertificate": "true", "warehouse": "file:/w"}
	wrongPassword(t, properties)
	return openDatabase(t, "pgx", "postgres://"+launch.User+":"+launch.Password+"@"+at+"/postgres?sslmode=disable", 1, func(n int) string { return fmt.Sprint("$", n) }), properties
}

func openMariaDB(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	at := start(t, "mariadb", nil).Address
	properties := map[string]string{"type": "jdbc", "uri": "jdbc:mysql://" + at + "/" + launch.Database + "?useSSL=false", "jdbc.user": launch.User, "jdbc.password": launch.Password,
		"warehouse": "file:/w"}
	wrongPassword(t, properties)
	return openDatabase(t, "mysql", launch.User+":"+launch.Password+"@tcp("+at+")/"+launch.Database, 1, questionMark), properties
}

// wrongPassword expects a database to refuse a password, and the error not to tell it.
func wrongPassword(t *testing.T, properties map[string]string) {
	t.Helper()
	c := serve(t, map[string]map[string]string{"real": with(properties, "jdbc.password", "planted")})
	if got := ask(t, c, "SHOW NAMESPACES IN real"); !strings.Contains(got, "authentication failed") && !strings.Contains(got, "denied") {
		t.Errorf("a wrong password: %s", got)
	}
}

func openStatic(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	file := filepath.Join(t.TempDir(), "tables.json")
	all := map[string]string{}
	return func(t *testing.T, l *lake.Lake, prefix string) {
		for name, location := range l.Tables {
			all[prefix+name] = location
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}, map[string]string{"type": "static", "uri": path.Clean(file)}
}
