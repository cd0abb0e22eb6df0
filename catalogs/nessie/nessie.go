// Package nessie reads the tables of a Nessie server over its own API, version 2: those of a branch, a tag or a commit. Nothing is written. Nessie's other face,
// Iceberg's REST protocol, is the catalog type rest.
package nessie

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// catalog is one server at one reference.
type catalog struct {
	name      string
	client    *httpapi.Client
	reference string // as paths spell it; "-": the server's default branch
	warehouse string // may be empty
	ends      context.Context
	end       context.CancelFunc
	closed    atomic.Bool
}

var _ catalogs.Catalog = (*catalog)(nil)

// New gives the constructor of nessie catalogs. The property uri is required and ends in /api/v2; ref names a branch or a tag, ref.hash a commit of it. The catalog
// answers with metadata locations only, so it opens no store.
func New([]storage.Kind) catalogs.Constructor {
	return func(ctx context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		p := properties(c.Properties)
		uri := strings.TrimRight(p.get("uri"), "/")
		if uri == "" {
			return nil, fault.New(fault.Invalid, "a Nessie catalog needs the address of its API").Change(key(c.Name, "uri"))
		}
		if strings.HasSuffix(uri, "/v1") || p.get("client-api-version") == "1" {
			return nil, fault.New(fault.Unsupported, "version 1 of Nessie's API is not supported: the address of version 2 ends in /api/v2").Change(key(c.Name, "uri"))
		}
		client, err := httpapi.New(httpapi.Config{Base: uri, Setting: key(c.Name, "uri")})
		if err != nil {
			return nil, err
		}
		auth, err := authorizer(c.Name, p, client)
		if err != nil {
			return nil, err
		}
		out := &catalog{name: c.Name, client: client.With(nil, auth), warehouse: strings.TrimRight(p.get("warehouse"), "/")}
		if out.reference, err = configured(c.Name, p); err != nil {
			return nil, err
		}
		out.ends, out.end = context.WithCancel(context.WithoutCancel(ctx))
		return out, nil
	}
}

func key(name, property string) string { return "spark.sql.catalog." + name + "." + property }

// properties are a catalog's; Nessie's own may have nessie. in front.
type properties iceberg.Properties

func (p properties) get(name string) string {
	if v := p["nessie."+name]; v != "" {
		return v
	}
	return p[name]
}

// Capabilities says that namespaces nest, that views and tables of other formats are listed, and that a load may name a reference.
func (c *catalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: true, Views: true, Files: true, References: true}
}

// Close ends calls that run and makes later ones fail.
func (c *catalog) Close() error {
	c.closed.Store(true)
	c.end()
	c.client.Close()
	return nil
}

// call sends a request until the catalog is closed.
func (c *catalog) call(ctx context.Context, r httpapi.Request, into any) error {
	if c.closed.Load() {
		return fault.New(fault.Unavailable, "the catalog is closed")
	}
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ends, cancel)()
	answer, err := c.client.Do(bounded, r)
	if err != nil && c.closed.Load() && ctx.Err() == nil {
		return fault.New(fault.Unavailable, "the catalog was closed during the call")
	}
	if err != nil {
		return err
	}
	return answer.Decode(into)
}

// LoadNamespace gives a namespace's properties, and the location that Iceberg would give it where none is stored.
func (c *catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	found, err := c.content(ctx, c.reference, namespace)
	if err != nil {
		return nil, fault.Wrap(err, "load namespace %s", strings.Join(namespace, "."))
	}
	if found == nil || found.Type != "NAMESPACE" {
		return nil, noNamespace(namespace)
	}
	out := found.Properties
	if out == nil {
		out = iceberg.Properties{}
	}
	if _, ok := out["location"]; !ok && c.warehouse != "" {
		out["location"] = c.warehouse + "/" + strings.Join(namespace, "/")
	}
	return out, nil
}

// Load gives the metadata location of a table or view. A name such as t@branch, t@branch#hash or t#timestamp names the reference itself, unless there is a table
// of that very name.
func (c *catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	name := strings.Join(req.Identifier, ".")
	at, err := c.referenceOf(req.Reference)
	if err != nil {
		return nil, err
	}
	found, err := c.content(ctx, at, req.Identifier)
	if last := len(req.Identifier) - 1; err == nil && found == nil && last >= 0 && strings.ContainsAny(req.Identifier[last], "@#") {
		var bare string
		if bare, at, err = inName(req.Identifier[last], at); err == nil {
			found, err = c.content(ctx, at, append(append(table.Identifier{}, req.Identifier[:last]...), bare))
		}
	}
	switch {
	case err != nil:
		return nil, fault.Wrap(err, "load table %s", name)
	case found == nil:
		return nil, fault.New(fault.NotFound, "Table does not exist: %s", name)
	}
	out := &catalogs.Table{Identifier: append(table.Identifier{}, req.Identifier...), MetadataLocation: found.Location}
	switch kind, known := found.kind(); {
	case !known:
		return nil, fault.New(fault.NotFound, "Table does not exist: %s", name)
	case kind == catalogs.KindFiles:
		out.Kind, out.Format, out.MetadataLocation = kind, "delta", ""
	case found.Location == "":
		return nil, fault.New(fault.Corrupt, "the catalog has no metadata location for %s", name).In(name)
	default:
		out.Kind = kind
	}
	return out, nil
}

func noNamespace(namespace table.Identifier) error {
	return fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(namespace, "."))
}

var hash = regexp.MustCompile(`^[0-9a-fA-F]{8,64}$`)
