package engine

import (
	"context"

	"github.com/skua-data/skua/scan"
)

// systemTable gives a table that the engine makes itself, such as information_schema.tables; false: the name is none of those.
func (s *statement) systemTable(context.Context, []string) (scan.Source, []string, bool) {
	return nil, nil, false
}
