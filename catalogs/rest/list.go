package rest

import (
	"context"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
)

// maxListed bounds the names of one listing, in bytes: it is sorted, so it is held whole.
const maxListed = 64 << 20

// page is one answer of a listing.
type page struct {
	Namespaces []table.Identifier `json:"namespaces"`
	Names      []struct {
		Namespace table.Identifier `json:"namespace"`
		Name      string           `json:"name"`
	} `json:"identifiers"`
	Next string `json:"next-page-token"`
}

// pages calls each for every page of a listing.
func (s *session) pages(ctx context.Context, path string, query url.Values, each func(page)) error {
	query.Set("pageToken", "")
	if size := s.properties["rest-page-size"]; size != "" {
		query.Set("pageSize", size)
	}
	seen, bytes := map[string]bool{}, 0
	for {
		answer, err := s.client.Do(ctx, httpapi.Request{Path: path, Query: query})
		if err != nil {
			return err
		}
		var p page
		if err := answer.Decode(&p); err != nil {
			return err
		}
		each(p)
		if p.Next == "" {
			return nil
		}
		if bytes += len(answer.Body); bytes > maxListed {
			return fault.New(fault.Exhausted, "the listing is longer than %d bytes", maxListed)
		}
		if seen[p.Next] {
			return fault.New(fault.Unavailable, "the listing gives the same page again and again")
		}
		seen[p.Next] = true
		query.Set("pageToken", p.Next)
	}
}

// Namespaces yields the children of parent, sorted: a service lists in an order of its own.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		var all []table.Identifier
		err := c.call(ctx, func(ctx context.Context, s *session) error {
			query := url.Values{}
			if len(parent) > 0 {
				if !sound(parent) {
					return noNamespace(parent)
				}
				query.Set("parent", strings.Join(parent, s.separator))
			}
			all = nil
			return s.pages(ctx, s.prefix+"namespaces", query, func(p page) { all = append(all, p.Namespaces...) })
		})
		switch {
		case fault.Is(err, fault.NotFound):
			err = noNamespace(parent)
		case err != nil:
			err = fault.Wrap(err, "list namespaces of %q", strings.Join(parent, "."))
		}
		if err != nil {
			yield(nil, err)
			return
		}
		// Services answer with whole paths, as they should, and some with deeper ones too.
		all = slices.DeleteFunc(all, func(ns table.Identifier) bool { return len(ns) != len(parent)+1 })
		for _, ns := range sorted(all) {
			if !yield(ns, nil) {
				return
			}
		}
	}
}

// Tables yields the tables and views of a namespace, sorted.
func (c *catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		var all []catalogs.Entry
		err := c.call(ctx, func(ctx context.Context, s *session) error {
			if !sound(namespace) {
				return noNamespace(namespace)
			}
			all = nil
			for _, kind := range s.kinds() {
				err := s.pages(ctx, s.namespace(namespace)+"/"+kind.path, url.Values{}, func(p page) {
					for _, name := range p.Names {
						all = append(all, catalogs.Entry{Identifier: append(slices.Clone(namespace), name.Name), Kind: kind.kind})
					}
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case fault.Is(err, fault.NotFound):
			err = noNamespace(namespace)
		case err != nil:
			err = fault.Wrap(err, "list tables of %q", strings.Join(namespace, "."))
		}
		if err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		slices.SortStableFunc(all, func(a, b catalogs.Entry) int { return slices.Compare(a.Identifier, b.Identifier) })
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// resource is a kind of entries with its word in paths.
type resource struct {
	path string
	kind catalogs.Kind
}

// kinds are what the service lists.
func (s *session) kinds() []resource {
	out := []resource{{"tables", catalogs.KindTable}}
	if s.offers("GET /v1/{prefix}/namespaces/{namespace}/views") {
		out = append(out, resource{"views", catalogs.KindView})
	}
	return out
}

func sorted(all []table.Identifier) []table.Identifier {
	slices.SortFunc(all, func(a, b table.Identifier) int { return slices.Compare(a, b) })
	return slices.CompactFunc(all, func(a, b table.Identifier) bool { return slices.Equal(a, b) })
}
