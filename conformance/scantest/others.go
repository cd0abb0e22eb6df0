package scantest

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/skua-data/skua/predicate"
)

//go:embed others.py
var othersProgram []byte

// askedTable is what the program is told of a table.
type askedTable struct {
	Metadata string      `json:"metadata"`
	Views    []askedView `json:"views"`
}

// askedView is a table at a snapshot in the shape of a schema, with its queries.
type askedView struct {
	SQL      string       `json:"sql"`      // over the files
	Snapshot int64        `json:"snapshot"` // for PyIceberg
	Files    string       `json:"files"`    // why DuckDB is not asked to read the files; empty: it is
	Table    string       `json:"table"`    // why PyIceberg is not asked
	Names    []string     `json:"names"`
	Queries  []askedQuery `json:"queries"`
}

// askedQuery is a query in both spellings, with the types of its columns.
type askedQuery struct {
	Table  int    `json:"table"`
	Query  int    `json:"query"`
	ByID   string `json:"by_id"`
	ByName string `json:"by_name"` // empty: only the files can tell
	Types  []any  `json:"types"`
	Why    string `json:"why"` // it is not asked at all; empty: it is
}

// reply is what the program says of one query.
type reply struct {
	Table  int      `json:"table"`
	Query  int      `json:"query"`
	By     string   `json:"by"`
	Rows   []string `json:"rows"`
	Reason string   `json:"reason"`
}

// askOthers asks DuckDB and PyIceberg the queries of some tables.
func askOthers(ctx context.Context, c Config, cases []*tableCase, r *Report) error {
	var asked []askedTable
	for i, tc := range cases {
		asked = append(asked, tc.asked(i))
	}
	raw, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	program, questions := filepath.Join(c.Dir, "others.py"), filepath.Join(c.Dir, "questions.json")
	for name, content := range map[string][]byte{program: othersProgram, questions: raw} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return err
		}
	}
	command := exec.CommandContext(ctx, c.Python, program, questions)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("ask other readers: %w: %s", err, problems.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var a reply
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return fmt.Errorf("another reader answers %q: %w", lines.Text(), err)
		}
		judge(a, cases, r)
	}
	return lines.Err()
}

func judge(a reply, cases []*tableCase, r *Report) {
	switch {
	case a.By == "versions":
		r.Versions = a.Reason
		return
	case a.Reason != "":
		r.Left[a.By+": "+a.Reason]++
		return
	}
	r.Asked[a.By]++
	slices.Sort(a.Rows)
	tc := cases[a.Table]
	if d := difference(a.Rows, tc.want[a.Query]); d != "" {
		r.Differences = append(r.Differences, fmt.Sprintf("seed %d, %s, %s: %s", tc.table.seed, a.By, tc.queries[a.Query], d))
	}
}

// asked tells of a table's queries, by view.
func (tc *tableCase) asked(number int) askedTable {
	out := askedTable{Metadata: tc.table.location()}
	at := map[string]int{}
	for i, q := range tc.queries {
		key := fmt.Sprint(q.commit.id, "/", q.schema.id)
		view, ok := at[key]
		if !ok {
			view = len(out.Views)
			at[key] = view
			out.Views = append(out.Views, tc.table.askedView(q))
		}
		out.Views[view].Queries = append(out.Views[view].Queries, tc.table.askedQuery(q, number, i))
	}
	return out
}

func (t *table) askedView(q *query) askedView {
	out := askedView{Snapshot: q.commit.id, SQL: t.viewSQL(q.commit, q.schema)}
	for _, f := range q.schema.fields {
		out.Names = append(out.Names, f.name)
	}
	switch {
	case q.commit.hasAvro():
		out.Files, out.Table = "Avro files", "Avro files"
	case len(q.commit.data) == 0:
		out.Files = "no files"
	case t.features[splitStreams] > 0:
		out.Files = splitStreams
	case t.otherKeys(q.commit):
		out.Files = "equality deletes by floats or by nanoseconds in UTC"
	}
	if t.features["INT96 timestamps"] > 0 && out.Table == "" {
		out.Table = "INT96, which it reads as nanoseconds"
	}
	if t.features["files with ids of some columns"] > 0 && out.Table == "" {
		out.Table = "files with ids of some columns"
	}
	for _, f := range q.schema.fields {
		if f.typ.holds(mapping) || f.typ.holds(list) {
			out.Table = "lists and maps, which lose their nulls"
		}
	}
	if q.schema != q.commit.schema {
		out.Table = "a branch with the table's schema"
	}
	for _, d := range q.commit.deletes {
		if d.keys != nil {
			out.Table = "equality deletes"
		}
	}
	return out
}

// hasAvro says whether a live file of a commit is Avro.
func (c *commit) hasAvro() bool {
	return slices.ContainsFunc(c.data, func(f *dataFile) bool { return formatOf(f.path) == "AVRO" }) ||
		slices.ContainsFunc(c.deletes, func(d *deleteFile) bool { return formatOf(d.path) == "AVRO" })
}

func (t *table) askedQuery(q *query, number, i int) askedQuery {
	out := askedQuery{Table: number, Query: i}
	if q.sql {
		out.Why = "transforms and sorted rows in Spark's SQL"
		return out
	}
	var byIDs, byNames []string
	metadata := false
	for _, p := range q.output {
		last := p[len(p)-1]
		switch {
		case last.id == idDeleted || last.id == idPartition:
			out.Why = last.name
		case last.typ.holds(timestampTZNS):
			out.Why = "nanoseconds in UTC"
		case last.typ.holds(variants):
			out.Why = "variants"
		case last.id > idRow-1000:
			metadata = true
		}
		out.Types = append(out.Types, last.typ.plain())
		byIDs, byNames = append(byIDs, spelling(byID).column(p)), append(byNames, spelling(byName).column(p))
	}
	where := func(s spelling) string {
		if q.filter == nil {
			return ""
		}
		return " WHERE " + inDuckDB(s).filter(q.filter, q.schema.fields)
	}
	if q.filter != nil {
		for _, f := range predicate.Fields(q.filter) {
			switch of := find(q.schema.fields, f.ID).typ; {
			case of.kind == timestampTZNS:
				out.Why = "nanoseconds in UTC"
			case of.holds(variants): // DuckDB has NULL for a variant that is null
				out.Why = "variants"
			}
		}
	}
	if out.Why != "" {
		return out
	}
	out.ByID = selectSQL(byIDs) + " FROM v" + where(byID)
	if !metadata {
		out.ByName = selectSQL(byNames) + " FROM v" + where(byName)
	}
	return out
}

// selectSQL numbers the columns: structs may give several the same name.
func selectSQL(columns []string) string {
	if len(columns) == 0 {
		return "SELECT 1 AS c"
	}
	out := "SELECT "
	for i, c := range columns {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprintf("%s AS c%d", c, i)
	}
	return out
}

// plain is a type for the program: a kind, or a kind and what is inside.
func (t *typ) plain() any {
	if !t.nested() {
		return names[t.kind]
	}
	inner := []any{names[t.kind]}
	for _, f := range t.fields {
		inner = append(inner, f.typ.plain())
	}
	return inner
}
