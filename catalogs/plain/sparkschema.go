package plain

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// column is a column with its type read.
type column struct {
	field iceberg.NestedField // its id is not set
	typ   func(*ids) (iceberg.Type, error)
}

// columns gives the columns and the names of those that the table is partitioned by: by Spark's schema where there is one. A table that Spark did not make itself
// may have been altered by others since Spark wrote the schema: then the metastore's columns count, as in Spark.
func (s Stored) columns(provided bool) ([]column, []string, error) {
	var hive []column
	var keys []string
	for i, c := range append(append([]Column(nil), s.Columns...), s.Keys...) {
		hive = append(hive, column{iceberg.NestedField{Name: c.Name, Doc: c.Comment}, func(n *ids) (iceberg.Type, error) { return hiveType(c.Type, n) }})
		if i >= len(s.Columns) {
			keys = append(keys, c.Name)
		}
	}
	text, err := s.property(schemaKey)
	if err != nil || text == "" {
		return hive, keys, err
	}
	spark, err := readSparkSchema(text)
	if err != nil {
		return nil, nil, err
	}
	partitions, err := s.partitionColumns()
	if err != nil {
		return nil, nil, err
	}
	if provided {
		return lastOf(spark, partitions), partitions, nil
	}
	spark = lastOf(spark, keys)
	if !alike(spark, hive) {
		return hive, keys, nil
	}
	return spark, keys, nil
}

// property gives a property, which Spark cuts into parts where it is long.
func (s Stored) property(key string) (string, error) {
	if text, ok := s.Parameters[key]; ok {
		return text, nil
	}
	count, ok := s.Parameters[key+".numParts"]
	if !ok {
		return "", nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > len(s.Parameters) {
		return "", fault.New(fault.Corrupt, "the property %s.numParts is no number of parts", key)
	}
	var out strings.Builder
	for i := range n {
		part, ok := s.Parameters[key+".part."+strconv.Itoa(i)]
		if !ok {
			return "", fault.New(fault.Corrupt, "the property %s lacks part %d of %d", key, i, n)
		}
		out.WriteString(part)
	}
	return out.String(), nil
}

// partitionColumns are the names that Spark keeps of the columns that a table is partitioned by.
func (s Stored) partitionColumns() ([]string, error) {
	count := s.Parameters[schemaKey+".numPartCols"]
	if count == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > len(s.Parameters) {
		return nil, fault.New(fault.Corrupt, "the property %s.numPartCols is no number of columns", schemaKey)
	}
	out := make([]string, n)
	for i := range out {
		if out[i] = s.Parameters[schemaKey+".partCol."+strconv.Itoa(i)]; out[i] == "" {
			return nil, fault.New(fault.Corrupt, "the property %s.partCol.%d is missing", schemaKey, i)
		}
	}
	return out, nil
}

// lastOf moves the columns of the names to the end, in the order of the names.
func lastOf(columns []column, names []string) (out []column) {
	var last []column
	for _, name := range names {
		for _, c := range columns {
			if strings.EqualFold(c.field.Name, name) {
				last = append(last, c)
			}
		}
	}
	for _, c := range columns {
		if !holds(names, c.field.Name) {
			out = append(out, c)
		}
	}
	return append(out, last...)
}

func holds(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// alike compares two lists of columns, case aside.
func alike(a, b []column) bool {
	x, xTypes, errX := schemaOf(a)
	y, yTypes, errY := schemaOf(b)
	if errX != nil || errY != nil || x.NumFields() != y.NumFields() {
		return false
	}
	return maps.Equal(xTypes, yTypes) && reflect.DeepEqual(folded(x.Fields()), folded(y.Fields()))
}

// folded gives fields with names in lower case, and without comments.
func folded(fields []iceberg.NestedField) []iceberg.NestedField {
	out := make([]iceberg.NestedField, len(fields))
	for i, f := range fields {
		out[i] = iceberg.NestedField{ID: f.ID, Name: strings.ToLower(f.Name), Type: foldedType(f.Type)}
	}
	return out
}

func foldedType(t iceberg.Type) iceberg.Type {
	switch t := t.(type) {
	case *iceberg.StructType:
		return &iceberg.StructType{FieldList: folded(t.FieldList)}
	case *iceberg.ListType:
		return &iceberg.ListType{ElementID: t.ElementID, Element: foldedType(t.Element)}
	case *iceberg.MapType:
		return &iceberg.MapType{KeyID: t.KeyID, KeyType: foldedType(t.KeyType), ValueID: t.ValueID, ValueType: foldedType(t.ValueType)}
	}
	return t
}

// schemaOf numbers the columns and reads their types, with those that a schema has no like of. Every column and everything inside may be null, as Spark has it of files.
func schemaOf(columns []column) (*iceberg.Schema, map[int]string, error) {
	n := ids(len(columns))
	var fields []iceberg.NestedField
	seen := map[string]bool{}
	for i, c := range columns {
		f := c.field
		f.ID = i + 1
		var err error
		if f.Type, err = c.typ(&n); err != nil {
			return nil, nil, fault.Wrap(err, "column %s", f.Name)
		}
		if lower := strings.ToLower(f.Name); seen[lower] {
			return nil, nil, fault.New(fault.Corrupt, "two columns are called %s", f.Name)
		} else {
			seen[lower] = true
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return nil, nil, fault.New(fault.Unsupported, "the catalog keeps no columns of it, which Spark would find out from the files")
	}
	types := map[int]string{}
	exactly(fields, types)
	return iceberg.NewSchema(0, fields...), types, nil
}

// partitionedBy spells the names that a table is partitioned by as its columns do.
func partitionedBy(keys []string, fields []iceberg.NestedField) ([]string, error) {
	out := make([]string, len(keys))
	for i, key := range keys {
		at := slices.IndexFunc(fields, func(f iceberg.NestedField) bool { return strings.EqualFold(f.Name, key) })
		if at < 0 {
			return nil, fault.New(fault.Corrupt, "it is partitioned by %s, which is no column", key)
		}
		if _, nested := fields[at].Type.(iceberg.NestedType); nested {
			return nil, fault.New(fault.Unsupported, "column %s: partitions by a column of type %s are not supported", key, fields[at].Type)
		}
		out[i] = fields[at].Name
	}
	return out, nil
}

// sparkType is a type of Spark's as JSON: a word, or an object.
type sparkType struct {
	word   string
	object sparkObject
}

// sparkObject is a type that holds others.
type sparkObject struct {
	Type    string       `json:"type"`
	Fields  []sparkField `json:"fields"`      // of a struct
	Element *sparkType   `json:"elementType"` // of an array
	Key     *sparkType   `json:"keyType"`     // of a map
	Value   *sparkType   `json:"valueType"`
	SQL     *sparkType   `json:"sqlType"` // of a type of the user's
}

type sparkField struct {
	Name     string                     `json:"name"`
	Type     sparkType                  `json:"type"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *sparkType) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, &t.word); err == nil {
		return nil
	}
	return json.Unmarshal(raw, &t.object)
}

func readSparkSchema(text string) ([]column, error) {
	var t sparkType
	if err := json.Unmarshal([]byte(text), &t); err != nil || t.object.Type != "struct" {
		return nil, fault.New(fault.Corrupt, "the property %s is no schema of Spark's", schemaKey)
	}
	var out []column
	for _, f := range t.object.Fields {
		out = append(out, column{iceberg.NestedField{Name: f.Name, Doc: f.text("comment")}, func(n *ids) (iceberg.Type, error) { return f.typ(n, 0) }})
	}
	return out, nil
}

func (f sparkField) text(key string) (out string) {
	_ = json.Unmarshal(f.Metadata[key], &out) // what is no text is none
	return out
}

func (f sparkField) typ(n *ids, depth int) (iceberg.Type, error) {
	if v := f.text("EXISTS_DEFAULT"); v != "" && !strings.EqualFold(v, "null") {
		return nil, fault.New(fault.Unsupported, "a default for the rows of files that lack the column is not supported")
	}
	if _, ok := f.Metadata["__COLLATIONS"]; ok {
		return nil, fault.New(fault.Unsupported, "texts with a collation are not supported")
	}
	if text := f.text("__CHAR_VARCHAR_TYPE_STRING"); text != "" {
		return hiveType(text, n) // the whole type, where the other one says string for char(n) and varchar(n)
	}
	return f.Type.iceberg(n, depth)
}

var sparkDecimal = regexp.MustCompile(`^decimal\((\d+), ?(-?\d+)\)$`)

// iceberg gives the type with ids for what is inside of it.
func (t sparkType) iceberg(n *ids, depth int) (out iceberg.Type, err error) {
	wrong := func() error {
		return fault.New(fault.Unsupported, "the type %.200q is not supported", t.word+t.object.Type)
	}
	if depth > maxDepth {
		return nil, wrong()
	}
	o := t.object
	switch {
	case t.word == "decimal":
		return iceberg.DecimalTypeOf(10, 0), nil
	case t.word == "variant":
		return iceberg.VariantType{}, nil
	case strings.HasPrefix(t.word, "char("), strings.HasPrefix(t.word, "varchar("):
		return hiveType(t.word, n)
	case t.word != "":
		if m := sparkDecimal.FindStringSubmatch(t.word); m != nil {
			precision, _ := strconv.Atoi(m[1])
			scale, _ := strconv.Atoi(m[2])
			return decimalType([]int{precision, scale}, wrong)
		}
		out, ok := simple[t.word]
		if !ok {
			return nil, wrong()
		}
		return out, nil
	case o.Type == "array" && o.Element != nil:
		list := &iceberg.ListType{ElementID: n.next()}
		list.Element, err = o.Element.iceberg(n, depth+1)
		return list, err
	case o.Type == "map" && o.Key != nil && o.Value != nil:
		m := &iceberg.MapType{KeyID: n.next(), ValueID: n.next()}
		if m.KeyType, err = o.Key.iceberg(n, depth+1); err == nil {
			m.ValueType, err = o.Value.iceberg(n, depth+1)
		}
		return m, err
	case o.Type == "struct":
		s := &iceberg.StructType{}
		for _, f := range o.Fields {
			field := iceberg.NestedField{ID: n.next(), Name: f.Name, Doc: f.text("comment")}
			if field.Type, err = f.typ(n, depth+1); err != nil {
				return nil, err
			}
			s.FieldList = append(s.FieldList, field)
		}
		return s, nil
	case o.Type == "udt" && o.SQL != nil:
		return o.SQL.iceberg(n, depth+1)
	}
	return nil, wrong()
}
