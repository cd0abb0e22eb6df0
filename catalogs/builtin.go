package catalogs

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// metastores is the property that names Spark's own metastore, from spark.hadoop.hive.metastore.uris.
const metastores = "hadoop.hive.metastore.uris"

// builtin gives Spark's own catalog behind a session catalog that wraps one of another type: the Hive metastore that Spark is configured with. A
// session catalog of type hive is its own.
func (d Definition) builtin() (Definition, bool) {
	if !d.Class.Session || d.Type == "hive" || d.Properties[metastores] == "" {
		return Definition{}, false
	}
	out := Definition{Name: d.Name, Class: d.Class, Type: "hive", Properties: iceberg.Properties{}}
	maps.Copy(out.Properties, d.Properties)
	maps.DeleteFunc(out.Properties, func(k, _ string) bool { return !strings.HasPrefix(k, "hadoop.") && !strings.HasPrefix(k, "hive") })
	return out, true
}

// openWhole opens a catalog, and Spark's own behind it where there is one.
func openWhole(ctx context.Context, open Opener, d Definition, locations storage.Map) (Catalog, error) {
	front, err := open(ctx, d, locations)
	behind, two := d.builtin()
	if err != nil || !two || front == nil {
		return front, err
	}
	back, err := open(ctx, behind, locations)
	if err == nil && back == nil {
		err = fault.New(fault.Internal, "the opener gave no catalog")
	}
	if err != nil {
		return nil, errors.Join(fault.Wrap(err, "open Spark's own catalog behind it"), front.Close())
	}
	return tandem{front, back}, nil
}

// tandem is two catalogs of one name: what the first does not have is looked for in the second.
type tandem struct{ front, back Catalog }

var _ Catalog = tandem{}

// Capabilities are those of the first, and what either lists.
func (t tandem) Capabilities() Capabilities {
	c, back := t.front.Capabilities(), t.back.Capabilities()
	c.Views, c.Files, c.Partitions = c.Views || back.Views, c.Files || back.Files, c.Partitions || back.Partitions
	return c
}

// Close closes both.
func (t tandem) Close() error { return errors.Join(t.front.Close(), t.back.Close()) }

// LoadNamespace gives the first's properties, else the second's.
func (t tandem) LoadNamespace(ctx context.Context, ns table.Identifier) (iceberg.Properties, error) {
	p, err := t.front.LoadNamespace(ctx, ns)
	if fault.Is(err, fault.NotFound) {
		return t.back.LoadNamespace(ctx, ns)
	}
	return p, err
}

// Load loads from the first, else from the second.
func (t tandem) Load(ctx context.Context, req LoadRequest) (*Table, error) {
	found, err := t.front.Load(ctx, req)
	if !fault.Is(err, fault.NotFound) {
		return found, err
	}
	req.Held = "" // it was the first's
	found, behindErr := t.back.Load(ctx, req)
	if fault.Is(behindErr, fault.NotFound) {
		return nil, err
	}
	return found, behindErr
}

// Report passes a report to the first, to which Capabilities' Reports belongs.
func (t tandem) Report(ctx context.Context, id table.Identifier, report []byte) error {
	reporter, ok := t.front.(Reporter)
	if !ok {
		return fault.New(fault.Unsupported, "the catalog takes no reports of scans")
	}
	return reporter.Report(ctx, id, report)
}

// Namespaces yields those of both.
func (t tandem) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return merged(t.front.Namespaces(ctx, parent), t.back.Namespaces(ctx, parent), func(id table.Identifier) table.Identifier { return id })
}

// Tables yields those of both; of two with one name the first's.
func (t tandem) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[Entry, error] {
	if len(ns) == 0 {
		return t.front.Tables(ctx, ns)
	}
	return merged(t.front.Tables(ctx, ns), t.back.Tables(ctx, ns), func(e Entry) table.Identifier { return e.Identifier })
}

// merged yields two listings in byte order as one; of equal names the first's. Where one says that there is nothing to list, the other's is the
// whole listing; where both do, that is the error.
func merged[E any](first, second iter.Seq2[E, error], name func(E) table.Identifier) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		a, stopA := iter.Pull2(first)
		defer stopA()
		b, stopB := iter.Pull2(second)
		defer stopB()
		left, leftErr, leftOK := a()
		right, rightErr, rightOK := b()
		if fault.Is(leftErr, fault.NotFound) && !fault.Is(rightErr, fault.NotFound) {
			leftErr, leftOK = nil, false
		} else if fault.Is(rightErr, fault.NotFound) {
			rightErr, rightOK = nil, false
		}
		var none E
		for leftOK || rightOK {
			if err := firstError(leftErr, rightErr); err != nil {
				yield(none, err)
				return
			}
			order := 0
			switch {
			case !rightOK:
				order = -1
			case !leftOK:
				order = 1
			default:
				order = slices.Compare(name(left), name(right))
			}
			next := left
			if order > 0 {
				next = right
			}
			if !yield(next, nil) {
				return
			}
			if order <= 0 {
				left, leftErr, leftOK = a()
			}
			if order >= 0 {
				right, rightErr, rightOK = b()
			}
		}
	}
}

// firstError gives the first error of two.
func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
