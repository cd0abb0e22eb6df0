package scan

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/manifest"
)

// Range is the part of a table's history that an incremental scan reads: what comes after one snapshot, up to another and with it. Zero bounds are open:
// the beginning, and the current snapshot.
type Range struct {
	After, Until         *int64 // snapshot ids; nil: none
	AfterTime, UntilTime *int64 // milliseconds since the epoch, for changelogs; nil: none
}

// Field ids of the columns of a changelog, reserved by Iceberg.
const (
	idChangeType    = idDeleteRow - 1
	idChangeOrdinal = idDeleteRow - 2
	idCommit        = idDeleteRow - 3
)

// changesName is the changelog's name after a table's.
const changesName = "changes"

// span is a Range resolved: the snapshots whose files are read.
type span struct {
	snapshots []*table.Snapshot // oldest first
	changelog bool
	ordinals  map[int64]int64 // by snapshot id, oldest first
}

// change is what a file of a changelog stands for.
type change struct {
	kind     string
	ordinal  int64
	snapshot int64
}

// incremental is the rows that a range of snapshots appended, with the table's current columns. Snapshots that do more than append give none.
func (t *Table) incremental(s *tableSource, r *Range) error {
	if r.AfterTime != nil || r.UntilTime != nil {
		return fault.New(fault.Invalid, "Only changelog scans support `start-timestamp` and `end-timestamp`. Use `start-snapshot-id` and `end-snapshot-id` for incremental scans.")
	}
	if r.After == nil {
		return fault.New(fault.Invalid, "Cannot set only `end-snapshot-id` for incremental scans. Please, set `start-snapshot-id` too.")
	}
	between, err := t.between(r.After, r.Until)
	if err != nil {
		return err
	}
	s.span = &span{}
	for _, snapshot := range between {
		if operation(snapshot) == table.OpAppend {
			s.span.snapshots = append(s.span.snapshots, snapshot)
		}
	}
	s.span.number()
	return nil
}

// changelog is a table's changelog over a range of snapshots: its columns and those that say what became of a row. Snapshots that only moved rows
// between files are left out.
func (t *Table) changelog(ctx context.Context, r Reference) (Source, error) {
	if r.Kind != RefCurrent && r.Kind != RefRange {
		return nil, fault.New(fault.Invalid, "Can't time travel in changelog").In(t.Name())
	}
	source, err := t.Source(ctx, Reference{})
	if err != nil {
		return nil, err
	}
	s := source.(*tableSource)
	s.at.clause, s.changes = r.Clause, true
	s.schema = arrow.NewSchema(append(slices.Clone(s.schema.Fields()), arrowSchema(changeFields()).Fields()...), nil)
	s.metadata = arrow.NewSchema(nil, nil)
	s.top = slices.Clone(s.schema.Fields())
	s.paths = paths(s.top)
	s.span = &span{changelog: true}
	bounds := Range{}
	if r.Range != nil {
		bounds = *r.Range
	}
	after, until, empty, err := t.timed(bounds)
	if err != nil || empty || t.metadata.CurrentSnapshot() == nil {
		return s, err
	}
	between, err := t.between(after, until)
	if err != nil {
		return nil, err
	}
	for _, snapshot := range between {
		if operation(snapshot) != table.OpReplace {
			s.span.snapshots = append(s.span.snapshots, snapshot)
		}
	}
	s.span.number()
	return s, nil
}

func changeFields() []iceberg.NestedField {
	return []iceberg.NestedField{
		{ID: idChangeType, Name: "_change_type", Type: iceberg.PrimitiveTypes.String, Required: true},
		{ID: idChangeOrdinal, Name: "_change_ordinal", Type: iceberg.PrimitiveTypes.Int32},
		{ID: idCommit, Name: "_commit_snapshot_id", Type: iceberg.PrimitiveTypes.Int64},
	}
}

// number turns the snapshots, which are the newest first, around and counts them.
func (s *span) number() {
	s.ordinals = map[int64]int64{}
	slices.Reverse(s.snapshots)
	for i, snapshot := range s.snapshots {
		s.ordinals[snapshot.SnapshotID] = int64(i)
	}
}

// operation is a snapshot's; the specification takes one that does not say for an overwrite.
func operation(s *table.Snapshot) table.Operation {
	if s.Summary == nil || s.Summary.Operation == "" {
		return table.OpOverwrite
	}
	return s.Summary.Operation
}

// timed turns the times of a range into snapshots; empty: nothing lies between them.
func (t *Table) timed(r Range) (after, until *int64, empty bool, err error) {
	switch {
	case r.After != nil && r.AfterTime != nil:
		return nil, nil, false, fault.New(fault.Invalid, "Cannot set both start-snapshot-id and start-timestamp for changelogs")
	case r.Until != nil && r.UntilTime != nil:
		return nil, nil, false, fault.New(fault.Invalid, "Cannot set both end-snapshot-id and end-timestamp for changelogs")
	case r.AfterTime != nil && r.UntilTime != nil && *r.AfterTime >= *r.UntilTime:
		return nil, nil, false, fault.New(fault.Invalid, "Cannot set start-timestamp to be greater than end-timestamp for changelogs")
	}
	after, until = r.After, r.Until
	current := t.metadata.CurrentSnapshot()
	if r.AfterTime != nil {
		if current == nil || *r.AfterTime > current.TimestampMs {
			return nil, nil, true, nil
		}
		if after, err = t.lastUntil(*r.AfterTime); err != nil {
			return nil, nil, false, err
		}
	}
	if r.UntilTime != nil {
		id, ok := t.idAsOf(*r.UntilTime)
		if !ok || after != nil && id == *after {
			return nil, nil, true, nil // the table did not exist yet, or did not change
		}
		until = &id
	}
	return after, until, false, nil
}

// lastUntil is the snapshot after which a time begins: the one at that very time, or the parent of the first after it; nil: all come after it.
func (t *Table) lastUntil(millis int64) (*int64, error) {
	var first *table.Snapshot
	for s := t.metadata.CurrentSnapshot(); s != nil; s = t.parent(s) {
		if s.TimestampMs <= millis { // at the very time, or the parent of the first after it
			return &s.SnapshotID, nil
		}
		first = s
	}
	if first.ParentSnapshotID != nil {
		return nil, fault.New(fault.Invalid, "Cannot find snapshot older than %s", isoMillis(millis)).In(t.Name())
	}
	return nil, nil
}

func (t *Table) parent(s *table.Snapshot) *table.Snapshot {
	if s.ParentSnapshotID == nil {
		return nil
	}
	return t.metadata.SnapshotByID(*s.ParentSnapshotID)
}

// between lists the ancestors of a snapshot, itself first, as far as one that is not listed; nil: all of them, of the current one.
func (t *Table) between(after, until *int64) ([]*table.Snapshot, error) {
	end := t.metadata.CurrentSnapshot()
	if until != nil {
		if end = t.metadata.SnapshotByID(*until); end == nil {
			return nil, fault.New(fault.NotFound, "Cannot find the end snapshot: %d", *until).In(t.Name())
		}
	}
	var out []*table.Snapshot
	seen := map[int64]bool{}
	for s := end; s != nil && !seen[s.SnapshotID]; s = t.parent(s) {
		seen[s.SnapshotID] = true
		out = append(out, s)
		if after != nil && s.ParentSnapshotID != nil && *s.ParentSnapshotID == *after {
			return out, nil
		}
	}
	if after == nil {
		return out, nil
	}
	if end == nil {
		return nil, fault.New(fault.Invalid, "Starting snapshot (exclusive) %d is not in the table, which has no snapshot", *after).In(t.Name())
	}
	return nil, fault.New(fault.Invalid, "Starting snapshot (exclusive) %d is not a parent ancestor of end snapshot %d", *after, end.SnapshotID).In(t.Name())
}

// findChanges gives the files that the snapshots of the source's span added, and those that they removed where removals are told. No delete applies
// to them.
func (p *tablePlan) findChanges(ctx context.Context) ([]*dataFile, error) {
	p.pruning = p.pruningFilter()
	manifests, err := p.changedManifests(ctx)
	if err != nil {
		return nil, err
	}
	resource.ProgressOf(ctx).Expect(len(manifests))
	columns := p.statisticsOf(newDeleteIndex())
	all, err := inOrder(ctx, len(manifests), func(ctx context.Context, i int) (out manifestFiles, err error) {
		out.considered, err = p.wantedOf(ctx, manifests[i], columns, func(c candidate) error {
			if err := out.add(c, newDeleteIndex()); err != nil {
				return err
			}
			out.files[len(out.files)-1].change = p.source.span.changeOf(c.fileEntry)
			return nil
		})
		out.compact()
		return out, err
	})
	if err != nil {
		return nil, err
	}
	var files []*dataFile
	for _, m := range all {
		p.found.files.add(m.considered)
		files = append(files, m.files...)
	}
	if len(p.request.Aggregates) > 0 {
		p.sums = newAggregation(p)
		p.sums.refuse("the scan is over a range of snapshots")
	}
	return files, nil
}

// changedManifests lists the data manifests that the snapshots of the span wrote.
func (p *tablePlan) changedManifests(ctx context.Context) ([]iceberg.ManifestFile, error) {
	var out []iceberg.ManifestFile
	seen := map[string]bool{}
	for _, s := range p.source.span.snapshots {
		list, err := p.source.table.manifests(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if m.ManifestContent() == iceberg.ManifestContentDeletes {
				if p.source.span.changelog {
					return nil, fault.New(fault.Unsupported, "Delete files are currently not supported in changelog scans: snapshot %d of %s has some", s.SnapshotID,
						p.source.table.Name()).In(p.source.table.Name())
				}
				continue
			}
			if _, ok := p.source.span.ordinals[m.SnapshotID()]; !ok || seen[m.FilePath()] {
				continue
			}
			seen[m.FilePath()] = true
			spec, err := p.specOf(m)
			if err != nil {
				return nil, err
			}
			p.found.manifests.Total++
			if p.pruner(spec).summaries(m) != "" {
				p.found.manifests.leaveOut(bySummaries, 1)
				continue
			}
			out = append(out, m)
		}
	}
	return out, nil
}

// takes says whether an entry is one of the span's.
func (s *span) takes(e *fileEntry) bool {
	if s == nil {
		return true
	}
	_, ok := s.ordinals[e.Snapshot]
	return ok && (e.status == manifest.Added || s.changelog && e.status == manifest.Deleted)
}

func (s *span) changeOf(e *fileEntry) *change {
	if !s.changelog {
		return nil
	}
	out := &change{kind: "INSERT", ordinal: s.ordinals[e.Snapshot], snapshot: e.Snapshot}
	if e.status == manifest.Deleted {
		out.kind = "DELETE"
	}
	return out
}
