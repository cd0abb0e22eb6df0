package hive

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/skua-data/skua/catalogs/hive/hivetest"
)

// server is a metastore in memory. It speaks Thrift by the library of its makers.
type server struct {
	lacks     []string // methods that this version does not have
	databases map[string]map[string]string
	tables    map[string]map[int16]any // by database.table
	framed    bool

	partitions map[string][]map[int16]any // by database.table

	listener net.Listener
	mu       sync.Mutex
	calls    []string
	open     map[net.Conn]bool
	hangUp   string // a method at which the connection is closed, once
	garbage  []byte // sent instead of an answer
}

// The methods that versions lack.
var (
	hive2 = []string{"get_table_req", "get_table_objects_by_name_req", "get_database_req", "get_partitions_by_names_req", "get_partition_names_req"}
	hive3 = []string{"get_database_req", "get_partitions_by_names_req", "get_partition_names_req"}
	hive4 = []string{"get_table", "get_table_objects_by_name", "get_database", "get_partitions_by_names", "get_partition_names"}
)

func start(t testing.TB, s *server) string {
	t.Helper()
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.open = map[net.Conn]bool{}
	t.Cleanup(s.stop)
	go s.accept()
	return "thrift://" + s.listener.Addr().String()
}

func (s *server) stop() {
	_ = s.listener.Close()
	s.cut()
}

// cut closes every connection, as a restart does.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Close()
	}
	clear(s.open)
}

func (s *server) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == method {
			n++
		}
	}
	return n
}

func (s *server) accept() {
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

func (s *server) serve(c net.Conn) {
	ctx := context.Background()
	var transport thrift.TTransport = thrift.NewTBufferedTransport(thrift.NewTSocketFromConnConf(c, nil), 4096)
	if s.framed {
		transport = thrift.NewTFramedTransportConf(thrift.NewTSocketFromConnConf(c, nil), nil)
	}
	p := thrift.NewTBinaryProtocolConf(transport, &thrift.TConfiguration{TBinaryStrictWrite: thrift.BoolPtr(true)})
	for {
		method, _, sequence, err := p.ReadMessageBegin(ctx)
		if err != nil {
			return
		}
		arguments, _ := hivetest.Read(ctx, p, thrift.STRUCT).(map[int16]any)
		_ = p.ReadMessageEnd(ctx)
		s.mu.Lock()
		s.calls = append(s.calls, method)
		hang, garbage := s.hangUp == method, s.garbage
		if hang {
			s.hangUp = ""
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
		hivetest.Write(ctx, p, answer)
		_ = p.WriteMessageEnd(ctx)
		_ = p.Flush(ctx)
	}
}

func (s *server) answer(method string, a map[int16]any) (thrift.TMessageType, map[int16]any) {
	missing := func(field int16, what any) (thrift.TMessageType, map[int16]any) {
		return thrift.REPLY, map[int16]any{field: map[int16]any{1: fmt.Sprint(what)}}
	}
	if slices.Contains(s.lacks, method) {
		return thrift.EXCEPTION, map[int16]any{1: "Invalid method name: '" + method + "'", 2: int32(1)}
	}
	text := func(v any) string { s, _ := v.(string); return strings.ToLower(s) }
	switch method {
	case "get_all_databases":
		return thrift.REPLY, map[int16]any{0: slices.Collect(maps.Keys(s.databases))}
	case "get_database", "get_database_req":
		name := a[1]
		if r, ok := name.(map[int16]any); ok {
			name = r[1]
		}
		p, ok := s.databases[text(name)]
		if !ok {
			return missing(1, name)
		}
		return thrift.REPLY, map[int16]any{0: map[int16]any{1: text(name), 3: "file:/w/" + text(name) + ".db", 4: p, 6: "crew"}}
	case "get_all_tables":
		names := []string{}
		for name := range s.tables {
			if db, table, _ := strings.Cut(name, "."); db == text(a[1]) {
				names = append(names, table)
			}
		}
		return thrift.REPLY, map[int16]any{0: names}
	case "get_table_req", "get_table":
		if r, ok := a[1].(map[int16]any); ok {
			a = r
		}
		t, ok := s.tables[text(a[1])+"."+text(a[2])]
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
		for _, p := range s.partitions[text(a[1])+"."+text(a[2])] {
			names = append(names, nameOf(p))
		}
		return thrift.REPLY, map[int16]any{0: names}
	case "get_partitions_by_names_req", "get_partitions_by_names":
		if r, ok := a[1].(map[int16]any); ok {
			a = r
		}
		found := []map[int16]any{}
		for _, p := range s.partitions[text(a[1])+"."+text(a[2])] {
			if slices.Contains(a[3].([]any), any(nameOf(p))) {
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
			if t, ok := s.tables[text(a[1])+"."+text(name)]; ok {
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

// nameOf is a partition's name; its values are those of country and day.
func nameOf(p map[int16]any) string {
	values := p[1].([]string)
	return "country=" + url.QueryEscape(values[0]) + "/day=" + values[1]
}

// partition is a partition of Parquet files by country and day.
func partition(location string, values ...string) map[int16]any {
	return map[int16]any{1: values, 6: map[int16]any{2: location, 3: parquetInput, 7: map[int16]any{2: parquetSerDe}}}
}

const (
	parquetInput = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
	parquetSerDe = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
)

// ofParquet makes a stored table one of Parquet files, by country and day.
func ofParquet(t map[int16]any) map[int16]any {
	store := t[7].(map[int16]any)
	store[3], store[7] = parquetInput, map[int16]any{2: parquetSerDe}
	t[8] = []map[int16]any{{1: "country", 2: "string"}, {1: "day", 2: "date"}}
	return t
}

func stored(database, name, typ string, parameters map[string]string) map[int16]any {
	return hivetest.Table(database, name, typ, parameters)
}
