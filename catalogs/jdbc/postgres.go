package jdbc

import (
	"crypto/tls"
	"database/sql"
	"net"
	"os/user"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// postgresDialect asks for tables on the search path. A text of PostgreSQL holds no NUL and is always UTF-8.
var postgresDialect = dialect{
	table:       "SELECT count(*) FROM pg_class WHERE oid = to_regclass(?)",
	column:      "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(?) AND attname = ? AND attnum > 0 AND NOT attisdropped",
	numbered:    true,
	transaction: true,
	holds:       func(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") },
}

// openPostgres makes the database that jdbc:postgresql: names, with the settings of its JDBC driver.
func openPostgres(rest string, p iceberg.Properties) (*database, error) {
	s, err := parseServer(rest, p)
	if err != nil {
		return nil, err
	}
	limit, err := s.duration("socketTimeout", time.Second)
	if err != nil {
		return nil, err
	}
	config, err := s.postgres()
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = defaultLimit
	}
	pool := stdlib.OpenDB(*config)
	idle(pool)
	return &database{pool: pool, name: s.display(), dialect: postgresDialect, limit: limit}, nil
}

// idle lets unused connections of a server go after a while: something on the way may cut them.
func idle(pool *sql.DB) {
	pool.SetConnMaxIdleTime(time.Minute)
	pool.SetConnMaxLifetime(30 * time.Minute)
}

// postgres gives the driver's form. Everything is said, so that nothing is taken from the environment.
func (s server) postgres() (*pgx.ConnConfig, error) {
	get := func(name, otherwise string) string {
		if v := s.settings[strings.ToLower(name)]; v != "" {
			return v
		}
		return otherwise
	}
	name := get("user", "")
	if name == "" {
		if current, err := user.Current(); err == nil {
			name = current.Username
		}
	}
	mode := strings.ToLower(get("sslmode", "prefer"))
	if _, set := s.settings["sslmode"]; !set {
		if ssl, ok := s.settings["ssl"]; ok && !strings.EqualFold(ssl, "false") {
			mode = "verify-full"
		}
	}
	database := s.database
	if database == "" {
		database = name
	}
	pairs := []string{"user", name, "password", get("password", ""), "dbname", database, "sslmode", mode}
	hosts, ports := s.addresses("5432")
	pairs = append(pairs, "host", strings.Join(hosts, ","), "port", strings.Join(ports, ","))
	for jdbc, ours := range map[string]string{"sslrootcert": "sslrootcert", "sslcert": "sslcert", "sslkey": "sslkey", "sslpassword": "sslpassword", "applicationname": "application_name",
		"currentschema": "search_path", "options": "options"} {
		if v := s.settings[jdbc]; v != "" {
			pairs = append(pairs, ours, v)
		}
	}
	if target, ok := map[string]string{"primary": "primary", "master": "primary", "secondary": "standby", "slave": "standby", "prefersecondary": "prefer-standby",
		"preferslave": "prefer-standby"}[strings.ToLower(s.settings["targetservertype"])]; ok {
		pairs = append(pairs, "target_session_attrs", target)
	}
	connect, err := s.duration("connectTimeout", time.Second)
	if err != nil {
		return nil, err
	}
	if connect == 0 {
		connect = 10 * time.Second
	}
	pairs = append(pairs, "connect_timeout", strconv.Itoa(int(connect/time.Second)))
	config, err := pgx.ParseConfig(keywords(pairs))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the settings of the PostgreSQL database cannot be used; its TLS files may be unreadable")
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing prepared that a connection pooler would lose
	if config.TLSConfig != nil {
		config.TLSConfig.MinVersion = tls.VersionTLS12
	}
	return config, nil
}

// keywords writes pairs as a PostgreSQL connection string.
func keywords(pairs []string) string {
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(pairs[i] + "='" + quote.Replace(pairs[i+1]) + "' ")
	}
	return b.String()
}

// addresses parts the hosts from their ports.
func (s server) addresses(port string) (hosts, ports []string) {
	for _, h := range s.hosts {
		host, p, err := net.SplitHostPort(h)
		if err != nil {
			host, p = strings.Trim(h, "[]"), port
		}
		hosts, ports = append(hosts, host), append(ports, p)
	}
	if len(hosts) == 0 {
		hosts, ports = []string{"localhost"}, []string{port}
	}
	return hosts, ports
}
