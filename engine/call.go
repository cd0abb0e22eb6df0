package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// writers are Iceberg's procedures that commit, move files or register tables.
var writers = []string{"add_files", "cherrypick_snapshot", "compute_partition_stats", "compute_table_stats", "expire_snapshots", "fast_forward",
	"migrate", "publish_changes", "register_table", "remove_orphan_files", "rewrite_data_files", "rewrite_manifests",
	"rewrite_position_delete_files", "rewrite_table_path", "rollback_to_snapshot", "rollback_to_timestamp", "set_current_snapshot", "snapshot"}

// parameter is one of a procedure's, in order.
type parameter struct {
	name     string
	typ      arrow.DataType
	required bool
}

// callArgument is a value of a call; an empty name is positional.
type callArgument struct {
	name  string
	value syntax.Expr
}

var (
	ancestorsParameters = []parameter{{"table", sparktype.String, true}, {"snapshot_id", sparktype.Bigint, false}}
	ancestorsColumns    = columns(nullBigint("snapshot_id"), nullBigint("timestamp"))
)

func nullBigint(name string) arrow.Field {
	return arrow.Field{Name: name, Type: sparktype.Bigint, Nullable: true}
}

// parseCall reads CALL [catalog.]system.procedure(arguments). One procedure only reads; those that write are refused.
func parseCall(p *syntax.Parser) (*command, error) {
	ident, err := p.Name()
	if err != nil {
		return nil, err
	}
	args, err := callArguments(p)
	if err != nil {
		return nil, err
	}
	name := syntax.Texts(ident)
	procedure := strings.ToLower(name[len(name)-1])
	inSystem := len(name) > 1 && strings.EqualFold(name[len(name)-2], "system")
	switch {
	case inSystem && slices.Contains(writers, procedure):
		return nil, fault.New(fault.Denied, "Skua reads only: CALL %s is not supported", procedure)
	case inSystem && procedure == "create_changelog_view":
		return nil, unsupported("CALL create_changelog_view is not supported: changelogs cannot be read")
	}
	return &command{name: "CALL", columns: ancestorsColumns, run: func(ctx context.Context, s *statement) ([]row, error) {
		return s.callAncestors(ctx, name, args)
	}}, p.End()
}

// callArguments reads (value, name => value, …). Positional ones stand first.
func callArguments(p *syntax.Parser) ([]callArgument, error) {
	if !p.Symbol("(") {
		return nil, p.Unexpected()
	}
	var out []callArgument
	if p.Symbol(")") {
		return nil, nil
	}
	for {
		a := callArgument{}
		ahead := *p
		if id, err := ahead.Ident(); err == nil && ahead.Symbol("=>") {
			*p, a.name = ahead, strings.ToLower(id.Text)
		}
		at := p.Peek().Pos
		var err error
		if a.value, err = p.Expression(); err != nil {
			return nil, err
		}
		if a.name == "" && len(out) > 0 && out[len(out)-1].name != "" {
			return nil, fault.New(fault.Invalid, "Cannot invoke the procedure because it contains positional argument(s) following the named argument; please rearrange them so the positional arguments come first.").
				With("UNEXPECTED_POSITIONAL_ARGUMENT", "4274K").At(position(at))
		}
		out = append(out, a)
		if p.Symbol(")") {
			return out, nil
		}
		if !p.Symbol(",") {
			return nil, p.Unexpected()
		}
	}
}

// callAncestors runs <catalog>.system.ancestors_of.
func (s *statement) callAncestors(ctx context.Context, name []string, args []callArgument) ([]row, error) {
	s = s.fresh()
	catalog, rest := s.state.Catalog, name
	if known, ok := s.engine.catalogName(name[0]); ok && len(name) > 1 {
		catalog, rest = known, name[1:]
	}
	if catalog == "" {
		return nil, noCatalog()
	}
	if len(rest) != 2 || !strings.EqualFold(rest[0], "system") || !strings.EqualFold(rest[1], "ancestors_of") {
		return nil, s.procedureNotFound(catalog, rest)
	}
	values, err := s.bindArguments("ancestors_of", ancestorsParameters, args)
	if err != nil {
		return nil, err
	}
	written, ok := values[0].Value.(string)
	if !ok || written == "" {
		return nil, fault.New(fault.Invalid, "Cannot handle an empty identifier for argument table")
	}
	f, err := s.procedureTable(ctx, catalog, written)
	if err != nil {
		return nil, err
	}
	var from *int64
	if id, ok := values[1].Value.(int64); ok {
		from = &id
	}
	line, err := f.opened.Ancestors(from)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, a := range line {
		rows = append(rows, row{a.Snapshot, a.Timestamp})
	}
	return rows, nil
}

func (s *statement) procedureNotFound(catalog string, rest []string) error {
	known := append([]string{"ancestors_of"}, writers...)
	last, hint := strings.ToLower(rest[len(rest)-1]), ""
	if near := catalogs.Nearest(last, known); near != "" && near != last {
		hint = "; did you mean " + near + "?"
	}
	return fault.New(fault.NotFound, "Failed to load routine %s. Procedure %s not found%s", syntax.BackQuote(append([]string{catalog}, rest...)...), syntax.QuoteName(rest), hint).
		With("FAILED_TO_LOAD_ROUTINE", "38000")
}

// bindArguments gives a value, cast to its type, for each parameter; one that is left out is NULL.
func (s *statement) bindArguments(routine string, parameters []parameter, args []callArgument) ([]sparktype.Value, error) {
	if len(args) > len(parameters) {
		return nil, fault.New(fault.Invalid, "The `%s` requires %d parameters but the actual number is %d.", routine, len(parameters), len(args)).
			With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605")
	}
	out, given := make([]sparktype.Value, len(parameters)), make([]bool, len(parameters))
	b := s.binder(nil, nil, nil)
	for i, a := range args {
		at, err := parameterAt(routine, parameters, a, i)
		if err != nil {
			return nil, err
		}
		if given[at] {
			return nil, fault.New(fault.Invalid, "Call to routine `%s` is invalid because it includes multiple argument assignments to the same parameter name `%s`.",
				routine, parameters[at].name).With("DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT", "4274K")
		}
		value, err := b.Evaluate(a.value)
		if err != nil {
			return nil, err
		}
		if out[at], err = b.Cast(value, parameters[at].typ); err != nil {
			return nil, err
		}
		given[at] = true
	}
	for i, p := range parameters {
		if p.required && !given[i] {
			return nil, fault.New(fault.Invalid, "Cannot invoke routine `%s` because the parameter named `%s` is required, but the routine call did not supply a value. "+
				"Please update the routine call to supply an argument value (either positionally at index %d or by name) and retry the query again.", routine, p.name, i).
				With("REQUIRED_PARAMETER_NOT_FOUND", "4274K")
		}
	}
	return out, nil
}

// parameterAt finds the parameter that an argument is for.
func parameterAt(routine string, parameters []parameter, a callArgument, position int) (int, error) {
	if a.name == "" {
		return position, nil
	}
	var known []string
	for i, p := range parameters {
		if p.name == a.name {
			return i, nil
		}
		known = append(known, "`"+p.name+"`")
	}
	return 0, fault.New(fault.Invalid, "Cannot invoke routine `%s` because the routine call included a named argument reference for the argument named `%s`, but this routine "+
		"does not include any signature containing an argument with this name. Did you mean one of the following? [%s].", routine, a.name, strings.Join(known, " ")).
		With("UNRECOGNIZED_PARAMETER_NAME", "4274K")
}

// procedureTable opens the table that a text names in a procedure's catalog.
func (s *statement) procedureTable(ctx context.Context, catalog, written string) (*found, error) {
	p := syntax.NewParser(written)
	ident, err := p.Name()
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return nil, invalid(err)
	}
	name := syntax.Texts(ident)
	if other, ok := s.engine.catalogName(name[0]); ok && len(name) > 1 {
		if other != catalog {
			return nil, fault.New(fault.Invalid, "Cannot run procedure in catalog '%s': '%s' is a table in catalog '%s'", catalog, written, other)
		}
		name = name[1:]
	}
	namespace := s.state.Namespace
	if s.state.Catalog != catalog {
		namespace = s.engine.defaultNamespace(catalog)
	}
	if len(name) == 1 {
		name = append(slices.Clone(namespace), name[0])
	}
	f, err := s.table(ctx, append([]string{catalog}, name...))
	if err != nil {
		return nil, err
	}
	if f.suffix != "" {
		return nil, fault.New(fault.Invalid, "%s is no table of its own", f.display())
	}
	return f, nil
}
