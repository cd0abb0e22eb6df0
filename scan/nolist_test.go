package scan

import (
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// TestSnapshotWithoutManifestList: since format version 2 a snapshot has a manifest list; one without is damage, not an empty table.
func TestSnapshotWithoutManifestList(t *testing.T) {
	for version, corrupt := range map[string]bool{"1": false, "2": true} {
		text := `{"format-version":` + version + `,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"file:/t","last-updated-ms":1,"last-column-id":1,` +
			`"last-sequence-number":1,"schema":{"type":"struct","schema-id":0,"fields":[]},"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"a","required":false,"type":"int"}]}],` +
			`"current-schema-id":0,"partition-spec":[],"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,` +
			`"sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,"properties":{},"current-snapshot-id":7,` +
			`"snapshots":[{"snapshot-id":7,"sequence-number":1,"timestamp-ms":1,"manifests":[],"summary":{"operation":"append"},"schema-id":0}],"snapshot-log":[],"metadata-log":[]}`
		text = strings.Replace(text, `"schema":{"type":"struct","schema-id":0,"fields":[]}`, `"schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"a","required":false,"type":"int"}]}`, 1)
		if version == "1" {
			text = strings.NewReplacer(`"last-sequence-number":1,`, "", `"sequence-number":1,`, "").Replace(text)
		}
		m, err := table.ParseMetadataString(text)
		if err != nil {
			t.Fatal(err)
		}
		opened := &Table{metadata: m, location: "file:/t/metadata/v1.metadata.json"}
		_, err = opened.manifests(t.Context(), m.CurrentSnapshot())
		if corrupt != fault.Is(err, fault.Corrupt) || (!corrupt && err != nil) {
			t.Errorf("version %s: %v", version, err)
		}
	}
}
