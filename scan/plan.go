package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// dataFile is a data file of a plan with everything its reading needs from the manifests.
type dataFile struct {
	Path      string
	Format    iceberg.FileFormat
	Size      int64
	Records   int64
	Offsets   []int64
	Spec      *spec
	Partition map[int]any // by partition field id, as the manifest reader gives it
	Sequence  int64
	FileSeq   *int64
	FirstRow  *int64
	Deletes   []*deleteFile
}

// task is a byte range of a data file.
type task struct {
	File          *dataFile
	Start, Length int64
}

// tablePlan is a planned scan of a table.
type tablePlan struct {
	source     *tableSource
	request    Request
	options    readOptions
	filter     predicate.Expr // nil: every row
	projection *projection
	splits     []split
	manifests  Considered
	files      Considered
	deletes    deleteCache
	keys       map[int]keyField // columns that equality deletes compare
}

// split is what Open reads as one part.
type split struct {
	Tasks  []task
	Weight int64
}

var _ Plan = (*tablePlan)(nil)

func (p *tablePlan) Schema() *arrow.Schema { return p.projection.output }
func (p *tablePlan) Splits() int           { return len(p.splits) }

// Rows is known where no row is filtered or deleted, from the manifests.
func (p *tablePlan) Rows() (int64, bool) {
	var rows int64
	seen := map[*dataFile]bool{}
	for _, s := range p.splits {
		for _, t := range s.Tasks {
			if len(t.File.Deletes) > 0 || t.File.Records < 0 {
				return 0, false
			}
			if !seen[t.File] {
				rows += t.File.Records
			}
			seen[t.File] = true
		}
	}
	return rows, p.filter == nil || len(p.splits) == 0
}

// findFiles gives the data files that may hold wanted rows, in the order of the manifest list and of the entries, each with its deletes.
func (p *tablePlan) findFiles(ctx context.Context) ([]*dataFile, error) {
	list, err := p.source.table.manifests(ctx, p.source.at.snapshot)
	if err != nil {
		return nil, err
	}
	var files []*dataFile
	var tuples []string
	var deletes []iceberg.ManifestFile
	p.manifests, p.files = Considered{Pruned: map[string]int{}}, Considered{Pruned: map[string]int{}}
	for _, m := range list {
		p.manifests.Total++
		if m.ManifestContent() == iceberg.ManifestContentDeletes {
			deletes = append(deletes, m)
			continue
		}
		if err := p.addDataManifest(ctx, m, &files, &tuples); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		p.manifests.Pruned["deletes without data"] += len(deletes)
		return nil, nil
	}
	return files, p.attachDeletes(ctx, deletes, files, tuples)
}

func (p *tablePlan) addDataManifest(ctx context.Context, m iceberg.ManifestFile, files *[]*dataFile, tuples *[]string) error {
	s, err := p.specOf(m)
	if err != nil {
		return err
	}
	if !p.manifestMayMatch(m, s) {
		p.manifests.Pruned["partition summaries"]++
		return nil
	}
	entries, err := p.source.table.entries(ctx, m)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Status == iceberg.EntryStatusDELETED {
			continue
		}
		p.files.Total++
		if reason := p.leavesOut(e, s); reason != "" {
			p.files.Pruned[reason]++
			continue
		}
		f, err := newDataFile(e, s)
		if err != nil {
			return err
		}
		*files, *tuples = append(*files, f), append(*tuples, tupleKey(s, f.Partition))
	}
	return ctx.Err()
}

func (p *tablePlan) specOf(m iceberg.ManifestFile) (*spec, error) {
	s, ok := p.source.specs[int(m.PartitionSpecID())]
	if !ok {
		return nil, fault.New(fault.Corrupt, "manifest %s has the partition spec %d, which the table lacks", m.FilePath(), m.PartitionSpecID())
	}
	return s, nil
}

func newDataFile(e entry, s *spec) (*dataFile, error) {
	f := e.File
	if len(f.KeyMetadata()) > 0 {
		return nil, fault.New(fault.Unsupported, "encrypted data files are not supported yet: %s", f.FilePath()).In(f.FilePath())
	}
	return &dataFile{Path: f.FilePath(), Format: f.FileFormat(), Size: f.FileSizeBytes(), Records: f.Count(), Offsets: f.SplitOffsets(), Spec: s,
		Partition: f.Partition(), Sequence: e.Sequence, FileSeq: e.FileSeq, FirstRow: f.FirstRowID()}, nil
}

// attachDeletes gives each file the deletes that apply to it.
func (p *tablePlan) attachDeletes(ctx context.Context, manifests []iceberg.ManifestFile, files []*dataFile, tuples []string) error {
	if len(manifests) == 0 {
		return nil
	}
	index := newDeleteIndex()
	for _, m := range manifests {
		s, err := p.specOf(m)
		if err != nil {
			return err
		}
		entries, err := p.source.table.entries(ctx, m)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Status == iceberg.EntryStatusDELETED {
				continue
			}
			if err := index.add(e, s); err != nil {
				return err
			}
		}
	}
	for i, f := range files {
		if f.Sequence < 0 && index.considered > 0 {
			return fault.New(fault.Corrupt, "data file %s has no sequence number", f.Path).In(f.Path)
		}
		var err error
		if f.Deletes, err = index.of(f.Path, f.Sequence, tuples[i]); err != nil {
			return err
		}
	}
	return nil
}

// split cuts the files and packs them.
func (p *tablePlan) split(files []*dataFile) error {
	var size int64
	extents := make([]extent, len(files))
	for i, f := range files {
		e := extent{Size: f.Size, Offsets: f.Offsets, Divisible: true, Deletes: len(f.Deletes)}
		for _, d := range f.Deletes {
			e.DeleteBytes = saturatingAdd(e.DeleteBytes, d.Bytes)
		}
		size = saturatingAdd(size, saturatingAdd(e.Size, e.DeleteBytes))
		extents[i] = e
	}
	var err error
	if p.options, err = p.options.adapt(size); err != nil {
		return err
	}
	groups, err := planSplits(extents, p.options)
	if err != nil {
		return err
	}
	for _, g := range groups {
		s := split{Weight: g.Weight}
		for _, piece := range g.Pieces {
			s.Tasks = append(s.Tasks, task{files[piece.File], piece.Start, piece.Length})
		}
		p.splits = append(p.splits, s)
	}
	return nil
}
