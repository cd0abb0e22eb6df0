// Package gcs is the store of Google Cloud Storage, by its JSON interface. It takes the properties of Iceberg's GCSFileIO and a few of the Hadoop
// connector's. Locations are gs://bucket/object; what follows the bucket is the name letter by letter. Credentials are a token, nothing at all,
// a key file, or what the environment gives.
package gcs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	"google.golang.org/api/option"
	gcs "google.golang.org/api/storage/v1"
	transport "google.golang.org/api/transport/http"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// Kind serves gs.
var Kind = storage.Kind{Schemes: []string{"gs"}, New: New, Idle: idle}

var families = []string{"gcs.", "hadoop.fs.gs.", "hadoop.google.cloud."}

const (
	tokenKey   = "gcs.oauth2.token"
	expiresKey = "gcs.oauth2.token-expires-at"
	hostKey    = "gcs.service.host"
)

// keyFiles are Hadoop's names of a service account's key file.
var keyFiles = []string{"hadoop.fs.gs.auth.service.account.json.keyfile", "hadoop.google.cloud.auth.service.account.json.keyfile"}

const (
	concernsWriting = "it concerns writing"
	concernsJava    = "it concerns a Java client"
	renewed         = "credentials are renewed through the catalog"
)

var known = []storage.Property{
	{Name: tokenKey}, {Name: expiresKey}, {Name: hostKey}, {Name: "gcs.no-auth"}, {Name: "gcs.user-project"}, {Name: "gcs.decryption-key"},
	{Name: "gcs.impersonate."}, {Name: keyFiles[0]}, {Name: keyFiles[1]},
	{Name: "gcs.project-id", Idle: "reading needs no project; see gcs.user-project for who pays"},
	{Name: "gcs.client-lib-token", Idle: concernsJava}, {Name: "gcs.channel.", Idle: concernsJava}, {Name: "gcs.analytics-core.", Idle: concernsJava},
	{Name: "gcs.encryption-key", Idle: concernsWriting}, {Name: "gcs.delete.", Idle: concernsWriting}, {Name: "gcs.write.", Idle: concernsWriting},
	{Name: "gcs.oauth2.refresh-credentials-enabled", Idle: renewed}, {Name: "gcs.oauth2.refresh-credentials-endpoint", Idle: renewed},
	{Name: "hadoop.fs.gs.impl", Idle: concernsJava},
}

func idle(properties map[string]string) []string { return storage.Idle(known, families, properties) }

// New makes a store of properties and of a vended credential, which goes over them.
func New(properties map[string]string, credentials []storage.Credential) (storage.Store, error) {
	merged := maps.Clone(properties)
	if merged == nil {
		merged = map[string]string{}
	}
	for _, c := range credentials {
		maps.Copy(merged, c.Properties)
	}
	o := &objects{properties: merged}
	if err := o.check(); err != nil {
		return nil, err
	}
	return remote.New(remote.Config{Objects: o, Identity: identity(merged), Secrets: []string{merged[tokenKey], merged["gcs.decryption-key"]}}), nil
}

// identity is a digest of what the store is. A token is left out: it changes at every load, and what it may read the catalog decides each time.
func identity(properties map[string]string) string {
	digest := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		mine := slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(k, f) })
		if mine && k != tokenKey && k != expiresKey {
			fmt.Fprintf(digest, "%d %s%d %s", len(k), k, len(properties[k]), properties[k])
		}
	}
	return fmt.Sprintf("gs %x", digest.Sum(nil))
}

// objects is the protocol of Cloud Storage.
type objects struct {
	properties map[string]string
	key        *customKey
	mu         sync.Mutex
	service    *gcs.Service
}

var _ remote.Objects = (*objects)(nil)

// customKey is a key of the user's with which the store unpacks objects.
type customKey struct{ key, sum string }

func (o *objects) check() error {
	for k := range o.properties {
		if strings.HasPrefix(k, "gcs.impersonate.") {
			return fault.New(fault.Unsupported, "impersonating a service account of Google Cloud is not supported").Change(k)
		}
	}
	if h := o.properties[hostKey]; h != "" && !strings.Contains(h, "://") {
		return fault.New(fault.Invalid, "%s must begin with http:// or https://", hostKey).Change(hostKey)
	}
	if strings.EqualFold(o.properties["gcs.no-auth"], "true") && o.properties[tokenKey] != "" {
		return fault.New(fault.Invalid, "Invalid auth settings: must not configure %s and %s", "gcs.no-auth", tokenKey).Change("gcs.no-auth")
	}
	if text := o.properties["gcs.decryption-key"]; text != "" {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return fault.New(fault.Invalid, "gcs.decryption-key is not in base64").Change("gcs.decryption-key")
		}
		sum := sha256.Sum256(raw)
		o.key = &customKey{text, base64.StdEncoding.EncodeToString(sum[:])}
	}
	return nil
}

// client gives the service, made at its first use: credentials of the environment are looked for then.
func (o *objects) client(ctx context.Context) (*gcs.Service, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.service != nil {
		return o.service, nil
	}
	ctx = context.WithoutCancel(ctx) // it stays with the source of tokens
	options := []option.ClientOption{option.WithScopes(gcs.DevstorageReadOnlyScope)}
	file, _ := storage.First(o.properties, keyFiles...)
	switch {
	case strings.EqualFold(o.properties["gcs.no-auth"], "true"):
		options = []option.ClientOption{option.WithoutAuthentication()}
	case o.properties[tokenKey] != "":
		options = []option.ClientOption{option.WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: o.properties[tokenKey]}))}
	case file != "":
		options = append(options, option.WithAuthCredentialsFile(option.ServiceAccount, file))
	}
	over, err := transport.NewTransport(ctx, base, options...)
	if err != nil {
		return nil, &noCredentials{err}
	}
	options = []option.ClientOption{option.WithHTTPClient(&http.Client{Transport: over})}
	if host := o.properties[hostKey]; host != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(host, "/")+"/storage/v1/"))
	}
	if o.service, err = gcs.NewService(ctx, options...); err != nil {
		return nil, &noCredentials{err}
	}
	return o.service, nil
}

// base is shared by all clients, so that connections are used again whatever the credentials.
var base = func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 64
	t.ReadBufferSize = 64 << 10
	return asStored{t}
}()

// asStored asks for the bytes of packed objects as they lie in the store, which would else unpack them.
type asStored struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (a asStored) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("alt") == "media" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", "gzip")
	}
	return a.next.RoundTrip(r)
}

// noCredentials is the failure to find any.
type noCredentials struct{ cause error }

func (n *noCredentials) Error() string { return n.cause.Error() }
func (n *noCredentials) Unwrap() error { return n.cause }
