package session

import (
	"maps"
	"slices"
	"strings"
)

// Variable is a session variable, as DECLARE makes it.
type Variable struct {
	Name    string // as declared; names are told apart in any case
	Type    string // as SQL spells it
	Value   string // a constant in SQL, of that type
	Default string // the expression that SET … = DEFAULT evaluates
}

// View is a temporary view: a query by name, with what it saw when it was made.
type View struct {
	Name      string   `json:"name"` // as written; names are told apart in any case
	Text      string   `json:"text"`
	Dialect   string   `json:"dialect,omitempty"`
	Catalog   string   `json:"catalog,omitempty"`
	Namespace []string `json:"namespace,omitempty"`
	Columns   []string `json:"columns,omitempty"`  // none: those of the query
	Comments  []string `json:"comments,omitempty"` // of Columns; empty: none
}

// Objects are the variables and the temporary views of a session. The zero Objects has none. It is immutable.
type Objects struct {
	variables map[string]Variable // by name in lower case
	views     map[string]View
}

// Len is how many objects there are.
func (o Objects) Len() int { return len(o.variables) + len(o.views) }

// Bytes is what the objects take, near enough to bound it.
func (o Objects) Bytes() (n int64) {
	const each = 64
	for _, v := range o.variables {
		n += each + int64(len(v.Name)+len(v.Type)+len(v.Value)+len(v.Default))
	}
	for _, v := range o.views {
		n += each + int64(len(v.Name)+len(v.Text))
		for _, c := range append(slices.Clone(v.Columns), v.Comments...) {
			n += int64(len(c))
		}
	}
	return n
}

// Variable gives the variable of a name.
func (o Objects) Variable(name string) (Variable, bool) {
	v, ok := o.variables[strings.ToLower(name)]
	return v, ok
}

// Variables gives all variables, by name.
func (o Objects) Variables() []Variable { return sorted(o.variables) }

// View gives the temporary view of a name.
func (o Objects) View(name string) (View, bool) {
	v, ok := o.views[strings.ToLower(name)]
	return v, ok
}

// Views gives all temporary views, by name.
func (o Objects) Views() []View { return sorted(o.views) }

func sorted[V any](m map[string]V) []V {
	out := make([]V, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[name])
	}
	return out
}

// WithVariable gives the objects with a variable, which takes the place of one of its name.
func (o Objects) WithVariable(v Variable) Objects {
	o.variables = with(o.variables, v.Name, v)
	return o
}

// WithoutVariable gives the objects without a variable.
func (o Objects) WithoutVariable(name string) Objects {
	o.variables = without(o.variables, name)
	return o
}

// WithView gives the objects with a temporary view, which takes the place of one of its name.
func (o Objects) WithView(v View) Objects {
	o.views = with(o.views, v.Name, v)
	return o
}

// WithoutView gives the objects without a temporary view.
func (o Objects) WithoutView(name string) Objects {
	o.views = without(o.views, name)
	return o
}

func with[V any](m map[string]V, name string, v V) map[string]V {
	out := make(map[string]V, len(m)+1)
	maps.Copy(out, m)
	out[strings.ToLower(name)] = v
	return out
}

func without[V any](m map[string]V, name string) map[string]V {
	out := maps.Clone(m)
	delete(out, strings.ToLower(name))
	return out
}
