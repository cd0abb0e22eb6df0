//go:build cgo

package duckdb

import (
	"encoding/json"
	"errors"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// problem is an error as the engine tells it.
type problem struct {
	Type       string `json:"exception_type"`
	Message    string `json:"exception_message"`
	Position   string `json:"position"` // bytes into the text that the engine got
	Subtype    string `json:"error_subtype"`
	Name       string `json:"name"`
	Candidates string `json:"candidates"`
	Call       string `json:"call"`
	grouped    bool   // the statement has a GROUP BY
}

func (p *problem) Error() string { return p.Type + " Error: " + p.Message }

// interruptType and memoryType are the engine's numbers of errors whose words may be lost.
const (
	interruptType = 29
	memoryType    = 33
)

// engineError reads an error of the engine.
func engineError(message string, typ int) error {
	p := &problem{}
	if !strings.HasPrefix(message, "{") || json.Unmarshal([]byte(message), p) != nil || p.Type == "" {
		kind, rest, ok := strings.Cut(message, " Error: ")
		if !ok || len(kind) > 30 {
			kind, rest = "INTERNAL", message
		}
		p = &problem{Type: kind, Message: rest}
	}
	switch typ {
	case interruptType:
		p.Type = "INTERRUPT"
	case memoryType:
		p.Type = "Out of Memory"
	}
	return p
}

// class says what an error is to a client.
type class struct {
	kind             fault.Kind
	condition, state string
}

// classes are the engine's types of errors in lower case.
var classes = map[string]class{
	"parser": {fault.Invalid, "PARSE_SYNTAX_ERROR", "42601"}, "syntax": {fault.Invalid, "PARSE_SYNTAX_ERROR", "42601"},
	"binder": {fault.Invalid, "", "42000"}, "catalog": {fault.Invalid, "UNRESOLVED_ROUTINE", "42883"}, "expression": {fault.Invalid, "", "42000"},
	"conversion": {fault.Invalid, "CAST_INVALID_INPUT", "22018"}, "out of range": {fault.Invalid, "ARITHMETIC_OVERFLOW", "22003"},
	"invalid input": {fault.Invalid, "", "22023"}, "invalid type": {fault.Invalid, "", "42000"}, "mismatch type": {fault.Invalid, "DATATYPE_MISMATCH", "42804"},
	"divide by zero": {fault.Invalid, "DIVIDE_BY_ZERO", "22012"}, "parameter not resolved": {fault.Invalid, "UNBOUND_SQL_PARAMETER", "42P02"},
	"parameter not allowed": {fault.Invalid, "UNBOUND_SQL_PARAMETER", "42P02"}, "not implemented": {fault.Unsupported, "", "0A000"},
	"permission": {fault.Denied, "", "42501"}, "missing extension": {fault.Unsupported, "", "0A000"}, "constraint": {fault.Invalid, "", "23000"},
	"out of memory": {fault.Exhausted, "", "53200"}, "object size": {fault.Exhausted, "", "54000"}, "interrupt": {fault.Canceled, "", ""},
	"io": {fault.Unavailable, "", ""}, "unknown type": {fault.Invalid, "", "42704"}, "decimal": {fault.Invalid, "", "22003"},
}

// memorySetting bounds the engine's memory.
const memorySetting = "skua.sql.memory.limit"

// translated makes a fault of an error of the engine about a text, nil of nil. Its advice about settings, which nobody can change, is left out.
func translated(err error, r *dialect.Rendered) error {
	var p *problem
	if !errors.As(err, &p) {
		return err
	}
	c, known := classes[strings.ToLower(p.Type)]
	if !known {
		return fault.New(fault.Internal, "SQL engine: %s", p.Error())
	}
	if c.kind == fault.Exhausted {
		return fault.New(c.kind, "the SQL engine is out of memory: %s", firstLine(p.Message)).With(c.condition, c.state).Change(memorySetting)
	}
	p.grouped = r == nil || groupsRows.MatchString(r.Text)
	out := p.fault(c)
	offset, convErr := strconv.Atoi(p.Position)
	if convErr != nil || r == nil {
		return out
	}
	if pos := r.Position(offset); pos.Line > 0 {
		return out.At(fault.Position{Line: pos.Line, Column: pos.Column})
	}
	return out
}

// fault says in Spark's words what Spark has words for.
func (p *problem) fault(c class) *fault.Error {
	message := cleaned(p.Message)
	if told := toldFault.FindStringSubmatch(p.Message); told != nil {
		return fault.New(fault.Invalid, "%s", shortened(told[2])).With(told[1], told[3])
	}
	if failed := overflowed(message); failed != nil {
		return failed
	}
	if refused := refusedPattern(message); refused != nil {
		return refused
	}
	if macro := unfitMacro.FindStringSubmatch(message); macro != nil {
		return unfit(macro[1], strings.Count(message, macro[1]+"(")-1)
	}
	switch {
	case p.Subtype == "COLUMN_NOT_FOUND":
		hint := ""
		if p.Candidates != "" {
			hint = " Did you mean one of the following? [" + candidates(p.Candidates) + "]."
		}
		return fault.New(fault.Invalid, "A column, variable, or function parameter with name %s cannot be resolved.%s", quote(shortened(p.Name)), shortened(hint)).
			With("UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703")
	case strings.HasPrefix(message, "Referenced table "), strings.HasPrefix(message, "Referenced column "),
		strings.Contains(message, "\" does not have a column named \""):
		return fault.New(fault.Invalid, "%s", message).With("UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703")
	case p.Subtype == "NO_MATCHING_FUNCTION":
		return fault.New(fault.Invalid, "No function matches %s: a cast of an argument may help.", strings.TrimPrefix(p.Call, ownFunction)).With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
	case strings.Contains(message, "must appear in the GROUP BY") && !p.grouped:
		return fault.New(fault.Invalid, "%s. The query does not include a GROUP BY clause: add one, or turn it into the window functions using OVER clauses.", strings.TrimSuffix(message, ".")).With("MISSING_GROUP_BY", "42803")
	case strings.Contains(message, "must appear in the GROUP BY"):
		return fault.New(fault.Invalid, "%s", message).With("MISSING_AGGREGATION", "42803")
	case negativeRows.MatchString(message), strings.Contains(p.Message, rowsNegative):
		return fault.New(fault.Invalid, "The limit like expression is invalid. The limit and the offset expression must be equal to or greater than 0.").
			With("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", "42K0E")
	case strings.Contains(p.Message, rowsNull):
		return fault.New(fault.Invalid, "The limit like expression is invalid. The limit and the offset expression must not be null.").
			With("INVALID_LIMIT_LIKE_EXPRESSION.IS_NULL", "42K0E")
	case strings.Contains(p.Message, rowsType):
		_, name, _ := strings.Cut(p.Message, rowsType)
		return fault.New(fault.Invalid, "The limit like expression is invalid. The limit and the offset expression must be integer type, but got %q.", firstLine(name)).
			With("INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE", "42K0E")
	case strings.Contains(p.Message, dialect.NamesMismatch), fieldBeyond.MatchString(message):
		return fault.New(fault.Invalid, "The number of aliases supplied in the AS clause does not match the number of columns output by the UDTF: name every field of the structs.").
			With("UDTF_ALIAS_NUMBER_MISMATCH", "42802")
	case strings.HasPrefix(message, "STAR expression is only allowed"), strings.Contains(message, "cannot be applied to a star expression"):
		return fault.New(fault.Invalid, "Invalid usage of '*': a star stands in a select list or among the arguments of a function.").With("INVALID_USAGE_OF_STAR_OR_REGEX", "42000")
	case strings.HasPrefix(message, "Ambiguous reference"):
		return fault.New(fault.Invalid, "%s", message).With("AMBIGUOUS_REFERENCE", "42704")
	}
	if f := told(message); f != nil {
		return f
	}
	return fault.New(c.kind, "%s", message).With(c.condition, c.state)
}

// toldFault is an error that a function of ours gave: [CONDITION] message SQLSTATE: state.
var toldFault = regexp.MustCompile(`(?s)\[([A-Z_][A-Z0-9_.]+)\] (.*) SQLSTATE: ([0-9A-Z]{5})`)

// missesGroups reports whether an error is about a column that is neither grouped by nor aggregated.
func missesGroups(f *fault.Error) bool {
	return f.Condition == "MISSING_AGGREGATION" || f.Condition == "MISSING_GROUP_BY"
}

// groupsRows finds GROUP BY in a statement.
var groupsRows = regexp.MustCompile(`(?i)\bGROUP\s+BY\b`)

// negativeRows is what the engine says to a number of rows below 0.
var negativeRows = regexp.MustCompile(`(?i)\b(?:LIMIT|OFFSET)\b.* cannot be negative`)

// fieldBeyond is what the engine says to a number of a field that a struct lacks, which a generator with too many names asks for.
var fieldBeyond = regexp.MustCompile(`^Key index \d+ for struct_extract out of range`)

// changesSetting finds advice to change a setting.
var changesSetting = regexp.MustCompile(`\bSET `)

// cleaned takes the engine's own names and advice out of a message.
func cleaned(message string) string {
	message, _, _ = strings.Cut(message, "\n\nLINE ")
	message, _, _ = strings.Cut(message, ` Use "SET `)
	var lines []string
	for _, line := range strings.Split(message, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || changesSetting.MatchString(line) || strings.HasPrefix(line, "*") || strings.Contains(line, "PRAGMA") {
			continue
		}
		lines = append(lines, line)
	}
	return capital(shortened(strings.Join(lines, " ")))
}

// maxMessage bounds the bytes of a message, which may repeat a value of the client's.
const maxMessage = 2000

func shortened(message string) string {
	message = dialect.Spelled(message)
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func candidates(list string) string {
	var out []string
	for _, c := range strings.Split(list, ",") {
		out = append(out, quote(strings.TrimSpace(c)))
	}
	return strings.Join(out, ", ")
}

// ownFunction begins the names of functions that only rewritten statements call.
const ownFunction = "skua_"

// unfitMacro is what the engine says where no form of a macro takes the arguments, or where it cannot choose one.
var unfitMacro = regexp.MustCompile(`^Macro (?:` + ownFunction + `)?(\w+)\(\) (?:does not support the supplied arguments|has multiple overloads)`)

// unfit is the error of it. A macro of one form takes every type, but not any number of arguments.
func unfit(name string, forms int) *fault.Error {
	if forms == 1 {
		return fault.New(fault.Invalid, "The function %s does not take that many arguments.", name).With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605")
	}
	return fault.New(fault.Invalid, "The function %s does not take arguments of these types: a cast of one may help.", name).With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
}

// nearestFunction suggests a function that may run, but none of our own.
func nearestFunction(name string, known map[string]bool) string {
	names := make([]string, 0, len(known))
	for n := range known {
		if !strings.HasPrefix(n, ownFunction) {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	if near := catalogs.Nearest(name, names); near != "" {
		return " Did you mean " + syntax.Quote(near) + "?"
	}
	return ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
