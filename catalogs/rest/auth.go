package rest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
)

// authKeys are the properties that decide how identity is proven.
var authKeys = []string{"rest.auth.type", "token", "credential", "scope", "audience", "resource", "oauth2-server-uri", "rest.sigv4-enabled", "rest.signing-region",
	"rest.signing-name", "rest.access-key-id", "rest.secret-access-key", "rest.session-token", "rest.auth.basic.username", "rest.auth.basic.password",
	"token-refresh-enabled", "token-exchange-enabled", "token-expires-in-ms"}

// headers are the configured ones: header.<name>.
func headers(p iceberg.Properties) map[string]string {
	out := map[string]string{}
	for k, v := range p {
		if name, ok := strings.CutPrefix(k, "header."); ok && name != "" {
			out[name] = v
		}
	}
	return out
}

// authorizer reads how identity is proven; nil: not at all.
func authorizer(name string, p iceberg.Properties, client *httpapi.Client) (httpapi.Authorizer, error) {
	kind := strings.ToLower(p["rest.auth.type"])
	if kind == "" {
		switch {
		case p["rest.sigv4-enabled"] == "true":
			kind = "sigv4"
		case p["credential"] != "" || p["token"] != "":
			kind = "oauth2"
		default:
			kind = "none"
		}
	}
	switch kind {
	case "none":
		return nil, nil
	case "basic":
		return basic{p["rest.auth.basic.username"], p["rest.auth.basic.password"]}, nil
	case "oauth2":
		return newOAuth(name, p, client)
	case "sigv4":
		return newSigner(name, p, client)
	}
	return nil, fault.New(fault.Unsupported, "the authentication %q of a REST catalog is not supported, only none, basic, oauth2 and sigv4 are", p["rest.auth.type"]).
		Change(key(name, "rest.auth.type"))
}

// basic proves identity with a name and a password.
type basic struct{ user, password string }

// Authorize sets the header.
func (b basic) Authorize(_ context.Context, r *http.Request, _ []byte) error {
	r.SetBasicAuth(b.user, b.password)
	return nil
}

// newOAuth reads Iceberg's OAuth2 properties. oauth2-server-uri may be relative to the catalog; without it the catalog itself hands out tokens.
func newOAuth(name string, p iceberg.Properties, client *httpapi.Client) (httpapi.Authorizer, error) {
	c := httpapi.OAuthConfig{Endpoint: p["oauth2-server-uri"], Headers: headers(p), Token: p["token"], Renew: p["token-refresh-enabled"] != "false",
		Exchange: p["token-exchange-enabled"] != "false", Form: map[string]string{"scope": "catalog"}}
	if c.Endpoint == "" {
		c.Endpoint = "v1/oauth/tokens"
	}
	if !strings.HasPrefix(c.Endpoint, "http://") && !strings.HasPrefix(c.Endpoint, "https://") {
		c.Endpoint = strings.TrimRight(p["uri"], "/") + "/" + strings.TrimLeft(c.Endpoint, "/")
	}
	for _, field := range []string{"scope", "audience", "resource"} {
		if v := p[field]; v != "" {
			c.Form[field] = v
		}
	}
	c.Secret = p["credential"]
	if id, secret, found := strings.Cut(c.Secret, ":"); found {
		c.ClientID, c.Secret = id, secret
	}
	if text := p["token-expires-in-ms"]; text != "" {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms <= 0 {
			return nil, fault.New(fault.Invalid, "a number of milliseconds is expected, not %q", text).Change(key(name, "token-expires-in-ms"))
		}
		c.Lifetime = time.Duration(min(ms, 1e12)) * time.Millisecond
	}
	out, err := httpapi.NewOAuth(c, client)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%w", err).Change(key(name, "credential"))
	}
	return out, nil
}

// newClient makes the client of a service's address.
func newClient(name string, p iceberg.Properties) (*httpapi.Client, error) {
	if p["uri"] == "" {
		return nil, fault.New(fault.Invalid, "a REST catalog needs the address of its service").Change(key(name, "uri"))
	}
	transport, err := newTransport(name, p)
	if err != nil {
		return nil, err
	}
	c := httpapi.Config{Base: p["uri"], Setting: key(name, "uri"), Transport: transport}
	if text := p["rest.client.max-retries"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fault.New(fault.Invalid, "a number is expected, not %q", text).Change(key(name, "rest.client.max-retries"))
		}
		if c.Retries = n; n == 0 {
			c.Retries = -1
		}
	}
	if c.Timeout, err = milliseconds(name, p, "rest.client.socket-timeout-ms"); err != nil {
		return nil, err
	}
	return httpapi.New(c)
}

// milliseconds reads a property that is a time; zero: it is not set.
func milliseconds(name string, p iceberg.Properties, property string) (time.Duration, error) {
	text := p[property]
	if text == "" {
		return 0, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > 1e12 {
		return 0, fault.New(fault.Invalid, "a number of milliseconds is expected, not %q", text).Change(key(name, property))
	}
	return time.Duration(ms) * time.Millisecond, nil
}
