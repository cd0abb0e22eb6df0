// Package glue reads the tables that an AWS Glue data catalog lists: Iceberg tables by the metadata location in their parameters, tables of Parquet files by their
// columns and partitions, and others by their format's name. Nothing is written.
package glue

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// catalog is one data catalog of an account.
type catalog struct {
	name   string
	id     *string // of the data catalog; nil: the caller's account
	client func(context.Context) (*glue.Client, error)
	ends   context.Context
	end    context.CancelFunc
	closed atomic.Bool
}

var _ catalogs.Catalog = (*catalog)(nil)

// New gives the constructor of glue catalogs. Keys and region come from the properties, else from the standard AWS chain, which is asked at the first use. The
// catalog answers with metadata locations only, so it opens no store.
func New([]storage.Kind) catalogs.Constructor {
	return func(ctx context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		s, err := readSettings(c.Name, c.Properties)
		if err != nil {
			return nil, err
		}
		out := &catalog{name: c.Name, client: s.client()}
		if id := c.Properties["glue.id"]; id != "" {
			out.id = &id
		}
		out.ends, out.end = context.WithCancel(context.WithoutCancel(ctx))
		return out, nil
	}
}

func key(name, property string) string { return "spark.sql.catalog." + name + "." + property }

// Capabilities says that tables of plain files, their partitions, and views are listed; there is one level of namespaces.
func (c *catalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{Views: true, Files: true, Partitions: true}
}

// Close ends calls that run and makes later ones fail.
func (c *catalog) Close() error {
	c.closed.Store(true)
	c.end()
	return nil
}

// call runs work until the catalog is closed, and gives its error a kind.
func (c *catalog) call(ctx context.Context, work func(context.Context, *glue.Client) error) error {
	if c.closed.Load() {
		return fault.New(fault.Unavailable, "the catalog is closed")
	}
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ends, cancel)()
	err := ctx.Err()
	if err == nil {
		var client *glue.Client
		if client, err = c.client(bounded); err == nil {
			err = work(bounded, client)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.New(fault.KindOf(ctx.Err()), "%w", ctx.Err())
	case c.closed.Load():
		return fault.New(fault.Unavailable, "the catalog was closed during the call")
	}
	return classify(c.name, err)
}

// Namespaces yields the databases; none has another in it.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return catalogs.Flat(ctx, parent, c.databases, c.LoadNamespace)
}

// databases gives the databases' names, page after page.
func (c *catalog) databases(ctx context.Context) (names []string, err error) {
	err = c.call(ctx, func(ctx context.Context, client *glue.Client) error {
		pages, watch := glue.NewGetDatabasesPaginator(client, &glue.GetDatabasesInput{CatalogId: c.id}), paging{}
		for names = nil; pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err == nil {
				err = watch.took(len(page.DatabaseList), page.NextToken)
			}
			if err != nil {
				return err
			}
			for _, d := range page.DatabaseList {
				names = append(names, aws.ToString(d.Name))
			}
		}
		return nil
	})
	return names, err
}

// LoadNamespace gives a database's parameters, its location and its description.
func (c *catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	if len(namespace) != 1 || !sound(namespace[0]) {
		return nil, noNamespace(namespace)
	}
	out := iceberg.Properties{}
	err := c.call(ctx, func(ctx context.Context, client *glue.Client) error {
		answer, err := client.GetDatabase(ctx, &glue.GetDatabaseInput{CatalogId: c.id, Name: &namespace[0]})
		if err != nil {
			return err
		}
		for k, v := range answer.Database.Parameters {
			out[k] = v
		}
		for property, v := range map[string]*string{"location": answer.Database.LocationUri, "comment": answer.Database.Description} {
			if aws.ToString(v) != "" {
				out[property] = *v
			}
		}
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		return nil, noNamespace(namespace)
	}
	if err != nil {
		return nil, fault.Wrap(err, "load namespace %s", namespace[0])
	}
	return out, nil
}

// Tables yields a database's tables and views, sorted.
func (c *catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		if len(namespace) != 1 || !sound(namespace[0]) {
			yield(catalogs.Entry{}, noNamespace(namespace))
			return
		}
		var all []catalogs.Entry
		err := c.call(ctx, func(ctx context.Context, client *glue.Client) error {
			pages, watch := glue.NewGetTablesPaginator(client, &glue.GetTablesInput{CatalogId: c.id, DatabaseName: &namespace[0]}), paging{}
			for all = nil; pages.HasMorePages(); {
				page, err := pages.NextPage(ctx)
				if err == nil {
					err = watch.took(len(page.TableList), page.NextToken)
				}
				if err != nil {
					return err
				}
				for _, t := range page.TableList {
					all = append(all, catalogs.Entry{Identifier: table.Identifier{namespace[0], aws.ToString(t.Name)}, Kind: kindOf(&t)})
				}
			}
			return nil
		})
		if fault.Is(err, fault.NotFound) {
			err = noNamespace(namespace)
		} else if err != nil {
			err = fault.Wrap(err, "list tables of %s", namespace[0])
		}
		if err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		slices.SortFunc(all, func(a, b catalogs.Entry) int { return strings.Compare(a.Identifier[1], b.Identifier[1]) })
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Load gives the metadata location of an Iceberg table, or the format of what is none.
func (c *catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	if req.Reference != "" {
		return nil, fault.New(fault.Unsupported, "references of the whole catalog (%q) are not supported by the catalog type glue", req.Reference)
	}
	name := strings.Join(req.Identifier, ".")
	if len(req.Identifier) != 2 || !sound(req.Identifier[0]) || !sound(req.Identifier[1]) {
		return nil, noTable(name)
	}
	var t *types.Table
	err := c.call(ctx, func(ctx context.Context, client *glue.Client) error {
		answer, err := client.GetTable(ctx, &glue.GetTableInput{CatalogId: c.id, DatabaseName: &req.Identifier[0], Name: &req.Identifier[1]})
		if err == nil {
			t = answer.Table
		}
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return nil, noTable(name)
	}
	if err != nil {
		return nil, fault.Wrap(err, "load table %s", name)
	}
	if t == nil {
		return nil, fault.New(fault.Unavailable, "load table %s: Glue answered without a table", name)
	}
	out := &catalogs.Table{Identifier: slices.Clone(req.Identifier), Kind: kindOf(t), MetadataLocation: t.Parameters["metadata_location"]}
	switch {
	case out.Kind == catalogs.KindFiles:
		return out, storedOf(t, name).Table(out)
	case out.Kind == catalogs.KindView:
		return nil, fault.New(fault.Unsupported, "%s is a view of Glue: only Iceberg's views are known", name).In(name)
	case out.MetadataLocation == "":
		return nil, fault.New(fault.Corrupt, "Glue has no metadata_location for %s", name).In(name)
	}
	return out, nil
}

// kindOf says what a table of Glue is.
func kindOf(t *types.Table) catalogs.Kind {
	switch {
	case strings.EqualFold(t.Parameters["table_type"], "iceberg"):
		return catalogs.KindTable
	case aws.ToString(t.TableType) == "VIRTUAL_VIEW":
		return catalogs.KindView
	}
	return catalogs.KindFiles
}

// maxName is Glue's own bound of a name.
const maxName = 255

// sound reports whether Glue can know a name: one line of printable text.
func sound(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0xfffd })
}

// kinds are Glue's errors that are not its own failure.
var kinds = map[string]fault.Kind{"EntityNotFoundException": fault.NotFound, "AccessDeniedException": fault.Denied, "InvalidInputException": fault.Invalid,
	"UnrecognizedClientException": fault.Denied, "InvalidSignatureException": fault.Denied, "ExpiredTokenException": fault.Denied, "FederationSourceException": fault.Unavailable}

// classify makes a fault of an error of the client.
func classify(name string, err error) error {
	var carried *fault.Error
	if errors.As(err, &carried) {
		return err
	}
	var said interface {
		ErrorCode() string
		ErrorMessage() string
	}
	if errors.As(err, &said) {
		kind, ok := kinds[said.ErrorCode()]
		if !ok {
			kind = fault.Unavailable
		}
		return fault.New(kind, "Glue: %s: %s", said.ErrorCode(), said.ErrorMessage())
	}
	return fault.New(fault.Unavailable, "call Glue: %w", err).Change(key(name, "glue.endpoint"))
}

func noNamespace(namespace table.Identifier) error {
	return fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(namespace, "."))
}

func noTable(name string) error { return fault.New(fault.NotFound, "Table does not exist: %s", name) }
