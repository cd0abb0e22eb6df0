package scan

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
)

// dataFile is a data file of a plan with everything its reading needs from the manifests.
type dataFile struct {
	*fileEntry
	Spec    *spec
	Deletes []*deleteFile

	tuple string // names spec and partition
	own   bool   // the entry is the plan's, not the cache's

	version string // of a plain file, which it must have whenever it is opened; empty: any

	ranked ranked // by the column of a Best

	change *change // what the file's rows stand for in a changelog; nil: they are rows
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
	pruning    predicate.Expr // the filter, with what is known of all rows; nil: every file
	projection *projection
	grouping   []specField // fields of the key by which splits are kept apart
	splits     []split
	found      found
	read       rowGroups
	passed     passedFiles
	ahead      filesAhead
	deletes    deleteCache
	keys       map[int]keyField // columns that equality deletes compare
	sums       *aggregation     // nil: of no file, or not asked for
	counting   *counting        // nil: rows are read
}

// split is what Open reads as one part.
type split struct {
	Tasks  []task
	Weight int64
	Key    string // the partition that all its files share, where grouping is preserved
}

var _ Plan = (*tablePlan)(nil)

func (p *tablePlan) Schema() *arrow.Schema { return p.projection.output }
func (p *tablePlan) Splits() int           { return len(p.splits) }

// decoder reads the Parquet files of the scan, those of deletes too.
func (p *tablePlan) decoder() kernels.Decoder {
	config := &p.source.table.scanner.config
	if d := config.Decoders[p.options.Decoder]; d != nil && p.options.Native {
		return d
	}
	if p.options.Native {
		return config.Decoder
	}
	return config.Fallback
}

// Rows is known where no row is deleted, and none filtered or by partition alone, from the manifests.
func (p *tablePlan) Rows() (int64, bool) {
	if i := slices.Index(p.request.Aggregates, Aggregate{}); i >= 0 && p.sums != nil && p.sums.instead == "" {
		return p.sums.list[i].count, true
	}
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

// split cuts the files and packs them.
func (p *tablePlan) split(files []*dataFile) error {
	if best := p.request.Best; best != nil {
		best.sort(files)
	}
	p.grouping = p.groupingKey(files)
	var size int64
	extents := make([]extent, len(files))
	for i, f := range files {
		extents[i] = f.extent()
		extents[i].Key = groupingTuple(p.grouping, f)
		size = saturatingAdd(size, saturatingAdd(f.Size, extents[i].DeleteBytes))
	}
	var err error
	if p.options, err = p.options.adapt(size); err != nil {
		return err
	}
	groups, err := planSplits(extents, p.options)
	if err != nil {
		return err
	}
	p.splits = make([]split, len(groups))
	for i, g := range groups {
		s := split{Weight: g.Weight, Tasks: make([]task, len(g.Pieces)), Key: groupingText(p.grouping, files[g.Pieces[0].File])}
		for j, piece := range g.Pieces {
			s.Tasks[j] = task{files[piece.File], piece.Start, piece.Length}
		}
		p.splits[i] = s
	}
	if best := p.request.Best; best != nil {
		best.arrange(p.splits, files)
	}
	return nil
}

// extent is what packing needs to know of a file.
func (f *dataFile) extent() extent {
	e := extent{Size: f.Size, Offsets: f.Offsets, Divisible: divisible(f.Format), Deletes: len(f.Deletes)}
	for _, d := range f.Deletes {
		e.DeleteBytes = saturatingAdd(e.DeleteBytes, d.Bytes)
	}
	return e
}

// divisible says that files of a format can be read in parts.
func divisible(format iceberg.FileFormat) bool {
	return slices.ContainsFunc([]iceberg.FileFormat{iceberg.ParquetFile, iceberg.OrcFile, iceberg.AvroFile}, func(f iceberg.FileFormat) bool {
		return strings.EqualFold(string(f), string(format))
	})
}
