package catalogs

import (
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// Definition is a configured catalog: what spark.sql.catalog.<name> and its properties say, checked.
type Definition struct {
	Name       string
	Class      Class
	Type       string             // lower-case, a type of Iceberg's; empty: Impl is set
	Impl       string             // an outside plugin's name, from catalog-impl; empty: Type is set
	Properties iceberg.Properties // without type and catalog-impl; keys that Iceberg knows in its spelling, others as configured; may hold secrets
}

// NewDefinition checks one catalog's configuration: javaClass is the value of spark.sql.catalog.<name>, properties are what
// spark.sql.catalog.<name>.<key> say, keys in any case. It also gives a warning for every property that has no effect here; warnings name keys
// and hold no values. Properties that nobody knows go to the catalog as they are.
func NewDefinition(name, javaClass string, properties iceberg.Properties) (Definition, []string, error) {
	if name == "" || strings.Contains(name, ".") {
		return Definition{}, nil, fault.New(fault.Invalid, "Invalid catalog name: %s", name)
	}
	class, err := classOf(name, javaClass)
	if err != nil {
		return Definition{}, nil, err
	}
	folded, err := foldKeys(name, properties)
	if err != nil {
		return Definition{}, nil, err
	}
	d := Definition{Name: name, Class: class, Properties: folded}
	if d.Type, d.Impl, err = typeOf(name, folded); err != nil {
		return Definition{}, nil, err
	}
	delete(folded, "type")
	delete(folded, "catalog-impl")
	if err := checkFileIO(d); err != nil {
		return Definition{}, nil, err
	}
	if _, err := d.retention(); err != nil {
		return Definition{}, nil, err
	}
	return d, warnings(d), nil
}

// DefaultNamespace is where USE <catalog> leads: default for a session catalog, else default-namespace split at its dots, else the root (nil).
func (d Definition) DefaultNamespace() table.Identifier {
	if d.Class.Session {
		return table.Identifier{sessionNamespace}
	}
	if ns := d.Properties["default-namespace"]; ns != "" {
		return strings.Split(ns, ".")
	}
	return nil
}

// key is the configuration key of a property.
func (d Definition) key(property string) string { return key(d.Name, property) }

func key(name, property string) string { return "spark.sql.catalog." + name + "." + property }

func classOf(name, javaClass string) (Class, error) {
	if javaClass == "" {
		return Class{}, notFound(name, nil)
	}
	class, ok := ClassByName(javaClass)
	if !ok {
		return Class{}, fault.New(fault.Invalid, "Cannot find catalog plugin class for catalog '%s': %s.%s", name, javaClass,
			suggest(javaClass, classNames())).Change("spark.sql.catalog." + name)
	}
	return class, nil
}

// typeOf applies Iceberg's rules for type and catalog-impl. Iceberg takes hive where neither is given, against its own documentation; here that
// is an error, since it is an oversight more often than a wish.
func typeOf(name string, p iceberg.Properties) (typ, impl string, err error) {
	typ, hasType := p["type"]
	impl, hasImpl := p["catalog-impl"]
	switch {
	case hasType && hasImpl:
		return "", "", fault.New(fault.Invalid, "Cannot create catalog %s, both type and catalog-impl are set: type=%s, catalog-impl=%s", name, typ, impl).
			Change(key(name, "type"))
	case hasType:
		return knownType(name, typ)
	case hasImpl:
		return implementationOf(name, impl)
	}
	return "", "", fault.New(fault.Invalid, "Cannot create catalog %s, neither type nor catalog-impl is set (Iceberg would take type=hive)", name).
		Change(key(name, "type"))
}

func knownType(name, typ string) (string, string, error) {
	lower := strings.ToLower(typ)
	var known []string
	for _, i := range implementations {
		if i.name == lower {
			return lower, "", nil
		}
		known = append(known, i.name)
	}
	return "", "", fault.New(fault.Invalid, "Unknown catalog type: %s%s", typ, suggest(typ, known)).Change(key(name, "type"))
}

func implementationOf(name, impl string) (string, string, error) {
	for _, i := range implementations {
		if i.java == impl && impl != "" {
			return i.name, "", nil
		}
	}
	if impl == "" || strings.ContainsAny(impl, "/\\\x00") || strings.HasPrefix(impl, ".") {
		return "", "", fault.New(fault.Invalid, "Cannot initialize Catalog implementation %q: a plugin is named by its file name in the plugin folder, "+
			"never by a path", impl).Change(key(name, "catalog-impl"))
	}
	return "", impl, nil
}

func checkFileIO(d Definition) error {
	class, ok := d.Properties["io-impl"]
	if !ok {
		return nil
	}
	for _, known := range fileIOs {
		if known == class {
			return nil
		}
	}
	return fault.New(fault.Unsupported, "Cannot initialize FileIO implementation %s: FileIO classes other than Iceberg's own are not supported%s", class,
		suggest(class, fileIOs)).Change(d.key("io-impl"))
}

// suggest is the end of a sentence that names the nearest known word; empty where nothing is near.
func suggest(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return " Did you mean " + near + "?"
	}
	return ""
}
