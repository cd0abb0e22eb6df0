package jdbc

import (
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/skua-data/skua/fault"
)

// sqliteDialect asks SQLite's own catalog.
var sqliteDialect = dialect{
	table:  "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?",
	column: "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?",
	busy: func(err error) bool {
		return slices.Contains([]int{sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}, sqliteCode(err))
	},
	corrupt: func(err error) bool {
		return slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}, sqliteCode(err))
	},
}

func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// openSQLite makes the database of a file. There is no idle connection: one would go on reading a file that was replaced meanwhile.
func openSQLite(rest string) (*database, error) {
	a, err := parseSQLite(rest)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", a.dsn())
	if err != nil {
		return nil, fault.New(fault.Invalid, "open the database %s: %w", a.path, err)
	}
	pool.SetMaxIdleConns(-1)
	return &database{pool: pool, name: a.path, dialect: sqliteDialect, patience: a.patience}, nil
}

// defaultPatience is how long a call waits for a database that someone writes to.
const defaultPatience = 5 * time.Second

// sqliteAddress is a SQLite database as a JDBC URL names it.
type sqliteAddress struct {
	path     string
	patience time.Duration
}

// parseSQLite reads what follows jdbc:sqlite: in a URL: PATH[?options], where PATH may be a file: URI. Errors repeat nothing of it.
func parseSQLite(rest string) (sqliteAddress, error) {
	path, query, _ := strings.Cut(rest, "?")
	if len(path) >= 5 && strings.EqualFold(path[:5], "file:") {
		var err error
		if path, err = fileURI(path[5:]); err != nil {
			return sqliteAddress{}, err
		}
	}
	if path == "" || strings.HasPrefix(path, ":") {
		return sqliteAddress{}, fault.New(fault.Unsupported, "SQLite databases without a file (in memory or in a resource) are not supported")
	}
	if strings.IndexByte(path, 0) >= 0 {
		return sqliteAddress{}, fault.New(fault.Invalid, "the path of the SQLite database holds a NUL")
	}
	a := sqliteAddress{path: path, patience: defaultPatience}
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
func (a *sqliteAddress) options(query string) error {
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
func (a sqliteAddress) dsn() string {
	escaped := (&url.URL{Path: a.path}).EscapedPath()
	if strings.HasPrefix(escaped, "/") {
		escaped = "//" + escaped // an empty host, lest two slashes in front of the path be taken for one
	}
	return "file:" + escaped + "?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(0)"
}
