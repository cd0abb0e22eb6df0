package scan

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// listPartitions asks a catalog for partitions: all of them, which may come without their location, or those of the names.
type listPartitions = func(ctx context.Context, names []string) iter.Seq2[catalogs.Partition, error]

// askedAtOnce is how many partitions are asked for by their names in one call.
const askedAtOnce = 1000

// listedAtOnce is how many folders are listed at once.
const listedAtOnce = 32

// folder is a partition that a plan reads: where its files lie, and its values.
type folder struct {
	at    storage.Location
	place *place
	tuple string
}

// findListed gives the files of a table of plain files that may hold wanted rows, in the order of their partitions and names. Partitions that the filter rules out
// are not looked into.
func (p *tablePlan) findListed(ctx context.Context) ([]*dataFile, error) {
	p.pruning = p.pruningFilter()
	if p.sums = p.newSums(); p.sums != nil {
		p.sums.refuse("nobody keeps statistics of plain files")
	}
	s := p.source.specs[0]
	folders, err := p.folders(ctx, s)
	if err != nil {
		return nil, err
	}
	lists, err := inOrderBy(ctx, listedAtOnce, len(folders), func(ctx context.Context, i int) ([]*dataFile, error) { return p.filesIn(ctx, s, folders[i]) })
	if err != nil {
		return nil, err
	}
	files := slices.Concat(lists...)
	p.found.files.Total += len(files)
	return files, nil
}

// folders gives the wanted partitions, in the order of their places.
func (p *tablePlan) folders(ctx context.Context, s *spec) ([]folder, error) {
	f := p.source.table.files
	switch {
	case len(s.Fields) == 0:
		return []folder{{at: f.Location, place: &place{values: map[int]any{}}, tuple: tupleKey(s, nil)}}, nil
	case f.partitions != nil:
		return p.listedFolders(ctx, s)
	}
	return p.foldersBelow(ctx, s, f.Location, nil)
}

// listedFolders gives the wanted ones of the partitions that the catalog lists. Where a listing tells no location, those that are wanted are asked for.
func (p *tablePlan) listedFolders(ctx context.Context, s *spec) ([]folder, error) {
	t := p.source.table
	pruner := p.pruner(s)
	var out []folder
	var names []string
	take := func(c catalogs.Partition) error {
		at, err := p.placed(s, c.Values)
		if err != nil {
			return fault.Wrap(err, "partition %s", c.Name)
		}
		tuple := pruner.at(at)
		switch {
		case !tuple.may:
			p.found.partitions.leaveOut(byPartition, 1)
		case c.Location == "":
			names = append(names, c.Name)
		case c.Format != "":
			return fault.New(fault.Unsupported, "the partition at %s is not in the table's format but in %s, which is not supported", c.Location, c.Format).In(t.Name())
		default:
			out = append(out, folder{c.Location, at, tuple.tuple})
		}
		delete(pruner.places, at)
		return nil
	}
	for c, err := range t.files.partitions(ctx, nil) {
		if err != nil {
			return nil, err
		}
		p.found.partitions.Total++
		if err := take(c); err != nil {
			return nil, err
		}
	}
	asked := names
	names = nil
	for some := range slices.Chunk(asked, askedAtOnce) {
		for c, err := range t.files.partitions(ctx, some) {
			if err != nil {
				return nil, err
			}
			if c.Location == "" {
				return nil, fault.New(fault.Unavailable, "the catalog tells no location of the partition %s", c.Name)
			}
			if err := take(c); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b folder) int { return strings.Compare(a.at, b.at) })
	return out, nil
}

// placed reads the values of a partition.
func (p *tablePlan) placed(s *spec, texts []*string) (*place, error) {
	if len(texts) != len(s.Fields) {
		return nil, fault.New(fault.Corrupt, "%d values where the table is partitioned by %d columns", len(texts), len(s.Fields))
	}
	out, types := &place{values: map[int]any{}}, p.source.table.files.Types
	for i, f := range s.Fields {
		if texts[i] == nil {
			out.values[f.ID] = nil
			continue
		}
		v, ok := exactValue(*texts[i], types[f.Source], f.Type)
		if !ok {
			return nil, fault.New(fault.Corrupt, "the value %.200q of %s is no %s", *texts[i], f.Name, sparkTypeOf(f.Source, f.iceberg, types)).In(p.source.table.Name())
		}
		out.values[f.ID] = v
	}
	return out, nil
}

// foldersBelow gives the wanted partitions as folders name=value, one level of them for each column.
func (p *tablePlan) foldersBelow(ctx context.Context, s *spec, at storage.Location, above []*string) ([]folder, error) {
	var out []folder
	field := s.Fields[len(above)]
	for info, err := range p.source.table.store.List(ctx, at) {
		if fault.Is(err, fault.NotFound) {
			return nil, nil // as in Spark, a table or partition without its folder is empty
		}
		if err != nil {
			return nil, err
		}
		name := baseName(info.Location)
		if !info.Folder || hidden(name) {
			continue
		}
		column, value, ok := strings.Cut(name, "=")
		if !ok || !strings.EqualFold(catalogs.UnescapePartition(column), field.Name) {
			some, err := p.holdsFiles(ctx, info.Location)
			if err != nil {
				return nil, err
			}
			if !some {
				continue
			}
			return nil, fault.New(fault.Unsupported, "the folder %s is no partition by %s, and other folders are not supported in a table that is partitioned by folders", info.Location, field.Name).In(p.source.table.Name())
		}
		values := append(slices.Clone(above), catalogs.PartitionValue(catalogs.UnescapePartition(value)))
		if len(values) < len(s.Fields) {
			deeper, err := p.foldersBelow(ctx, s, info.Location, values)
			if err != nil {
				return nil, err
			}
			out = append(out, deeper...)
			continue
		}
		where, err := p.placed(s, values)
		if err != nil {
			some, failed := p.holdsFiles(ctx, info.Location)
			if failed != nil {
				return nil, failed
			}
			if !some {
				continue
			}
			return nil, fault.Wrap(err, "partition %s", info.Location)
		}
		p.found.partitions.Total++
		judged := p.pruner(s).at(where)
		if !judged.may {
			p.found.partitions.leaveOut(byPartition, 1)
			continue
		}
		out = append(out, folder{info.Location, where, judged.tuple})
	}
	return out, nil
}

// holdsFiles reports whether a folder or one below it holds files that count. As in Spark, one that holds none is no partition, whatever its name.
func (p *tablePlan) holdsFiles(ctx context.Context, at storage.Location) (bool, error) {
	for info, err := range p.source.table.store.List(ctx, at) {
		switch {
		case fault.Is(err, fault.NotFound):
			return false, nil
		case err != nil:
			return false, err
		case hidden(baseName(info.Location)):
		case !info.Folder && info.Size > 0:
			return true, nil
		case info.Folder:
			if some, err := p.holdsFiles(ctx, info.Location); some || err != nil {
				return some, err
			}
		}
	}
	return false, nil
}

// filesIn lists the files of a folder. As in Spark, those of folders below it are not the table's, a folder that is missing has none, and hidden and empty ones do
// not count.
func (p *tablePlan) filesIn(ctx context.Context, s *spec, f folder) ([]*dataFile, error) {
	var out []*dataFile
	for info, err := range p.source.table.store.List(ctx, f.at) {
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if info.Folder || info.Size == 0 || hidden(baseName(info.Location)) {
			continue
		}
		entry := &fileEntry{Path: info.Location, Format: iceberg.ParquetFile, Size: info.Size, Records: -1, Sequence: -1, Partition: f.place.values, place: f.place}
		out = append(out, &dataFile{fileEntry: entry, Spec: s, tuple: f.tuple, own: true, version: info.Version})
	}
	return out, nil
}

func baseName(at storage.Location) string { return path.Base(strings.TrimRight(at, "/")) }

// hidden reports whether Spark and Hive look past a file or folder of the name.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, "=") || strings.HasSuffix(name, "._COPYING_")
}

// filesOptions parts the read options into those that concern a table of plain files, which are those of reading, and the others. How it is split is not Iceberg's to say.
func filesOptions(options []Option) (out, ignored []Option) {
	for _, o := range options {
		switch o.Name {
		case "batch-size", "concurrency", "decoder", "native-decoder", datetimeRebaseOption, int96RebaseOption:
			out = append(out, o)
		default:
			ignored = append(ignored, o)
		}
	}
	return out, ignored
}

// listingScheme begins what stands for the files of a plan where a metadata location would.
const listingScheme = "plain-files:"

// Listing names the files that a plan of a table of plain files reads; empty: it is of no such table. A table that is loaded with that name in place of a metadata
// location is planned for those very files, or not at all.
func Listing(p Plan) string {
	t, ok := p.(*tablePlan)
	if !ok || t.source.table.files == nil {
		return ""
	}
	h := fnv.New128a()
	seen := map[*dataFile]bool{}
	for _, s := range t.splits {
		for _, task := range s.Tasks {
			if seen[task.File] {
				continue
			}
			seen[task.File] = true
			_, _ = h.Write([]byte(task.File.Path))
			_, _ = h.Write(binary.LittleEndian.AppendUint64([]byte{0}, uint64(task.File.Size)))
			_, _ = h.Write([]byte(task.File.version + "\x00"))
		}
	}
	return listingScheme + hex.EncodeToString(h.Sum(nil))
}

// checkListing fails where the files are not those that a pin names.
func (p *tablePlan) checkListing() error {
	t := p.source.table
	if t.files == nil || t.files.pinned == "" || t.files.pinned == Listing(p) {
		return nil
	}
	return filesChanged(t.Name())
}
