// Package avrofile knows Avro's files as both manifests and data files are written: schemas with Iceberg's field ids, headers, blocks and their codecs, and
// the binary form of values. It follows the Avro 1.11 specification, reads bytes that nobody has checked, and knows nothing of tables or of Arrow.
package avrofile

// Kind is a kind of type.
type Kind uint8

// The kinds of the specification; errors are records.
const (
	Null Kind = iota
	Boolean
	Int
	Long
	Float
	Double
	Bytes
	String
	Fixed
	Enum
	Record
	Array
	Map
	Union
)

var kindNames = [...]string{"null", "boolean", "int", "long", "float", "double", "bytes", "string", "fixed", "enum", "record", "array", "map", "union"}

// String is the name that schemas have for the kind.
func (k Kind) String() string { return kindNames[k] }

// NoID is the id of a field that carries none.
const NoID = -1

// Type is a type of the writer's schema, with Iceberg's field ids. Types that are named more than once are shared; none holds itself.
type Type struct {
	Kind             Kind
	Logical          string // the logical type; empty: none
	Precision, Scale int    // of a decimal
	Symbols          []string
	Fields           []Field // of a record
	Items            *Type   // of an array, or a map's values
	Branches         []*Type // of a union
	ItemID, KeyID    int     // of an array's element or a map's value, and of a map's key

	Size  int64 // bytes that every value takes; negative: they differ
	Least int   // bytes that a value takes at least, counted up to about a million: enough to refuse counts that cannot be
}

// Field is a field of a record; its ID is NoID where it carries none.
type Field struct {
	Name string
	ID   int
	Type *Type
}

const leastMost = 1 << 20

// sized fills in how many bytes values take. The types inside have been sized; the size of a fixed is its own.
func (t *Type) sized() *Type {
	if t.Kind == Fixed {
		t.Least = int(min(t.Size, leastMost))
		return t
	}
	t.Size, t.Least = -1, 1
	switch t.Kind {
	case Null:
		t.Size, t.Least = 0, 0
	case Boolean:
		t.Size = 1
	case Float:
		t.Size, t.Least = 4, 4
	case Double:
		t.Size, t.Least = 8, 8
	case Record:
		t.Size, t.Least = 0, 0
		for _, f := range t.Fields {
			if t.Size >= 0 && f.Type.Size >= 0 && t.Size < leastMost {
				t.Size += f.Type.Size
			} else {
				t.Size = -1
			}
			t.Least = min(t.Least+f.Type.Least, leastMost)
		}
	}
	return t
}

// String names the type as Avro does.
func (t *Type) String() string {
	if t.Logical != "" {
		return t.Kind.String() + " (" + t.Logical + ")"
	}
	return t.Kind.String()
}

// HasIDs says whether any field inside carries an id.
func (t *Type) HasIDs() bool {
	switch t.Kind {
	case Record:
		for _, f := range t.Fields {
			if f.ID != NoID || f.Type.HasIDs() {
				return true
			}
		}
	case Array, Map:
		return t.ItemID != NoID || t.Items.HasIDs()
	case Union:
		for _, b := range t.Branches {
			if b.HasIDs() {
				return true
			}
		}
	}
	return false
}
