package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// command is a statement that is neither a scan nor a query.
type command struct {
	name    string        // for logs
	update  bool          // it has an effect and no rows of its own
	moment  bool          // its rows are of the session's or the server's moment: they are kept whole, never made again
	columns *arrow.Schema // of its rows; of the one row that stands for an effect on the query path
	spark   *arrow.Schema // of its rows in Spark's dialect; nil: the same
	views   bool          // its rows tell of temporary views that its text need not name
	marks   int           // how many parameters it has
	run     func(ctx context.Context, s *statement) ([]row, error)
}

// row holds a command's values in the order of its columns: string, bool or int64, nil for null.
type row []any

// verb is a row of the table of commands: the words that a statement begins with, and its grammar after them.
type verb struct {
	words []string
	parse func(p *syntax.Parser) (*command, error)
}

// verbs is the table. The first row whose words come next counts, so longer ones stand before shorter ones.
func verbs() []verb {
	return []verb{
		{[]string{"SET"}, parseSet},
		{[]string{"RESET"}, parseReset},
		{[]string{"USE"}, parseUse},
		{[]string{"SHOW", "CATALOGS"}, parseShowCatalogs},
		{[]string{"SHOW", "CURRENT"}, parseShowCurrent},
		{[]string{"SHOW", "NAMESPACES"}, parseShowNamespaces},
		{[]string{"SHOW", "SCHEMAS"}, parseShowNamespaces},
		{[]string{"SHOW", "DATABASES"}, parseShowDatabases},
		{[]string{"SHOW", "TABLES"}, parseShowTables},
		{[]string{"SHOW", "VIEWS"}, parseShowViews},
		{[]string{"SHOW", "COLUMNS"}, parseShowColumns},
		{[]string{"SHOW", "TBLPROPERTIES"}, parseShowProperties},
		{[]string{"SHOW", "CREATE", "TABLE"}, parseShowCreate},
		{[]string{"SHOW", "TABLE", "EXTENDED"}, parseShowExtended},
		{[]string{"SHOW", "READ", "OPTIONS"}, parseShowReadOptions},
		{[]string{"SHOW", "PARTITIONS"}, parseShowPartitions},
		{[]string{"SHOW"}, parseShowOther},
		{[]string{"DESCRIBE"}, parseDescribe},
		{[]string{"DESC"}, parseDescribe},
		{[]string{"EXPLAIN"}, parseExplain},
		{[]string{"REFRESH"}, parseRefresh},
		{[]string{"CACHE"}, parseNothing("CACHE")},
		{[]string{"UNCACHE"}, parseNothing("UNCACHE")},
		{[]string{"CLEAR", "CACHE"}, parseNothing("CLEAR CACHE")},
		{[]string{"BEGIN"}, parseNothing("BEGIN")},
		{[]string{"START", "TRANSACTION"}, parseNothing("START TRANSACTION")},
		{[]string{"COMMIT"}, parseNothing("COMMIT")},
		{[]string{"ROLLBACK"}, parseNothing("ROLLBACK")},
		{[]string{"CALL"}, parseCall},
		{[]string{"ANALYZE"}, refuse("ANALYZE TABLE")},
		{[]string{"DECLARE"}, parseDeclare},
		{[]string{"EXECUTE", "IMMEDIATE"}, refuse("EXECUTE IMMEDIATE")},
		{[]string{"CREATE"}, parseCreate},
		{[]string{"REPLACE"}, parseWrite("REPLACE")},
		{[]string{"INSERT"}, parseWrite("INSERT")},
		{[]string{"MERGE"}, parseWrite("MERGE")},
		{[]string{"UPDATE"}, parseWrite("UPDATE")},
		{[]string{"DELETE"}, parseWrite("DELETE")},
		{[]string{"ALTER"}, parseWrite("ALTER")},
		{[]string{"DROP"}, parseDrop},
		{[]string{"TRUNCATE"}, parseWrite("TRUNCATE")},
		{[]string{"COMMENT"}, parseWrite("COMMENT")},
		{[]string{"LOAD"}, parseWrite("LOAD")},
		{[]string{"MSCK"}, parseWrite("MSCK")},
		{[]string{"GRANT"}, parseWrite("GRANT")},
		{[]string{"REVOKE"}, parseWrite("REVOKE")},
	}
}

// parseCommand tries the table; nil, nil means that the text is no command.
func parseCommand(text string) (*command, error) {
	p := syntax.NewParser(text)
	for _, v := range verbs() {
		if p.Keyword(v.words...) {
			c, err := v.parse(p)
			return c, invalid(err)
		}
	}
	return nil, nil
}

// objects are the kinds of objects that a refused write names.
var objects = []string{"TABLE", "VIEW", "NAMESPACE", "SCHEMA", "DATABASE", "FUNCTION", "INTO", "OVERWRITE", "FROM"}

// parseWrite refuses a statement that would change data or definitions.
func parseWrite(name string) func(p *syntax.Parser) (*command, error) {
	return func(p *syntax.Parser) (*command, error) {
		p.Keyword("OR", "REPLACE")
		for _, o := range objects {
			if p.Keyword(o) {
				name += " " + o
				break
			}
		}
		return nil, fault.New(fault.Denied, "Skua reads only: %s is not supported", name)
	}
}

// parseCreate reads CREATE [OR REPLACE] TEMPORARY VIEW …, and refuses to make anything else.
func parseCreate(p *syntax.Parser) (*command, error) {
	replace := p.Keyword("OR", "REPLACE")
	switch {
	case p.Keyword("TEMPORARY", "VIEW"), p.Keyword("TEMP", "VIEW"):
		return parseTempView(p, replace)
	case p.Keyword("GLOBAL"):
		return nil, unsupported("CREATE GLOBAL TEMPORARY VIEW is not supported: a temporary view is its session's")
	}
	return parseWrite("CREATE")(p)
}

// parseDrop reads DROP of a session's variables and views, and refuses to drop anything else.
func parseDrop(p *syntax.Parser) (*command, error) {
	switch {
	case p.Keyword("TEMPORARY", "VARIABLE"), p.Keyword("TEMP", "VARIABLE"):
		return parseDropVariable(p)
	case p.Keyword("VIEW"):
		return parseDropView(p)
	}
	return parseWrite("DROP")(p)
}

// refuse names a statement that is not built.
func refuse(name string) func(p *syntax.Parser) (*command, error) {
	return func(*syntax.Parser) (*command, error) { return nil, unsupported("%s is not supported", name) }
}

// parseNothing accepts a statement that has no meaning here and harms nobody: caching is the server's own, and every statement is its own transaction.
func parseNothing(name string) func(p *syntax.Parser) (*command, error) {
	return func(p *syntax.Parser) (*command, error) {
		p.Raw()
		return &command{name: name, update: true, columns: affectedRows, run: func(context.Context, *statement) ([]row, error) { return noEffect, nil }}, p.End()
	}
}

// affectedRows is the schema of the row that stands for an effect, and noEffect that row.
var (
	affectedRows = arrow.NewSchema([]arrow.Field{{Name: "affected_rows", Type: arrow.PrimitiveTypes.Int64}}, nil)
	noEffect     = []row{{int64(0)}}
)

func text(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.BinaryTypes.String} }
func nullText(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
}

func boolean(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.FixedWidthTypes.Boolean}
}

func columns(fields ...arrow.Field) *arrow.Schema { return arrow.NewSchema(fields, nil) }
