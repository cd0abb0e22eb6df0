package jdbc

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

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

// dialect is what differs between kinds of databases.
type dialect struct {
	table, column string                 // queries that count tables, and columns of a table, of a name
	numbered      bool                   // parameters are $1, $2, …, not ?
	transaction   bool                   // a question is a read-only transaction, not only a connection
	busy          func(error) bool       // somebody else holds the database: ask again; nil: never
	corrupt       func(error) bool       // the database breaks its format; nil: never
	holds         func(text string) bool // a text can be stored at all; nil: any can
}

// database asks one database. Every question is read to its end before it is answered.
type database struct {
	pool     *sql.DB
	name     string // without secrets
	dialect  dialect
	patience time.Duration // with a database that is busy
	limit    time.Duration // of a question; 0: none
}

// asker is where a question is asked: a connection or a transaction.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
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
	err := d.ask(ctx, func(ctx context.Context, c asker) error {
		out = nil
		query, args := "SELECT DISTINCT table_namespace FROM "+tablesTable+" WHERE catalog_name = ?", []any{catalog}
		has, err := d.hasTable(ctx, c, propertiesTable)
		if err != nil {
			return err
		}
		if !has {
			if some, err := d.hasTable(ctx, c, tablesTable); err != nil || !some {
				return err // nobody wrote to the catalog yet: the first one to do so makes its tables
			}
		} else {
			query, args = query+" UNION SELECT namespace FROM "+propertiesTable+" WHERE catalog_name = ?", append(args, catalog)
		}
		return d.each(ctx, c, query, args, func(row *sql.Rows) error {
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
	err := d.ask(ctx, func(ctx context.Context, c asker) error {
		clear(out)
		if has, err := d.hasTable(ctx, c, propertiesTable); err != nil || !has {
			return err
		}
		query := "SELECT property_key, property_value FROM " + propertiesTable + " WHERE catalog_name = ? AND namespace = ?"
		return d.each(ctx, c, query, []any{catalog, namespace}, func(row *sql.Rows) error {
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
	err := d.ask(ctx, func(ctx context.Context, c asker) error {
		out = nil
		typed, err := d.hasColumn(ctx, c, tablesTable, "iceberg_type")
		if err != nil {
			return err
		}
		columns := "table_name, metadata_location, NULL"
		if !typed {
			if some, err := d.hasTable(ctx, c, tablesTable); err != nil || !some {
				return err
			}
		} else {
			columns = "table_name, metadata_location, iceberg_type"
		}
		query, args := "SELECT "+columns+" FROM "+tablesTable+" WHERE catalog_name = ? AND table_namespace = ?", []any{catalog, namespace}
		if name != nil {
			query, args = query+" AND table_name = ?", append(args, *name)
		}
		return d.each(ctx, c, query, args, func(row *sql.Rows) error {
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
	// Databases compare texts in ways of their own, some without case.
	if name != nil {
		out = slices.DeleteFunc(out, func(e entry) bool { return e.name != *name })
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return out, err
}

// ask runs a question, again while someone else holds the database, for as long as patience and context last.
func (d *database) ask(caller context.Context, question func(context.Context, asker) error) error {
	ctx, cancel := caller, context.CancelFunc(func() {})
	if d.limit > 0 {
		ctx, cancel = context.WithTimeout(caller, d.limit)
	}
	defer cancel()
	give := time.NewTimer(d.patience)
	defer give.Stop()
	for {
		err := d.once(ctx, question)
		if err == nil {
			return nil
		}
		if d.dialect.busy == nil || !d.dialect.busy(err) {
			return d.classify(caller, ctx, err)
		}
		pause := time.NewTimer(retryEvery)
		select {
		case <-pause.C:
		case <-give.C:
			pause.Stop()
			return fault.New(fault.Unavailable, "the catalog's database %s is busy", d.name).In(d.name)
		case <-ctx.Done():
			pause.Stop()
			return fault.Wrap(ctx.Err(), "wait for the catalog's database %s", d.name)
		}
	}
}

func (d *database) once(ctx context.Context, question func(context.Context, asker) error) error {
	if d.dialect.transaction {
		tx, err := d.pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		err = question(ctx, tx)
		if undone := tx.Rollback(); err == nil {
			err = undone
		}
		return err
	}
	c, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(question(ctx, c), c.Close())
}

// each runs a query and hands every row out.
func (d *database) each(ctx context.Context, c asker, query string, args []any, row func(*sql.Rows) error) error {
	for _, arg := range args {
		if text, ok := arg.(string); ok && d.dialect.holds != nil && !d.dialect.holds(text) {
			return nil // then nothing has that name
		}
	}
	rows, err := c.QueryContext(ctx, d.dialect.spell(query), args...)
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

func (d *database) hasTable(ctx context.Context, c asker, name string) (found bool, err error) {
	err = c.QueryRowContext(ctx, d.dialect.spell(d.dialect.table), name).Scan(&found)
	return found, err
}

func (d *database) hasColumn(ctx context.Context, c asker, table, column string) (found bool, err error) {
	err = c.QueryRowContext(ctx, d.dialect.spell(d.dialect.column), table, column).Scan(&found)
	return found, err
}

// classify gives the driver's error its kind and names the database.
func (d *database) classify(caller, ctx context.Context, err error) error {
	if left := caller.Err(); left != nil {
		return fault.Wrap(left, "read the catalog's database %s", d.name)
	}
	if ctx.Err() != nil {
		return fault.New(fault.Unavailable, "the catalog's database %s did not answer within %s", d.name, d.limit).In(d.name)
	}
	kind := fault.Unavailable
	if d.dialect.corrupt != nil && d.dialect.corrupt(err) {
		kind = fault.Corrupt
	}
	return fault.New(kind, "read the catalog's database %s: %w", d.name, err).In(d.name)
}

// spell numbers a query's parameters where the database wants that.
func (d dialect) spell(query string) string {
	if !d.numbered {
		return query
	}
	for n := 1; strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", "$"+strconv.Itoa(n), 1)
	}
	return query
}
