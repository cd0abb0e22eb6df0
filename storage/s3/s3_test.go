package s3

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/storetest"
)

// alone takes away what the machine knows of AWS.
func alone(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
}

// base are the properties of a store that is asked with a key, and does not wait long.
func base(server *storetest.Server) map[string]string {
	return map[string]string{"s3.endpoint": server.URL, "s3.path-style-access": "true", "client.region": "us-east-1", "s3.access-key-id": "me",
		"s3.secret-access-key": storetest.Secret, "s3.retry.min-wait-ms": "1", "s3.retry.max-wait-ms": "20", "hadoop.fs.s3a.connection.timeout": "1s"}
}

func newStore(t *testing.T, properties map[string]string, credentials ...storage.Credential) storage.Store {
	t.Helper()
	s, err := New(properties, credentials)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSuite(t *testing.T) {
	alone(t)
	storetest.Run(t, func(t *testing.T) storetest.Setup {
		server := storetest.NewS3(t)
		return storetest.Setup{Server: server, Store: newStore(t, base(server)), Base: "s3://bucket", Bucket: "bucket", Versions: true,
			Throttle: []storetest.Fault{storetest.Status(503, storetest.S3Error("SlowDown")), storetest.Status(429, "")},
			Broken:   []storetest.Fault{storetest.Status(500, storetest.S3Error("InternalError")), storetest.Status(502, "<html>bad gateway</html>"), storetest.Status(200, storetest.S3Error("InternalError"))}}
	})
}

func TestSpellingsOfOneObject(t *testing.T) {
	alone(t)
	server := storetest.NewS3(t)
	server.Put("b/k", []byte("1"))
	store := newStore(t, base(server))
	keys := map[string]bool{}
	for _, at := range []string{"s3://b/k", "s3a://b/k", "S3N://b/k"} {
		f, err := store.Open(t.Context(), at, -1)
		if err != nil {
			t.Fatal(err)
		}
		keys[f.Key()] = true
	}
	if len(keys) != 1 {
		t.Errorf("one object has the keys %v", keys)
	}
	for _, at := range []string{"s3:b/k", "s3:///k", "s3://"} {
		if _, err := store.Open(t.Context(), at, 1); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// signed gives the key id that a request is signed with, or "".
func signed(r *http.Request) string {
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	id, _, _ := strings.Cut(rest, "/")
	return id
}

func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		name       string
		env        map[string]string
		properties map[string]string
		vended     map[string]string
		id, token  string
	}{
		{name: "static", properties: map[string]string{"s3.access-key-id": "a", "s3.secret-access-key": "b"}, id: "a"},
		{name: "session", properties: map[string]string{"s3.access-key-id": "a", "s3.secret-access-key": "b", "s3.session-token": "c"}, id: "a", token: "c"},
		{name: "hadoop", properties: map[string]string{"hadoop.fs.s3a.access.key": "a", "hadoop.fs.s3a.secret.key": "b"}, id: "a"},
		{name: "hadoop for a bucket", properties: map[string]string{"hadoop.fs.s3a.access.key": "a", "hadoop.fs.s3a.secret.key": "b",
			"hadoop.fs.s3a.bucket.bucket.access.key": "d", "hadoop.fs.s3a.bucket.bucket.secret.key": "e"}, id: "d"},
		{name: "iceberg over hadoop", properties: map[string]string{"s3.access-key-id": "a", "s3.secret-access-key": "b", "hadoop.fs.s3a.access.key": "x",
			"hadoop.fs.s3a.secret.key": "y"}, id: "a"},
		{name: "HadoopFileIO", properties: map[string]string{"io-impl": "org.apache.iceberg.hadoop.HadoopFileIO", "s3.access-key-id": "a", "s3.secret-access-key": "b",
			"hadoop.fs.s3a.access.key": "x", "hadoop.fs.s3a.secret.key": "y"}, id: "x"},
		{name: "vended", properties: map[string]string{"s3.access-key-id": "a", "s3.secret-access-key": "b"},
			vended: map[string]string{"s3.access-key-id": "v", "s3.secret-access-key": "w", "s3.session-token": "t"}, id: "v", token: "t"},
		{name: "environment", env: map[string]string{"AWS_ACCESS_KEY_ID": "e", "AWS_SECRET_ACCESS_KEY": "f", "AWS_SESSION_TOKEN": "g"}, id: "e", token: "g"},
		{name: "anonymous", properties: map[string]string{"client.credentials-provider": "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider"}},
		{name: "anonymous in hadoop", properties: map[string]string{"hadoop.fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			alone(t)
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			server := storetest.NewS3(t)
			server.Put("bucket/k", []byte("1"))
			got, token := "", ""
			server.Refuse(func(r *http.Request) bool {
				got, token = signed(r), r.Header.Get("X-Amz-Security-Token")
				return false
			})
			properties := map[string]string{"hadoop.fs.s3a.endpoint": strings.TrimPrefix(server.URL, "http://"), "hadoop.fs.s3a.connection.ssl.enabled": "false",
				"hadoop.fs.s3a.path.style.access": "true"}
			maps.Copy(properties, c.properties)
			var vended []storage.Credential
			if c.vended != nil {
				vended = []storage.Credential{{Prefix: "s3://bucket", Properties: c.vended}}
			}
			if _, err := newStore(t, properties, vended...).ReadAll(t.Context(), "s3a://bucket/k", 10); err != nil {
				t.Fatal(err)
			}
			if got != c.id || token != c.token {
				t.Errorf("signed by %q with the token %q, want %q and %q", got, token, c.id, c.token)
			}
		})
	}
}

func TestNoCredentialsAreTold(t *testing.T) {
	alone(t)
	server := storetest.NewS3(t)
	p := base(server)
	delete(p, "s3.access-key-id")
	delete(p, "s3.secret-access-key")
	_, err := newStore(t, p).ReadAll(t.Context(), "s3://bucket/k", 10)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "s3.access-key-id") || len(server.Requests()) > 0 {
		t.Errorf("got %v", err)
	}
}

func TestBucketsOfOtherRegions(t *testing.T) {
	alone(t)
	server := storetest.NewS3(t)
	server.Put("far/k", []byte("1"))
	server.Put("near/k", []byte("2"))
	server.Place("far", "eu-west-3")
	store := newStore(t, base(server))
	for _, name := range []string{"far", "near", "far"} {
		if _, err := store.ReadAll(t.Context(), "s3://"+name+"/k", 10); err != nil {
			t.Fatal(err)
		}
		for _, err := range store.List(t.Context(), "s3://"+name+"/") {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(server.Requests()); n != 7 {
		t.Errorf("%d requests, of which one must be to the wrong region", n)
	}
}

func TestRefusals(t *testing.T) {
	alone(t)
	for _, c := range []struct {
		properties map[string]string
		kind       fault.Kind
		want       string
	}{
		{map[string]string{"s3.remote-signing-enabled": "true"}, fault.Unsupported, "remote signing"},
		{map[string]string{"s3.access-grants.enabled": "true"}, fault.Unsupported, "Access Grants"},
		{map[string]string{"client.factory": "com.example.Factory"}, fault.Unsupported, "com.example.Factory"},
		{map[string]string{"client.factory": "org.apache.iceberg.aws.AssumeRoleAwsClientFactory"}, fault.Invalid, "client.assume-role.arn"},
		{map[string]string{"client.credentials-provider": "com.example.Mine"}, fault.Unsupported, "com.example.Mine"},
		{map[string]string{"s3.access-key-id": "a"}, fault.Invalid, "s3.access-key-id"},
		{map[string]string{"s3.endpoint": "localhost:9000"}, fault.Invalid, "s3.endpoint"},
		{map[string]string{"s3.retry.num-retries": "many"}, fault.Invalid, "s3.retry.num-retries"},
		{map[string]string{"s3.sse.type": "custom"}, fault.Invalid, "s3.sse.key"},
	} {
		if _, err := New(c.properties, nil); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.properties, err)
		}
	}
}

func TestIdleProperties(t *testing.T) {
	got := strings.Join(idle(map[string]string{"s3.acl": "x", "s3.endpoint": "x", "s3.nonsense": "x", "hadoop.fs.s3a.fast.upload": "x", "warehouse": "x",
		"hadoop.fs.s3a.bucket.b.endpoint": "x", "client.region": "x"}), "\n")
	want := "hadoop.fs.s3a.fast.upload has no effect: the store does not know it\ns3.acl has no effect: it concerns writing\ns3.nonsense has no effect: the store does not know it"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEndpoints(t *testing.T) {
	for _, c := range []struct{ endpoint, ssl, want, region string }{
		{"", "", "", ""},
		{"http://h:1", "", "http://h:1", ""},
		{"h:1", "", "https://h:1", ""},
		{"h:1", "false", "http://h:1", ""},
		{"s3.amazonaws.com", "", "", ""},
		{"https://s3.eu-west-1.amazonaws.com", "", "", "eu-west-1"},
		{"s3.eu-west-1.amazonaws.com", "", "", "eu-west-1"},
	} {
		s := settingsOf(map[string]string{"hadoop.fs.s3a.endpoint": c.endpoint, "hadoop.fs.s3a.connection.ssl.enabled": c.ssl}, "b")
		if s.endpoint != c.want || s.region != c.region {
			t.Errorf("%s: %q in %q", c.endpoint, s.endpoint, s.region)
		}
	}
}

func TestIdentity(t *testing.T) {
	id := func(more ...string) string {
		p := map[string]string{"s3.endpoint": "http://a", "s3.access-key-id": "k", "s3.secret-access-key": "s"}
		for i := 0; i < len(more); i += 2 {
			p[more[i]] = more[i+1]
		}
		return identity(p)
	}
	if id() != id("warehouse", "x") || id() == id("s3.endpoint", "http://b") || id() == id("s3.access-key-id", "l") {
		t.Error("stores are told apart by where they are and as whom they are asked")
	}
	if id("s3.session-token", "1", "s3.access-key-id", "x") != id("s3.session-token", "2", "s3.access-key-id", "y") {
		t.Error("sessions change at every load")
	}
}

// TestAssumedRoles lets a token service give the keys of a role, to whom the right things are said.
func TestAssumedRoles(t *testing.T) {
	alone(t)
	asked := make(chan url.Values, 10)
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		asked <- r.Form
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>role-key</AccessKeyId>
			<SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	defer sts.Close()
	server := storetest.NewS3(t)
	server.Put("bucket/k", []byte("1"))
	id, token := "", ""
	server.Refuse(func(r *http.Request) bool {
		id, token = signed(r), r.Header.Get("X-Amz-Security-Token")
		return false
	})
	p := base(server)
	maps.Copy(p, map[string]string{"client.factory": "org.apache.iceberg.aws.AssumeRoleAwsClientFactory", "client.assume-role.arn": "arn:aws:iam::123456789012:role/reader",
		"client.assume-role.external-id": "ours", "client.assume-role.session-name": "night", "client.assume-role.timeout-sec": "900",
		"client.assume-role.tags.team": "lake", "hadoop.fs.s3a.assumed.role.sts.endpoint": sts.URL})
	store := newStore(t, p)
	for range 3 {
		if _, err := store.ReadAll(t.Context(), "s3://bucket/k", 10); err != nil {
			t.Fatal(err)
		}
	}
	if id != "role-key" || token != "role-token" {
		t.Errorf("signed by %q with %q", id, token)
	}
	form := <-asked
	for key, want := range map[string]string{"Action": "AssumeRole", "RoleArn": "arn:aws:iam::123456789012:role/reader", "ExternalId": "ours", "RoleSessionName": "night",
		"DurationSeconds": "900", "Tags.member.1.Key": "team", "Tags.member.1.Value": "lake"} {
		if form.Get(key) != want {
			t.Errorf("%s is %q, want %q", key, form.Get(key), want)
		}
	}
	if len(asked) > 0 {
		t.Error("the role is assumed anew for every request")
	}
}
