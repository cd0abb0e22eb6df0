package scan

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// found counts what planning looked at.
type found struct {
	partitions      Considered // of a table of plain files
	manifests       Considered // of data files
	deleteManifests Considered
	files           Considered
	deletes         Considered // delete files and vectors
	kinds           map[string]int
}

func (c *Considered) leaveOut(reason string, n int) {
	if n == 0 {
		return
	}
	if c.Pruned == nil {
		c.Pruned = map[string]int{}
	}
	c.Pruned[reason] += n
}

func (c *Considered) add(o Considered) {
	c.Total += o.Total
	for reason, n := range o.Pruned {
		c.leaveOut(reason, n)
	}
}

// findFiles gives the data files that may hold wanted rows, in the order of the manifest list and of the entries, each with its deletes.
func (p *tablePlan) findFiles(ctx context.Context) ([]*dataFile, error) {
	list, err := p.source.table.manifests(ctx, p.source.at.snapshot)
	if err != nil {
		return nil, err
	}
	p.pruning = p.pruningFilter()
	var data, deletes []iceberg.ManifestFile
	for _, m := range list {
		into, count := &data, &p.found.manifests
		if m.ManifestContent() == iceberg.ManifestContentDeletes {
			into, count = &deletes, &p.found.deleteManifests
		}
		s, err := p.specOf(m)
		if err != nil {
			return nil, err
		}
		count.Total++
		if reason := p.pruner(s).manifest(m); reason != "" {
			count.leaveOut(reason, 1)
			continue
		}
		*into = append(*into, m)
	}
	if len(data) == 0 {
		p.found.deleteManifests.leaveOut(byNoDataFiles, len(deletes))
		return nil, nil
	}
	resource.ProgressOf(ctx).Expect(len(data) + len(deletes))
	index, err := p.readDeletes(ctx, deletes)
	if err != nil {
		return nil, err
	}
	return p.readFiles(ctx, data, index)
}

// pruningFilter is the filter with what is known of all rows; nil: every row.
func (p *tablePlan) pruningFilter() predicate.Expr {
	var parts []predicate.Expr
	if p.filter != nil {
		parts = append(parts, withoutNulls(p.filter, p.source.required))
	}
	if test := p.request.Partitions.Expr; test != nil {
		parts = append(parts, test)
	}
	if len(parts) == 0 {
		return nil
	}
	return predicate.Simplify(predicate.Join(parts))
}

// pruner rules out the files of one spec.
func (p *tablePlan) pruner(s *spec) *filePruner {
	return newFilePruner(p.pruning, p.request.Partitions.Terms, s)
}

// required says whether a field is a column that can hold no null.
func (s *tableSource) required(f predicate.Field) bool {
	p, ok := s.paths[f.ID]
	return ok && len(p.Index) == 1 && !p.Field.Nullable
}

func (p *tablePlan) specOf(m iceberg.ManifestFile) (*spec, error) {
	s, ok := p.source.specs[int(m.PartitionSpecID())]
	if !ok {
		return nil, fault.New(fault.Corrupt, "manifest %s has the partition spec %d, which the table lacks", m.FilePath(), m.PartitionSpecID())
	}
	return s, nil
}

// manifestFiles is what a manifest holds for a plan.
type manifestFiles struct {
	files      []*dataFile
	run        []dataFile // where the last of them lie
	considered Considered
	sums       *aggregation // nil: none were asked for
}

// candidate is an entry that the filter leaves, with what was found out of it.
type candidate struct {
	*fileEntry
	spec  *spec
	stats fileStats
	tuple string // names spec and partition
}

// wantedOf reads a manifest with the statistics of columns and leaves out what the filter rules out. take is called for every entry that is left.
func (p *tablePlan) wantedOf(ctx context.Context, m iceberg.ManifestFile, columns []int, take func(c candidate) error) (Considered, error) {
	defer resource.ProgressOf(ctx).Done()
	var out Considered
	s, err := p.specOf(m)
	if err != nil {
		return out, err
	}
	read, err := p.entriesOf(ctx, m, columns)
	if err != nil {
		return out, err
	}
	pruner := p.pruner(s)
	for i := range read.entries {
		e := &read.entries[i]
		if !p.source.span.takes(e) {
			continue
		}
		out.Total++
		stats := fileStats{read.stats, i}
		if reason := pruner.file(e, stats); reason != "" {
			out.leaveOut(reason, 1)
			continue
		}
		if err := take(candidate{e, s, stats, pruner.at(e.place).tuple}); err != nil {
			return out, err
		}
	}
	return out, ctx.Err()
}

func (p *tablePlan) entriesOf(ctx context.Context, m iceberg.ManifestFile, columns []int) (planned, error) {
	if p.source.span != nil && p.source.span.changelog {
		return p.source.table.changed(ctx, m, columns)
	}
	return p.source.table.planned(ctx, m, columns)
}

// readDeletes indexes the live delete files that may delete wanted rows.
func (p *tablePlan) readDeletes(ctx context.Context, manifests []iceberg.ManifestFile) (*deleteIndex, error) {
	type read struct {
		list       []candidate
		considered Considered
	}
	all, err := inOrder(ctx, len(manifests), func(ctx context.Context, i int) (out read, err error) {
		out.considered, err = p.wantedOf(ctx, manifests[i], nil, func(c candidate) error {
			out.list = append(out.list, c)
			return nil
		})
		return out, err
	})
	if err != nil {
		return nil, err
	}
	index := newDeleteIndex()
	index.types = p.source.columnType
	for _, r := range all {
		p.found.deletes.add(r.considered)
		for _, d := range r.list {
			if err := index.add(d); err != nil {
				return nil, err
			}
		}
	}
	index.sort()
	return index, nil
}

// columnType is a column's type, also of one that was dropped: equality deletes may still compare it.
func (s *tableSource) columnType(id int) (arrow.DataType, bool) {
	typ, ok := s.types[id]
	if !ok {
		return nil, false
	}
	out, unreadable := arrowType(typ)
	return out, unreadable == ""
}

// readFiles reads the data manifests and gives every file its deletes.
func (p *tablePlan) readFiles(ctx context.Context, manifests []iceberg.ManifestFile, index *deleteIndex) ([]*dataFile, error) {
	columns := p.statisticsOf(index)
	all, err := inOrder(ctx, len(manifests), func(ctx context.Context, i int) (out manifestFiles, err error) {
		sums := p.newSums()
		out.sums = sums
		out.considered, err = p.wantedOf(ctx, manifests[i], columns, func(c candidate) error {
			if err := out.add(c, index); err != nil {
				return err
			}
			added := out.files[len(out.files)-1]
			added.rank(p.request.Best, c.stats)
			if sums == nil {
				return nil
			}
			sums.add(added, c.stats, p.decide)
			return nil
		})
		out.compact()
		return out, err
	})
	if err != nil {
		return nil, err
	}
	n := 0
	for _, m := range all {
		n += len(m.files)
	}
	files := make([]*dataFile, 0, n)
	for _, m := range all {
		p.found.files.add(m.considered)
		p.sums = p.sums.merge(m.sums)
		files = append(files, m.files...)
	}
	p.found.countDeletes(files, index.considered)
	return files, nil
}

// statisticsOf lists the columns whose statistics planning asks for: those of the filter, those that equality deletes compare, and those
// of aggregates.
func (p *tablePlan) statisticsOf(index *deleteIndex) []int {
	var out []int
	if p.pruning != nil {
		for _, f := range predicate.Fields(p.pruning) {
			if f.ID <= partitionIDBase && f.ID > 0 {
				out = append(out, f.ID)
			}
		}
	}
	for id := range index.keys {
		out = append(out, id)
	}
	out = append(out, aggregateColumns(p.request.Aggregates)...)
	if best := p.request.Best; best != nil {
		out = append(out, best.Field.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// add gives a file its deletes. Files lie in memory in runs, which is what makes a plan of very many cheap.
func (m *manifestFiles) add(c candidate, index *deleteIndex) error {
	if len(m.run) == cap(m.run) {
		m.run = make([]dataFile, 0, min(2*cap(m.run)+1, 1024))
	}
	m.run = append(m.run, dataFile{fileEntry: c.fileEntry, Spec: c.spec, tuple: c.tuple})
	f := &m.run[len(m.run)-1]
	m.files = append(m.files, f)
	return f.findDeletes(c, index)
}

// compact moves the few files that are left of many into memory of their own, so that they do not keep all others alive.
func (m *manifestFiles) compact() {
	if 4*len(m.files) > m.considered.Total {
		return
	}
	for _, f := range m.files {
		own := *f.fileEntry
		own.Path, own.Offsets = strings.Clone(own.Path), slices.Clone(own.Offsets)
		f.fileEntry, f.own = &own, true
	}
}

// findDeletes finds the deletes of a file that may be read.
func (f *dataFile) findDeletes(c candidate, index *deleteIndex) (err error) {
	if f.encrypted {
		return fault.New(fault.Unsupported, "encrypted data files are not supported yet: %s", f.Path).In(f.Path)
	}
	if index.considered == 0 {
		return nil
	}
	if f.Sequence < 0 {
		return fault.New(fault.Corrupt, "data file %s has no sequence number", f.Path).In(f.Path)
	}
	f.Deletes, err = index.of(c)
	return err
}

// countDeletes counts, by kind, the deletes that some file has, and leaves out the others of those indexed.
func (n *found) countDeletes(files []*dataFile, indexed int) {
	seen := map[*deleteFile]bool{}
	n.kinds = map[string]int{}
	for _, f := range files {
		for _, d := range f.Deletes {
			if !seen[d] {
				seen[d] = true
				n.kinds[d.kind.String()]++
			}
		}
	}
	n.deletes.leaveOut(byNoSuchFile, indexed-len(seen))
}
