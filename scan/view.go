package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
)

// ViewMetadata gives the metadata of a view that a catalog loaded, as JSON: what the catalog sent, or what its file holds.
func (s *Scanner) ViewMetadata(ctx context.Context, v *catalogs.Table) ([]byte, error) {
	u, err := s.Find(ctx, v)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	return u.View(ctx)
}

// ViewSchema gives a view's columns as those of a table are given.
func ViewSchema(schema *iceberg.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, f := range schema.Fields() {
		fields = append(fields, arrowField(f))
	}
	return arrow.NewSchema(fields, nil)
}
