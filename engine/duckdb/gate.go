//go:build cgo

package duckdb

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
)

// allowedFunctions are the names, one a line, of all functions that a statement may call. Those that see files, settings, other sessions, the
// engine's own state or hidden SQL are not among them.
//
//go:embed functions.txt
var allowedFunctions string

// allowedTables are the functions that may stand in FROM.
var allowedTables = words("range generate_series unnest json_each json_tree")

// allowedClasses are the kinds of expressions that may run. Whatever the engine learns later must be decided on here.
var allowedClasses = words("COLUMN_REF CONSTANT FUNCTION COMPARISON CONJUNCTION OPERATOR CASE CAST SUBQUERY STAR WINDOW LAMBDA LAMBDA_REF BETWEEN PARAMETER " +
	"POSITIONAL_REFERENCE COLLATE TYPE")

// allowedTypes are the kinds of everything else in a tree.
var allowedTypes = words("SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST EMPTY PIVOT " +
	"LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ORDER_MODIFIER DISTINCT_MODIFIER ASCENDING DESCENDING ORDER_DEFAULT INVALID")

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// tableMark begins the name that stands for a table until it is resolved. No bare word can be one, and quoted ones are no use: a table is
// found by its number, once.
const tableMark = "skua:"

// gate judges a statement's tree.
type gate struct {
	statement *dialect.Statement
	rendered  *dialect.Rendered
	functions map[string]bool
	ctes      map[int]bool // tables that are queries of WITH
	seen      map[int]bool
	star      bool // all columns of a table are selected, and not by the star of a select list
	size      int  // tables that are read, with every query of WITH put where its name stands
	deep      int  // subqueries around the node that is judged, in expressions
}

// maxExpanded bounds the tables of a statement when the queries of WITH are put into their places.
const maxExpanded = 1000

// maxDeep bounds the subqueries that stand in each other's expressions: the engine binds each of them twice, so what one level more takes doubles.
const maxDeep = 16

// tree is a part of the serialized statement.
type tree = map[string]any

// parsed is what the engine makes of a text.
type parsed struct {
	Error        bool   `json:"error"`
	ErrorType    string `json:"error_type"`
	ErrorMessage string `json:"error_message"`
	Position     string `json:"position"`
	Statements   []tree `json:"statements"`
}

// check judges the serialized form of a statement.
func (g *gate) check(serialized string) error {
	var p parsed
	d := json.NewDecoder(strings.NewReader(serialized))
	d.UseNumber()
	if err := d.Decode(&p); err != nil {
		return fault.New(fault.Internal, "read the SQL engine's tree: %w", err)
	}
	switch {
	case p.Error && p.ErrorType == "not implemented":
		return fault.New(fault.Unsupported, "only queries are run: this statement is not supported")
	case p.Error:
		return g.parseError(p)
	case len(p.Statements) != 1:
		return fault.New(fault.Invalid, "one statement at a time is run, %d were given", len(p.Statements)).With("PARSE_SYNTAX_ERROR", "42601")
	}
	return g.walk(p.Statements[0], map[string]int{})
}

func (g *gate) parseError(p parsed) error {
	err := told(cleaned(p.ErrorMessage))
	if err == nil {
		err = fault.New(fault.Invalid, "%s", strings.TrimSuffix(cleaned(p.ErrorMessage), ".")+".").With("PARSE_SYNTAX_ERROR", "42601")
	}
	if offset, convErr := strconv.Atoi(p.Position); convErr == nil {
		if pos := g.rendered.Position(offset); pos.Line > 0 {
			return err.At(fault.Position{Line: pos.Line, Column: pos.Column})
		}
	}
	return err
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// refuse makes the error about a node.
func (g *gate) refuse(kind fault.Kind, node tree, condition, state, format string, args ...any) error {
	err := fault.New(kind, format, args...).With(condition, state)
	if n, ok := node["query_location"].(json.Number); ok {
		if offset, convErr := strconv.Atoi(n.String()); convErr == nil {
			if pos := g.rendered.Position(offset); pos.Line > 0 {
				return err.At(fault.Position{Line: pos.Line, Column: pos.Column})
			}
		}
	}
	return err
}

// walk judges a node and what is below it. scope are the queries of WITH that are visible.
func (g *gate) walk(node any, scope map[string]int) error {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			if err := g.walk(child, scope); err != nil {
				return err
			}
		}
	case tree:
		return g.node(n, scope)
	}
	return nil
}

func (g *gate) node(n tree, scope map[string]int) error {
	if class, ok := n["class"].(string); ok {
		if !allowedClasses[class] {
			return g.refuse(fault.Unsupported, n, "", "0A000", "expressions of the kind %s are not supported", class)
		}
		switch class {
		case "CONSTANT", "TYPE":
			return nil
		case "STAR":
			g.star = g.star || n["columns"] != nil
		case "SUBQUERY":
			if g.deep++; g.deep > maxDeep {
				return g.refuse(fault.Invalid, n, "FAILED_TO_PARSE_TOO_COMPLEX", "54001", "The statement was too complex to parse: more than %d subqueries stand in each other's expressions.", maxDeep)
			}
			defer func() { g.deep-- }()
		case "FUNCTION", "WINDOW":
			if err := g.function(n); err != nil {
				return err
			}
		}
	} else if typ, ok := n["type"].(string); ok {
		if !allowedTypes[typ] {
			return g.refuse(fault.Unsupported, n, "", "0A000", "%s is not supported", strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(typ, "_REF"), "_", " ")))
		}
		switch typ {
		case "BASE_TABLE":
			return g.table(n, scope)
		case "TABLE_FUNCTION":
			return g.tableFunction(n, scope)
		case "PIVOT":
			g.star = true
		}
	}
	scope, err := g.with(n, scope)
	if err != nil {
		return err
	}
	for key, child := range n {
		if key == "cte_map" || key == "cast_type" || key == "value" && n["class"] != nil {
			continue
		}
		if err := g.walk(child, scope); err != nil {
			return err
		}
	}
	return nil
}

// with judges the queries of a WITH, each of which sees those before it, and gives the scope of the query behind them.
func (g *gate) with(n tree, scope map[string]int) (map[string]int, error) {
	ctes, _ := n["cte_map"].(tree)
	entries, _ := ctes["map"].([]any)
	if len(entries) == 0 {
		return scope, nil
	}
	inner := map[string]int{}
	for name, size := range scope {
		inner[name] = size
	}
	for _, e := range entries {
		entry, _ := e.(tree)
		name := strings.ToLower(fmt.Sprint(entry["key"]))
		recursive := strings.Contains(fmt.Sprint(nodeOf(entry)["type"]), "RECURSIVE")
		if recursive {
			inner[name] = 1
		}
		outside := g.size
		g.size = 0
		if err := g.walk(entry["value"], inner); err != nil {
			return nil, err
		}
		inner[name], g.size = max(1, g.size), outside
	}
	return inner, nil
}

// nodeOf gives the query of a WITH's entry.
func nodeOf(entry tree) tree {
	value, _ := entry["value"].(tree)
	query, _ := value["query"].(tree)
	node, _ := query["node"].(tree)
	return node
}

// table judges a table: one that was lifted out, and nothing else.
func (g *gate) table(n tree, scope map[string]int) error {
	name, _ := n["table_name"].(string)
	number, ok := strings.CutPrefix(name, tableMark)
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= len(g.statement.Tables) || n["schema_name"] != nil || n["catalog_name"] != nil || g.seen[i] {
		return g.refuse(fault.NotFound, n, "TABLE_OR_VIEW_NOT_FOUND", "42P01", "The table or view %q cannot be found. Only tables of the configured catalogs are read.", name)
	}
	if n["at_clause"] != nil {
		return g.refuse(fault.Unsupported, n, "", "0A000", "time travel is written VERSION AS OF or TIMESTAMP AS OF")
	}
	if n["sample"] != nil {
		return g.refuse(fault.Unsupported, n, "", "0A000", "samples are not supported")
	}
	g.seen[i] = true
	ref := g.statement.Tables[i]
	size := 0
	if len(ref.Name) == 1 && ref.At == nil && len(ref.Options) == 0 {
		size = scope[strings.ToLower(ref.Name[0].Text)]
	}
	g.ctes[i] = size > 0
	if g.size += max(1, size); g.size > maxExpanded {
		return g.refuse(fault.Invalid, n, "FAILED_TO_PARSE_TOO_COMPLEX", "54001", "The statement was too complex to parse: with every query of WITH in its places it reads more than %d tables.", maxExpanded)
	}
	return nil
}

func (g *gate) tableFunction(n tree, scope map[string]int) error {
	call, _ := n["function"].(tree)
	name, _ := call["function_name"].(string)
	if !allowedTables[strings.ToLower(name)] || call["schema"] != nil || call["catalog"] != nil || n["sample"] != nil {
		return g.refuse(fault.Denied, call, "UNRESOLVABLE_TABLE_VALUED_FUNCTION", "42883", "the table function %s is not allowed", name)
	}
	return g.walk(call["children"], scope)
}

func (g *gate) function(n tree) error {
	name, _ := n["function_name"].(string)
	if schema := n["schema"]; schema != nil && schema != "pg_catalog" && schema != "main" || n["catalog"] != nil {
		return g.refuse(fault.Denied, n, "UNRESOLVED_ROUTINE", "42883", "the function %s is not called by a schema's name", name)
	}
	if !g.functions[strings.ToLower(name)] {
		return g.refuse(fault.Invalid, n, "UNRESOLVED_ROUTINE", "42883", "Cannot resolve routine `%s`: there is no such function.%s", name, nearestFunction(name, g.functions))
	}
	return nil
}
