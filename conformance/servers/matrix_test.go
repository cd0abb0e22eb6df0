package servers

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skua-data/skua/cmd/skua/demo"
	"github.com/skua-data/skua/conformance/lake"
)

// questions are asked of every catalog on every store; what a hadoop catalog on the machine's files answers is right. %[1]s stands for what a namespace begins with.
var questions = []string{
	"SHOW TABLES IN %[1]sshop", "DESCRIBE %[1]sshop.sales", "SELECT count(*) FROM %[1]sshop.sales",
	"SELECT sale_id, sold_on, quantity, amount FROM %[1]sshop.sales WHERE sold_on = DATE '2025-06-01' AND amount > 2400 ORDER BY sale_id LIMIT 5",
	"SELECT sale_id, store_id, amount FROM %[1]sshop.sales",
	"SELECT category, count(*), sum(amount) FROM %[1]sshop.sales JOIN %[1]sshop.products USING (product_id) GROUP BY category ORDER BY category",
	"SELECT count(*) FROM %[1]sweb.events", "SELECT page, count(*) FROM %[1]sweb.events WHERE took_ms > 100 GROUP BY page ORDER BY page",
	"SELECT count(*) FROM %[1]sweb.events VERSION AS OF 'launch'", "SELECT count(*) FROM %[1]sweb.events VERSION AS OF 'experiment'",
	"SELECT count(*) FROM %[1]sshop.sales.snapshots", "SELECT count(*), sum(record_count) FROM %[1]sweb.events.files",
}

// reference answers the questions from the machine's files.
var reference []string

// compare asks the questions of the catalog real of a server, whose namespaces begin with prefix, and gives how many answers were right and what was wrong with
// the others. Also a table and a namespace that are missing must be said to be.
func compare(t *testing.T, c served, prefix, quote string) (right int, failures string) {
	t.Helper()
	if reference == nil {
		home := lakeAt(t, "")
		ours := serveSettings(t, demo.Settings(home.Folder))
		for _, q := range questions {
			answer := ask(t, ours, fmt.Sprintf(q, "demo."))
			if strings.HasPrefix(answer, "error") || len(answer) < 10 {
				t.Fatalf("%s: %s", q, answer)
			}
			reference = append(reference, answer)
		}
	}
	for i, q := range questions {
		q = fmt.Sprintf(q, "real."+quote+prefix)
		got := strings.ReplaceAll(ask(t, c, q), `"`+prefix, `"`)
		if got == reference[i] {
			right++
		} else {
			failures += fmt.Sprintf("%s:\n%.600s\nwant\n%.600s\n", q, got, reference[i])
		}
	}
	for _, name := range []string{prefix + "shop.no_such", "no_such.t"} {
		if got := ask(t, c, "SELECT * FROM real."+name); !strings.Contains(got, "TABLE_OR_VIEW_NOT_FOUND") {
			failures += fmt.Sprintf("%s is missing: %s\n", name, got)
			right = 0
		}
	}
	return right, failures
}

// row is a catalog of the matrix.
type row struct {
	server, label string   // that launch starts, or a word for SKUA_SERVERS alone
	stores        []string // those that make sense; nil: all
	// open starts the catalog for a test. enter puts a lake's tables there, namespaces beginning with a prefix; properties are the catalog's own,
	// of which an empty one takes that of the store away.
	open func(t *testing.T) (enter func(t *testing.T, l *lake.Lake, prefix string), properties map[string]string)
}

var rows = []row{
	{"hadoop", "`hadoop`", nil, openHadoop},
	{"static", "`static`", nil, openStatic},
	{"sqlite", "`jdbc`, SQLite, layout V0", nil, openSQLite},
	{"postgres", "`jdbc`, PostgreSQL, layout V1", nil, openPostgres},
	{"mariadb", "`jdbc`, MariaDB, layout V1", nil, openMariaDB},
	{"rest", "`rest`, Iceberg 1.11.0's fixture", nil, openREST},
	{"hive3", "`hive`, Hive metastore 3.1.3", nil, func(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
		return openHive(t, "hive3")
	}},
	{"hive4", "`hive`, Hive metastore 4.0.1", nil, func(t *testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
		return openHive(t, "hive4")
	}},
	{"moto", "`glue`, moto 5.2.5", nil, openGlue},
	{"nessie", "`nessie`, Nessie 0.99.0", nil, openNessie},
}

// TestMatrix asks every catalog on every store, and with SKUA_SERVERS_DOCS writes what passed into the table of docs/catalogs.md, where cells that were not asked for
// stay as they are.
func TestMatrix(t *testing.T) {
	table := map[string]map[string]string{}
	for _, r := range rows {
		t.Run(r.server, func(t *testing.T) {
			wanted(t, r.server)
			enter, own := r.open(t)
			table[r.label] = map[string]string{}
			for _, name := range storeNames {
				if r.stores != nil && !strings.Contains(" "+strings.Join(r.stores, " ")+" ", " "+name+" ") {
					continue
				}
				t.Run(name, func(t *testing.T) {
					if name != "file" {
						wanted(t, name)
					}
					s := storeOf(t, name)
					prefix := name + "_"
					properties := with(s.properties)
					for k, v := range own {
						properties[k] = v
						if v == "" {
							delete(properties, k)
						}
					}
					if r.server == "hadoop" {
						prefix, properties["warehouse"] = "", s.lake.Base
					} else {
						enter(t, s.lake, prefix)
					}
					c := serve(t, map[string]map[string]string{"real": properties})
					right, failures := compare(t, c, prefix, "")
					if failures != "" {
						t.Error(failures)
					}
					table[r.label][name] = fmt.Sprintf("%d of %d", right, len(questions))
				})
			}
		})
	}
	if os.Getenv("SKUA_SERVERS_DOCS") != "" {
		document(t, table)
	}
}

// The marks around the table in docs/catalogs.md, and its head.
const (
	tableBegins = "<!-- the matrix: written by the run -->\n"
	tableEnds   = "<!-- end of the matrix -->"
	tableHead   = "| catalog | files | S3 (versitygw 1.8.0) | GCS (fake-gcs-server 1.56.1) | ADLS (Azurite 3.37.0) | HDFS (Hadoop 3.4.2) |\n| --- | --- | --- | --- | --- | --- |\n"
)

// document writes the cells into the table.
func document(t *testing.T, cells map[string]map[string]string) {
	t.Helper()
	const path = "../../docs/catalogs.md"
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(whole), tableBegins)
	old, after, closed := strings.Cut(rest, tableEnds)
	if !found || !closed {
		t.Fatalf("%s has no marks for the table", path)
	}
	was := map[string][]string{}
	for line := range strings.Lines(old) {
		if columns := strings.Split(strings.TrimSpace(line), " | "); len(columns) == len(storeNames)+1 {
			was[strings.TrimPrefix(columns[0], "| ")] = columns[1:]
		}
	}
	text := tableHead
	for _, r := range rows {
		text += "| " + r.label
		for i, name := range storeNames {
			cell := cells[r.label][name]
			if kept := was[r.label]; cell == "" && kept != nil {
				cell = strings.TrimSuffix(kept[i], " |")
			}
			if cell == "" {
				cell = "–"
			}
			text += " | " + cell
		}
		text += " |\n"
	}
	if err := os.WriteFile(path, []byte(before+tableBegins+text+tableEnds+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func openHadoop(*testing.T) (func(*testing.T, *lake.Lake, string), map[string]string) {
	return nil, map[string]string{"type": "hadoop"}
}
