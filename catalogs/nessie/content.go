package nessie

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
)

// content is what a key holds.
type content struct {
	Type       string             `json:"type"`
	Location   string             `json:"metadataLocation"`
	Properties iceberg.Properties `json:"properties"`
}

// kinds are the types of content that are entries.
var kinds = map[string]catalogs.Kind{"ICEBERG_TABLE": catalogs.KindTable, "ICEBERG_VIEW": catalogs.KindView, "DELTA_LAKE_TABLE": catalogs.KindFiles}

func (c *content) kind() (catalogs.Kind, bool) {
	k, ok := kinds[c.Type]
	return k, ok
}

// path is a key: a namespace, or a table's name behind it.
type path struct {
	Elements []string `json:"elements"`
}

// Bounds of a key, as the server has them.
const (
	maxLevels = 20
	maxKey    = 500
)

// sound reports whether a key can exist.
func sound(id table.Identifier) bool {
	total := 0
	for _, e := range id {
		if total += len(e); e == "" || strings.ContainsFunc(e, func(r rune) bool { return r < 0x20 || r == 0xfffd }) {
			return false
		}
	}
	return len(id) > 0 && len(id) <= maxLevels && total <= maxKey
}

// content gives what a key holds at a reference; nil: nothing. It is asked by a body, so that names need no escapes.
func (c *catalog) content(ctx context.Context, reference string, id table.Identifier) (*content, error) {
	if !sound(id) {
		return nil, c.alive(ctx)
	}
	body, err := json.Marshal(map[string]any{"requestedKeys": []path{{id}}})
	if err != nil {
		return nil, fault.New(fault.Internal, "write a key: %w", err)
	}
	var said struct {
		Contents []struct {
			Key     path     `json:"key"`
			Content *content `json:"content"`
		} `json:"contents"`
	}
	err = c.call(ctx, httpapi.Request{Method: http.MethodPost, Path: tree(reference) + "/contents", Body: body, Type: "application/json"}, &said)
	if err != nil {
		return nil, c.explain(err, reference)
	}
	for _, found := range said.Contents {
		if slices.Equal(found.Key.Elements, id) {
			return found.Content, nil
		}
	}
	return nil, nil
}

// alive is the error of a question that needs no answer.
func (c *catalog) alive(ctx context.Context) error {
	if c.closed.Load() {
		return fault.New(fault.Unavailable, "the catalog is closed")
	}
	return fault.Wrap(ctx.Err(), "ask Nessie")
}

// explain says of a reference that is missing that it is no table.
func (c *catalog) explain(err error, reference string) error {
	var status *httpapi.StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		if status.Type == "REFERENCE_NOT_FOUND" {
			return fault.New(fault.Invalid, "the catalog has no reference %q: %s", reference, status.Message).Change(key(c.name, "ref"))
		}
		return fault.New(fault.Unavailable, "there is no Nessie API of version 2 at this address: %w", err).Change(key(c.name, "uri"))
	}
	return err
}

// plain matches names that need no escapes in a filter.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// entry is a line of the server's listing.
type entry struct {
	Name path   `json:"name"`
	Type string `json:"type"`
}

// entries gives what lies directly in a namespace, sorted. The server filters where it can; what comes is looked at again.
func (c *catalog) entries(ctx context.Context, namespace table.Identifier, condition string) ([]entry, error) {
	if len(namespace) > 0 {
		if _, err := c.LoadNamespace(ctx, namespace); err != nil {
			return nil, err
		}
	}
	filter := condition
	if !slices.ContainsFunc(namespace, func(e string) bool { return !plain.MatchString(e) }) {
		filter += " && size(entry.keyElements) == " + strconv.Itoa(len(namespace)+1)
		if len(namespace) > 0 {
			filter += " && entry.encodedKey.startsWith('" + strings.Join(namespace, ".") + ".')"
		}
	}
	query := url.Values{"filter": {filter}}
	var out []entry
	for seen := map[string]bool{}; ; {
		var said struct {
			Entries []entry `json:"entries"`
			More    bool    `json:"hasMore"`
			Token   string  `json:"token"`
		}
		if err := c.call(ctx, httpapi.Request{Path: tree(c.reference) + "/entries", Query: query}, &said); err != nil {
			return nil, c.explain(err, c.reference)
		}
		for _, e := range said.Entries {
			if id := e.Name.Elements; len(id) == len(namespace)+1 && slices.Equal(id[:len(namespace)], namespace) {
				out = append(out, e)
			}
		}
		if !said.More || said.Token == "" {
			slices.SortFunc(out, func(a, b entry) int { return slices.Compare(a.Name.Elements, b.Name.Elements) })
			return out, nil
		}
		if seen[said.Token] || len(out) > maxListed {
			return nil, fault.New(fault.Unavailable, "the server's listing does not end")
		}
		seen[said.Token] = true
		query.Set("page-token", said.Token)
	}
}

// maxListed bounds a listing, which is sorted and so held whole.
const maxListed = 1_000_000

// Namespaces yields the namespaces in parent.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		found, err := c.entries(ctx, parent, "entry.contentType == 'NAMESPACE'")
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range found {
			if e.Type == "NAMESPACE" && !yield(e.Name.Elements, nil) {
				return
			}
		}
	}
}

// Tables yields the tables and views in a namespace.
func (c *catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		if len(namespace) == 0 {
			err := c.alive(ctx)
			if err == nil {
				err = noNamespace(namespace)
			}
			yield(catalogs.Entry{}, err)
			return
		}
		found, err := c.entries(ctx, namespace, "entry.contentType != 'NAMESPACE'")
		if err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		for _, e := range found {
			if kind, ok := kinds[e.Type]; ok && !yield(catalogs.Entry{Identifier: e.Name.Elements, Kind: kind}, nil) {
				return
			}
		}
	}
}
