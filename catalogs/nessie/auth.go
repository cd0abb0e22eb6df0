package nessie

import (
	"context"
	"net/http"
	"strings"

	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
)

// authorizer reads how identity is proven, by authentication.type and its settings; nil: not at all.
func authorizer(name string, p properties, client *httpapi.Client) (httpapi.Authorizer, error) {
	get := func(setting string) string { return p.get("authentication." + setting) }
	switch kind := strings.ToUpper(get("type")); kind {
	case "", "NONE":
		return nil, nil
	case "BEARER":
		if get("token") == "" {
			return nil, fault.New(fault.Invalid, "the authentication BEARER needs a token").Change(key(name, "authentication.token"))
		}
		return httpapi.NewOAuth(httpapi.OAuthConfig{Token: get("token")}, client)
	case "BASIC":
		return basic{get("username"), get("password")}, nil
	case "OAUTH2":
		return newOAuth(name, p, client)
	default:
		return nil, fault.New(fault.Unsupported, "the authentication %s of Nessie is not supported, only NONE, BASIC, BEARER and OAUTH2 are", kind).
			Change(key(name, "authentication.type"))
	}
}

// basic proves identity with a name and a password.
type basic struct{ user, password string }

// Authorize sets the header.
func (b basic) Authorize(_ context.Context, r *http.Request, _ []byte) error {
	r.SetBasicAuth(b.user, b.password)
	return nil
}

// newOAuth reads authentication.oauth2.*: grants that need no user at a browser.
func newOAuth(name string, p properties, client *httpapi.Client) (httpapi.Authorizer, error) {
	get := func(setting string) string { return p.get("authentication.oauth2." + setting) }
	c := httpapi.OAuthConfig{Endpoint: get("token-endpoint"), Issuer: get("issuer-url"), ClientID: get("client-id"), Secret: get("client-secret"), Basic: true, Renew: true,
		Form: map[string]string{}}
	if c.Endpoint == "" && c.Issuer == "" {
		return nil, fault.New(fault.Invalid, "the authentication OAUTH2 needs an issuer-url or a token-endpoint").Change(key(name, "authentication.oauth2.issuer-url"))
	}
	if scopes := get("client-scopes"); scopes != "" {
		c.Form["scope"] = scopes
	}
	switch grant := strings.ToLower(get("grant-type")); grant {
	case "", "client_credentials":
	case "password":
		c.User, c.Password = get("username"), get("password")
	default:
		return nil, fault.New(fault.Unsupported, "the grant %s of OAuth2 is not supported for Nessie, only client_credentials and password are", grant).
			Change(key(name, "authentication.oauth2.grant-type"))
	}
	if c.Secret == "" {
		return nil, fault.New(fault.Invalid, "the authentication OAUTH2 needs a client-secret").Change(key(name, "authentication.oauth2.client-secret"))
	}
	return httpapi.NewOAuth(c, client)
}
