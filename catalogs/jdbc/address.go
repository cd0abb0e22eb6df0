package jdbc

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
)

// defaultPatience is how long a call waits for a database that someone writes to.
const defaultPatience = 5 * time.Second

// address is a SQLite database as a JDBC URL names it.
type address struct {
	path     string
	patience time.Duration
}

// parseURI reads jdbc:sqlite:PATH[?options], where PATH may be a file: URI. Errors repeat nothing of a URL beyond its kind: it may hold a
// password.
func parseURI(uri string) (address, error) {
	if len(uri) < 5 || !strings.EqualFold(uri[:5], "jdbc:") {
		return address{}, fault.New(fault.Invalid, "uri must be a JDBC URL, such as jdbc:sqlite:/path/to/catalog.db")
	}
	kind, rest, _ := strings.Cut(uri[5:], ":")
	if !strings.EqualFold(kind, "sqlite") {
		return address{}, fault.New(fault.Unsupported, "the JDBC database %s is not supported, only sqlite is", printable(kind))
	}
	path, query, _ := strings.Cut(rest, "?")
	if len(path) >= 5 && strings.EqualFold(path[:5], "file:") {
		var err error
		if path, err = fileURI(path[5:]); err != nil {
			return address{}, err
		}
	}
	if path == "" || strings.HasPrefix(path, ":") {
		return address{}, fault.New(fault.Unsupported, "SQLite databases without a file (in memory or in a resource) are not supported")
	}
	if strings.IndexByte(path, 0) >= 0 {
		return address{}, fault.New(fault.Invalid, "the path of the SQLite database holds a NUL")
	}
	a := address{path: path, patience: defaultPatience}
	return a, a.options(query)
}

// fileURI gives the path of a file: URI, in which, unlike in a location of Iceberg's, percent signs are escapes.
func fileURI(rest string) (string, error) {
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, path, _ := strings.Cut(after, "/")
		if host != "" && host != "localhost" {
			return "", fault.New(fault.Unsupported, "SQLite databases on another host are not supported")
		}
		rest = "/" + path
	}
	path, err := url.PathUnescape(rest)
	if err != nil {
		return "", fault.New(fault.Invalid, "the path of the SQLite database is badly escaped")
	}
	return path, nil
}

// options reads those of a URL's options that change what is read; others steer writes and are left alone.
func (a *address) options(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fault.New(fault.Invalid, "the options of the JDBC URL are badly escaped")
	}
	for name, value := range values {
		switch strings.ToLower(name) {
		case "mode":
			if strings.EqualFold(value[0], "memory") {
				return fault.New(fault.Unsupported, "SQLite databases without a file (mode=memory) are not supported")
			}
		case "vfs", "cipher", "key", "hexkey", "password":
			return fault.New(fault.Unsupported, "the SQLite option %s is not supported", strings.ToLower(name))
		case "busy_timeout":
			ms, err := strconv.ParseUint(value[0], 10, 31)
			if err != nil {
				return fault.New(fault.Invalid, "the SQLite option busy_timeout must be a number of milliseconds")
			}
			a.patience = time.Duration(ms) * time.Millisecond
		}
	}
	return nil
}

// dsn is the driver's name of the database: read-only, so that a missing file is not made, and without a wait of its own, since a wait
// inside SQLite does not hear of a cancelled call.
func (a address) dsn() string {
	escaped := (&url.URL{Path: a.path}).EscapedPath()
	if strings.HasPrefix(escaped, "/") {
		escaped = "//" + escaped // an empty host, lest two slashes in front of the path be taken for one
	}
	return "file:" + escaped + "?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(0)"
}

// printable keeps a word of a URL to letters, digits and dashes.
func printable(word string) string {
	for _, r := range word {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return "of this URL"
		}
	}
	return word
}
