// Package stores reads the demo warehouse through real store servers, which stores.sh beside it starts without containers: versitygw, fake-gcs-server,
// Azurite, and Hadoop's own HDFS. Its tests run where SKUA_STORES names them: all, or some of s3, gcs, adls and hdfs with commas.
package stores

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/colinmarc/hdfs/v2"

	"github.com/skua-data/skua/cmd/skua/demo"
	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/inprocess"
)

// start starts a server, or skips the test where it is not asked for, and gives what its clients need to know.
func start(t *testing.T, name string) string {
	t.Helper()
	asked := strings.Split(os.Getenv("SKUA_STORES"), ",")
	if !slices.Contains(asked, name) && !slices.Contains(asked, "all") {
		t.Skipf("set SKUA_STORES=%s (or all) to run it", name)
	}
	c := exec.Command("bash", "stores.sh", "start", name)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("bash", "stores.sh", "stop", name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	_, value, _ := strings.Cut(strings.TrimSpace(out.String()), "=")
	return value
}

// lake makes the demo warehouse in a folder, once.
var lake = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skua-stores-")
	if err != nil {
		return "", err
	}
	_, err = demo.Make(context.Background(), filepath.Join(dir, "lake"), func(string, ...any) {})
	return filepath.Join(dir, "lake"), err
})

// plugins builds skua-catalog, once, and gives its folder.
var plugins = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skua-plugins-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "skua-catalog"), "github.com/skua-data/skua/cmd/skua-catalog").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if os.Getenv("SKUA_STORES") != "" {
		for _, made := range []func() (string, error){lake, plugins} {
			if dir, err := made(); err == nil {
				_ = os.RemoveAll(strings.TrimSuffix(dir, "/lake"))
			}
		}
	}
	os.Exit(status)
}

// upload gives every file of the warehouse to put, as lake/….
func upload(t *testing.T, put func(name string, data []byte) error) {
	t.Helper()
	folder, err := lake()
	if err != nil {
		t.Fatal(err)
	}
	root := os.DirFS(folder)
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return put("lake/"+name, data)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts a server of settings, and fails the test if its log holds a secret.
func serve(t *testing.T, settings map[string]string, secrets ...string) *conformance.Client {
	t.Helper()
	var log bytes.Buffer
	r, err := inprocess.Start(t.Context(), inprocess.Config{Settings: settings, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	client, err := r.Target().Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = r.Stop()
		for _, s := range secrets {
			if strings.Contains(log.String(), s) {
				t.Errorf("the log holds a secret: %s", &log)
			}
		}
	})
	return client
}

var questions = []string{
	"SHOW NAMESPACES IN lake", "SHOW TABLES IN lake.shop", "SELECT count(*) FROM lake.shop.sales", "SELECT * FROM lake.shop.sales WHERE sold_on = DATE '2025-06-01'",
	"SELECT sale_id, amount FROM lake.shop.sales", "SELECT count(*) FROM lake.web.events VERSION AS OF 'launch'", "SELECT * FROM lake.web.events LIMIT 100",
	"SELECT count(*) FROM lake.shop.sales.files",
}

// check reads the warehouse in a store by a hadoop catalog, and compares with what its files at home give.
func check(t *testing.T, base string, properties map[string]string, secrets ...string) {
	t.Helper()
	folder, err := lake()
	if err != nil {
		t.Fatal(err)
	}
	program, err := plugins()
	if err != nil {
		t.Fatal(err)
	}
	settings := func(warehouse string) map[string]string {
		const prefix = "spark.sql.catalog.lake"
		return map[string]string{"skua.plugin.folder": program, prefix: "org.apache.iceberg.spark.SparkCatalog", prefix + ".type": "hadoop", prefix + ".warehouse": warehouse}
	}
	home := serve(t, settings("file://"+folder))
	away := settings(base + "/lake")
	// The metadata names the files where they were written.
	for i, from := range []string{"file://" + folder, "file:" + folder, folder} {
		away[fmt.Sprintf("skua.location-map.l%d.from", i)], away[fmt.Sprintf("skua.location-map.l%d.to", i)] = from, base+"/lake"
	}
	for k, v := range properties {
		away["spark.sql.catalog.lake."+k] = v
	}
	store := serve(t, away, secrets...)
	for _, q := range questions {
		got, want := ask(t, store, q), ask(t, home, q)
		if got != want || strings.HasPrefix(want, "error") {
			t.Errorf("%s:\n%.2000s\nwant\n%.2000s", q, got, want)
		}
	}
	for _, line := range strings.Split(ask(t, store, "EXPLAIN ANALYZE SELECT * FROM lake.shop.sales"), `\n`) {
		if strings.Contains(line, "requests") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if got := ask(t, store, "SELECT * FROM lake.shop.no_such"); !strings.Contains(got, "TABLE_OR_VIEW_NOT_FOUND") {
		t.Errorf("a table that is missing: %s", got)
	}
}

// refused expects a catalog of properties that are wrong to fail with a text, and without the secret.
func refused(t *testing.T, base string, properties map[string]string, text, secret string) {
	t.Helper()
	program, err := plugins()
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "spark.sql.catalog.lake"
	settings := map[string]string{"skua.plugin.folder": program, prefix: "org.apache.iceberg.spark.SparkCatalog", prefix + ".type": "hadoop", prefix + ".warehouse": base + "/lake"}
	for k, v := range properties {
		settings[prefix+"."+k] = v
	}
	got := ask(t, serve(t, settings, secret), "SELECT count(*) FROM lake.shop.sales")
	if !strings.Contains(got, text) || strings.Contains(got, secret) {
		t.Errorf("got %s", got)
	}
}

// ask gives an answer's rows as text, or the error.
func ask(t *testing.T, c *conformance.Client, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	answer, err := c.Ask(ctx, conformance.Question{SQL: sql, Path: conformance.PathQuery})
	if err != nil {
		return "error: " + err.Error()
	}
	defer answer.Release()
	var b strings.Builder
	for _, batch := range answer.Batches {
		text, err := batch.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

func TestS3(t *testing.T) {
	at := start(t, "s3")
	bucket := "warehouse"
	client := s3.New(s3.Options{BaseEndpoint: &at, Region: "us-east-1", UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider("skua", "skuasecret", "")})
	upload(t, func(name string, data []byte) error {
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &name, Body: bytes.NewReader(data)})
		return err
	})
	t.Run("S3FileIO", func(t *testing.T) {
		check(t, "s3://warehouse", map[string]string{"io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "s3.endpoint": at, "s3.path-style-access": "true",
			"client.region": "us-east-1", "s3.access-key-id": "skua", "s3.secret-access-key": "skuasecret"}, "skuasecret")
	})
	t.Run("S3A", func(t *testing.T) {
		check(t, "s3a://warehouse", map[string]string{"hadoop.fs.s3a.endpoint": at, "hadoop.fs.s3a.path.style.access": "true", "hadoop.fs.s3a.access.key": "skua",
			"hadoop.fs.s3a.secret.key": "skuasecret"}, "skuasecret")
	})
	t.Run("refused", func(t *testing.T) {
		refused(t, "s3://warehouse", map[string]string{"s3.endpoint": at, "s3.path-style-access": "true", "s3.access-key-id": "skua", "s3.secret-access-key": "planted-secret"},
			"access is refused", "planted-secret")
	})
}

func TestGCS(t *testing.T) {
	at := start(t, "gcs")
	upload(t, func(name string, data []byte) error {
		to := at + "/upload/storage/v1/b/warehouse/o?uploadType=media&name=" + url.QueryEscape(name)
		response, err := http.Post(to, "application/octet-stream", bytes.NewReader(data))
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode >= 300 {
			return fmt.Errorf("%s: %s", name, response.Status)
		}
		return nil
	})
	t.Run("no-auth", func(t *testing.T) {
		check(t, "gs://warehouse", map[string]string{"io-impl": "org.apache.iceberg.gcp.gcs.GCSFileIO", "gcs.service.host": at, "gcs.no-auth": "true"})
	})
	t.Run("token", func(t *testing.T) {
		check(t, "gs://warehouse", map[string]string{"gcs.service.host": at, "gcs.oauth2.token": "planted-token"}, "planted-token")
	})
}

func TestADLS(t *testing.T) {
	at := start(t, "adls")
	// The account and the key are those that Azurite always has.
	const account = "devstoreaccount1"
	const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	connection := "DefaultEndpointsProtocol=http;AccountName=" + account + ";AccountKey=" + key + ";BlobEndpoint=" + at + ";"
	client, err := azblob.NewClientFromConnectionString(connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateContainer(t.Context(), "warehouse", nil); err != nil && !strings.Contains(err.Error(), "ContainerAlreadyExists") {
		t.Fatal(err)
	}
	upload(t, func(name string, data []byte) error {
		_, err := client.UploadBuffer(t.Context(), "warehouse", name, data, nil)
		return err
	})
	const base = "abfss://warehouse@devstoreaccount1.dfs.core.windows.net"
	t.Run("shared key", func(t *testing.T) {
		check(t, base, map[string]string{"io-impl": "org.apache.iceberg.azure.adlsv2.ADLSFileIO", "adls.connection-string." + account: at,
			"adls.auth.shared-key.account.name": account, "adls.auth.shared-key.account.key": key}, key)
	})
	t.Run("connection string", func(t *testing.T) {
		check(t, "wasbs://warehouse@devstoreaccount1.blob.core.windows.net", map[string]string{"adls.connection-string." + account: connection}, key)
	})
	t.Run("refused", func(t *testing.T) {
		wrong := base64.StdEncoding.EncodeToString([]byte("planted-key"))
		refused(t, base, map[string]string{"adls.connection-string." + account: at, "adls.auth.shared-key.account.name": account, "adls.auth.shared-key.account.key": wrong},
			"access is refused", wrong)
	})
}

func TestHDFS(t *testing.T) {
	at := start(t, "hdfs")
	client, err := hdfs.NewClient(hdfs.ClientOptions{Addresses: []string{at}, User: "skua"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = client.RemoveAll("/lake")
	upload(t, func(name string, data []byte) error {
		if err := client.MkdirAll(path.Dir("/"+name), 0o755); err != nil {
			return err
		}
		w, err := client.Create("/" + name)
		if err != nil {
			return err
		}
		if len(data) > 0 { // the library leaves a block of no bytes unfinished
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
		for err = w.Close(); hdfs.IsErrReplicating(err); {
			err = w.Close()
		}
		return err
	})
	t.Run("address", func(t *testing.T) { check(t, "hdfs://"+at, nil) })
	t.Run("name service", func(t *testing.T) {
		folder := t.TempDir()
		site := `<configuration>
			<property><name>dfs.nameservices</name><value>prod</value></property>
			<property><name>dfs.ha.namenodes.prod</name><value>away,here</value></property>
			<property><name>dfs.namenode.rpc-address.prod.away</name><value>127.0.0.1:1</value></property>
			<property><name>dfs.namenode.rpc-address.prod.here</name><value>` + at + `</value></property></configuration>`
		if err := os.WriteFile(filepath.Join(folder, "hdfs-site.xml"), []byte(site), 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, "hdfs://prod", map[string]string{"hadoop-conf-dir": folder})
	})
	t.Run("refused", func(t *testing.T) {
		refused(t, "hdfs://"+at, map[string]string{"hadoop.hadoop.security.authentication": "kerberos"}, "Kerberos is not supported", "planted")
	})
}
