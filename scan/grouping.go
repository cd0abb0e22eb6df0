package scan

import (
	"fmt"
	"strings"

	"github.com/skua-data/skua/scan/metatable"
)

// groupingKey gives the partition fields by which splits are kept apart where the grouping of data is to be preserved: those that every spec of
// the files has, and whose column the scan reads, in the order of their ids. None: there is no common key, and files mix.
func (p *tablePlan) groupingKey(files []*dataFile) []specField {
	if !p.options.Grouping || len(files) == 0 {
		return nil
	}
	specs := map[*spec]bool{}
	for _, f := range files {
		specs[f.Spec] = true
	}
	all := map[int]*spec{}
	for s := range specs {
		all[s.ID] = s
	}
	var out []specField
	for _, union := range unionPartition(all) {
		if f, ok := p.commonField(union.ID, all); ok {
			f.Name = union.Name
			out = append(out, f)
		}
	}
	return out
}

// commonField is a partition field that no spec lacks or voids.
func (p *tablePlan) commonField(id int, specs map[int]*spec) (specField, bool) {
	var out specField
	for _, s := range specs {
		found := false
		for _, f := range s.Fields {
			if f.ID == id && !isVoid(f) && p.reads(f.Source) {
				out, found = f, true
			}
		}
		if !found {
			return out, false
		}
	}
	return out, len(specs) > 0
}

// reads says whether the scan reads a column or a field inside one.
func (p *tablePlan) reads(id int) bool {
	_, ok := p.projection.paths[id]
	return ok
}

// groupingTuple names a file's key; equal tuples are equal keys.
func groupingTuple(key []specField, f *dataFile) string {
	if len(key) == 0 {
		return ""
	}
	return tupleKey(&spec{Fields: key}, f.Partition)
}

// groupingText spells a file's key in the words of partition paths.
func groupingText(key []specField, f *dataFile) string {
	var b strings.Builder
	for i, field := range key {
		if i > 0 {
			b.WriteByte('/')
		}
		v, ok := normalize(f.Partition[field.ID], field.Type)
		if !ok {
			v = fmt.Sprint(f.Partition[field.ID])
		}
		b.WriteString(field.Name + "=" + metatable.Human(v, field.Transform, field.iceberg))
	}
	return b.String()
}
