package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/s2"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

// unread is a table or a view that a catalog loaded, whose metadata was found, and is not read yet.
type unread interface {
	Table(ctx context.Context) (openTable, error)
	View(ctx context.Context) ([]byte, error)
	// Kept gives what make made of the same metadata before, else what it makes; see scan.Unread.
	Kept(ctx context.Context, what string, make func() (any, int64, error)) (any, error)
	Close() error
}

// foundTable is an unread table over whose sources something may be laid.
type foundTable struct {
	*scan.Unread
	engine *Engine
}

// Table reads the metadata.
func (f foundTable) Table(ctx context.Context) (openTable, error) {
	t, err := f.Unread.Table(ctx)
	if err != nil {
		return nil, err
	}
	return f.engine.overlaid(t), nil
}

// told gives what a listing tells of a table or a view: what make makes of it, or made of the same metadata before. The table is loaded each time, so that a commit shows as
// soon as it shows to a query; what is made of its metadata is not made again.
func told[T any](ctx context.Context, e *Engine, catalog string, identifier []string, what string, make func(kind catalogs.Kind, u unread) (T, int64, error)) (T, error) {
	var none T
	loaded, err := e.config.Catalogs.Load(ctx, catalog, identifier, "", "")
	if err != nil {
		return none, err
	}
	u, err := e.find(ctx, loaded)
	if err != nil {
		return none, err
	}
	defer u.Close()
	kept, err := u.Kept(ctx, what+" "+syntax.QuoteName(identifier), func() (made any, size int64, err error) {
		defer fault.Recover(&err, fault.Internal, "read %s", syntax.QuoteName(identifier))
		return make(loaded.Kind, u)
	})
	if err != nil {
		return none, err
	}
	return kept.(T), nil
}

var noColumns = arrow.NewSchema(nil, nil)

// lookUpColumns finds a table's columns; it has none where that fails.
func (e *Engine) lookUpColumns(ctx context.Context, catalog string, t *listed) (err error) {
	t.out.Columns = noColumns
	columns, err := told(ctx, e, catalog, t.entry.Identifier, "columns", func(kind catalogs.Kind, u unread) (*arrow.Schema, int64, error) {
		columns, err := e.listedColumns(ctx, catalog, t.entry.Identifier, kind, u)
		if err != nil {
			return nil, 0, err
		}
		return columns, schemaBytes(columns), nil
	})
	if err == nil {
		t.out.Columns = columns
	}
	return err
}

// lookUpEncoded has a table's columns written down.
func (e *Engine) lookUpEncoded(ctx context.Context, catalog string, t *listed, encode func(TableEntry) []byte) error {
	entry := t.out
	err := guarded("read "+syntax.QuoteName(t.entry.Identifier), func() error {
		packed, err := told(ctx, e, catalog, t.entry.Identifier, "encoded", func(kind catalogs.Kind, u unread) (_ []byte, _ int64, err error) {
			if entry.Columns, err = e.listedColumns(ctx, catalog, t.entry.Identifier, kind, u); err != nil {
				return nil, 0, err
			}
			// What is written of one column is much like what is written of the next: packed, that of many tables fits into the memory for it.
			packed := slices.Clip(s2.Encode(nil, encode(entry)))
			return packed, int64(len(packed)), nil
		})
		if err == nil {
			t.out.Encoded, err = s2.Decode(nil, packed)
		}
		return err
	})
	if err != nil {
		entry.Columns = noColumns
		t.out.Encoded = encode(entry)
	}
	return err
}

// lookUpKey finds the names of a table's identifier fields.
func (e *Engine) lookUpKey(ctx context.Context, catalog string, t *listed) (err error) {
	t.out.key, err = told(ctx, e, catalog, t.entry.Identifier, "key", func(_ catalogs.Kind, u unread) ([]string, int64, error) {
		opened, err := u.Table(ctx)
		if err != nil {
			return nil, 0, err
		}
		d, err := opened.Describe("")
		size := int64(0)
		for _, name := range d.Identifier {
			size += fieldBytes + int64(len(name))
		}
		return d.Identifier, size, err
	})
	return err
}

// listedColumns gives the columns of a table or a view as SELECT * would, with their comments, which belong into a listing.
func (e *Engine) listedColumns(ctx context.Context, catalog string, identifier []string, kind catalogs.Kind, u unread) (*arrow.Schema, error) {
	schema, described, err := e.unreadSchema(ctx, catalog, identifier, kind, u)
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, 0, schema.NumFields())
	for i, f := range schema.Fields() {
		out := arrow.Field{Name: f.Name, Type: withoutMetadata(f.Type), Nullable: f.Nullable}
		var keys, values []string
		for n, key := range f.Metadata.Keys() {
			if value := f.Metadata.Values()[n]; key == scan.CommentKey && value != "" || strings.HasPrefix(key, extensionPrefix) {
				keys, values = append(keys, key), append(values, value)
			}
		}
		if i < len(described) && described[i].Name == f.Name && described[i].Type != sparkType(f.Type) {
			keys, values = append(keys, typeKey), append(values, described[i].Type)
		}
		if keys != nil {
			out.Metadata = arrow.NewMetadata(keys, values)
		}
		fields = append(fields, out)
	}
	return arrow.NewSchema(fields, nil), nil
}

// The metadata of a listing's columns: what begins so says of which extension type the column is, and under the key is the type as DESCRIBE spells it, where Arrow's does not tell.
const (
	extensionPrefix = "ARROW:extension:"
	typeKey         = "skua:type"
)

// describedType gives the type of a listing's column as DESCRIBE spells it.
func describedType(f arrow.Field) string {
	if typ, ok := f.Metadata.GetValue(typeKey); ok {
		return typ
	}
	return sparkType(f.Type)
}

// unreadSchema gives the columns of a table or a view, and of a table what DESCRIBE tells of them.
func (e *Engine) unreadSchema(ctx context.Context, catalog string, identifier []string, kind catalogs.Kind, u unread) (*arrow.Schema, []scan.ColumnInfo, error) {
	if kind == catalogs.KindView {
		m, err := readView(ctx, syntax.QuoteName(append([]string{catalog}, identifier...)), u)
		if err != nil {
			return nil, nil, err
		}
		return scan.ViewSchema(m.CurrentSchema()), nil, nil
	}
	opened, err := u.Table(ctx)
	if err != nil {
		return nil, nil, err
	}
	source, err := opened.Source(ctx, scan.Reference{})
	if err != nil {
		return nil, nil, err
	}
	d, err := opened.Describe("")
	return source.Schema(), d.Columns, err
}

// viewDefinition gives the text of a view, which is empty where the engine does not run it.
func (e *Engine) viewDefinition(ctx context.Context, catalog string, identifier []string) (string, error) {
	return told(ctx, e, catalog, identifier, "text", func(_ catalogs.Kind, u unread) (string, int64, error) {
		name := syntax.QuoteName(append([]string{catalog}, identifier...))
		m, err := readView(ctx, name, u)
		if err != nil {
			return "", 0, err
		}
		v, err := viewText(name, m)
		if err != nil {
			return "", 0, nil
		}
		return v.Text, int64(len(v.Text)), nil
	})
}

// fieldBytes is what a field needs in memory beside its name and its metadata, about.
const fieldBytes = 160

// schemaBytes is what a schema needs in memory, about.
func schemaBytes(s *arrow.Schema) (size int64) {
	for _, f := range s.Fields() {
		size += schemaFieldBytes(f)
	}
	return size
}

func schemaFieldBytes(f arrow.Field) int64 {
	size := int64(fieldBytes + 2*len(f.Name)) // in the field and in the schema's index
	for _, text := range slices.Concat(f.Metadata.Keys(), f.Metadata.Values()) {
		size += int64(16 + len(text))
	}
	if t, nested := f.Type.(arrow.NestedType); nested {
		for _, in := range t.Fields() {
			size += schemaFieldBytes(in)
		}
	}
	return size
}
