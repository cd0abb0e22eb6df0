package jdbc

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// retryEvery is the pause between looks at a database that is busy.
const retryEvery = 20 * time.Millisecond

// The tables of a JdbcCatalog.
const (
	tablesTable     = "iceberg_tables"
	propertiesTable = "iceberg_namespace_properties"
)

// database asks one SQLite file. Every question is a connection of its own and is read to its end before it is answered.
type database struct {
	pool     *sql.DB
	path     string
	patience time.Duration
}

// entry is a row of iceberg_tables.
type entry struct {
	name, location string
	typ            sql.NullString // invalid: V0, or a row older than the column
}

// kind says what a row is.
func (e entry) kind() (catalogs.Kind, error) {
	switch {
	case !e.typ.Valid || e.typ.String == "TABLE":
		return catalogs.KindTable, nil
	case e.typ.String == "VIEW":
		return catalogs.KindView, nil
	}
	return 0, fault.New(fault.Unsupported, "entries of type %q are not supported", e.typ.String)
}

// namespaces gives every namespace that a row of the catalog names.
func (d *database) namespaces(ctx context.Context, catalog string) ([]table.Identifier, error) {
	var out []table.Identifier
	err := d.ask(ctx, func(ctx context.Context, c *sql.Conn) error {
		out = nil
		query, args := "SELECT DISTINCT table_namespace FROM "+tablesTable+" WHERE catalog_name = ?", []any{catalog}
		has, err := hasTable(ctx, c, propertiesTable)
		if err != nil {
			return err
		}
		if has {
			query, args = query+" UNION SELECT namespace FROM "+propertiesTable+" WHERE catalog_name = ?", append(args, catalog)
		}
		return each(ctx, c, query, args, func(row *sql.Rows) error {
			var stored sql.NullString
			if err := row.Scan(&stored); err != nil {
				return err
			}
			if stored.String != "" {
				out = append(out, decode(stored.String))
			}
			return nil
		})
	})
	return out, err
}

// properties gives the stored properties of a namespace.
func (d *database) properties(ctx context.Context, catalog, namespace string) (iceberg.Properties, error) {
	out := iceberg.Properties{}
	err := d.ask(ctx, func(ctx context.Context, c *sql.Conn) error {
		clear(out)
		if has, err := hasTable(ctx, c, propertiesTable); err != nil || !has {
			return err
		}
		query := "SELECT property_key, property_value FROM " + propertiesTable + " WHERE catalog_name = ? AND namespace = ?"
		return each(ctx, c, query, []any{catalog, namespace}, func(row *sql.Rows) error {
			var key, value sql.NullString
			if err := row.Scan(&key, &value); err != nil {
				return err
			}
			if key.Valid {
				out[key.String] = value.String
			}
			return nil
		})
	})
	return out, err
}

// entries yields the rows of a namespace, or the one called name, in byte order.
func (d *database) entries(ctx context.Context, catalog, namespace string, name *string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		rows, err := d.read(ctx, catalog, namespace, name)
		if err != nil {
			yield(entry{}, err)
			return
		}
		for _, e := range rows {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (d *database) read(ctx context.Context, catalog, namespace string, name *string) ([]entry, error) {
	var out []entry
	err := d.ask(ctx, func(ctx context.Context, c *sql.Conn) error {
		out = nil
		typed, err := hasColumn(ctx, c, tablesTable, "iceberg_type")
		if err != nil {
			return err
		}
		columns := "table_name, metadata_location, NULL"
		if typed {
			columns = "table_name, metadata_location, iceberg_type"
		}
		query, args := "SELECT "+columns+" FROM "+tablesTable+" WHERE catalog_name = ? AND table_namespace = ?", []any{catalog, namespace}
		if name != nil {
			query, args = query+" AND table_name = ?", append(args, *name)
		}
		return each(ctx, c, query+" ORDER BY table_name COLLATE BINARY", args, func(row *sql.Rows) error {
			var e entry
			var name, location sql.NullString
			if err := row.Scan(&name, &location, &e.typ); err != nil {
				return err
			}
			e.name, e.location = name.String, location.String
			out = append(out, e)
			return nil
		})
	})
	return out, err
}

// ask runs a question on a connection of its own, again while someone else holds the database, for as long as patience and context last.
func (d *database) ask(ctx context.Context, question func(context.Context, *sql.Conn) error) error {
	give := time.NewTimer(d.patience)
	defer give.Stop()
	for {
		err := d.once(ctx, question)
		if err == nil {
			return nil
		}
		if code := codeOf(err) & 0xff; code != sqlite3.SQLITE_BUSY && code != sqlite3.SQLITE_LOCKED {
			return d.classify(ctx, err)
		}
		pause := time.NewTimer(retryEvery)
		select {
		case <-pause.C:
		case <-give.C:
			pause.Stop()
			return fault.New(fault.Unavailable, "the catalog's database %s is busy", d.path).In(d.path)
		case <-ctx.Done():
			pause.Stop()
			return fault.Wrap(ctx.Err(), "wait for the catalog's database %s", d.path)
		}
	}
}

func (d *database) once(ctx context.Context, question func(context.Context, *sql.Conn) error) error {
	c, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(question(ctx, c), c.Close())
}

// each runs a query and hands every row out.
func each(ctx context.Context, c *sql.Conn, query string, args []any, row func(*sql.Rows) error) error {
	rows, err := c.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func hasTable(ctx context.Context, c *sql.Conn, name string) (found bool, err error) {
	err = c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?", name).Scan(&found)
	return found, err
}

func hasColumn(ctx context.Context, c *sql.Conn, table, column string) (found bool, err error) {
	err = c.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?", table, column).Scan(&found)
	return found, err
}

func codeOf(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// classify gives the driver's error its kind and names the file.
func (d *database) classify(ctx context.Context, err error) error {
	if left := ctx.Err(); left != nil {
		return fault.Wrap(left, "read the catalog's database %s", d.path)
	}
	kind := fault.Unavailable
	if slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}, codeOf(err)&0xff) {
		kind = fault.Corrupt
	}
	return fault.New(kind, "read the catalog's database %s: %w", d.path, err).In(d.path)
}
