// Package hivetest speaks to Hive metastores, and plays them, by the Thrift library of its makers: an oracle for the client of package hive, which speaks
// Thrift by itself, and the way in which tests put tables into real metastores.
package hivetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
)

// Call calls a method of the metastore at host:port and gives the fields of its answer. An exception among them is an error.
func Call(ctx context.Context, address, method string, arguments map[int16]any) (map[int16]any, error) {
	socket := thrift.NewTSocketConf(address, nil)
	if err := socket.Open(); err != nil {
		return nil, err
	}
	defer socket.Close()
	p := thrift.NewTBinaryProtocolConf(thrift.NewTBufferedTransport(socket, 4096), &thrift.TConfiguration{TBinaryStrictWrite: thrift.BoolPtr(true)})
	err := p.WriteMessageBegin(ctx, method, thrift.CALL, 1)
	Write(ctx, p, arguments)
	if err = errors.Join(err, p.WriteMessageEnd(ctx), p.Flush(ctx)); err != nil {
		return nil, err
	}
	_, kind, _, err := p.ReadMessageBegin(ctx)
	if err != nil {
		return nil, err
	}
	answer, _ := Read(ctx, p, thrift.STRUCT).(map[int16]any)
	if kind == thrift.EXCEPTION {
		return nil, fmt.Errorf("%s: %v", method, answer)
	}
	for field, v := range answer {
		if thrown, ok := v.(map[int16]any); ok && field > 0 {
			return nil, fmt.Errorf("%s: %v", method, thrown)
		}
	}
	return answer, nil
}

// Read reads a value: a struct as map[int16]any, a list as []any, a string; others are skipped and nil.
func Read(ctx context.Context, p thrift.TProtocol, typ thrift.TType) any {
	switch typ {
	case thrift.STRUCT:
		out := map[int16]any{}
		_, _ = p.ReadStructBegin(ctx)
		for {
			_, field, id, err := p.ReadFieldBegin(ctx)
			if err != nil || field == thrift.STOP {
				return out
			}
			out[id] = Read(ctx, p, field)
			_ = p.ReadFieldEnd(ctx)
		}
	case thrift.LIST:
		of, n, _ := p.ReadListBegin(ctx)
		out := make([]any, n)
		for i := range out {
			out[i] = Read(ctx, p, of)
		}
		return out
	case thrift.STRING:
		s, _ := p.ReadString(ctx)
		return s
	}
	_ = p.Skip(ctx, typ)
	return nil
}

// Write writes a value of the kinds that Read gives, and numbers, truth values, maps and lists of strings, and lists of structs.
func Write(ctx context.Context, p thrift.TProtocol, v any) {
	switch v := v.(type) {
	case string:
		_ = p.WriteString(ctx, v)
	case int16:
		_ = p.WriteI16(ctx, v)
	case int32:
		_ = p.WriteI32(ctx, v)
	case bool:
		_ = p.WriteBool(ctx, v)
	case []string:
		_ = p.WriteListBegin(ctx, thrift.STRING, len(v))
		for _, e := range v {
			Write(ctx, p, e)
		}
	case []map[int16]any:
		_ = p.WriteListBegin(ctx, thrift.STRUCT, len(v))
		for _, e := range v {
			Write(ctx, p, e)
		}
	case map[string]string:
		_ = p.WriteMapBegin(ctx, thrift.STRING, thrift.STRING, len(v))
		for k, e := range v {
			Write(ctx, p, k)
			Write(ctx, p, e)
		}
	case map[int16]any:
		_ = p.WriteStructBegin(ctx, "")
		for id, e := range v {
			_ = p.WriteFieldBegin(ctx, "", typeInLibrary(e), id)
			Write(ctx, p, e)
		}
		_ = p.WriteFieldStop(ctx)
	}
}

func typeInLibrary(v any) thrift.TType {
	switch v.(type) {
	case string:
		return thrift.STRING
	case int16:
		return thrift.I16
	case int32:
		return thrift.I32
	case bool:
		return thrift.BOOL
	case map[string]string:
		return thrift.MAP
	case map[int16]any:
		return thrift.STRUCT
	}
	return thrift.LIST
}

// Table is a table as the metastore keeps it; its format, where the parameters do not say that it is Iceberg's, is CSV.
func Table(database, name, typ string, parameters map[string]string) map[int16]any {
	return map[int16]any{1: name, 2: database, 3: "crew", 4: int32(7), 12: typ, 9: parameters, 14: false,
		7: map[int16]any{1: []map[int16]any{{1: "id", 2: "bigint"}}, 2: "file:/w/" + name, 3: "org.apache.hadoop.mapred.TextInputFormat", 7: map[int16]any{2: "org.apache.hadoop.hive.serde2.OpenCSVSerde"}},
		8: []map[int16]any{}}
}
