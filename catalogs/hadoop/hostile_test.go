package hadoop

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// sparse makes a file of a size that takes no room on the disk.
func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func TestLargeMetadataIsLeftToTheReaderAndHugeMetadataIsRefused(t *testing.T) {
	blank := packed(t, make([]byte, maxSent)) // members of gzip follow each other freely
	root := layout(t, map[string][]byte{
		"ns/limit/metadata/v1.metadata.json":       {},
		"ns/large/metadata/v1.metadata.json":       {},
		"ns/huge/metadata/v1.metadata.json":        {},
		"ns/gz_limit/metadata/v1.gz.metadata.json": blank,
		"ns/gz_large/metadata/v1.gz.metadata.json": bytes.Repeat(blank, 2),
		"ns/gz_edge/metadata/v1.gz.metadata.json":  bytes.Repeat(blank, maxMetadata/maxSent),
		"ns/gz_bomb/metadata/v1.gz.metadata.json":  bytes.Repeat(blank, maxMetadata/maxSent+1),
		"ns/gz_cut/metadata/v1.gz.metadata.json":   bytes.Repeat(blank, 3)[:3*len(blank)-9],
	})
	for name, size := range map[string]int64{"limit": maxSent, "large": maxSent + 1, "huge": maxMetadata + 1} {
		sparse(t, filepath.Join(root, "ns", name, "metadata/v1.metadata.json"), size)
	}
	c := open(t, root, nil)
	for name, want := range map[string]struct {
		kind fault.Kind
		sent int
	}{
		"limit": {0, maxSent}, "large": {0, 0}, "huge": {fault.Exhausted, 0},
		"gz_limit": {0, maxSent}, "gz_large": {0, 0}, "gz_edge": {0, 0}, "gz_bomb": {fault.Exhausted, 0}, "gz_cut": {fault.Corrupt, 0},
	} {
		got, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", name}})
		switch {
		case want.kind != 0:
			if !fault.Is(err, want.kind) || !strings.Contains(err.Error(), filepath.Join(root, "ns", name)) {
				t.Errorf("%s: %v, want %s and the file's name", name, err, want.kind)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case len(got.Metadata) != want.sent || (got.Metadata == nil) != (want.sent == 0) || got.MetadataLocation == "":
			t.Errorf("%s: %d bytes at %q, want %d", name, len(got.Metadata), got.MetadataLocation, want.sent)
		}
	}
}

func TestNamesWithoutAnEndAreRefusedAtOnce(t *testing.T) {
	c := open(t, layout(t, map[string][]byte{"ns/": nil}), nil)
	endless := table.Identifier(strings.Split(strings.Repeat("a ", 100_000)+"a", " "))
	if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: endless}); !fault.Is(err, fault.NotFound) {
		t.Errorf("load: %.200v", err)
	}
	for _, err := range c.Tables(t.Context(), endless) {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("list: %.200v", err)
		}
	}
}

func TestOneBrokenTableLeavesTheOthersInTheListing(t *testing.T) {
	v1 := sample(t, "v1.json")
	root := layout(t, map[string][]byte{"ns/good/metadata/v1.metadata.json": v1, "ns/hint/metadata/v1.metadata.json": v1, "ns/circle/data/": nil})
	for at, to := range map[string]string{"ns/loop": "loop", "ns/circle/metadata": "metadata", "ns/hint/metadata/version-hint.text": "version-hint.text", "ns/up": ".."} {
		if err := os.Symlink(to, filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, root, nil)
	var got []string
	for e, err := range c.Tables(t.Context(), table.Identifier{"ns"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Identifier[1])
	}
	if strings.Join(got, " ") != "good hint" {
		t.Errorf("tables %q", got)
	}
	if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", "hint"}}); err != nil {
		t.Errorf("a table whose hint leads nowhere: %v", err)
	}
}
