package servers

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/colinmarc/hdfs/v2"

	"github.com/skua-data/skua/conformance/lake"
	"github.com/skua-data/skua/conformance/servers/launch"
)

// store is a store with the lake in it.
type store struct {
	name, address string
	lake          *lake.Lake
	properties    map[string]string // of a catalog whose tables are there
	server        *launch.Server    // nil: the machine's files
}

// storeNames are the stores, each a column of the matrix.
var storeNames = []string{"file", "s3", "gcs", "adls", "hdfs"}

// begun are the stores that were started; they stay until the end of the tests.
var begun = map[string]*store{}

// storeOf gives a store, started and filled at its first use.
func storeOf(t *testing.T, name string) *store {
	t.Helper()
	if name == "file" {
		return &store{name: name, lake: lakeAt(t, "")}
	}
	if s := begun[name]; s != nil {
		return s
	}
	server, err := launch.Start(t.Context(), name, nil)
	if errors.Is(err, launch.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &store{name: name, address: server.Address, server: server}
	begun[name] = s
	base, put := map[string]func(*testing.T, *store) (string, func(string, []byte) error){"s3": fillS3, "gcs": fillGCS, "adls": fillADLS, "hdfs": fillHDFS}[name](t, s)
	s.lake = lakeAt(t, base)
	if err := s.lake.Each(put); err != nil {
		t.Fatal(err)
	}
	return s
}

// s3Client is a client of an S3 server with the keys of versitygw.
func s3Client(at string) *s3.Client {
	at = "http://" + at
	return s3.New(s3.Options{BaseEndpoint: &at, Region: "us-east-1", UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider(launch.S3Key, launch.S3Secret, "")})
}

// putS3 puts files below a prefix of the bucket.
func putS3(t *testing.T, at, prefix string) func(string, []byte) error {
	client, bucket := s3Client(at), launch.Bucket
	return func(name string, data []byte) error {
		key := prefix + "/" + name
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(data)})
		return err
	}
}

// s3Properties are those of a catalog on an S3 server, without keys.
func s3Properties(at string) map[string]string {
	return map[string]string{"io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "s3.endpoint": "http://" + at, "s3.path-style-access": "true", "client.region": "us-east-1"}
}

func fillS3(t *testing.T, s *store) (string, func(string, []byte) error) {
	s.properties = with(s3Properties(s.address), "s3.access-key-id", launch.S3Key, "s3.secret-access-key", launch.S3Secret)
	return "s3://" + launch.Bucket + "/lake", putS3(t, s.address, "lake")
}

func fillGCS(_ *testing.T, s *store) (string, func(string, []byte) error) {
	at := "http://" + s.address
	s.properties = map[string]string{"io-impl": "org.apache.iceberg.gcp.gcs.GCSFileIO", "gcs.service.host": at, "gcs.no-auth": "true"}
	return "gs://" + launch.Bucket + "/lake", func(name string, data []byte) error {
		to := at + "/upload/storage/v1/b/" + launch.Bucket + "/o?uploadType=media&name=" + url.QueryEscape("lake/"+name)
		response, err := http.Post(to, "application/octet-stream", bytes.NewReader(data))
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode >= 300 {
			return fmt.Errorf("%s: %s", name, response.Status)
		}
		return nil
	}
}

func azureEndpoint(s *store) string { return "http://" + s.address + "/" + launch.AzureAccount }

func azureConnection(s *store) string {
	return "DefaultEndpointsProtocol=http;AccountName=" + launch.AzureAccount + ";AccountKey=" + launch.AzureKey + ";BlobEndpoint=" + azureEndpoint(s) + ";"
}

func fillADLS(t *testing.T, s *store) (string, func(string, []byte) error) {
	client, err := azblob.NewClientFromConnectionString(azureConnection(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateContainer(t.Context(), launch.Bucket, nil); err != nil {
		t.Fatal(err)
	}
	s.properties = map[string]string{"io-impl": "org.apache.iceberg.azure.adlsv2.ADLSFileIO", "adls.connection-string." + launch.AzureAccount: azureEndpoint(s),
		"adls.auth.shared-key.account.name": launch.AzureAccount, "adls.auth.shared-key.account.key": launch.AzureKey}
	return "abfss://" + launch.Bucket + "@" + launch.AzureAccount + ".dfs.core.windows.net/lake", func(name string, data []byte) error {
		_, err := client.UploadBuffer(t.Context(), launch.Bucket, "lake/"+name, data, nil)
		return err
	}
}

func fillHDFS(t *testing.T, s *store) (string, func(string, []byte) error) {
	client, err := hdfs.NewClient(hdfs.ClientOptions{Addresses: []string{s.address}, User: "skua"})
	if err != nil {
		t.Fatal(err)
	}
	return "hdfs://" + s.address + "/lake", func(name string, data []byte) error {
		name = "/lake/" + name
		if err := client.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		w, err := client.Create(name)
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
	}
}

// with gives properties and more, as key, value.
func with(p map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for k, v := range p {
		out[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// readBy reads a store by a hadoop catalog with other properties than the store's own, and its location spelled otherwise.
func readBy(t *testing.T, s *store, base string, properties map[string]string, secrets ...string) {
	t.Helper()
	settings := spelled(s.lake, base)
	for k, v := range with(properties, "type", "hadoop", "warehouse", base) {
		settings["spark.sql.catalog.real."+k] = v
	}
	settings["spark.sql.catalog.real"] = "org.apache.iceberg.spark.SparkCatalog"
	c := serveSettings(t, settings, secrets...)
	passed, failures := compare(t, c, "", "")
	if passed < len(questions) {
		t.Error(failures)
	}
}

// refused expects a hadoop catalog of properties that are wrong to fail with a text.
func refused(t *testing.T, s *store, properties map[string]string, text string, secrets ...string) {
	t.Helper()
	c := serve(t, map[string]map[string]string{"real": with(properties, "type", "hadoop", "warehouse", s.lake.Base)}, secrets...)
	got := ask(t, c, "SELECT count(*) FROM real.shop.sales")
	if !strings.Contains(got, text) {
		t.Errorf("got %s, want %s", got, text)
	}
	for _, secret := range secrets {
		if strings.Contains(got, secret) {
			t.Errorf("the error holds a secret: %s", got)
		}
	}
}

func TestOtherWaysToS3(t *testing.T) {
	wanted(t, "s3")
	s := storeOf(t, "s3")
	at := "http://" + s.address
	t.Run("s3a and hadoop's keys", func(t *testing.T) {
		readBy(t, s, "s3a://"+launch.Bucket+"/lake", map[string]string{"hadoop.fs.s3a.endpoint": at, "hadoop.fs.s3a.path.style.access": "true", "hadoop.fs.s3a.access.key": launch.S3Key,
			"hadoop.fs.s3a.secret.key": launch.S3Secret})
	})
	t.Run("no region", func(t *testing.T) {
		p := with(s.properties)
		delete(p, "client.region")
		readBy(t, s, s.lake.Base, p)
	})
	t.Run("a wrong secret", func(t *testing.T) {
		refused(t, s, with(s.properties, "s3.secret-access-key", "planted-secret"), "access is refused", "planted-secret")
	})
}

func TestOtherWaysToGCS(t *testing.T) {
	wanted(t, "gcs")
	s := storeOf(t, "gcs")
	t.Run("token", func(t *testing.T) {
		readBy(t, s, s.lake.Base, map[string]string{"gcs.service.host": s.properties["gcs.service.host"], "gcs.oauth2.token": "planted-token"})
	})
}

func TestOtherWaysToADLS(t *testing.T) {
	wanted(t, "adls")
	s := storeOf(t, "adls")
	t.Run("connection string", func(t *testing.T) {
		readBy(t, s, "wasbs://"+launch.Bucket+"@"+launch.AzureAccount+".blob.core.windows.net/lake", map[string]string{"adls.connection-string." + launch.AzureAccount: azureConnection(s)})
	})
	t.Run("a wrong key", func(t *testing.T) {
		wrong := base64.StdEncoding.EncodeToString([]byte("planted-key"))
		refused(t, s, with(s.properties, "adls.auth.shared-key.account.key", wrong), "access is refused", wrong)
	})
}

func TestOtherWaysToHDFS(t *testing.T) {
	wanted(t, "hdfs")
	s := storeOf(t, "hdfs")
	t.Run("name service with a name node away", func(t *testing.T) {
		folder := t.TempDir()
		text := "<configuration>"
		for k, v := range map[string]string{"dfs.nameservices": "prod", "dfs.ha.namenodes.prod": "away,here", "dfs.namenode.rpc-address.prod.away": "127.0.0.1:1",
			"dfs.namenode.rpc-address.prod.here": s.address} {
			text += "<property><name>" + k + "</name><value>" + v + "</value></property>"
		}
		if err := os.WriteFile(filepath.Join(folder, "hdfs-site.xml"), []byte(text+"</configuration>"), 0o600); err != nil {
			t.Fatal(err)
		}
		readBy(t, s, "hdfs://prod/lake", map[string]string{"hadoop-conf-dir": folder})
	})
	t.Run("Kerberos", func(t *testing.T) {
		refused(t, s, map[string]string{"hadoop.hadoop.security.authentication": "kerberos"}, "Kerberos is not supported")
	})
}

// gate stands before an S3 store that checks no keys. It lets pass what has a session token, and what the catalog's own server sends, and counts the tokens.
type gate struct {
	own string // the access key of the catalog's server

	mu     sync.Mutex
	tokens map[string]map[string]bool // by path: tables' folders and the tokens that came for them
	barred int
}

// newGate starts a gate before a store, and gives the gate's address.
func newGate(t *testing.T, behind, own string) (*gate, string) {
	t.Helper()
	g := &gate{own: own, tokens: map[string]map[string]bool{}}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind})
	at := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.pass(r) {
			http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	return g, at
}

func (g *gate) pass(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if token := r.Header.Get("X-Amz-Security-Token"); token != "" {
		parts := strings.Split(r.URL.Path, "/")
		folder := strings.Join(parts[:min(len(parts), 5)], "/")
		if g.tokens[folder] == nil {
			g.tokens[folder] = map[string]bool{}
		}
		g.tokens[folder][token] = true
		return true
	}
	if strings.Contains(r.Header.Get("Authorization"), "Credential="+g.own+"/") || r.Method == http.MethodPut {
		return true
	}
	g.barred++
	return false
}
