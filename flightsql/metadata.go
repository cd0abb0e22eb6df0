package flightsql

import (
	"context"
	"iter"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// listing is the answer to a metadata command. Batches are made while they are sent; the receiver releases them.
type listing struct {
	schema  *arrow.Schema
	batches iter.Seq2[arrow.RecordBatch, error]
}

// The most rows of a listing's batch, and of one with table schemas in it.
const (
	listingRows = 1024
	schemaRows  = 64
)

// listing gives what a metadata command lists.
func (s *Server) listing(ctx context.Context, command proto.Message) (listing, error) {
	switch c := command.(type) {
	case *pb.CommandGetCatalogs:
		return s.catalogs(), nil
	case *pb.CommandGetDbSchemas:
		return s.schemas(ctx, c)
	case *pb.CommandGetTables:
		return s.tables(ctx, c)
	case *pb.CommandGetTableTypes:
		return s.tableTypes(ctx)
	case *pb.CommandGetSqlInfo:
		return s.sqlInfo(ctx, c.GetInfo()), nil
	case *pb.CommandGetXdbcTypeInfo:
		return s.typeInfo(c.DataType), nil
	case *pb.CommandGetPrimaryKeys:
		return s.primaryKeys(ctx, c)
	case *pb.CommandGetExportedKeys:
		return s.list(schema_ref.ExportedKeys, listingRows, nothing), nil
	case *pb.CommandGetImportedKeys:
		return s.list(schema_ref.ImportedKeys, listingRows, nothing), nil
	case *pb.CommandGetCrossReference:
		return s.list(schema_ref.CrossReference, listingRows, nothing), nil
	}
	return listing{}, fault.New(fault.Invalid, "the ticket is not one of this server's")
}

// list collects the rows that fill appends into batches. fill calls flush after each row and stops when it is false.
func (s *Server) list(schema *arrow.Schema, rows int, fill func(b *array.RecordBuilder, flush func() bool) error) listing {
	return listing{schema, func(yield func(arrow.RecordBatch, error) bool) {
		b := array.NewRecordBuilder(s.mem, schema)
		defer b.Release()
		stopped, pending := false, 0
		err := fill(b, func() bool {
			if pending++; pending >= rows {
				pending = 0
				stopped = !yield(b.NewRecordBatch(), nil)
			}
			return !stopped
		})
		switch {
		case stopped:
		case err != nil:
			yield(nil, err)
		case pending > 0:
			yield(b.NewRecordBatch(), nil)
		}
	}}
}

// nothing lists nothing: Iceberg has no keys that refer to others.
func nothing(*array.RecordBuilder, func() bool) error { return nil }

func text(b *array.RecordBuilder, column int, v string) {
	b.Field(column).(*array.StringBuilder).Append(v)
}

func (s *Server) catalogs() listing {
	return s.list(schema_ref.Catalogs, listingRows, func(b *array.RecordBuilder, flush func() bool) error {
		for _, name := range s.config.Engine.CatalogNames() {
			if text(b, 0, name); !flush() {
				break
			}
		}
		return nil
	})
}

func (s *Server) schemas(ctx context.Context, c *pb.CommandGetDbSchemas) (listing, error) {
	current, err := s.session(ctx)
	if err != nil {
		return listing{}, err
	}
	return s.list(schema_ref.DBSchemas, listingRows, func(b *array.RecordBuilder, flush func() bool) error {
		for e, err := range s.config.Engine.Schemas(ctx, current.State(), c.Catalog, c.DbSchemaFilterPattern) {
			if err != nil {
				return err
			}
			text(b, 0, e.Catalog)
			if text(b, 1, e.Schema); !flush() {
				break
			}
		}
		return nil
	}), nil
}

// primaryKeys lists a table's identifier fields, which is what Iceberg has for a key. Names are exact, but for the one that some tools send for every table.
func (s *Server) primaryKeys(ctx context.Context, c *pb.CommandGetPrimaryKeys) (listing, error) {
	current, err := s.session(ctx)
	if err != nil {
		return listing{}, err
	}
	filter := engine.TableFilter{Catalog: c.Catalog}
	if c.DbSchema != nil {
		pattern := escapePattern(c.GetDbSchema())
		filter.SchemaPattern = &pattern
	}
	if c.GetTable() != "%" {
		pattern := escapePattern(c.GetTable())
		filter.NamePattern = &pattern
	}
	return s.list(schema_ref.PrimaryKeys, listingRows, func(b *array.RecordBuilder, flush func() bool) error {
		for k, err := range s.config.Engine.Keys(ctx, current.State(), filter) {
			if err != nil {
				return err
			}
			text(b, 0, k.Catalog)
			text(b, 1, k.Schema)
			text(b, 2, k.Table)
			text(b, 3, k.Column)
			b.Field(4).(*array.Int32Builder).Append(int32(k.Sequence))
			b.Field(5).AppendNull() // keys have no names
			if !flush() {
				break
			}
		}
		return nil
	}), nil
}

// The types of tables. Clients that ask for the SQL standard's BASE TABLE mean TABLE.
const (
	tableType     = "TABLE"
	viewType      = "VIEW"
	baseTableType = "BASE TABLE"
)

// tableTypesOption chooses their case.
const tableTypesOption = "skua.result.table-types"

// typeSpelling is how a session wants them spelled. Where it does not say, ADBC's clients get lower case, as from ADBC's drivers for other databases.
func typeSpelling(c *caller, st session.State) func(string) string {
	switch v, _ := st.Get(tableTypesOption); {
	case strings.EqualFold(v, "lower"), !strings.EqualFold(v, "upper") && strings.HasPrefix(c.agent(), adbcAgent):
		return strings.ToLower
	}
	return func(typ string) string { return typ }
}

// adbcAgent begins the name that the ADBC driver calls itself.
const adbcAgent = "ADBC Flight SQL Driver"

func (s *Server) tableTypes(ctx context.Context) (listing, error) {
	current, err := s.session(ctx)
	if err != nil {
		return listing{}, err
	}
	spelled := typeSpelling(callerOf(ctx), current.State())
	return s.list(schema_ref.TableTypes, listingRows, func(b *array.RecordBuilder, flush func() bool) error {
		text(b, 0, spelled(tableType))
		flush()
		text(b, 0, spelled(viewType))
		flush()
		return nil
	}), nil
}

func (s *Server) tables(ctx context.Context, c *pb.CommandGetTables) (listing, error) {
	current, err := s.session(ctx)
	if err != nil {
		return listing{}, err
	}
	filter := engine.TableFilter{Catalog: c.Catalog, SchemaPattern: c.DbSchemaFilterPattern, NamePattern: c.TableNameFilterPattern}
	for _, t := range c.GetTableTypes() {
		if t = strings.ToUpper(t); t == baseTableType {
			t = tableType
		}
		filter.Types = append(filter.Types, t)
	}
	spelled := typeSpelling(callerOf(ctx), current.State())
	schema, rows := schema_ref.Tables, listingRows
	if c.GetIncludeSchema() {
		schema, rows, filter.Encode = schema_ref.TablesWithIncludedSchema, schemaRows, encodedColumns
	}
	return s.list(schema, rows, func(b *array.RecordBuilder, flush func() bool) error {
		for e, err := range s.tableEntries(ctx, current.State(), filter) {
			if err != nil {
				return err
			}
			text(b, 0, e.Catalog)
			text(b, 1, e.Schema)
			text(b, 2, e.Name)
			text(b, 3, spelled(e.Type))
			if filter.Encode != nil {
				b.Field(4).(*array.BinaryBuilder).Append(e.Encoded)
			}
			if !flush() {
				break
			}
		}
		return nil
	}), nil
}

// encodedColumns gives the schema of a table as GetTables sends it. It is the same in every session: what a session wants sent otherwise, results are.
func encodedColumns(e engine.TableEntry) []byte {
	return flight.SerializeSchema(tableSchema(e), memory.DefaultAllocator)
}

// tableEntries lists tables. When a name is asked for in every schema, the current schema's come first: a client that wants one table takes the first.
func (s *Server) tableEntries(ctx context.Context, st session.State, f engine.TableFilter) iter.Seq2[engine.TableEntry, error] {
	if f.NamePattern == nil || f.Catalog != nil || f.SchemaPattern != nil || st.Catalog == "" || len(st.Namespace) == 0 {
		return s.config.Engine.Tables(ctx, st, f)
	}
	return func(yield func(engine.TableEntry, error) bool) {
		here, current := f, engine.SchemaName(st.Namespace)
		pattern := escapePattern(current)
		here.Catalog, here.SchemaPattern = &st.Catalog, &pattern
		first := map[string]bool{}
		for e, err := range s.config.Engine.Tables(ctx, st, here) {
			if err != nil { // not asked for by the client: a catalog as the others
				break
			}
			if first[e.Name] = true; !yield(e, nil) {
				return
			}
		}
		for e, err := range s.config.Engine.Tables(ctx, st, f) {
			if err == nil && e.Catalog == st.Catalog && e.Schema == current && first[e.Name] {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// escapePattern makes a pattern that only a text itself matches.
func escapePattern(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i]; c == '%' || c == '_' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, text[i])
	}
	return string(out)
}

// metadataInfo is the FlightInfo of a listing: its ticket is the command, so it costs nothing until it is fetched.
func (s *Server) metadataInfo(d *flight.FlightDescriptor, schema *arrow.Schema) (*flight.FlightInfo, error) {
	return &flight.FlightInfo{Schema: flight.SerializeSchema(schema, s.mem), FlightDescriptor: d, TotalRecords: -1, TotalBytes: -1,
		Endpoint: []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: d.GetCmd()}}}}, nil
}

// GetFlightInfoCatalogs points to the list of catalogs.
func (s *Server) GetFlightInfoCatalogs(_ context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.Catalogs)
}

// GetFlightInfoSchemas points to the list of schemas.
func (s *Server) GetFlightInfoSchemas(_ context.Context, _ upstream.GetDBSchemas, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.DBSchemas)
}

// GetFlightInfoTables points to the list of tables.
func (s *Server) GetFlightInfoTables(_ context.Context, c upstream.GetTables, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if c.GetIncludeSchema() {
		return s.metadataInfo(d, schema_ref.TablesWithIncludedSchema)
	}
	return s.metadataInfo(d, schema_ref.Tables)
}

// GetFlightInfoTableTypes points to the types of tables.
func (s *Server) GetFlightInfoTableTypes(_ context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.TableTypes)
}

// GetFlightInfoSqlInfo points to what the server can do.
func (s *Server) GetFlightInfoSqlInfo(_ context.Context, _ upstream.GetSqlInfo, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.SqlInfo)
}

// GetFlightInfoXdbcTypeInfo points to the types of columns.
func (s *Server) GetFlightInfoXdbcTypeInfo(_ context.Context, _ upstream.GetXdbcTypeInfo, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.XdbcTypeInfo)
}

// GetFlightInfoPrimaryKeys points to the columns of a table's key.
func (s *Server) GetFlightInfoPrimaryKeys(_ context.Context, _ upstream.TableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.PrimaryKeys)
}

// GetFlightInfoExportedKeys points to an empty list.
func (s *Server) GetFlightInfoExportedKeys(_ context.Context, _ upstream.TableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.ExportedKeys)
}

// GetFlightInfoImportedKeys points to an empty list.
func (s *Server) GetFlightInfoImportedKeys(_ context.Context, _ upstream.TableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.ImportedKeys)
}

// GetFlightInfoCrossReference points to an empty list.
func (s *Server) GetFlightInfoCrossReference(_ context.Context, _ upstream.CrossTableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.metadataInfo(d, schema_ref.CrossReference)
}
