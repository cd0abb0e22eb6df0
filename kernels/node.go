package kernels

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

// Kind says how a Node's values come about.
type Kind uint8

// The kinds of nodes.
const (
	Missing Kind = iota // the file has no such field: every value is null
	Leaf                // a leaf column of the file
	Struct
	List
	Map
)

// Node says how one wanted field, top-level or nested, is assembled from the leaves of a file. Fields were matched before (by id, name or
// position), so a decoder looks at nodes and levels alone.
type Node struct {
	Kind  Kind
	Field arrow.Field // the target
	// Leaf is the leaf column whose values these are or, for a nested kind, one below it whose levels tell its nulls and lengths.
	Leaf int
	// Def is the definition level from which on a value is present (for a list or map: present, perhaps empty; Def+1 has an entry).
	Def int16
	// Rep is the number of repeated ancestors; a list's or map's own repetition counts for its children only.
	Rep int16
	// Ancestor is the definition level from which on there is a slot for the value: the nearest repeated ancestor has an entry.
	Ancestor int16
	// Children are a struct's fields in target order, a list's element, a map's key and value.
	Children []Node
}

// Nullable says whether a slot may be without a value.
func (n *Node) Nullable() bool { return n.Kind == Missing || n.Def > n.Ancestor }

// Find gives the node of a field id: n itself or a field inside its structs, never inside a list or a map. Nil where there is none.
func (n *Node) Find(id int) *Node {
	if own, ok := FieldID(n.Field); ok && own == id {
		return n
	}
	if n.Kind != Struct {
		return nil
	}
	for i := range n.Children {
		if found := n.Children[i].Find(id); found != nil {
			return found
		}
	}
	return nil
}

// FieldID reads a field's Iceberg field id.
func FieldID(f arrow.Field) (int, bool) {
	text, ok := f.Metadata.GetValue(fieldIDKey)
	if !ok {
		return 0, false
	}
	id, err := strconv.Atoi(text)
	return id, err == nil
}

// fieldIDKey is the metadata key under which a field carries its Iceberg id, in decimal.
const fieldIDKey = "PARQUET:field_id"
