package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
)

// The grants of OAuth2 that a server without a user can use.
const (
	grantClient   = "client_credentials"
	grantRefresh  = "refresh_token"
	grantPassword = "password"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessToken   = "urn:ietf:params:oauth:token-type:access_token"
)

// OAuthConfig says how to get tokens.
type OAuthConfig struct {
	Endpoint string            // the token endpoint's whole URL; empty: the issuer tells it
	Issuer   string            // of OpenID Connect
	Headers  map[string]string // of its requests
	ClientID string            // may be empty: some services know a client by its secret
	Secret   string
	Basic    bool   // the client's name and secret go into a header, not into the form
	User     string // the password grant's; empty: the client's own grant
	Password string
	Token    string            // one at hand; alone it is exchanged before its end, where Exchange says so
	Exchange bool              // a token at hand may be exchanged for a newer one
	Renew    bool              // tokens are renewed before their end
	Lifetime time.Duration     // of a token that does not tell its own; zero: an hour
	Form     map[string]string // scope, audience, resource
	Now      func() time.Time  // nil: time.Now
}

// OAuth authorizes with a bearer token, got at the first use and renewed before its end. It is safe for concurrent use; one caller renews, the others wait.
type OAuth struct {
	config OAuthConfig
	client *Client
	turn   chan struct{} // holds one value: the right to touch what follows
	now    token
}

// token is a token with when it should be replaced.
type token struct {
	access, refresh string
	got, ends       time.Time // ends zero: unknown
}

var _ Renewer = (*OAuth)(nil)

// NewOAuth checks the configuration and asks for no token yet. client sends the requests: its own headers and proof are not used.
func NewOAuth(c OAuthConfig, client *Client) (*OAuth, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Lifetime == 0 {
		c.Lifetime = time.Hour
	}
	if c.Secret == "" && c.Token == "" {
		return nil, fault.New(fault.Invalid, "OAuth2 needs a credential or a token")
	}
	out := &OAuth{config: c, client: client.With(c.Headers, nil), turn: make(chan struct{}, 1)}
	if c.Token != "" {
		out.now = token{access: c.Token, got: c.Now(), ends: expiryOf(c.Token)}
	}
	out.turn <- struct{}{}
	return out, nil
}

// Authorize sets the bearer token.
func (o *OAuth) Authorize(ctx context.Context, r *http.Request, _ []byte) error {
	access, err := o.access(ctx, "")
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+access)
	return nil
}

// Renew replaces the token that a request bore, unless another call did already. It fails where the token endpoint is out of reach; one that gives no other
// token leaves the refusal as it was.
func (o *OAuth) Renew(ctx context.Context, refused *http.Request) (bool, error) {
	bore := strings.TrimPrefix(refused.Header.Get("Authorization"), "Bearer ")
	if original := refused.Header.Get("Original-Authorization"); original != "" {
		bore = strings.TrimPrefix(original, "Bearer ")
	}
	access, err := o.access(ctx, bore)
	if fault.Is(err, fault.Unavailable) {
		return false, err
	}
	return err == nil && access != bore, nil
}

// access gives a token other than refused.
func (o *OAuth) access(ctx context.Context, refused string) (string, error) {
	select {
	case <-o.turn:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { o.turn <- struct{}{} }()
	if o.now.access != "" && o.now.access != refused && !o.due() {
		return o.now.access, nil
	}
	next, err := o.request(ctx)
	switch {
	case err == nil:
		o.now = next
	case o.now.access != "" && o.now.access != refused && o.valid():
		// It still is good for a while; the next call tries again.
	default:
		return "", err
	}
	return o.now.access, nil
}

// due reports whether the token should be replaced: after nine tenths of its life, or five minutes before its end, whichever is later.
func (o *OAuth) due() bool {
	if !o.config.Renew || o.now.ends.IsZero() {
		return false
	}
	margin := min(o.now.ends.Sub(o.now.got)/10, 5*time.Minute)
	return !o.config.Now().Before(o.now.ends.Add(-margin))
}

func (o *OAuth) valid() bool { return o.now.ends.IsZero() || o.config.Now().Before(o.now.ends) }

// request asks for a new token by the best grant at hand.
func (o *OAuth) request(ctx context.Context) (token, error) {
	form := url.Values{}
	for k, v := range o.config.Form {
		form.Set(k, v)
	}
	headers := map[string]string{}
	switch {
	case o.now.refresh != "":
		form.Set("grant_type", grantRefresh)
		form.Set("refresh_token", o.now.refresh)
		o.identify(form, headers)
	case o.config.User != "":
		form.Set("grant_type", grantPassword)
		form.Set("username", o.config.User)
		form.Set("password", o.config.Password)
		o.identify(form, headers)
	case o.config.Secret != "":
		form.Set("grant_type", grantClient)
		o.identify(form, headers)
	case o.config.Exchange && o.now.access != "":
		form.Set("grant_type", grantExchange)
		form.Set("subject_token", o.now.access)
		form.Set("subject_token_type", accessToken)
		headers["Authorization"] = "Bearer " + o.now.access
	default:
		return token{}, fault.New(fault.Denied, "the token was refused or is over, and there is no credential to get another")
	}
	if err := o.discover(ctx); err != nil {
		return token{}, err
	}
	answer, err := o.client.Do(ctx, Request{Method: http.MethodPost, Path: o.config.Endpoint, Headers: headers, Body: []byte(form.Encode()),
		Type: "application/x-www-form-urlencoded", Safe: form.Get("grant_type") != grantRefresh}) // a refresh token may be good once only
	if err != nil {
		o.now.refresh = "" // it may be that which is refused
		return token{}, tokenError(err)
	}
	return o.read(answer)
}

// discover asks the issuer where its token endpoint is.
func (o *OAuth) discover(ctx context.Context) error {
	if o.config.Endpoint != "" {
		return nil
	}
	answer, err := o.client.Do(ctx, Request{Path: strings.TrimRight(o.config.Issuer, "/") + "/.well-known/openid-configuration"})
	if err != nil {
		return tokenError(err)
	}
	var said struct {
		Endpoint string `json:"token_endpoint"`
	}
	if err := answer.Decode(&said); err != nil || !strings.HasPrefix(said.Endpoint, "http") {
		return fault.New(fault.Unavailable, "get a token: the issuer %s names no token endpoint", o.config.Issuer)
	}
	o.config.Endpoint = said.Endpoint
	return nil
}

// identify names the client, in the form or in a header.
func (o *OAuth) identify(form url.Values, headers map[string]string) {
	if o.config.Secret == "" {
		if o.config.ClientID != "" {
			form.Set("client_id", o.config.ClientID)
		}
		return
	}
	if o.config.Basic {
		pair := url.QueryEscape(o.config.ClientID) + ":" + url.QueryEscape(o.config.Secret)
		headers["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
		return
	}
	if o.config.ClientID != "" {
		form.Set("client_id", o.config.ClientID)
	}
	form.Set("client_secret", o.config.Secret)
}

// read takes the token out of an answer.
func (o *OAuth) read(answer *Answer) (token, error) {
	var said struct {
		Access  string  `json:"access_token"`
		Refresh string  `json:"refresh_token"`
		Expires float64 `json:"expires_in"`
	}
	if err := json.Unmarshal(answer.Body, &said); err != nil || said.Access == "" {
		return token{}, fault.New(fault.Unavailable, "the token endpoint answered without a token") // its body may hold one, so it is not shown
	}
	out := token{access: said.Access, refresh: said.Refresh, got: o.config.Now()}
	switch {
	case said.Expires > 0:
		out.ends = out.got.Add(time.Duration(min(said.Expires, 1e9) * float64(time.Second)))
	default:
		if out.ends = expiryOf(said.Access); out.ends.IsZero() {
			out.ends = out.got.Add(o.config.Lifetime)
		}
	}
	return out, nil
}

// tokenError says that it is the token endpoint that failed. What it calls missing is no table.
func tokenError(err error) error {
	out := fault.New(fault.KindOf(err), "get a token: %w", err)
	if out.Kind == fault.NotFound || out.Kind == fault.Invalid || out.Kind == fault.Unsupported {
		out.Kind = fault.Denied
	}
	return out
}

// expiryOf reads the end of a token that is a JWT; the signature is the service's business.
func expiryOf(access string) time.Time {
	parts := strings.Split(access, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Exp <= 0 || claims.Exp > 1e12 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}
