package jdbc

import (
	"database/sql"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/fault"
)

// postgres is a server that speaks PostgreSQL's protocol and answers from a SQLite file.
type postgres struct {
	db       *sql.DB
	password string
	silent   bool

	mu      sync.Mutex
	startup map[string]string
	queries []string
}

func startPostgres(t testing.TB, p *postgres) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	running.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			running.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return listener.Addr().String()
}

func (p *postgres) serve(c net.Conn) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	for {
		m, err := b.ReceiveStartupMessage()
		if err != nil {
			return
		}
		if s, ok := m.(*pgproto3.StartupMessage); ok {
			p.mu.Lock()
			p.startup = s.Parameters
			p.mu.Unlock()
			break
		}
		if _, err := c.Write([]byte("N")); err != nil { // no TLS here
			return
		}
	}
	b.Send(&pgproto3.AuthenticationCleartextPassword{})
	if b.Flush() != nil {
		return
	}
	m, err := b.Receive()
	if said, ok := m.(*pgproto3.PasswordMessage); err != nil || !ok || said.Password != p.password {
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"})
		_ = b.Flush()
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if b.Flush() != nil {
		return
	}
	p.answer(b)
}

func (p *postgres) answer(b *pgproto3.Backend) {
	var query string
	var arguments []any
	status := byte('I')
	for {
		m, err := b.Receive()
		if err != nil || p.silent {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			p.note(m.String)
			if strings.HasPrefix(strings.ToLower(m.String), "begin") {
				status = 'T'
			} else {
				status = 'I'
			}
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("BEGIN")})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: status})
		case *pgproto3.Parse:
			query = m.Query
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			arguments = nil
			for _, v := range m.Parameters {
				arguments = append(arguments, string(v))
			}
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Describe:
			p.note(query)
			p.run(b, query, arguments)
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: status})
		case *pgproto3.Terminate:
			return
		}
		if b.Flush() != nil {
			return
		}
	}
}

func (p *postgres) note(query string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queries = append(p.queries, query)
}

var numbered = regexp.MustCompile(`\$\d`)

// run describes and answers at once; the Execute that follows needs no more.
func (p *postgres) run(b *pgproto3.Backend, query string, arguments []any) {
	switch {
	case strings.Contains(query, "pg_class"):
		query = sqliteDialect.table
	case strings.Contains(query, "pg_attribute"):
		query = sqliteDialect.column
	}
	rows, err := p.db.Query(numbered.ReplaceAllString(query, "?"), arguments...)
	if err != nil {
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "42P01", Message: err.Error()})
		return
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	described := &pgproto3.RowDescription{}
	oid := uint32(25)
	if strings.Contains(query, "count(*)") {
		oid = 20
	}
	for _, name := range columns {
		described.Fields = append(described.Fields, pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: oid, DataTypeSize: -1})
	}
	b.Send(described)
	n := 0
	for ; rows.Next(); n++ {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return
		}
		row := &pgproto3.DataRow{}
		for _, v := range values {
			if v.Valid {
				row.Values = append(row.Values, []byte(v.String))
			} else {
				row.Values = append(row.Values, nil)
			}
		}
		b.Send(row)
	}
	b.Send(&pgproto3.CommandComplete{CommandTag: fmt.Appendf(nil, "SELECT %d", n)})
}

func openPostgresFake(t testing.TB, statements ...string) (*postgres, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.db")
	write(t, path, statements...)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := &postgres{db: db, password: "planted"}
	return p, startPostgres(t, p)
}

func TestSuiteOnPostgres(t *testing.T) {
	p, address := openPostgresFake(t, append(oddRows, toV1)...)
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		return open(t, "jdbc:postgresql://"+address+"/lake?sslmode=disable&ApplicationName=skua&currentSchema=iceberg", "jdbc.password", "planted"), oddContent()
	})
	want := map[string]string{"user": "u", "database": "lake", "application_name": "skua", "search_path": "iceberg"}
	for k, v := range want {
		if p.startup[k] != v {
			t.Errorf("%s is %q, want %q", k, p.startup[k], v)
		}
	}
	if !strings.Contains(strings.ToLower(p.queries[0]), "read only") {
		t.Errorf("the first query is %q", p.queries[0])
	}
}

func TestPostgresFailures(t *testing.T) {
	p, address := openPostgresFake(t, tablesV0)
	request := catalogs.LoadRequest{Identifier: table.Identifier{"ns", "t"}}
	_, err := open(t, "jdbc:postgresql://"+address+"/lake", "jdbc.password", "wrong-planted").Load(t.Context(), request)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "password authentication failed") || strings.Contains(err.Error(), "planted") {
		t.Errorf("a wrong password: %v", err)
	}
	p.silent = true
	_, err = open(t, "jdbc:postgresql://"+address+"/lake?socketTimeout=1", "jdbc.password", "planted").Load(t.Context(), request)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("a silent server: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if _, err = open(t, "jdbc:postgresql://"+listener.Addr().String()+"/lake").Load(t.Context(), request); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no server: %v", err)
	}
}

func TestServerURLs(t *testing.T) {
	for uri, want := range map[string]string{
		"postgresql://h/db":                           "h:5432 db u p prefer",
		"postgresql://h:1,[::1]:2/d%20b?user=x":       "h:1,::1:2 d b x p prefer",
		"postgresql:db":                               "localhost:5432 db u p prefer",
		"postgresql://h/":                             "h:5432 u u p prefer",
		"postgresql://h/db?ssl=false&password=a%26b":  "h:5432 db u a&b prefer",
		"postgresql://h/db?sslmode=disable":           "h:5432 db u p disable",
		"postgresql://h/it's?sslmode=disable&user=o'": "h:5432 it's o' p disable",
	} {
		d, err := parseServer(uri[len("postgresql:"):], iceberg.Properties{"jdbc.user": "u", "jdbc.password": "p", "warehouse": "w"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.postgres()
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		hosts := []string{fmt.Sprint(c.Host, ":", c.Port)}
		for _, f := range c.Fallbacks {
			if next := fmt.Sprint(f.Host, ":", f.Port); next != hosts[len(hosts)-1] {
				hosts = append(hosts, next)
			}
		}
		mode := "disable"
		if c.TLSConfig != nil {
			mode = "prefer"
		}
		if got := fmt.Sprint(strings.Join(hosts, ","), " ", c.Database, " ", c.User, " ", c.Password, " ", mode); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
	for uri, want := range map[string]string{
		"//h/db": "h:3306 db u p preferred", "//h:1/db?useSSL=false": "h:1 db u p false", "//h/db?sslMode=VERIFY_IDENTITY&user=x": "h:3306 db x p true",
		"//h/db?requireSSL=true&connectTimeout=5": "h:3306 db u p skip-verify",
	} {
		d, err := parseServer(uri, iceberg.Properties{"jdbc.user": "u", "jdbc.password": "p"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.mysql()
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if got := fmt.Sprint(c.Addr, " ", c.DBName, " ", c.User, " ", c.Passwd, " ", c.TLSConfig); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
	if got := postgresDialect.spell("a = ? AND b = ?"); got != "a = $1 AND b = $2" {
		t.Errorf("%s", got)
	}
}
