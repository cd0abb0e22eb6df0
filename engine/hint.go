package engine

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

// nearestReference adds the nearest branch or tag to the error of one that there is not.
func (f *found) nearestReference(err error, at scan.Reference) error {
	if !fault.Is(err, fault.NotFound) || at.Name == "" {
		return err
	}
	if near := catalogs.Nearest(at.Name, append(f.opened.Branches(), f.opened.Tags()...)); near != "" {
		return fault.Hint(err, "; did you mean "+near+"?")
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
