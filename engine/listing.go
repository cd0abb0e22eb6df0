package engine

import (
	"github.com/skua-data/skua/scan"
)

// listed pins a table of plain files to the files of its plan: no metadata fixes them, and the parts of a result must not be of two listings.
func (t *PinnedTable) listed(p scan.Plan) {
	if p == nil {
		return
	}
	if listing := scan.Listing(p); listing != "" {
		t.MetadataLocation = listing
	}
}
