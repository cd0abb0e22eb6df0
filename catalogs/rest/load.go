package rest

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
)

// loaded is a table or view as the service answers.
type loaded struct {
	Location    string             `json:"metadata-location"`
	Metadata    json.RawMessage    `json:"metadata"`
	Config      iceberg.Properties `json:"config"`
	Credentials []vended           `json:"storage-credentials"`
}

// Load loads a table, or a view where there is no table of the name. Metadata that the caller holds is not sent again; credentials always are.
func (c *catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	if req.Reference != "" {
		return nil, fault.New(fault.Unsupported, "references of the whole catalog (%q) are not supported by the catalog type rest; Nessie's belong into its uri", req.Reference)
	}
	id := req.Identifier
	if !sound(id) || len(id) < 2 {
		return nil, noTable(id)
	}
	var out *catalogs.Table
	err := c.call(ctx, func(ctx context.Context, s *session) (err error) {
		out, err = s.load(ctx, c, resource{"tables", catalogs.KindTable}, req)
		if fault.Is(err, fault.NotFound) && s.offers("GET /v1/{prefix}/namespaces/{namespace}/views/{view}") {
			out, err = s.load(ctx, c, resource{"views", catalogs.KindView}, req)
		}
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return nil, noTable(id)
	}
	if err != nil {
		return nil, fault.Wrap(err, "load table %s", strings.Join(id, "."))
	}
	return out, nil
}

func (s *session) load(ctx context.Context, c *catalog, what resource, req catalogs.LoadRequest) (*catalogs.Table, error) {
	query := url.Values{}
	if what.kind == catalogs.KindTable {
		query.Set("snapshots", "all") // older snapshots are read too
	}
	request := httpapi.Request{Path: s.child(what.path, req.Identifier), Query: query, Headers: s.delegation()}
	client, own := s.clientOf(c, req.Identifier)
	answer, err := client.Do(ctx, request)
	if own && (fault.Is(err, fault.Unauthenticated) || fault.Is(err, fault.Denied)) { // the token may have ended
		c.tokens.keep(req.Identifier, "")
		own = false
		answer, err = s.client.Do(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	var said loaded
	if err := answer.Decode(&said); err != nil {
		return nil, err
	}
	if err := refuse(c.name, said.Config); err != nil {
		return nil, err
	}
	if len(said.Metadata) == 0 || string(said.Metadata) == "null" {
		return nil, fault.New(fault.Unavailable, "the catalog answered without metadata")
	}
	out := &catalogs.Table{Identifier: slices.Clone(req.Identifier), Kind: what.kind, MetadataLocation: said.Location, Metadata: said.Metadata}
	if said.Location != "" && said.Location == req.Held {
		out.Metadata = nil
	}
	config := iceberg.Properties{}
	maps.Copy(config, s.told)
	maps.Copy(config, said.Config)
	out.Config, out.Credentials = split(config, said.Credentials)
	if token := said.Config["token"]; token != "" || !own {
		c.tokens.keep(req.Identifier, token)
	}
	return out, nil
}

// clientOf gives the client for what concerns a table alone: with the token that its last load brought, if it brought one.
func (s *session) clientOf(c *catalog, id table.Identifier) (client *httpapi.Client, own bool) {
	token, own := c.tokens.of(id)
	if !own {
		return s.client, false
	}
	return s.client.With(headers(s.properties), bearer(token)), true
}

// delegation is the header by which a client asks for store credentials, unless the configuration says otherwise.
func (s *session) delegation() map[string]string {
	const name = "X-Iceberg-Access-Delegation"
	for k := range headers(s.properties) {
		if strings.EqualFold(k, name) {
			return nil
		}
	}
	return map[string]string{name: "vended-credentials"}
}
