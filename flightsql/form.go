package flightsql

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/session"
)

// The options that change how a session's results are sent.
const (
	timestampsOption   = "skua.result.timestamps"
	nestedOption       = "skua.result.nested"
	uuidsOption        = "skua.result.uuids"
	decimalsOption     = "skua.result.decimals"
	compressionOption  = "skua.flight.compression"
	dictionariesOption = "skua.flight.dictionaries"
)

// form is how a result is sent where its reader cannot take it as it is. It is in the ticket, since it decides the schema. The zero form changes nothing.
type form struct {
	ZoneLess     bool   `json:"zoneless,omitempty"`     // timestamps with a zone lose it: what they show is UTC
	JSON         bool   `json:"json,omitempty"`         // lists, maps and structs are JSON text
	TextUUIDs    bool   `json:"uuids,omitempty"`        // uuids are text
	Doubles      bool   `json:"doubles,omitempty"`      // decimals are doubles
	Dictionaries bool   `json:"dictionaries,omitempty"` // columns of strings are dictionary-encoded
	Compression  string `json:"compression,omitempty"`  // of bodies: lz4 or zstd
	Described    bool   `json:"described,omitempty"`    // fields say precision, scale and what else a driver asks of a type
}

// plain reports whether batches are sent as they are.
func (f form) plain() bool {
	f.Described = false
	return f == form{}
}

// formOf reads a session's options. prepared says that the statement came as a prepared one, which is the only way of JDBC.
func (c *caller) formOf(state session.State, prepared bool) form {
	is := func(option, value string) bool {
		v, _ := state.Get(option)
		return strings.EqualFold(strings.TrimSpace(v), value)
	}
	set, _ := state.Get(timestampsOption)
	auto := set == "" || is(timestampsOption, "auto")
	f := form{ZoneLess: is(timestampsOption, "zoneless") || auto && prepared && c.failsOnZones(), JSON: is(nestedOption, "json"),
		TextUUIDs: is(uuidsOption, "text"), Doubles: is(decimalsOption, "double")}
	if f.Described = c.isJava(); f.Described {
		return f
	}
	f.Dictionaries = is(dictionariesOption, "true")
	for _, codec := range []string{"lz4", "zstd"} {
		if is(compressionOption, codec) {
			f.Compression = codec
		}
	}
	return f
}

// isJava reports whether a client is one of Java: Arrow's driver there has no codecs in it, shows the indices of dictionaries, and knows the precision and scale
// of a column by the metadata of its field alone.
func (c *caller) isJava() bool { return strings.HasPrefix(c.header("user-agent"), "grpc-java") }

// failsOnZones reports whether a prepared statement may come from the release of Arrow's JDBC driver whose getObject fails on timestamps with a zone:
// 18.3, which is known by its transport.
func (c *caller) failsOnZones() bool {
	return strings.HasPrefix(c.header("user-agent"), "grpc-java-netty/1.71.")
}

// ipcOptions are the form's for writing batches.
func (f form) ipcOptions() []ipc.Option {
	switch f.Compression {
	case "lz4":
		return []ipc.Option{ipc.WithLZ4()}
	case "zstd":
		return []ipc.Option{ipc.WithZstd()}
	}
	return nil
}

// schema gives a result's schema in this form: wireSchema's, changed.
func (f form) schema(result *arrow.Schema) (*arrow.Schema, error) {
	clean, err := wireSchema(result)
	if err != nil || f == (form{}) {
		return clean, err
	}
	fields := clean.Fields()
	for i := range fields {
		fields[i] = f.field(fields[i])
		if f.Described {
			fields[i].Metadata = described(fields[i], result.Field(i).Metadata)
		}
		if f.Dictionaries && fields[i].Type.ID() == arrow.STRING {
			fields[i].Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		}
	}
	return arrow.NewSchema(fields, nil), nil
}

// described is a field's metadata with what drivers make of its type, and which table it is a column of, where the engine tells so in its own metadata.
func described(f arrow.Field, told arrow.Metadata) arrow.Metadata {
	keys, values := typeMetadata(f.Type)
	for _, origin := range [...]struct{ told, key string }{{engine.CatalogKey, upstream.CatalogNameKey}, {engine.SchemaKey, upstream.SchemaNameKey}, {engine.TableKey, upstream.TableNameKey}} {
		if value, ok := told.GetValue(origin.told); ok {
			keys, values = append(keys, origin.key), append(values, value)
		}
	}
	return arrow.NewMetadata(append(keys, f.Metadata.Keys()...), append(values, f.Metadata.Values()...))
}

func (f form) field(in arrow.Field) arrow.Field {
	in.Type = f.typ(in.Type)
	return in
}

// typ gives what a type becomes.
func (f form) typ(t arrow.DataType) arrow.DataType {
	if f.TextUUIDs && isUUID(t) {
		return arrow.BinaryTypes.String
	}
	if f.JSON && isNested(t) {
		return arrow.BinaryTypes.String
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		if f.ZoneLess {
			return &arrow.TimestampType{Unit: t.Unit}
		}
	case arrow.DecimalType:
		if f.Doubles {
			return arrow.PrimitiveTypes.Float64
		}
	case *arrow.MapType:
		out := arrow.MapOfFields(f.field(t.KeyField()), f.field(t.ItemField()))
		out.KeysSorted = t.KeysSorted
		return out
	case *arrow.ListType:
		return arrow.ListOfField(f.field(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(f.field(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), f.field(t.ElemField()))
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i := range fields {
			fields[i] = f.field(t.Field(i))
		}
		return arrow.StructOf(fields...)
	}
	return t
}

func isUUID(t arrow.DataType) bool {
	e, ok := t.(arrow.ExtensionType)
	return ok && e.ExtensionName() == "arrow.uuid"
}
