package engine

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/override"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

const splitSizeKey = "spark.sql.iceberg.read.split-size"

// readOptions collects the read options of one scan: those of WITH, then what session settings add below them. The settings that counted come
// back too, for the pin.
func (s *statement) readOptions(f *found, explicit tableOptions) ([]scan.Option, map[string]string, error) {
	var out []scan.Option
	for _, name := range sortedKeys(explicit) {
		if !slices.Contains(travelOptions, name) {
			out = append(out, scan.Option{Name: name, Value: explicit[name], Scope: "explicit"})
		}
	}
	conf := s.state.All()
	class := catalogs.Class{}
	if d, ok := s.engine.config.Catalogs.Definition(f.catalog); ok {
		class = d.Class
	}
	settings, err := override.Resolve(conf, class, f.sourceName(), explicit)
	if err != nil {
		return nil, nil, err
	}
	used := map[string]string{}
	for _, set := range settings {
		out = append(out, scan.Option{Name: set.Option, Value: set.Value, Scope: set.Scope, Key: set.Key})
		used[set.Key] = set.Value
	}
	if value, ok := conf.Get(splitSizeKey); ok && !slices.ContainsFunc(out, func(o scan.Option) bool { return o.Name == "split-size" }) {
		out = append(out, scan.Option{Name: "split-size", Value: value, Scope: "session", Key: splitSizeKey})
		used[splitSizeKey] = value
	}
	return out, used, nil
}

// sourceName is the name that table-scoped settings address: a metadata table counts as a table of its own, a selector does not.
func (f *found) sourceName() override.SourceName {
	name := override.SourceName{Catalog: f.catalog, Namespace: f.identifier[:len(f.identifier)-1], Table: f.identifier[len(f.identifier)-1]}
	if f.metadata {
		name.Namespace, name.Table = f.identifier, f.suffix
	}
	return name
}

// settings are the session's settings that a pin holds: those that decide rows, types or splits.
func (s *statement) settings(used map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range used {
		out[k] = v
	}
	for _, k := range []string{caseSensitiveKey, timeZoneKey} {
		if v, ok := s.state.Get(k); ok {
			out[k] = v
		}
	}
	return out
}

// resumedState is the session as a pin has it.
func resumedState(pin Pin) session.State {
	return session.State{Conf: session.NewConf(pin.Settings), Catalog: pin.Catalog, Namespace: pin.Namespace}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
