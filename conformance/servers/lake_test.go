package servers

import (
	"context"
	"os"
	"testing"

	"github.com/skua-data/skua/conformance/lake"
)

// lakes are the lakes by location.
var lakes = map[string]*lake.Lake{}

// lakeAt makes the lake of a location, once.
func lakeAt(t *testing.T, base string) *lake.Lake {
	t.Helper()
	if made := lakes[base]; made != nil {
		return made
	}
	root, err := scratch()
	if err == nil {
		root, err = os.MkdirTemp(root, "lake-")
	}
	if err != nil {
		t.Fatal(err)
	}
	made, err := lake.Write(context.Background(), root, base) // it outlives the test
	if err != nil {
		t.Fatal(err)
	}
	lakes[base] = made
	return made
}

// spelled gives the settings that read a lake's files under another spelling of its location.
func spelled(l *lake.Lake, base string) map[string]string {
	return map[string]string{"skua.location-map.l.from": l.Base, "skua.location-map.l.to": base}
}
