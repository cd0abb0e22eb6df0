// Package httpapi calls catalogs that speak JSON over HTTP: requests with deadlines and retries, bounded answers, OAuth2 tokens that are renewed in time, and
// errors with a kind and without secrets. It knows no catalog; rest and nessie are built on it.
package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
)

// Limits of what one call may take and bring.
const (
	defaultTimeout = time.Minute
	maxAnswer      = 256 << 20 // bytes of a body
	maxQuoted      = 300       // bytes of a strange answer that an error repeats
)

// Authorizer puts proof of identity on a request that is complete otherwise. body is what will be sent, for signatures.
type Authorizer interface {
	Authorize(ctx context.Context, r *http.Request, body []byte) error
}

// Renewer is an Authorizer whose proof can be replaced when a service refuses it. Renew reports whether it has another one than the request bore; an
// error says that it could not be found out, and stands for the refusal.
type Renewer interface {
	Authorizer
	Renew(ctx context.Context, refused *http.Request) (bool, error)
}

// Config is what a Client needs.
type Config struct {
	Base      string            // URL in front of every path
	Headers   map[string]string // of every request
	Auth      Authorizer        // nil: none
	Transport http.RoundTripper // nil: http.DefaultTransport
	Timeout   time.Duration     // of one try; zero: a minute
	Retries   int               // tries after the first, for what may pass; negative: none; zero: 5
	Setting   string            // the key that says where the service is, for errors
	Pause     time.Duration     // before the first retry, then doubling; zero: 200 ms
}

// Client calls one service. It is safe for concurrent use.
type Client struct {
	config Config
	http   http.Client
}

// New checks the base URL and calls nothing.
func New(c Config) (*Client, error) {
	base, err := url.Parse(c.Base)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fault.New(fault.Invalid, "a URL that starts with http:// or https:// is expected").Change(c.Setting)
	}
	if base.User != nil {
		return nil, fault.New(fault.Invalid, "a name or password in the URL of a catalog is not supported").Change(c.Setting)
	}
	c.Base = strings.TrimRight(c.Base, "/")
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Retries == 0 {
		c.Retries = 5
	}
	if c.Pause == 0 {
		c.Pause = 200 * time.Millisecond
	}
	return &Client{config: c, http: http.Client{Transport: c.Transport, CheckRedirect: sameHost}}, nil
}

// sameHost follows redirections within a host only: headers may hold secrets.
func sameHost(r *http.Request, via []*http.Request) error {
	if len(via) > 5 {
		return errors.New("too many redirections")
	}
	if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return errors.New("a redirection to another host is not followed")
	}
	return nil
}

// With gives a client of the same service with other headers and proof.
func (c *Client) With(headers map[string]string, auth Authorizer) *Client {
	out := &Client{config: c.config, http: c.http}
	out.config.Headers, out.config.Auth = headers, auth
	return out
}

// Close lets idle connections go.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is one call.
type Request struct {
	Method  string // empty: GET
	Path    string // escaped, with its slash; or a whole URL
	Query   url.Values
	Headers map[string]string
	Body    []byte
	Type    string // of the body
	Safe    bool   // although it is no GET it may be sent twice
}

// Answer is what came back with a status below 300, or 304.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Decode reads the body as JSON. Its error shows nothing of the body, which may hold secrets.
func (a *Answer) Decode(into any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fault.New(fault.Unavailable, "the answer of %d bytes is not the JSON that was expected: %w", len(a.Body), err)
	}
	return nil
}

// StatusError is in the chain of a fault when a service answered with an error.
type StatusError struct {
	Status  int
	Type    string // as the service calls it, such as NoSuchTableException; may be empty
	Message string
	after   time.Duration
}

// Error gives the service's words, or its bare status.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.Message == "" {
		return text
	}
	return e.Message + " (" + text + ")"
}

// Do calls, again where that may help. A refused proof is replaced once.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	renewed := false
	for try := 0; ; try++ {
		sent, answer, err := c.try(ctx, r)
		if err == nil {
			return answer, nil
		}
		status, answered := err.(*StatusError) // of this call: one in the chain of a fault is the token endpoint's
		refused := answered && (status.Status == http.StatusUnauthorized || status.Status == 419)
		if renewer, ok := c.config.Auth.(Renewer); ok && refused && !renewed {
			another, failure := renewer.Renew(ctx, sent)
			if failure != nil {
				return nil, c.classify(ctx, failure)
			}
			if another {
				renewed = true
				continue
			}
		}
		if try >= c.config.Retries || !c.mayPass(r, err) || ctx.Err() != nil {
			return nil, c.classify(ctx, err)
		}
		if !pause(ctx, c.delay(try, status)) {
			return nil, c.classify(ctx, err)
		}
	}
}

// try sends a request once.
func (c *Client) try(ctx context.Context, r Request) (*http.Request, *Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	request, err := c.build(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return request, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return request, nil, fmt.Errorf("read the answer: %w", err)
	case len(body) > maxAnswer:
		return request, nil, fault.New(fault.Exhausted, "the answer is longer than %d bytes", maxAnswer)
	case response.StatusCode >= 300 && response.StatusCode != http.StatusNotModified:
		return request, nil, statusError(response, body)
	}
	return request, &Answer{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

func (c *Client) build(ctx context.Context, r Request) (*http.Request, error) {
	method, target := r.Method, r.Path
	if method == "" {
		method = http.MethodGet
	}
	if !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") {
		target = c.config.Base + target
	}
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "make the request: %v", err).Change(c.config.Setting)
	}
	request.Header.Set("Accept", "application/json")
	for _, headers := range []map[string]string{c.config.Headers, r.Headers} {
		for k, v := range headers {
			request.Header.Set(k, v)
		}
	}
	if r.Type != "" {
		request.Header.Set("Content-Type", r.Type)
	}
	if c.config.Auth != nil {
		if err := c.config.Auth.Authorize(ctx, request, r.Body); err != nil {
			return nil, err
		}
	}
	return request, nil
}

// quoted shortens a text that anybody may have written.
func quoted(b []byte) string {
	if len(b) > maxQuoted {
		return fmt.Sprintf("%q…", b[:maxQuoted])
	}
	return fmt.Sprintf("%q", b)
}
