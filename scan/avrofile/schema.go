package avrofile

import (
	"encoding/json"
	"strings"

	"github.com/skua-data/skua/fault"
)

const (
	maxDepth = 100
	maxTypes = 1 << 16
)

type parser struct {
	named map[string]*Type // nil: a record around what is being parsed
	types int
}

// ParseSchema reads a file's schema, which must be a record. A record that holds itself is refused.
func ParseSchema(text []byte) (*Type, error) {
	var raw any
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fault.New(fault.Corrupt, "Avro schema: %w", err)
	}
	p := parser{named: map[string]*Type{}}
	t, err := p.parse(raw, "", 0)
	if err == nil && t.Kind != Record {
		err = fault.New(fault.Corrupt, "Avro schema: a file of %s, not of records", t)
	}
	return t, err
}

func (p *parser) parse(raw any, space string, depth int) (*Type, error) {
	if p.types++; depth > maxDepth || p.types > maxTypes {
		return nil, fault.New(fault.Corrupt, "Avro schema: more than %d levels or %d types", maxDepth, maxTypes)
	}
	switch r := raw.(type) {
	case string:
		return p.byName(r, space)
	case []any:
		t := &Type{Kind: Union}
		for _, b := range r {
			branch, err := p.parse(b, space, depth+1)
			if err != nil {
				return nil, err
			}
			t.Branches = append(t.Branches, branch)
		}
		return t.sized(), nil
	case map[string]any:
		return p.object(r, space, depth)
	}
	return nil, fault.New(fault.Corrupt, "Avro schema: %v is no type", raw)
}

func (p *parser) byName(name, space string) (*Type, error) {
	for k := Null; k <= String; k++ {
		if kindNames[k] == name {
			return (&Type{Kind: k}).sized(), nil
		}
	}
	for _, full := range []string{qualified(name, space), name} {
		t, ok := p.named[full]
		if ok && t == nil {
			return nil, fault.New(fault.Unsupported, "Avro types that hold themselves are not supported: %s", full)
		}
		if ok {
			return t, nil
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

func (p *parser) object(raw map[string]any, space string, depth int) (*Type, error) {
	name, ok := raw["type"].(string)
	if !ok {
		return p.parse(raw["type"], space, depth+1) // a type wrapped once more
	}
	t := &Type{Logical: text(raw["logicalType"]), Precision: number(raw["precision"], 0), Scale: number(raw["scale"], 0), ItemID: NoID, KeyID: NoID}
	var err error
	switch name {
	case "record", "error":
		t.Kind = Record
		return t, p.record(t, raw, space, depth)
	case "enum":
		t.Kind = Enum
		for _, v := range list(raw["symbols"]) {
			t.Symbols = append(t.Symbols, text(v))
		}
		full, _ := fullName(raw, space)
		p.named[full] = t
	case "fixed":
		t.Kind, t.Size = Fixed, int64(number(raw["size"], -1))
		if t.Size < 0 {
			return nil, fault.New(fault.Corrupt, "Avro schema: a fixed type of no size")
		}
		full, _ := fullName(raw, space)
		p.named[full] = t
	case "array":
		t.Kind, t.ItemID = Array, number(raw["element-id"], NoID)
		t.Items, err = p.parse(raw["items"], space, depth+1)
	case "map":
		t.Kind, t.ItemID, t.KeyID = Map, number(raw["value-id"], NoID), number(raw["key-id"], NoID)
		t.Items, err = p.parse(raw["values"], space, depth+1)
	default:
		base, err := p.byName(name, space)
		if err != nil || base.Kind > String {
			return base, err
		}
		t.Kind = base.Kind
	}
	if err != nil {
		return nil, err
	}
	return t.sized(), nil
}

// fullName gives a type's full name, and the namespace for what is inside.
func fullName(raw map[string]any, space string) (full, inside string) {
	if own := text(raw["namespace"]); own != "" {
		space = own
	}
	full = qualified(text(raw["name"]), space)
	if at := strings.LastIndexByte(full, '.'); at >= 0 {
		space = full[:at]
	}
	return full, space
}

func (p *parser) record(t *Type, raw map[string]any, space string, depth int) error {
	full, inside := fullName(raw, space)
	p.named[full] = nil
	for _, r := range list(raw["fields"]) {
		f, ok := r.(map[string]any)
		if !ok {
			return fault.New(fault.Corrupt, "Avro schema: record %s has the field %v", full, r)
		}
		typ, err := p.parse(f["type"], inside, depth+1)
		if err != nil {
			return err
		}
		t.Fields = append(t.Fields, Field{Name: text(f["name"]), ID: number(f["field-id"], NoID), Type: typ})
	}
	p.named[full] = t.sized()
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
