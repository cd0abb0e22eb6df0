package jdbc

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/iceberg-go"
	"github.com/go-sql-driver/mysql"

	"github.com/skua-data/skua/fault"
)

// mysqlDialect asks the information schema of the database.
var mysqlDialect = dialect{
	table:       "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
	column:      "SELECT count(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?",
	transaction: true,
	holds:       utf8.ValidString,
}

// openMySQL makes the database that jdbc:mysql: or jdbc:mariadb: names, with the settings of its JDBC driver.
func openMySQL(rest string, p iceberg.Properties) (*database, error) {
	if !strings.HasPrefix(rest, "//") {
		return nil, fault.New(fault.Unsupported, "JDBC URLs of MySQL other than jdbc:mysql://host/database (replication, load balancing) are not supported")
	}
	s, err := parseServer(rest, p)
	if err != nil {
		return nil, err
	}
	if s.database == "" || strings.ContainsAny(strings.Join(s.hosts, ""), "()=") {
		return nil, fault.New(fault.Invalid, "the JDBC URL of a MySQL database is jdbc:mysql://host[:port]/database")
	}
	config, err := s.mysql()
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the settings of the MySQL database cannot be used")
	}
	limit := config.ReadTimeout
	if limit == 0 {
		limit = defaultLimit
	}
	pool := sql.OpenDB(connector)
	idle(pool)
	return &database{pool: pool, name: s.display(), dialect: mysqlDialect, limit: limit}, nil
}

// quiet drops what the driver would print: a server that hangs up is no news.
type quiet struct{}

// Print drops it.
func (quiet) Print(...any) {}

// mysql gives the driver's form.
func (s server) mysql() (*mysql.Config, error) {
	out := mysql.NewConfig()
	out.User, out.Passwd, out.DBName, out.Net, out.Logger = s.settings["user"], s.settings["password"], s.database, "tcp", quiet{}
	hosts, ports := s.addresses("3306")
	out.Addr = net.JoinHostPort(hosts[0], ports[0])
	out.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var failed []error
		for i := range hosts {
			var dialer net.Dialer
			c, err := dialer.DialContext(ctx, network, net.JoinHostPort(hosts[i], ports[i]))
			if err == nil {
				return c, nil
			}
			failed = append(failed, err)
		}
		return nil, errors.Join(failed...)
	}
	var err error
	if out.Timeout, err = s.duration("connectTimeout", time.Millisecond); err != nil {
		return nil, err
	}
	if out.Timeout == 0 {
		out.Timeout = 10 * time.Second
	}
	if out.ReadTimeout, err = s.duration("socketTimeout", time.Millisecond); err != nil {
		return nil, err
	}
	out.TLSConfig = s.mysqlTLS()
	return out, nil
}

// mysqlTLS gives the driver's word for what sslMode says, or its older forms.
func (s server) mysqlTLS() string {
	is := func(name, value string) bool { return strings.EqualFold(s.settings[strings.ToLower(name)], value) }
	switch strings.ToLower(s.settings["sslmode"]) {
	case "disabled", "disable":
		return "false"
	case "required", "trust":
		return "skip-verify"
	case "verify_ca", "verify_identity", "verify-ca", "verify-full":
		return "true"
	case "preferred":
		return "preferred"
	}
	switch {
	case is("useSSL", "false"):
		return "false"
	case is("verifyServerCertificate", "true"):
		return "true"
	case is("requireSSL", "true"):
		return "skip-verify"
	}
	return "preferred"
}
