package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// ViewMetadata gives the metadata of a view that a catalog loaded, as JSON: what the catalog sent, or what its file holds.
func (s *Scanner) ViewMetadata(ctx context.Context, v *catalogs.Table) ([]byte, error) {
	if v.Metadata != nil {
		return v.Metadata, nil
	}
	name := quoteAll(v.Catalog, v.Identifier)
	if v.MetadataLocation == "" {
		return nil, fault.New(fault.Corrupt, "load view %s: the catalog gave neither metadata nor its location", name)
	}
	file, err := s.store(v).Open(ctx, v.MetadataLocation, -1)
	if err != nil {
		return nil, fault.Wrap(err, "load view %s", name)
	}
	defer file.Close()
	defer charge(ctx, min(file.Size(), maxMetadata))()
	raw, err := readWhole(ctx, file, v.MetadataLocation, maxMetadata)
	if err == nil {
		raw, err = gunzip(v.MetadataLocation, raw)
	}
	return raw, fault.Wrap(err, "load view %s", name)
}

// ViewSchema gives a view's columns as those of a table are given.
func ViewSchema(schema *iceberg.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, f := range schema.Fields() {
		fields = append(fields, arrowField(f))
	}
	return arrow.NewSchema(fields, nil)
}
