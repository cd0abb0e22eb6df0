package conformance

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
)

// metadataCalls are Flight SQL's metadata calls, by the names under which scripts make them.
var metadataCalls = map[string]func(ctx context.Context, c *Client, args map[string]string) (*flight.FlightInfo, error){
	"catalogs": func(ctx context.Context, c *Client, _ map[string]string) (*flight.FlightInfo, error) {
		return c.sql.GetCatalogs(ctx)
	},
	"schemas": func(ctx context.Context, c *Client, args map[string]string) (*flight.FlightInfo, error) {
		return c.sql.GetDBSchemas(ctx, &flightsql.GetDBSchemasOpts{Catalog: optional(args, "catalog"), DbSchemaFilterPattern: optional(args, "schema")})
	},
	"tables": func(ctx context.Context, c *Client, args map[string]string) (*flight.FlightInfo, error) {
		o := &flightsql.GetTablesOpts{Catalog: optional(args, "catalog"), DbSchemaFilterPattern: optional(args, "schema"), TableNameFilterPattern: optional(args, "table")}
		if types, ok := args["types"]; ok {
			o.TableTypes = strings.Split(strings.ReplaceAll(types, "_", " "), ",")
		}
		return c.sql.GetTables(ctx, o)
	},
	"table-types": func(ctx context.Context, c *Client, _ map[string]string) (*flight.FlightInfo, error) {
		return c.sql.GetTableTypes(ctx)
	},
	"sql-info": func(ctx context.Context, c *Client, _ map[string]string) (*flight.FlightInfo, error) {
		return c.sql.GetSqlInfo(ctx, nil)
	},
	"type-info": func(ctx context.Context, c *Client, args map[string]string) (*flight.FlightInfo, error) {
		if text, ok := args["type"]; ok {
			code, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("call type-info: type: %w", err)
			}
			only := int32(code)
			return c.sql.GetXdbcTypeInfo(ctx, &only)
		}
		return c.sql.GetXdbcTypeInfo(ctx, nil)
	},
	"primary-keys": func(ctx context.Context, c *Client, args map[string]string) (*flight.FlightInfo, error) {
		return c.sql.GetPrimaryKeys(ctx, flightsql.TableRef{Catalog: optional(args, "catalog"), DBSchema: optional(args, "schema"), Table: args["table"]})
	},
	"imported-keys": func(ctx context.Context, c *Client, args map[string]string) (*flight.FlightInfo, error) {
		return c.sql.GetImportedKeys(ctx, flightsql.TableRef{Catalog: optional(args, "catalog"), DBSchema: optional(args, "schema"), Table: args["table"]})
	},
}

func optional(args map[string]string, name string) *string {
	if v, ok := args[name]; ok {
		return &v
	}
	return nil
}

// Call makes a metadata call: catalogs, schemas, tables, table-types, sql-info, type-info, primary-keys, imported-keys. Arguments are spelled
// NAME=VALUE: catalog, schema and table are the filters, types the table types with commas between and _ for a blank, type
// the code of a type.
func (c *Client) Call(ctx context.Context, name string, args []string) (*Answer, error) {
	call, ok := metadataCalls[name]
	if !ok {
		return nil, fmt.Errorf("call: %q is no metadata call", name)
	}
	given := map[string]string{}
	for _, a := range args {
		key, value, ok := strings.Cut(a, "=")
		if !ok {
			return nil, fmt.Errorf("call %s: expected NAME=VALUE, not %q", name, a)
		}
		given[key] = value
	}
	ctx = c.Context(ctx)
	info, err := call(ctx, c, given)
	if err != nil {
		return nil, err
	}
	return c.fetch(ctx, info, false)
}
