// Package avro reads Avro data and delete files for a scan: the blocks of a file, which of them a byte range owns, where the columns of a
// table are found in the records, and the values as Arrow. It knows nothing of tables, deletes or plans, and writes nothing.
package avro

import (
	"encoding/json"
	"strings"

	"github.com/skua-data/skua/fault"
)

type kind uint8

const (
	kindNull kind = iota
	kindBoolean
	kindInt
	kindLong
	kindFloat
	kindDouble
	kindBytes
	kindString
	kindFixed
	kindEnum
	kindRecord
	kindArray
	kindMap
	kindUnion
)

var kindNames = [...]string{"null", "boolean", "int", "long", "float", "double", "bytes", "string", "fixed", "enum", "record", "array", "map", "union"}

const noID = -1

// schema is a type of an Avro file, with Iceberg's field ids.
type schema struct {
	kind             kind
	logical          string
	precision, scale int
	size             int // of a fixed
	symbols          []string
	fields           []field   // of a record
	items            *schema   // of an array, or a map's values
	branches         []*schema // of a union
	itemID, keyID    int       // of an array's element or a map's value, and of a map's key
}

type field struct {
	name string
	id   int
	typ  *schema
}

// String names the type as Avro does.
func (s *schema) String() string {
	if s.logical != "" {
		return kindNames[s.kind] + " (" + s.logical + ")"
	}
	return kindNames[s.kind]
}

// optional takes a union of null and one type apart: the branch of null, or -1 where a value is always there. False: another union.
func (s *schema) optional() (value *schema, null int, ok bool) {
	if s.kind != kindUnion {
		return s, -1, true
	}
	if len(s.branches) == 1 {
		return s.branches[0], -1, s.branches[0].kind != kindUnion
	}
	if len(s.branches) != 2 {
		return nil, 0, false
	}
	for i, b := range s.branches {
		if b.kind == kindNull {
			other := s.branches[1-i]
			return other, i, other.kind != kindUnion
		}
	}
	return nil, 0, false
}

const maxDepth = 100

type parser struct {
	named map[string]*schema
	open  map[string]bool // records around what is being parsed
	types int
}

const maxTypes = 1 << 16

// parseSchema reads a file's schema, which must be a record.
func parseSchema(text []byte) (*schema, error) {
	var raw any
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fault.New(fault.Corrupt, "Avro schema: %w", err)
	}
	p := parser{named: map[string]*schema{}, open: map[string]bool{}}
	s, err := p.parse(raw, "", 0)
	if err == nil && s.kind != kindRecord {
		err = fault.New(fault.Corrupt, "Avro schema: a file of %s, not of records", s)
	}
	return s, err
}

func (p *parser) parse(raw any, space string, depth int) (*schema, error) {
	if p.types++; depth > maxDepth || p.types > maxTypes {
		return nil, fault.New(fault.Corrupt, "Avro schema: more than %d levels or %d types", maxDepth, maxTypes)
	}
	switch t := raw.(type) {
	case string:
		return p.byName(t, space)
	case []any:
		s := &schema{kind: kindUnion}
		for _, b := range t {
			branch, err := p.parse(b, space, depth+1)
			if err != nil {
				return nil, err
			}
			s.branches = append(s.branches, branch)
		}
		return s, nil
	case map[string]any:
		return p.object(t, space, depth)
	}
	return nil, fault.New(fault.Corrupt, "Avro schema: %v is no type", raw)
}

func (p *parser) byName(name, space string) (*schema, error) {
	for k := kindNull; k <= kindString; k++ {
		if kindNames[k] == name {
			return &schema{kind: k}, nil
		}
	}
	for _, full := range []string{qualified(name, space), name} {
		if p.open[full] {
			return nil, fault.New(fault.Unsupported, "Avro types that hold themselves are not supported: %s", full)
		}
		if s, ok := p.named[full]; ok {
			return s, nil
		}
	}
	return nil, fault.New(fault.Corrupt, "Avro schema: unknown type %q", name)
}

func qualified(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

func (p *parser) object(t map[string]any, space string, depth int) (*schema, error) {
	name, ok := t["type"].(string)
	if !ok {
		return p.parse(t["type"], space, depth+1) // a type wrapped once more
	}
	s := &schema{logical: text(t["logicalType"]), precision: number(t["precision"], 0), scale: number(t["scale"], 0), itemID: noID, keyID: noID}
	var err error
	switch name {
	case "record", "error":
		s.kind = kindRecord
		return s, p.record(s, t, space, depth)
	case "enum":
		s.kind = kindEnum
		for _, v := range list(t["symbols"]) {
			s.symbols = append(s.symbols, text(v))
		}
		p.define(t, space, s)
	case "fixed":
		s.kind, s.size = kindFixed, number(t["size"], -1)
		if s.size < 0 {
			return nil, fault.New(fault.Corrupt, "Avro schema: a fixed type of no size")
		}
		p.define(t, space, s)
	case "array":
		s.kind, s.itemID = kindArray, number(t["element-id"], noID)
		s.items, err = p.parse(t["items"], space, depth+1)
	case "map":
		s.kind, s.itemID, s.keyID = kindMap, number(t["value-id"], noID), number(t["key-id"], noID)
		s.items, err = p.parse(t["values"], space, depth+1)
	default:
		base, err := p.byName(name, space)
		if err != nil || base.kind > kindString {
			return base, err
		}
		s.kind = base.kind
	}
	return s, err
}

// define makes a type known by its name. It gives the full name and the namespace for what is inside.
func (p *parser) define(t map[string]any, space string, s *schema) (full, inside string) {
	if own := text(t["namespace"]); own != "" {
		space = own
	}
	full = qualified(text(t["name"]), space)
	if at := strings.LastIndexByte(full, '.'); at >= 0 {
		space = full[:at]
	}
	p.named[full] = s
	return full, space
}

func (p *parser) record(s *schema, t map[string]any, space string, depth int) error {
	full, inside := p.define(t, space, s)
	p.open[full] = true
	defer delete(p.open, full)
	for _, raw := range list(t["fields"]) {
		f, ok := raw.(map[string]any)
		if !ok {
			return fault.New(fault.Corrupt, "Avro schema: record %s has the field %v", full, raw)
		}
		typ, err := p.parse(f["type"], inside, depth+1)
		if err != nil {
			return err
		}
		s.fields = append(s.fields, field{name: text(f["name"]), id: number(f["field-id"], noID), typ: typ})
	}
	return nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func number(v any, otherwise int) int {
	n, ok := v.(float64)
	if !ok || n != float64(int32(n)) {
		return otherwise
	}
	return int(n)
}

// hasIDs says whether any field carries an id.
func (s *schema) hasIDs() bool {
	switch s.kind {
	case kindRecord:
		for _, f := range s.fields {
			if f.id != noID || f.typ.hasIDs() {
				return true
			}
		}
	case kindArray, kindMap:
		return s.itemID != noID || s.items.hasIDs()
	case kindUnion:
		for _, b := range s.branches {
			if b.hasIDs() {
				return true
			}
		}
	}
	return false
}

// least is how many bytes a value takes at least, up to a bound that is enough to refuse counts that cannot be.
func (s *schema) least() int {
	switch s.kind {
	case kindNull:
		return 0
	case kindFloat:
		return 4
	case kindDouble:
		return 8
	case kindFixed:
		return s.size
	case kindRecord:
		n := 0
		for _, f := range s.fields {
			if n += f.typ.least(); n > 1<<20 {
				break
			}
		}
		return n
	}
	return 1
}
