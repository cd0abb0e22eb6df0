package manifest

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

// node is a type of the writer's schema. Types that are named more than once are shared.
type node struct {
	kind     kind
	logical  string
	scale    int
	fields   []field // of a record
	items    *node   // of an array, or a map's values
	branches []*node // of a union
	fixed    int64   // bytes that every value takes; negative: they differ
	least    int     // bytes that a value takes at least, up to leastMost
}

// field is a field of a record; its id is noID where it carries none.
type field struct {
	name string
	id   int
	typ  *node
}

const (
	noID      = -1
	maxDepth  = 64
	maxTypes  = 1 << 16
	leastMost = 1 << 20
)

// sized fills in how many bytes values take. The types inside have been sized.
func (n *node) sized() *node {
	n.fixed, n.least = -1, 1
	switch n.kind {
	case kindNull:
		n.fixed, n.least = 0, 0
	case kindBoolean:
		n.fixed = 1
	case kindFloat:
		n.fixed, n.least = 4, 4
	case kindDouble:
		n.fixed, n.least = 8, 8
	case kindRecord:
		n.fixed, n.least = 0, 0
		for _, f := range n.fields {
			if n.fixed >= 0 && f.typ.fixed >= 0 && n.fixed < leastMost {
				n.fixed += f.typ.fixed
			} else {
				n.fixed = -1
			}
			n.least = min(n.least+f.typ.least, leastMost)
		}
	}
	return n
}

type parser struct {
	named map[string]*node // nil: a record around what is being parsed
	types int
}

// parseSchema reads a file's schema, which must be a record.
func parseSchema(text []byte) (*node, error) {
	var raw any
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fault.New(fault.Corrupt, "Avro schema: %w", err)
	}
	p := parser{named: map[string]*node{}}
	n, err := p.parse(raw, "", 0)
	if err == nil && n.kind != kindRecord {
		err = fault.New(fault.Corrupt, "Avro schema: a file of %s, not of records", kindNames[n.kind])
	}
	return n, err
}

func (p *parser) parse(raw any, space string, depth int) (*node, error) {
	if p.types++; depth > maxDepth || p.types > maxTypes {
		return nil, fault.New(fault.Corrupt, "Avro schema: more than %d levels or %d types", maxDepth, maxTypes)
	}
	switch t := raw.(type) {
	case string:
		return p.byName(t, space)
	case []any:
		n := &node{kind: kindUnion}
		for _, b := range t {
			branch, err := p.parse(b, space, depth+1)
			if err != nil {
				return nil, err
			}
			n.branches = append(n.branches, branch)
		}
		return n.sized(), nil
	case map[string]any:
		return p.object(t, space, depth)
	}
	return nil, fault.New(fault.Corrupt, "Avro schema: %v is no type", raw)
}

func (p *parser) byName(name, space string) (*node, error) {
	for k := kindNull; k <= kindString; k++ {
		if kindNames[k] == name {
			return (&node{kind: k}).sized(), nil
		}
	}
	for _, full := range []string{qualified(name, space), name} {
		n, ok := p.named[full]
		if ok && n == nil {
			return nil, fault.New(fault.Unsupported, "Avro types that hold themselves are not supported: %s", full)
		}
		if ok {
			return n, nil
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

func (p *parser) object(t map[string]any, space string, depth int) (*node, error) {
	name, ok := t["type"].(string)
	if !ok {
		return p.parse(t["type"], space, depth+1) // a type wrapped once more
	}
	n := &node{scale: number(t["scale"], 0)}
	n.logical, _ = t["logicalType"].(string)
	var err error
	switch name {
	case "record", "error":
		n.kind = kindRecord
		return n, p.record(n, t, space, depth)
	case "enum":
		n.kind = kindEnum
		full, _ := fullName(t, space)
		p.named[full] = n.sized()
		return n, nil
	case "fixed":
		return n, p.fixed(n, t, space)
	case "array":
		n.kind = kindArray
		n.items, err = p.parse(t["items"], space, depth+1)
	case "map":
		n.kind = kindMap
		n.items, err = p.parse(t["values"], space, depth+1)
	default:
		base, err := p.byName(name, space)
		if err != nil || base.kind > kindString {
			return base, err
		}
		n.kind = base.kind
	}
	if err != nil {
		return nil, err
	}
	return n.sized(), nil
}

func (p *parser) fixed(n *node, t map[string]any, space string) error {
	size := number(t["size"], -1)
	if size < 0 {
		return fault.New(fault.Corrupt, "Avro schema: a fixed type of no size")
	}
	n.kind, n.fixed, n.least = kindFixed, int64(size), min(size, leastMost)
	full, _ := fullName(t, space)
	p.named[full] = n
	return nil
}

// fullName gives a type's full name, and the namespace for what is inside.
func fullName(t map[string]any, space string) (full, inside string) {
	if own, _ := t["namespace"].(string); own != "" {
		space = own
	}
	name, _ := t["name"].(string)
	full = qualified(name, space)
	if at := strings.LastIndexByte(full, '.'); at >= 0 {
		space = full[:at]
	}
	return full, space
}

func (p *parser) record(n *node, t map[string]any, space string, depth int) error {
	full, inside := fullName(t, space)
	p.named[full] = nil
	fields, _ := t["fields"].([]any)
	for _, raw := range fields {
		f, ok := raw.(map[string]any)
		if !ok {
			return fault.New(fault.Corrupt, "Avro schema: record %s has the field %v", full, raw)
		}
		typ, err := p.parse(f["type"], inside, depth+1)
		if err != nil {
			return err
		}
		name, _ := f["name"].(string)
		n.fields = append(n.fields, field{name: name, id: number(f["field-id"], noID), typ: typ})
	}
	p.named[full] = n.sized()
	return nil
}

func number(v any, otherwise int) int {
	n, ok := v.(float64)
	if !ok || n != float64(int32(n)) {
		return otherwise
	}
	return int(n)
}
