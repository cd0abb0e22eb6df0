package hadoop

import (
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/storage"
)

// pathForm writes a location as Hadoop's Path does: slashes single, none at the end, and no empty authority, so that file:///a/ is file:/a.
func pathForm(at storage.Location) storage.Location {
	scheme := ""
	if s := storage.Scheme(at); s != "" {
		scheme, at = at[:len(s)+1], at[len(s)+1:]
		if rest, ok := strings.CutPrefix(at, "//"); ok {
			authority, path, _ := strings.Cut(rest, "/")
			at = "/" + path
			if authority != "" {
				scheme += "//" + authority
			}
		}
	}
	for strings.Contains(at, "//") {
		at = strings.ReplaceAll(at, "//", "/")
	}
	if len(at) > 1 {
		at = strings.TrimSuffix(at, "/")
	}
	return scheme + at
}

// under names a child of a folder.
func under(folder storage.Location, name string) storage.Location {
	return strings.TrimSuffix(folder, "/") + "/" + name
}

// base is the last part of a location.
func base(at storage.Location) string { return at[strings.LastIndexByte(at, '/')+1:] }

// maxFolder bounds a folder's location, in bytes. No store has longer ones, and a client may send any name.
const maxFolder = 16 << 10

// folder gives where an identifier's folder lies; false where no folder can bear such a name, so that nothing outside the warehouse is reached.
func (c *catalog) folder(id table.Identifier) (storage.Location, bool) {
	at := c.warehouse
	for _, name := range id {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return "", false
		}
		if at = under(at, name); len(at) > maxFolder {
			return "", false
		}
	}
	return at, true
}
