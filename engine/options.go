package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/override"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// sessionOptions are the settings of Iceberg's Spark module that are read options of every scan, below all others that were set.
var sessionOptions = []struct{ key, option string }{
	{"spark.sql.iceberg.read.split-size", "split-size"},
	{"spark.sql.iceberg.read.adaptive-split-size.enabled", "adaptive-split-size-enabled"},
	{"spark.sql.iceberg.read.adaptive-split-size.parallelism", parallelismOption},
	{"spark.sql.iceberg.planning.preserve-data-grouping", "preserve-data-grouping"},
	{"spark.comet.scan.icebergNative.enabled", "native-decoder"},
	{"skua.decoder", "decoder"},
	{"spark.sql.parquet.datetimeRebaseModeInRead", "datetime-rebase-mode"},
	{"spark.sql.parquet.int96RebaseModeInRead", "int96-rebase-mode"},
	{"skua.scan.concurrency", "concurrency"}, // before Comet's, which it wins over
	{"spark.comet.scan.icebergNative.dataFileConcurrencyLimit", "concurrency"},
}

const (
	aggregateName = "aggregate-push-down-enabled"
	aggregateKey  = "spark.sql.iceberg.aggregate-push-down.enabled"
	wapBranchKey  = "spark.wap.branch"

	catalogReferencePrefix = "skua.catalog-reference." // and the catalog's name
	parallelismOption      = "adaptive-split-size-parallelism"
	shuffleKey             = "spark.sql.shuffle.partitions"
	parallelismKey         = "spark.default.parallelism"
)

// readOptions collects the read options of one scan: those of WITH, then what session settings add below them. The settings that counted come
// back too, for the pin.
func (s *statement) readOptions(f *found, explicit tableOptions) ([]scan.Option, map[string]string, error) {
	var out []scan.Option
	for _, name := range sortedKeys(explicit) {
		if known, ok := session.LookupReadOption(name); ok && known.Effect && known.Level == session.ScanLevel {
			out = append(out, scan.Option{Name: name, Value: explicit[name], Scope: "explicit"})
		}
	}
	var settings []override.Setting
	if !f.changelog() {
		var err error
		if settings, err = override.Resolve(s.state, s.classOf(f.catalog), f.sourceName(), explicit); err != nil {
			return nil, nil, err
		}
	}
	used := map[string]string{}
	for _, set := range settings {
		out = append(out, scan.Option{Name: set.Option, Value: set.Value, Scope: set.Scope, Key: set.Key})
		used[set.Key] = set.Value
	}
	for _, o := range sessionOptions {
		if value, ok := s.state.Get(o.key); ok && !has(out, o.option) {
			out = append(out, scan.Option{Name: o.option, Value: value, Scope: "session", Key: o.key})
			used[o.key] = value
		}
	}
	if o, ok := s.parallelism(used); ok && !has(out, parallelismOption) {
		out = append(out, o)
	}
	return out, used, nil
}

// ignoredOptions gives the options of WITH that are not known: they are ignored as Spark ignores them, and told where somebody looks.
func ignoredOptions(explicit tableOptions) []reportIgnored {
	var known []string
	for _, o := range session.ReadOptions() {
		known = append(known, o.Spelled())
	}
	var out []reportIgnored
	for _, name := range sortedKeys(explicit) {
		if _, ok := session.LookupReadOption(name); !ok {
			out = append(out, reportIgnored{Name: name, Value: session.Redact(name, explicit[name]), Near: catalogs.Nearest(name, known)})
		}
	}
	return out
}

func (s *statement) classOf(catalog string) catalogs.Class {
	d, _ := s.engine.config.Catalogs.Definition(catalog)
	return d.Class
}

// aggregateOption says whether count(*) may be answered from metadata; as Spark's booleans are, every word but true is false.
func (s *statement) aggregateOption(explicit tableOptions) scan.Resolved {
	out := scan.Resolved{Name: aggregateName, Value: "true", Scope: "default"}
	if v, ok := explicit[aggregateName]; ok {
		out.Value, out.Scope = v, "explicit"
	} else if v, ok := s.state.Get(aggregateKey); ok {
		out.Value, out.Scope, out.Key = v, "session", aggregateKey
	}
	out.Value = strconv.FormatBool(strings.EqualFold(out.Value, "true"))
	return out
}

func has(options []scan.Option, name string) bool {
	return slices.ContainsFunc(options, func(o scan.Option) bool { return o.Name == name })
}

// parallelism is the larger of the shuffle partitions and the default parallelism, of which the value at start counts; false where neither
// is set. Both are pinned, as either may count.
func (s *statement) parallelism(used map[string]string) (scan.Option, bool) {
	option, _ := session.Lookup(shuffleKey)
	out := scan.Option{Name: parallelismOption, Value: option.Default, Scope: "default"}
	if value, ok := s.state.Get(shuffleKey); ok {
		out.Value, out.Scope, out.Key = value, "session", shuffleKey
		used[shuffleKey] = value
	}
	if value, ok := s.state.Startup.Get(parallelismKey); ok {
		used[parallelismKey] = value
		if splits(value) > splits(out.Value) {
			out.Value, out.Scope, out.Key = value, "session", parallelismKey
		}
	}
	return out, out.Key != ""
}

func splits(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return -1 // the option's type has refused it before
	}
	return n
}

// sourceName is the name that table-scoped settings address: a metadata table counts as a table of its own, a selector does not.
func (f *found) sourceName() override.SourceName {
	name := override.SourceName{Catalog: f.catalog, Namespace: f.identifier[:len(f.identifier)-1], Table: f.identifier[len(f.identifier)-1]}
	if f.metadata {
		name.Namespace, name.Table = f.identifier, f.suffix
	}
	return name
}

// catalogReference is the branch, tag or commit of a whole catalog that the session reads; empty: the configured one.
func (s *statement) catalogReference(catalog string) string {
	reference, _ := s.state.Get(catalogReferencePrefix + catalog)
	return reference
}

// settings are the session's settings that a pin holds: those that decide rows, types or splits.
func (s *statement) settings(used map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range used {
		out[k] = v
	}
	for k, v := range s.state.Prefix(catalogReferencePrefix) {
		out[k] = v
	}
	for _, k := range []string{caseSensitiveKey, timeZoneKey, travelOptionsKey, wapBranchKey, aggregateKey, dialectKey} {
		if v, ok := s.state.Get(k); ok {
			out[k] = v
		}
	}
	return out
}

// resumedState is the session as a pin has it.
func resumedState(pin Pin) session.State {
	st := session.State{Startup: session.NewConf(pin.Settings), Catalog: pin.Catalog, Namespace: pin.Namespace}
	for name, value := range pin.Variables {
		st.Objects = st.Objects.WithVariable(session.Variable{Name: name, Value: value})
	}
	for _, v := range pin.Views {
		st.Objects = st.Objects.WithView(v)
	}
	return st
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
