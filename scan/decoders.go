package scan

import (
	"context"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/scan/parquet"
)

// Decoders opens the first file that a plan reads and tells who reads each column there: a line per column, in the order of the plan's columns.
// It reads what a file says of itself, and no row. Nothing to read, or nothing that lies in data files: no lines.
func Decoders(ctx context.Context, p Plan) ([]string, error) {
	if routed, ok := p.(interface {
		Decoders(ctx context.Context) ([]string, error)
	}); ok {
		return routed.Decoders(ctx)
	}
	return nil, nil
}

// Decoders does it for a plan of data files.
func (p *tablePlan) Decoders(ctx context.Context) (out []string, err error) {
	if len(p.splits) == 0 {
		return nil, nil
	}
	t := p.splits[0].Tasks[0]
	defer fault.Recover(&err, fault.Corrupt, "read %s", t.File.Path)
	file, err := p.openStored(ctx, t.File)
	if err != nil {
		return nil, fault.Wrap(err, "open data file")
	}
	opened, err := p.source.table.openFormat(ctx, p.decoder(), t.File.Format, file, t.File.Path, 0)
	if err != nil {
		return nil, err
	}
	f := &openFile{plan: p, data: t.File, file: opened, projection: p.projection}
	defer f.close()
	if err := f.bind(); err != nil {
		return nil, err
	}
	groups := opened.RowGroups(t.Start, t.Length, nil, nil)
	if len(groups) == 0 {
		return nil, nil
	}
	return f.routes(groups[0]), nil
}

// routes spells, for every column of the projection, who reads it in a row group.
func (f *openFile) routes(g parquet.Group) []string {
	var columns []kernels.Column
	for _, s := range f.columns {
		if s.InFile {
			columns = append(columns, s.Column)
		}
	}
	var routes []kernels.Route
	if p, ok := f.file.(parquetFile); ok && len(columns) > 0 {
		routes = p.decoder.Route(p.RowGroup(g.Ordinal, columns))
	}
	var out []string
	next := 0
	for i, w := range f.projection.columns {
		s := f.columns[i]
		line := w.Field.Name + ": "
		switch {
		case s.InFile && next < len(routes):
			line += routeText(routes[next])
			next++
		case s.InFile:
			line += "the reader of " + string(f.data.Format) + " files"
		case s.Kind != 0:
			line += "counted"
		case s.Constant == nil:
			line += "null: the file lacks it"
		default:
			line += "one value for the file"
		}
		out = append(out, line)
	}
	return out
}

func routeText(r kernels.Route) string {
	text := r.Decoder
	if !r.Taken {
		text += ", not taken"
	}
	if r.Reason != "" {
		text += " (" + r.Reason + ")"
	}
	return text
}
