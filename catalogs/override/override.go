// Package override turns session settings into the read options of one scan, as the RAPIDS wrapper around Iceberg's catalogs does: three
// scopes (one table, one catalog, all catalogs), three suffixes. It only reads the configuration; what the values mean is the scan's.
package override

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// Setting is a read option that a session setting adds to a scan.
type Setting struct {
	Option string // the read option: split-size, lookback, file-open-cost
	Value  string // as set, unchecked
	Scope  string // table, catalog or global
	Key    string // the configuration key
}

// SourceName is what keys address. A metadata table is addressed as a table whose namespace ends in the base table's name; time travel
// and selectors change nothing.
type SourceName struct {
	Catalog   string
	Namespace []string
	Table     string
}

func (n SourceName) parts() []string {
	return append(append([]string{n.Catalog}, n.Namespace...), n.Table)
}

// suffixes is the table of what can be overridden: a key's end, the read option, and its other spelling.
var suffixes = []struct{ suffix, option, camel string }{
	{"read-split-target-size", "split-size", "splitsize"},
	{"read-split-planning-lookback", "lookback", "lookback"},
	{"read-split-open-file-cost", "file-open-cost", "fileopencost"},
}

// The beginnings of keys, by scope.
const (
	tableRoot   = "spark.rapids.iceberg.table-setting."
	catalogRoot = "spark.rapids.iceberg.catalog-setting."
	globalRoot  = "spark.rapids.iceberg.global-setting."
)

// bucket is what one scope holds for a scan.
type bucket struct {
	scope  string
	prefix string
	values map[string]string // by suffix
	bad    []string          // keys with another end, sorted
}

// Settings is a configuration that can be walked by prefix in byte order: a session.Conf or a session.State.
type Settings interface {
	Prefix(prefix string) iter.Seq2[string, string]
}

var (
	_ Settings = session.Conf{}
	_ Settings = session.State{}
)

// Resolve gives the read options that conf sets for one scan of one source; explicit are the scan's own, by name in any case and spelling, which win.
// Only the classes that wrap are affected. Any bad key of a scope that concerns the source is an error, whether it would have counted or not.
func Resolve(conf Settings, class catalogs.Class, name SourceName, explicit map[string]string) ([]Setting, error) {
	if !class.Wraps {
		return nil, nil
	}
	buckets := collectAll(conf, name)
	if err := ambiguous(buckets[0], name); err != nil {
		return nil, err
	}
	for _, b := range buckets {
		if err := b.err(name); err != nil {
			return nil, err
		}
	}
	var out []Setting
	for _, s := range suffixes {
		if given(explicit, s.option, s.camel) {
			continue
		}
		for _, b := range buckets {
			if v, ok := b.values[s.suffix]; ok {
				out = append(out, Setting{Option: s.option, Value: v, Scope: b.scope, Key: b.prefix + s.suffix})
				break
			}
		}
	}
	return out, nil
}

func collectAll(conf Settings, name SourceName) []bucket {
	return []bucket{
		collect(conf, "table", tableRoot+strings.Join(name.parts(), ".")+"."),
		collect(conf, "catalog", catalogRoot+name.Catalog+"."),
		collect(conf, "global", globalRoot),
	}
}

func collect(conf Settings, scope, prefix string) bucket {
	b := bucket{scope: scope, prefix: prefix, values: map[string]string{}}
	for key, value := range conf.Prefix(prefix) {
		rest := key[len(prefix):]
		switch {
		case known(rest):
			b.values[rest] = value
		case scope == "table" && deeper(rest):
		default:
			b.bad = append(b.bad, key)
		}
	}
	return b
}

func known(suffix string) bool {
	for _, s := range suffixes {
		if s.suffix == suffix {
			return true
		}
	}
	return false
}

// deeper reports whether the rest of a table's key addresses another table below it: more segments, then a known suffix.
func deeper(rest string) bool {
	dot := strings.LastIndexByte(rest, '.')
	return dot > 0 && known(rest[dot+1:]) && !slices.Contains(strings.Split(rest[:dot], "."), "")
}

func given(explicit map[string]string, names ...string) bool {
	for k := range explicit {
		if slices.Contains(names, strings.ToLower(k)) {
			return true
		}
	}
	return false
}

// err names every key of the scope that ends in no suffix, and the source whose scan they keep from being made.
func (b bucket) err(name SourceName) error {
	if len(b.bad) == 0 {
		return nil
	}
	var all []string
	for _, s := range suffixes {
		all = append(all, s.suffix)
	}
	var text []string
	for _, key := range b.bad {
		text = append(text, fmt.Sprintf("Unrecognized suffix '%s' in conf '%s'. Supported suffixes: [%s].", key[len(b.prefix):], key, strings.Join(all, ", ")))
	}
	return fault.New(fault.Invalid, "read options of %s, %s scope: %s", strings.Join(name.parts(), "."), b.scope, strings.Join(text, " ")).Change(b.bad[0])
}

// ambiguous refuses keys of a table one of whose name's parts holds a dot: the key could mean another table as well.
func ambiguous(table bucket, name SourceName) error {
	if len(table.values) == 0 && len(table.bad) == 0 {
		return nil
	}
	var dotted []string
	for _, part := range name.parts() {
		if strings.Contains(part, ".") {
			dotted = append(dotted, part)
		}
	}
	if dotted == nil {
		return nil
	}
	full := strings.Join(name.parts(), ".")
	return fault.New(fault.Invalid, "Cannot apply spark.rapids.iceberg.table-setting.* session overrides for %s: identifier component(s) [%s] contain '.', which makes the conf prefix ambiguous. "+
		"Rename the identifier or set the iceberg read.split.* table property directly.", full, strings.Join(dotted, ", ")).In(full)
}
