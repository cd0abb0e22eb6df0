package jdbc

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// defaultLimit is how long one question may take.
const defaultLimit = time.Minute

// openDatabase makes the database that a JDBC URL names. It connects to nothing. Errors repeat nothing of a URL beyond its kind: it may hold a password.
func openDatabase(p iceberg.Properties) (*database, error) {
	uri := p["uri"]
	if len(uri) < 5 || !strings.EqualFold(uri[:5], "jdbc:") {
		return nil, fault.New(fault.Invalid, "uri must be a JDBC URL, such as jdbc:postgresql://host/database or jdbc:sqlite:/path/to/catalog.db")
	}
	kind, rest, _ := strings.Cut(uri[5:], ":")
	switch strings.ToLower(kind) {
	case "sqlite":
		return openSQLite(rest)
	case "postgresql":
		return openPostgres(rest, p)
	case "mysql", "mariadb":
		return openMySQL(rest, p)
	}
	return nil, fault.New(fault.Unsupported, "the JDBC database %s is not supported, only postgresql, mysql, mariadb and sqlite are", printable(kind))
}

// server is a database server as a JDBC URL names it, with the settings that JDBC's driver would get.
type server struct {
	hosts    []string // with their ports, where they have any
	database string
	settings map[string]string // names in lower case; those of the URL over those of jdbc.*
}

// parseServer reads //host[:port][,host…]/database[?name=value&…], and the properties jdbc.<name>.
func parseServer(rest string, p iceberg.Properties) (server, error) {
	out := server{settings: map[string]string{}}
	for k, v := range p {
		if name, ok := strings.CutPrefix(k, "jdbc."); ok {
			out.settings[strings.ToLower(name)] = v
		}
	}
	rest, query, _ := strings.Cut(rest, "?")
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		hosts, database, _ := strings.Cut(after, "/")
		out.database = database
		if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
			user, password, _ := strings.Cut(hosts[:at], ":")
			out.settings["user"], out.settings["password"] = user, password
			hosts = hosts[at+1:]
		}
		for _, host := range strings.Split(hosts, ",") {
			if host != "" {
				out.hosts = append(out.hosts, host)
			}
		}
	} else {
		out.database = strings.TrimPrefix(rest, "/")
	}
	database, err := url.PathUnescape(out.database)
	if err != nil {
		return server{}, fault.New(fault.Invalid, "the name of the database in the JDBC URL is badly escaped")
	}
	out.database = database
	for _, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(value)
		if err != nil {
			return server{}, fault.New(fault.Invalid, "the options of the JDBC URL are badly escaped")
		}
		if name != "" {
			out.settings[strings.ToLower(name)] = value
		}
	}
	return out, nil
}

// duration reads a setting that is a number of some unit; 0: it is not set.
func (s server) duration(name string, unit time.Duration) (time.Duration, error) {
	text := s.settings[strings.ToLower(name)]
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fault.New(fault.Invalid, "the JDBC setting %s must be a number", name)
	}
	return time.Duration(n) * unit, nil
}

// display names the database in errors: the first host and the database.
func (s server) display() string {
	host := "localhost"
	if len(s.hosts) > 0 {
		host = s.hosts[0]
	}
	return host + "/" + s.database
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
