package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

// hinted adds to an error's message what the user may have meant. Kind, condition and position stay.
func hinted(err error, hint string) error {
	var e *fault.Error
	if hint == "" || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message += hint
	return &out
}

// nearestReference adds the nearest branch or tag to the error of one that there is not.
func (f *found) nearestReference(err error, at scan.Reference) error {
	if !fault.Is(err, fault.NotFound) || at.Name == "" {
		return err
	}
	if near := catalogs.Nearest(at.Name, append(f.opened.Branches(), f.opened.Tags()...)); near != "" {
		return hinted(err, "; did you mean "+near+"?")
	}
	return err
}

// metadataTables are the names worth suggesting.
var metadataTables = []string{"history", "snapshots", "refs", "files", "manifests", "entries", "partitions", "metadata_log_entries", "data_files",
	"delete_files", "position_deletes", "all_entries", "all_files", "all_data_files", "all_delete_files", "all_manifests"}

// suffixHint says what may follow a table's name instead of what does: the nearest metadata table or reference, else all metadata tables.
func (f *found) suffixHint() string {
	known := slices.Clone(metadataTables)
	spelled := map[string]string{}
	for _, r := range f.opened.Branches() {
		spelled[r], known = "branch_"+r, append(known, r, "branch_"+r)
	}
	for _, r := range f.opened.Tags() {
		spelled[r], known = "tag_"+r, append(known, r, "tag_"+r)
	}
	near := catalogs.Nearest(f.suffix, known)
	if near == "" {
		return " The table " + syntax.BackQuote(f.full()[:len(f.full())-1]...) + " has no metadata table " + syntax.BackQuote(f.suffix) + "; there are " +
			strings.Join(metadataTables, ", ") + ", and branch_<name>, tag_<name>, snapshot_id_<id> and at_timestamp_<milliseconds>."
	}
	if full, ok := spelled[near]; ok {
		near = full
	}
	return " Did you mean " + syntax.BackQuote(near) + "?"
}

// textHint is told where a column is not known that stands where a value would: texts stand in single quotes.
func textHint(err error, e syntax.Expr) error {
	c, ok := e.(*syntax.Column)
	var unknown *fault.Error
	if !ok || len(c.Parts) != 1 || !errors.As(err, &unknown) || !strings.HasPrefix(unknown.Condition, "UNRESOLVED_COLUMN") {
		return err
	}
	return hinted(err, " A text stands in single quotes: '"+strings.ReplaceAll(c.Parts[0].Text, "'", "''")+"'.")
}

// instead says what can be written in place of a test over an expression, where that is easy; empty: it is not.
func instead(e syntax.Expr) string {
	columns := columnsIn(e)
	if len(columns) != 1 {
		return ""
	}
	name := syntax.QuoteName(syntax.Texts(columns[0].Parts))
	switch e := e.(type) {
	case *syntax.Cast:
		if strings.EqualFold(e.Type.Name, "date") {
			return dayHint(name)
		}
		return "; compare the column itself with a constant of its own type"
	case *syntax.Call:
		switch function := strings.ToLower(syntax.Texts(e.Name)[len(e.Name)-1]); function {
		case "date", "to_date", "date_trunc", "trunc", "date_format", "year", "month", "day", "hour", "minute", "dayofmonth", "quarter", "extract":
			return dayHint(name)
		case "lower", "upper", "lcase", "ucase":
			return "; compare with every spelling, such as " + name + " IN ('abc', 'ABC')"
		case "substring", "substr", "left":
			return "; a prefix can be written as " + name + " LIKE 'abc%'"
		}
	case *syntax.Binary, *syntax.Unary:
		if isArithmetic(e) {
			return "; compare the column itself, with the arithmetic on the other side"
		}
	}
	return ""
}

func dayHint(name string) string {
	return "; write a range of the column instead, such as " + name + " >= '2025-06-01' AND " + name + " < '2025-06-02'"
}

func isArithmetic(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Binary:
		return e.Op == "+" || e.Op == "-"
	case *syntax.Unary:
		return e.Op == "-"
	}
	return false
}

// columnsIn gives the columns that an expression names.
func columnsIn(e syntax.Expr) []*syntax.Column {
	if c, ok := e.(*syntax.Column); ok {
		return []*syntax.Column{c}
	}
	var out []*syntax.Column
	for _, child := range children(e) {
		out = append(out, columnsIn(child)...)
	}
	return out
}

// readable says which patterns LIKE takes.
func readable(value operand) string {
	if value.column {
		return "; a prefix is supported: " + syntax.QuoteName(value.ref.path) + " LIKE 'abc%'"
	}
	return "; LIKE 'abc%', a prefix, is"
}

// numbered spells a number of things.
func numbered(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + one + "s"
}

func werePlural(n int, one string) string {
	if n == 1 {
		return "1 " + one + " was"
	}
	return numbered(n, one) + " were"
}
