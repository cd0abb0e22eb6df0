package hive

import (
	"testing"

	"github.com/skua-data/skua/catalogs/hive/hivetest"
)

// start starts a metastore for the test and gives its uri.
func start(t testing.TB, s *hivetest.Server) string {
	t.Helper()
	uri, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return uri
}

func stored(database, name, typ string, parameters map[string]string) map[int16]any {
	return hivetest.Table(database, name, typ, parameters)
}
