package hivetest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/apache/thrift/lib/go/thrift"
)

// Server is a metastore in memory, which speaks Thrift by the library of its makers. Its fields are set before Start, or between calls.
type Server struct {
	Lacks      []string // methods that this version does not have
	Databases  map[string]map[string]string
	Tables     map[string]map[int16]any   // by database.table
	Partitions map[string][]map[int16]any // by database.table
	Framed     bool
	HangUp     string // a method at which the connection is closed, once
	Garbage    []byte // sent instead of an answer

	listener net.Listener
	mu       sync.Mutex
	calls    []string
	open     map[net.Conn]bool
}

// The methods that versions lack.
var (
	Hive2 = []string{"get_table_req", "get_table_objects_by_name_req", "get_database_req", "get_partitions_by_names_req", "get_partition_names_req"}
	Hive3 = []string{"get_database_req", "get_partitions_by_names_req", "get_partition_names_req"}
	Hive4 = []string{"get_table", "get_table_objects_by_name", "get_database", "get_partitions_by_names", "get_partition_names"}
)

// Start listens on loopback and gives the address as a client's uri. Stop ends it.
func (s *Server) Start() (uri string, err error) {
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return "", err
	}
	s.open = map[net.Conn]bool{}
	go s.accept() // ends with Stop
	return "thrift://" + s.listener.Addr().String(), nil
}

// Stop closes the listener and every connection.
func (s *Server) Stop() {
	_ = s.listener.Close()
	s.Cut()
}

// Cut closes every connection, as a restart does.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Close()
	}
	clear(s.open)
}

// Recover makes it answer again, after Garbage.
func (s *Server) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Garbage = nil
}

// Count tells how often a method was called.
func (s *Server) Count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == method {
			n++
		}
	}
	return n
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[c] = true
		s.mu.Unlock()
		go s.serve(c)
	}
}

func (s *Server) serve(c net.Conn) {
	ctx := context.Background()
	var transport thrift.TTransport = thrift.NewTBufferedTransport(thrift.NewTSocketFromConnConf(c, nil), 4096)
	if s.Framed {
		transport = thrift.NewTFramedTransportConf(thrift.NewTSocketFromConnConf(c, nil), nil)
	}
	p := thrift.NewTBinaryProtocolConf(transport, &thrift.TConfiguration{TBinaryStrictWrite: thrift.BoolPtr(true)})
	for {
		method, _, sequence, err := p.ReadMessageBegin(ctx)
		if err != nil {
			return
		}
		arguments, _ := Read(ctx, p, thrift.STRUCT).(map[int16]any)
		_ = p.ReadMessageEnd(ctx)
		s.mu.Lock()
		s.calls = append(s.calls, method)
		hang, garbage := s.HangUp == method, s.Garbage
		if hang {
			s.HangUp = ""
		}
		s.mu.Unlock()
		if hang {
			_ = c.Close()
			return
		}
		if garbage != nil {
			_, _ = c.Write(garbage)
			continue
		}
		kind, answer := s.answer(method, arguments)
		_ = p.WriteMessageBegin(ctx, method, kind, sequence)
		Write(ctx, p, answer)
		_ = p.WriteMessageEnd(ctx)
		_ = p.Flush(ctx)
	}
}

func (s *Server) answer(method string, a map[int16]any) (thrift.TMessageType, map[int16]any) {
	missing := func(field int16, what any) (thrift.TMessageType, map[int16]any) {
		return thrift.REPLY, map[int16]any{field: map[int16]any{1: fmt.Sprint(what)}}
	}
	if slices.Contains(s.Lacks, method) {
		return thrift.EXCEPTION, map[int16]any{1: "Invalid method name: '" + method + "'", 2: int32(1)}
	}
	text := func(v any) string { s, _ := v.(string); return strings.ToLower(s) }
	switch method {
	case "get_all_databases":
		return thrift.REPLY, map[int16]any{0: slices.Collect(maps.Keys(s.Databases))}
	case "get_database", "get_database_req":
		name := a[1]
		if r, ok := name.(map[int16]any); ok {
			name = r[1]
		}
		p, ok := s.Databases[text(name)]
		if !ok {
			return missing(1, name)
		}
		return thrift.REPLY, map[int16]any{0: map[int16]any{1: text(name), 3: "file:/w/" + text(name) + ".db", 4: p, 6: "crew"}}
	case "get_all_tables":
		names := []string{}
		for name := range s.Tables {
			if db, table, _ := strings.Cut(name, "."); db == text(a[1]) {
				names = append(names, table)
			}
		}
		return thrift.REPLY, map[int16]any{0: names}
	case "get_table_req", "get_table":
		if r, ok := a[1].(map[int16]any); ok {
			a = r
		}
		t, ok := s.Tables[text(a[1])+"."+text(a[2])]
		if !ok {
			return missing(2, fmt.Sprint(a[1], ".", a[2], " table not found"))
		}
		if method == "get_table" {
			return thrift.REPLY, map[int16]any{0: t}
		}
		return thrift.REPLY, map[int16]any{0: map[int16]any{1: t}}
	case "get_partition_names", "get_partition_names_req":
		if r, ok := a[1].(map[int16]any); ok {
			a = r
		}
		names := []string{}
		for _, p := range s.Partitions[text(a[1])+"."+text(a[2])] {
			names = append(names, nameOf(s.Tables[text(a[1])+"."+text(a[2])], p))
		}
		return thrift.REPLY, map[int16]any{0: names}
	case "get_partitions_by_names_req", "get_partitions_by_names":
		if r, ok := a[1].(map[int16]any); ok {
			a = r
		}
		found := []map[int16]any{}
		for _, p := range s.Partitions[text(a[1])+"."+text(a[2])] {
			if slices.Contains(a[3].([]any), any(nameOf(s.Tables[text(a[1])+"."+text(a[2])], p))) {
				found = append(found, p)
			}
		}
		if method == "get_partitions_by_names" {
			return thrift.REPLY, map[int16]any{0: found}
		}
		return thrift.REPLY, map[int16]any{0: map[int16]any{1: found}}
	case "get_table_objects_by_name_req", "get_table_objects_by_name":
		if r, ok := a[1].(map[int16]any); ok {
			a = r
		}
		found := []map[int16]any{}
		for _, name := range a[2].([]any) {
			if t, ok := s.Tables[text(a[1])+"."+text(name)]; ok {
				found = append(found, t)
			}
		}
		if method == "get_table_objects_by_name" {
			return thrift.REPLY, map[int16]any{0: found}
		}
		return thrift.REPLY, map[int16]any{0: map[int16]any{1: found}}
	}
	return thrift.EXCEPTION, map[int16]any{1: "Invalid method name: '" + method + "'", 2: int32(1)}
}

// nameOf is the name of a table's partition: field 0, which no metastore has, else what its values give.
func nameOf(t, p map[int16]any) string {
	if name, ok := p[0].(string); ok {
		return name
	}
	var parts []string
	for i, key := range t[8].([]map[int16]any) {
		parts = append(parts, key[1].(string)+"="+url.QueryEscape(p[1].([]string)[i]))
	}
	return strings.Join(parts, "/")
}

const (
	parquetInput = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
	parquetSerDe = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
)

// Column is a column as the metastore keeps it.
func Column(name, typ string) map[int16]any { return map[int16]any{1: name, 2: typ} }

// ParquetTable is a table of Parquet files at a location as the metastore keeps it, partitioned by keys.
func ParquetTable(database, name, location string, columns, keys []map[int16]any, parameters map[string]string) map[int16]any {
	t := Table(database, name, "EXTERNAL_TABLE", parameters)
	t[7], t[8] = parquetAt(location, columns), keys
	return t
}

// ParquetPartition is a partition of such a table.
func ParquetPartition(database, table, location string, columns []map[int16]any, values ...string) map[int16]any {
	return map[int16]any{1: values, 2: database, 3: table, 6: parquetAt(location, columns)}
}

func parquetAt(location string, columns []map[int16]any) map[int16]any {
	return map[int16]any{1: columns, 2: location, 3: parquetInput, 4: "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat", 7: map[int16]any{2: parquetSerDe}}
}
