package override

import "strings"

// Listed is a key that is set, whether it is good for anything or not.
type Listed struct {
	Setting        // Option is empty where the key ends in no suffix
	Target  string // what the key addresses, dotted as written: a catalog, or a table with its catalog; empty for all
}

// List gives every key of the three scopes that conf holds: global, then catalog, then table, each in byte order.
func List(conf Settings) []Listed {
	var out []Listed
	for _, s := range []struct{ scope, root string }{{"global", globalRoot}, {"catalog", catalogRoot}, {"table", tableRoot}} {
		for key, value := range conf.Prefix(s.root) {
			l := Listed{Setting: Setting{Value: value, Scope: s.scope, Key: key}}
			l.Target, l.Option = target(s.scope, key[len(s.root):])
			out = append(out, l)
		}
	}
	return out
}

// target splits what follows a key's scope into what it addresses and the read option.
func target(scope, rest string) (name, option string) {
	if scope == "global" {
		return "", optionOf(rest)
	}
	if dot := strings.LastIndexByte(rest, '.'); dot > 0 && known(rest[dot+1:]) {
		name = rest[:dot]
		if scope == "catalog" && strings.Contains(name, ".") {
			name, _, _ = strings.Cut(name, ".")
			return name, "" // a catalog's suffix has no dots
		}
		return name, optionOf(rest[dot+1:])
	}
	if scope == "catalog" {
		name, _, _ = strings.Cut(rest, ".")
		return name, ""
	}
	if dot := strings.LastIndexByte(rest, '.'); dot > 0 {
		return rest[:dot], ""
	}
	return rest, ""
}

func optionOf(suffix string) string {
	for _, s := range suffixes {
		if s.suffix == suffix {
			return s.option
		}
	}
	return ""
}

// Candidates gives the settings that address a source, the winning scope of each option first; keys that end in no suffix are left out. It
// asks neither for the catalog's class nor for what is ambiguous.
func Candidates(conf Settings, name SourceName) []Setting {
	buckets := collectAll(conf, name)
	var out []Setting
	for _, s := range suffixes {
		for _, b := range buckets {
			if v, ok := b.values[s.suffix]; ok {
				out = append(out, Setting{Option: s.option, Value: v, Scope: b.scope, Key: b.prefix + s.suffix})
			}
		}
	}
	return out
}
