package engine

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

// found is a name that was resolved: a table, maybe one of its metadata tables, at a reference that the name itself chose.
type found struct {
	written    []string // as the statement spells it
	catalog    string
	identifier []string // of the table itself: namespace levels, then the name
	suffix     string   // the metadata table or selector that followed the table's name, as written; empty: none
	metadata   bool     // suffix names a metadata table
	reference  scan.Reference
	opened     openTable     // nil: there is no table behind the name, which is a view's, a temporary view's or one of information_schema
	view       view.Metadata // of a view of the catalog; nil: it is none
	snapshot   int64         // that is read, once source was asked; 0: none, or not known
}

// full gives catalog, namespace levels, table and suffix.
func (f *found) full() []string {
	if f.catalog == "" {
		return f.identifier // a temporary view's
	}
	out := append([]string{f.catalog}, f.identifier...)
	if f.suffix != "" {
		out = append(out, f.suffix)
	}
	return out
}

// display is the full name, quoted where needed.
func (f *found) display() string { return syntax.QuoteName(f.full()) }

// planning says which table an error of planning is about, where it does not say so itself.
func (f *found) planning(err error) error {
	if strings.Contains(err.Error(), strings.Join(f.full(), ".")) {
		return err
	}
	return fault.Wrap(err, "scan of %s", f.display())
}

// pin fixes the table's state.
func (f *found) pin() PinnedTable {
	return PinnedTable{Name: syntax.QuoteName(append([]string{f.catalog}, f.identifier...)), MetadataLocation: f.opened.MetadataLocation(), Snapshot: f.snapshot}
}

// namespace completes a namespace as written: nil is the current one, a first part that names a catalog is one.
func (s *statement) namespace(ctx context.Context, written []string) (catalog string, levels []string, err error) {
	st := s.state
	if s.session != nil {
		st = s.session.State()
	}
	catalog, levels = st.Catalog, st.Namespace
	if len(written) > 0 {
		levels = written
		if name, ok := s.engine.catalogName(written[0]); ok {
			catalog, levels = name, written[1:]
		}
	}
	return catalog, levels, s.engine.namespaceExists(ctx, catalog, levels)
}

// complete gives a table's catalog and identifier. One part is in the current namespace; otherwise the first part names a catalog if one is
// called so, else the current catalog is meant and the current namespace plays no role.
func (s *statement) complete(written []string) (string, []string, error) {
	catalog, identifier := s.state.Catalog, written
	name, ok := s.engine.catalogName(written[0])
	switch {
	case len(written) == 1:
		identifier = append(slices.Clone(s.state.Namespace), written[0])
	case ok:
		catalog, identifier = name, written[1:]
	}
	if catalog == "" {
		return "", nil, noCatalog()
	}
	return catalog, identifier, nil
}

// table resolves a table's name and opens it. A quoted part with dots in it may be several levels of a namespace: that is how metadata calls spell
// them, and tools put quotes around what they list.
func (s *statement) table(ctx context.Context, written []string) (*found, error) {
	catalog, identifier, err := s.complete(written)
	if err != nil {
		return nil, err
	}
	f, err := s.find(ctx, written, catalog, identifier)
	if err == nil || len(identifier) < 2 {
		return f, err
	}
	levels := nestedLevels(identifier[:len(identifier)-1])
	if levels == nil {
		return nil, err
	}
	if nested, nestedErr := s.find(ctx, written, catalog, append(levels, identifier[len(identifier)-1])); nestedErr == nil {
		return nested, nil
	}
	return nil, err
}

// nestedLevels takes apart the levels that hold dots; nil where none does.
func nestedLevels(levels []string) (out []string) {
	changed := false
	for _, level := range levels {
		parts, err := ParseSchemaName(level)
		if err != nil || len(parts) < 2 {
			out = append(out, level)
			continue
		}
		out, changed = append(out, parts...), true
	}
	if !changed {
		return nil
	}
	return out
}

// find opens a table by its identifier. A real table of the full name wins over a metadata table or a selector.
func (s *statement) find(ctx context.Context, written []string, catalog string, identifier []string) (*found, error) {
	f := &found{written: written, catalog: catalog, identifier: identifier}
	if s.pinned != nil {
		return f, s.openPinned(ctx, f)
	}
	err := s.load(ctx, f)
	if !fault.Is(err, fault.NotFound) || len(identifier) < 2 {
		return f, s.explainMissing(ctx, f, err)
	}
	base := &found{written: written, catalog: catalog, identifier: identifier[:len(identifier)-1], suffix: identifier[len(identifier)-1]}
	if baseErr := s.load(ctx, base); baseErr != nil {
		if !fault.Is(baseErr, fault.NotFound) && viewOf(baseErr) == nil {
			return nil, baseErr
		}
		return nil, s.explainMissing(ctx, f, err)
	}
	return base, s.suffixOf(ctx, base)
}

// load opens the table of f's identifier.
func (s *statement) load(ctx context.Context, f *found) error {
	loaded, err := s.engine.config.Catalogs.Load(ctx, f.catalog, f.identifier, s.catalogReference(f.catalog), s.principal)
	if err != nil {
		return err
	}
	if loaded.Kind == catalogs.KindView {
		return isView(f, loaded)
	}
	f.opened, err = s.engine.open(ctx, loaded)
	return err
}

// openPinned opens the very state of a table that a pin holds. The catalog is asked for the store's configuration only; a table that was
// dropped since is still read.
func (s *statement) openPinned(ctx context.Context, f *found) error {
	for _, pin := range s.pinned {
		name, err := syntax.NewParser(pin.Name).Name()
		if err != nil || len(name) < 2 {
			return fault.New(fault.Invalid, "the ticket names no table: %q", pin.Name)
		}
		catalog, identifier := name[0].Text, syntax.Texts(name[1:])
		if catalog != f.catalog || !prefixOf(identifier, f.identifier) {
			continue
		}
		loaded, err := s.engine.config.Catalogs.Load(ctx, catalog, identifier, s.catalogReference(catalog), s.principal)
		if fault.Is(err, fault.NotFound) {
			loaded, err = &catalogs.Table{Catalog: catalog, Identifier: identifier}, nil
		}
		if err != nil {
			return err
		}
		if loaded.MetadataLocation != pin.MetadataLocation {
			changed := *loaded
			changed.MetadataLocation, changed.Metadata = pin.MetadataLocation, nil
			loaded = &changed
		}
		if pin.View && len(identifier) == len(f.identifier) {
			return isView(f, loaded)
		}
		if f.opened, err = s.engine.open(ctx, loaded); err != nil {
			return err
		}
		if len(identifier) == len(f.identifier) {
			return nil
		}
		f.suffix, f.identifier = f.identifier[len(identifier)], identifier
		return s.suffixOf(ctx, f)
	}
	return fault.New(fault.Invalid, "the ticket does not hold the table %s", f.display())
}

// prefixOf reports whether base is identifier, or identifier without its last part.
func prefixOf(base, identifier []string) bool {
	n := len(base)
	return (len(identifier) == n || len(identifier) == n+1) && slices.Equal(base, identifier[:n])
}

// selectors are the parts after a table's name that choose a snapshot.
var selectors = []struct {
	pattern *regexp.Regexp
	kind    scan.ReferenceKind
}{
	{regexp.MustCompile(`^at_timestamp_(\d+)$`), scan.RefTimestamp},
	{regexp.MustCompile(`^snapshot_id_(\d+)$`), scan.RefSnapshot},
	{regexp.MustCompile(`^branch_(.*)$`), scan.RefBranch},
	{regexp.MustCompile(`^tag_(.*)$`), scan.RefTag},
}

// suffixOf says what the part after a table's name means: a metadata table, in any case, or a selector.
func (s *statement) suffixOf(ctx context.Context, f *found) error {
	_, known, err := f.opened.MetadataSource(ctx, f.suffix, scan.Reference{})
	if known || fault.Is(err, fault.Unsupported) {
		f.metadata = true
		return nil // an error is for whoever reads it: at another reference there may be none
	}
	if err != nil {
		return err
	}
	for _, sel := range selectors {
		m := sel.pattern.FindStringSubmatch(f.suffix)
		if m == nil {
			continue
		}
		f.reference = scan.Reference{Kind: sel.kind, Name: m[1], Clause: f.suffix}
		if sel.kind == scan.RefSnapshot || sel.kind == scan.RefTimestamp {
			if f.reference.ID, err = strconv.ParseInt(m[1], 10, 64); err != nil {
				return fault.New(fault.Invalid, "For input string: \"%s\"", m[1]).In(f.display())
			}
			f.reference.Name = ""
		}
		return nil
	}
	return tableNotFound(f.written, f.suffixHint())
}

// explainMissing turns a catalog's "not found" into Spark's words, with the nearest known name.
func (s *statement) explainMissing(ctx context.Context, f *found, err error) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	c, openErr := s.engine.config.Catalogs.Catalog(ctx, f.catalog)
	if openErr != nil {
		return openErr
	}
	last := len(f.identifier) - 1
	namespace := f.identifier[:last]
	if len(namespace) > 0 {
		if _, nsErr := c.LoadNamespace(ctx, namespace); fault.Is(nsErr, fault.NotFound) {
			_, configured := s.engine.config.Catalogs.Definition(f.written[0])
			if len(f.written) > 2 && f.written[0] == f.identifier[0] && !configured && !s.topLevel(ctx, c, f.identifier[0]) {
				return s.engine.catalogNotFound(f.written[0])
			}
			if hint := s.inNamespace(ctx, f.written); hint != "" {
				return tableNotFound(f.written, hint)
			}
			return tableNotFound(f.written, s.engine.nearNamespace(ctx, f.catalog, namespace))
		}
	}
	var known []string
	for entry, listErr := range c.Tables(ctx, table.Identifier(namespace)) {
		if listErr != nil || len(known) == maxListed {
			break
		}
		known = append(known, entry.Identifier[len(entry.Identifier)-1])
	}
	hint := didYouMean(f.identifier[last], known)
	if hint == "" {
		hint = s.elsewhere(ctx, c, f)
	}
	return tableNotFound(f.written, hint)
}

// inNamespace suggests the full name for a table of the current namespace with something behind it: a name of two parts has its own namespace.
func (s *statement) inNamespace(ctx context.Context, written []string) string {
	if len(written) != 2 || len(s.state.Namespace) == 0 {
		return ""
	}
	base := &found{written: written, catalog: s.state.Catalog, identifier: append(slices.Clone(s.state.Namespace), written[0]), suffix: written[1]}
	if s.load(ctx, base) != nil {
		return ""
	}
	if s.suffixOf(ctx, base) != nil {
		if base.suffix = catalogs.Nearest(written[1], metadataTables); base.suffix == "" {
			base.suffix = "snapshots"
		}
	}
	return " Did you mean " + syntax.BackQuote(base.full()...) + "?"
}

// topLevel reports whether a catalog has a namespace of this name at its root.
func (s *statement) topLevel(ctx context.Context, c catalogs.Catalog, name string) bool {
	_, err := c.LoadNamespace(ctx, table.Identifier{name})
	return err == nil
}

// source gives what a name reads at a reference; the name itself may choose one.
func (s *statement) source(ctx context.Context, f *found, at scan.Reference) (scan.Source, error) {
	if f.reference.Kind != scan.RefCurrent {
		switch {
		case at.Kind == scan.RefCurrent:
			at = f.reference
		case f.reference.Kind == scan.RefBranch && at.Kind == scan.RefBranch:
			if f.reference.Name != at.Name {
				return nil, fault.New(fault.Invalid, "Must not specify different branches in both table identifier and read option, got [%s] in identifier and [%s] in options",
					f.reference.Name, at.Name)
			}
		case f.reference.Kind == scan.RefBranch:
			return nil, fault.New(fault.Invalid, "Can't time travel in branch")
		default:
			return nil, fault.New(fault.Invalid, "Can't time travel using selector and Spark time travel spec at the same time")
		}
	}
	if !f.metadata {
		source, err := f.opened.Source(ctx, at)
		if s, ok := source.(interface{ Snapshot() int64 }); ok {
			f.snapshot = s.Snapshot()
		}
		return source, f.nearestReference(err, at)
	}
	source, known, err := f.opened.MetadataSource(ctx, f.suffix, at)
	if err == nil && !known {
		return nil, tableNotFound(f.written, "")
	}
	return source, f.nearestReference(err, at)
}
