package hive

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skua-data/skua/fault"
)

// metastore is Hive's metastore by the few methods that reading needs. Versions differ: Hive 4 has no get_table, Hive 2 no get_table_req. Each
// method begins with the newest form and remembers the one that the server knows.
type metastore struct {
	pool  *pool
	known [5]atomic.Int32 // per question, the form that worked
}

// The questions that come in several forms.
const (
	askDatabase = iota
	askTable
	askTables
	askPartitionNames
	askPartitions
)

// form is one way to ask: a method and its arguments, and where its answer holds what was asked for.
type form struct {
	method    string
	arguments record
	answer    func(record) any
	missing   int16 // the field of the exception that says that the object is missing; 0: none does
}

// first gives the answer itself, which is field 0 of every reply.
func first(r record) any { return r[0] }

// inside gives a field of the answer.
func inside(field int16) func(record) any {
	return func(r record) any { return r.inner(0)[field] }
}

// ask tries the forms from the one that is known to work.
func (m *metastore) ask(ctx context.Context, question int, forms []form) (any, error) {
	start := 0
	if question >= 0 {
		start = int(m.known[question].Load())
	}
	for i := range forms {
		at := (start + i) % len(forms)
		f := forms[at]
		reply, err := m.pool.call(ctx, f.method, f.arguments)
		var said *exception
		if errors.As(err, &said) {
			if said.kind == unknownMethod && i+1 < len(forms) {
				continue
			}
			return nil, fault.New(fault.Unavailable, "call %s of the metastore: %s", f.method, said.message)
		}
		if err != nil {
			return nil, err
		}
		if question >= 0 {
			m.known[question].Store(int32(at))
		}
		return answer(f, reply)
	}
	return nil, fault.New(fault.Internal, "no form of the question")
}

// answer takes what was asked for out of a reply, or the exception that it carries in one of the other fields.
func answer(f form, reply record) (any, error) {
	if v := f.answer(reply); v != nil {
		return v, nil
	}
	for field, v := range reply {
		if thrown, ok := v.(record); ok && field > 0 {
			return nil, thrownError(f, field, thrown)
		}
	}
	return nil, fault.New(fault.Unavailable, "call %s of the metastore: it answered nothing", f.method)
}

// thrownError makes a fault of a declared exception. Thrift sends no name for it; the field says which one it is.
func thrownError(f form, field int16, thrown record) error {
	message := thrown.text(1)
	if field == f.missing {
		return fault.New(fault.NotFound, "%s", message)
	}
	lower := strings.ToLower(message)
	if strings.Contains(lower, "permission") || strings.Contains(lower, "denied") || strings.Contains(lower, "not authorized") {
		return fault.New(fault.Denied, "call %s of the metastore: %s", f.method, message)
	}
	return fault.New(fault.Unavailable, "call %s of the metastore: %s", f.method, message)
}

// databases gives the names of all databases.
func (m *metastore) databases(ctx context.Context) ([]string, error) {
	v, err := m.ask(ctx, -1, []form{{"get_all_databases", nil, first, 0}})
	if err != nil {
		return nil, err
	}
	return texts(v), nil
}

// database gives a database.
func (m *metastore) database(ctx context.Context, name string) (record, error) {
	v, err := m.ask(ctx, askDatabase, []form{
		{"get_database", record{1: name}, first, 1},
		{"get_database_req", record{1: record{1: name}}, first, 1},
	})
	r, _ := v.(record)
	return r, err
}

// tableNames gives the names of all tables of a database that exists.
func (m *metastore) tableNames(ctx context.Context, database string) ([]string, error) {
	v, err := m.ask(ctx, -1, []form{{"get_all_tables", record{1: database}, first, 0}})
	if err != nil {
		return nil, err
	}
	return texts(v), nil
}

// table gives one table.
func (m *metastore) table(ctx context.Context, database, name string) (record, error) {
	v, err := m.ask(ctx, askTable, []form{
		{"get_table_req", record{1: record{1: database, 2: name}}, inside(1), 2},
		{"get_table", record{1: database, 2: name}, first, 2},
	})
	r, _ := v.(record)
	return r, err
}

// batch is how many tables one call brings; an Iceberg table's parameters are a few kilobytes.
const batch = 500

// tables calls each with every table of the names that still exists.
func (m *metastore) tables(ctx context.Context, database string, names []string, each func(record)) error {
	for some := range slices.Chunk(names, batch) {
		v, err := m.ask(ctx, askTables, []form{
			{"get_table_objects_by_name_req", record{1: record{1: database, 2: some}}, inside(1), 3},
			{"get_table_objects_by_name", record{1: database, 2: some}, first, 3},
		})
		if err != nil {
			return err
		}
		list, _ := v.([]any)
		for _, t := range list {
			if r, ok := t.(record); ok {
				each(r)
			}
		}
	}
	return nil
}

// partitionNames gives the names of all partitions of a table.
func (m *metastore) partitionNames(ctx context.Context, database, table string) ([]string, error) {
	v, err := m.ask(ctx, askPartitionNames, []form{
		{"get_partition_names", record{1: database, 2: table, 3: int16(-1)}, first, 1},
		{"get_partition_names_req", record{1: record{1: database, 2: table, 3: "", 5: int16(-1)}}, first, 2},
	})
	if err != nil {
		return nil, err
	}
	return texts(v), nil
}

// partitions gives those of the partitions of the names that still exist.
func (m *metastore) partitions(ctx context.Context, database, table string, names []string) (out []record, err error) {
	v, err := m.ask(ctx, askPartitions, []form{
		{"get_partitions_by_names_req", record{1: record{1: database, 2: table, 3: names}}, inside(1), 2},
		{"get_partitions_by_names", record{1: database, 2: table, 3: names}, first, 2},
	})
	list, _ := v.([]any)
	for _, p := range list {
		if r, ok := p.(record); ok {
			out = append(out, r)
		}
	}
	return out, err
}

func texts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
