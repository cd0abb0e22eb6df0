package rest

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
)

// session is what a service told of itself: where its resources are and what it can do.
type session struct {
	client     *httpapi.Client
	properties iceberg.Properties // the service's defaults, ours over them, its overrides over those
	told       iceberg.Properties // of those, what the service said
	prefix     string             // of paths, with its slashes
	separator  string             // of a namespace's levels, as it is
	endpoints  []string           // as "GET /v1/…"; nil: the service does not tell
}

// shared opens a session once; an attempt that fails is made again by the next caller.
type shared struct {
	turn chan struct{} // holds one value: the right to open
	open func(context.Context) (*session, error)
	done *session
}

func newShared(open func(context.Context) (*session, error)) shared {
	s := shared{turn: make(chan struct{}, 1), open: open}
	s.turn <- struct{}{}
	return s
}

func (s *shared) get(ctx context.Context) (*session, error) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, fault.New(fault.KindOf(ctx.Err()), "%w", ctx.Err())
	}
	defer func() { s.turn <- struct{}{} }()
	if s.done != nil {
		return s.done, nil
	}
	opened, err := s.open(ctx)
	if err == nil {
		s.done = opened
	}
	return opened, err
}

// open asks the service for its configuration.
func (c *catalog) open(ctx context.Context) (*session, error) {
	auth, err := authorizer(c.name, c.properties, c.client)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	if warehouse := c.properties["warehouse"]; warehouse != "" {
		query.Set("warehouse", warehouse)
	}
	answer, err := c.client.With(headers(c.properties), auth).Do(ctx, httpapi.Request{Path: "/v1/config", Query: query})
	var said struct {
		Defaults  iceberg.Properties `json:"defaults"`
		Overrides iceberg.Properties `json:"overrides"`
		Endpoints []string           `json:"endpoints"`
	}
	if err == nil {
		err = answer.Decode(&said)
	}
	if err != nil {
		return nil, configError(c.name, err)
	}
	out := &session{properties: iceberg.Properties{}, told: iceberg.Properties{}, endpoints: said.Endpoints}
	maps.Copy(out.properties, said.Defaults)
	maps.Copy(out.properties, c.properties)
	maps.Copy(out.properties, said.Overrides)
	for k, v := range out.properties {
		if ours, ok := c.properties[k]; !ok || ours != v {
			out.told[k] = v
		}
	}
	if err := refuse(c.name, out.properties); err != nil {
		return nil, err
	}
	out.prefix = "/v1/"
	if prefix := strings.Trim(out.properties["prefix"], "/"); prefix != "" {
		out.prefix += escapePrefix(prefix) + "/"
	}
	out.separator = separatorOf(out.properties)
	if out.client, err = c.reclient(out.properties, auth); err != nil {
		return nil, err
	}
	return out, nil
}

// reclient makes the client of a session: the service may move itself and give other ways to prove identity.
func (c *catalog) reclient(merged iceberg.Properties, auth httpapi.Authorizer) (*httpapi.Client, error) {
	client := c.client
	var err error
	if merged["uri"] != c.properties["uri"] {
		if client, err = newClient(c.name, merged); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(authKeys, func(k string) bool { return merged[k] != c.properties[k] }) {
		if auth, err = authorizer(c.name, merged, client); err != nil {
			return nil, err
		}
	}
	return client.With(headers(merged), auth), nil
}

// configError keeps a service that has no such warehouse from looking like a table that is missing.
func configError(name string, err error) error {
	out := fault.New(fault.KindOf(err), "ask the catalog for its configuration: %w", err)
	if out.Kind == fault.NotFound {
		out.Kind = fault.Unavailable
	}
	if out.Kind == fault.Invalid || out.Kind == fault.Unavailable {
		out = out.Change(key(name, "uri"))
	}
	return out
}

// offers reports whether the service has an endpoint. One that does not tell has those of the protocol's first version, which had no views.
func (s *session) offers(endpoint string) bool {
	if s.endpoints == nil {
		return !strings.Contains(endpoint, "/views") || s.properties["view-endpoints-supported"] == "true"
	}
	return slices.Contains(s.endpoints, endpoint)
}

// refused are settings by which a catalog demands what this client does not do; a change of any of them would make rows wrong or unreadable.
func refuse(name string, p iceberg.Properties) error {
	if strings.EqualFold(p["scan-planning-mode"], "server") || strings.EqualFold(p["rest-scan-planning-enabled"], "true") {
		return fault.New(fault.Unsupported, "catalog %s demands that it plans the scans itself (scan-planning-mode=server): planning by the catalog is not supported", name).
			Change(key(name, "scan-planning-mode"))
	}
	if strings.EqualFold(p["s3.remote-signing-enabled"], "true") {
		return fault.New(fault.Unsupported, "catalog %s demands that it signs every request to S3 (s3.remote-signing-enabled=true): remote signing is not supported", name).
			Change(key(name, "s3.remote-signing-enabled"))
	}
	return nil
}
