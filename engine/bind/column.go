package bind

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/constant"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// Field is a column, or a field inside structs, that a name means.
type Field struct {
	ID       int
	Path     []string // as the schema spells it
	Type     arrow.DataType
	Nullable bool // it or a parent may be null
	length   int  // of a column that is a char(n): n; else 0
}

func (r Field) field() predicate.Field {
	return predicate.Field{ID: r.ID, Path: r.Path, Type: r.Type}
}

// Column resolves a name, without qualifier: a column of the source, else a metadata column, then fields of structs.
func (b *Binder) Column(c *syntax.Column) (Field, error) {
	matches := b.fieldsNamed(b.schema.Fields(), c.Parts[0].Text)
	if len(matches) == 0 {
		matches = b.fieldsNamed(b.metadata.Fields(), c.Parts[0].Text)
	}
	switch len(matches) {
	case 0:
		return Field{}, b.unresolved(c)
	case 1:
	default:
		return Field{}, ambiguous(c, matches)
	}
	ref := refOf(matches[0], nil, false)
	for _, part := range c.Parts[1:] {
		var err error
		if ref, err = b.inside(ref, part); err != nil {
			return Field{}, constant.Locate(err, c)
		}
	}
	if ref.ID < 0 {
		return Field{}, fault.New(fault.Unsupported, "reading %s, which lies inside of a variant, is not supported", syntax.BackQuote(ref.Path...)) // only there have fields no id
	}
	return ref, nil
}

func refOf(f arrow.Field, parent []string, nullable bool) Field {
	out := Field{ID: scan.FieldID(f), Path: append(slices.Clone(parent), f.Name), Type: f.Type, Nullable: f.Nullable || nullable}
	if len(parent) == 0 { // Spark, too, compares what is inside of structs as it stands
		out.length, _ = scan.CharLength(f)
	}
	return out
}

func (b *Binder) fieldsNamed(fields []arrow.Field, name string) []arrow.Field {
	var out []arrow.Field
	for _, f := range fields {
		if f.Name == name || !b.caseSensitive && strings.EqualFold(f.Name, name) {
			out = append(out, f)
		}
	}
	return out
}

// inside resolves a field of a struct.
func (b *Binder) inside(ref Field, part syntax.Ident) (Field, error) {
	t, ok := ref.Type.(*arrow.StructType)
	if !ok {
		if arrow.IsNested(ref.Type.ID()) {
			return Field{}, fault.New(fault.Unsupported, "reading %s inside %s, a %s, is not supported yet", syntax.BackQuote(part.Text), syntax.BackQuote(ref.Path...), sparktype.SQLName(ref.Type))
		}
		return Field{}, fault.New(fault.Invalid, "Can't extract a value from \"%s\". Need a complex type [STRUCT, ARRAY, MAP] but got %s.", strings.Join(ref.Path, "."),
			sparktype.SQLName(ref.Type)).With("INVALID_EXTRACT_BASE_FIELD_TYPE", "42000")
	}
	matches := b.fieldsNamed(t.Fields(), part.Text)
	switch len(matches) {
	case 0:
		names := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			names[i] = syntax.BackQuote(f.Name)
		}
		return Field{}, fault.New(fault.Invalid, "No such struct field %s in %s.", syntax.BackQuote(part.Text), strings.Join(names, ", ")).
			With("FIELD_NOT_FOUND", "42704")
	case 1:
		return refOf(matches[0], ref.Path, ref.Nullable), nil
	}
	return Field{}, fault.New(fault.Invalid, "Ambiguous reference to the field %s. It appears %d times in the schema.", syntax.BackQuote(part.Text), len(matches)).
		With("AMBIGUOUS_REFERENCE_TO_FIELDS", "42000")
}

func ambiguous(c *syntax.Column, matches []arrow.Field) error {
	names := make([]string, len(matches))
	for i, f := range matches {
		names[i] = syntax.BackQuote(f.Name)
	}
	return fault.New(fault.Invalid, "Reference %s is ambiguous, could be: [%s].", syntax.BackQuote(syntax.Texts(c.Parts)...), strings.Join(names, ", ")).
		With("AMBIGUOUS_REFERENCE", "42704").At(constant.Position(c))
}

// maxNearest is how many names an unresolved one is told.
const maxNearest = 5

func (b *Binder) unresolved(c *syntax.Column) error {
	if constant.ExecutorWord(c) {
		return fault.New(fault.Unsupported, "the function %s is not supported", c.Parts[0].Text).At(constant.Position(c))
	}
	name := syntax.BackQuote(syntax.Texts(c.Parts)...)
	message := "A column, variable, or function parameter with name " + name + " cannot be resolved."
	near := nearest(c.Parts[len(c.Parts)-1].Text, b.schema)
	if len(near) == 0 {
		return fault.New(fault.Invalid, "%s", message).With("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "42703").At(constant.Position(c))
	}
	return fault.New(fault.Invalid, "%s Did you mean one of the following? [%s].", message, strings.Join(near, ", ")).
		With("UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703").At(constant.Position(c))
}

// nearest gives the columns that are spelled most like name, quoted; of equally near ones the first in the alphabet.
func nearest(name string, schema *arrow.Schema) []string {
	var known []string
	for _, f := range schema.Fields() {
		known = append(known, f.Name)
	}
	slices.Sort(known)
	slices.SortStableFunc(known, func(x, y string) int { return editDistance(x, name) - editDistance(y, name) })
	out := known[:min(len(known), maxNearest)]
	for i, n := range out {
		out[i] = syntax.BackQuote(n)
	}
	return out
}

// maxCompared bounds the runes of a name that are compared.
const maxCompared = 200

// editDistance counts the insertions, deletions and substitutions between two names.
func editDistance(x, y string) int {
	a, b := []rune(x), []rune(y)
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range b {
			cost := diagonal
			if r != s {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
