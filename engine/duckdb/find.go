//go:build cgo

package duckdb

// #include "find.h"
import "C"

import (
	"context"
	"reflect"
	"runtime/cgo"
	"unsafe"

	"github.com/skua-data/skua/engine/duckdb/dialect"
)

// finder collects the types of a statement's expressions while the engine binds it: a function of ours is among the constants that it evaluates then, and is told them.
type finder struct {
	statement *dialect.Statement
	types     [][]dialect.Type // by the number of the part that asks
	left      []bool           // parts that are the engine's
	columns   []bool           // parts that stand for columns, by types found before
	failed    []error          // what is wrong with a part of these types
	heard     []bool           // parts that this round told of
	found     bool             // something that the statement is spelled by while types are asked for
}

// rounds is how often a statement's types are asked for: what is left to the engine and the columns of generators are known in the next round only.
const rounds = 8

// findTypes asks the engine for the types that the statement is spelled by. Where the engine cannot bind it, what was found before it said so stands.
func (p *program) findTypes(ctx context.Context, c *connection) error {
	n := p.statement.Asked()
	if n == 0 {
		return nil
	}
	f := &finder{statement: p.statement, types: make([][]dialect.Type, n), left: make([]bool, n), columns: make([]bool, n), failed: make([]error, n)}
	for range rounds {
		if f.ask(ctx, p, c); !f.found || ctx.Err() != nil {
			break
		}
	}
	p.types, p.stage = f.types, dialect.FinalTypes
	for _, err := range f.failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// ask plans the statement once.
func (f *finder) ask(ctx context.Context, p *program, c *connection) {
	handle := cgo.NewHandle(f)
	defer handle.Delete()
	s := p.start(ctx)
	defer s.end()
	spelling := p.spelling(s.id, dialect.AskTypes)
	spelling.Finder, spelling.Left, spelling.Types = uint64(handle), f.left, make([][]dialect.Type, len(f.types))
	for i, fixed := range f.columns {
		switch {
		case fixed:
			spelling.Types[i] = f.types[i]
		case f.statement.Unites(i):
			spelling.Types[i], f.failed[i] = f.types[i], nil
		case !f.left[i]:
			f.types[i], f.failed[i] = nil, nil
		}
	}
	f.found, f.heard = false, make([]bool, len(f.types))
	_, _ = c.text("SELECT json_serialize_plan(" + literal(p.statement.Render(spelling).Text) + ", skip_null := true, skip_empty := true)")
}

// answer tells the type of a part whose expressions have these types.
func (f *finder) answer(number int, types string) string {
	t, parts, err := f.statement.Answer(number, types)
	switch {
	case number < 0 || number >= len(f.types) || f.left[number]:
		return `"INTEGER"`
	case f.statement.Unites(number) && !f.heard[number]:
		f.heard[number] = true
		f.found = f.found || !reflect.DeepEqual(f.types[number], parts) && (f.types[number] != nil || !f.statement.Settled(number, parts))
		f.types[number], f.failed[number] = parts, err
		return `"INTEGER"`
	case f.types[number] != nil && !reflect.DeepEqual(f.types[number], parts):
		// The same text means something else in another place.
		f.left[number], f.found = true, true
		f.types[number], f.failed[number] = nil, nil
		return `"INTEGER"`
	}
	f.types[number], f.failed[number] = parts, err
	switch {
	case f.statement.Columns(number):
		f.found = f.found || !f.columns[number]
		f.columns[number] = true
	case err == nil && t.Name == "":
		f.left[number], f.found = true, true
	}
	if t.Name == "" || f.statement.Columns(number) {
		return `"INTEGER"`
	}
	return `"` + t.Text + `"`
}

// addFind makes the function known to the database of the connection.
func (c *connection) addFind() bool {
	name := C.CString(dialect.Find)
	defer C.free(unsafe.Pointer(name))
	return bool(C.skua_add_find(c.handle, name))
}

// skuaFind answers the engine's question about a part of a statement.
//
//export skuaFind
func skuaFind(handle C.uint64_t, number C.int32_t, types *C.char, length C.uint32_t) (out *C.char) {
	defer func() {
		if recover() != nil {
			out = C.CString(`"INTEGER"`)
		}
	}()
	return C.CString(cgo.Handle(handle).Value().(*finder).answer(int(number), C.GoStringN(types, C.int(length))))
}
