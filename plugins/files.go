package plugins

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/apache/iceberg-go"
	"google.golang.org/grpc"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

// maxPartitions bounds the partitions of one listing, in bytes: a catalog may list without an end.
const maxPartitions = 512 << 20

// filesToWire gives nil for nil. A schema that has no JSON is left out, and refused where it arrives.
func filesToWire(f *catalogs.Files) *catalogv1.Files {
	if f == nil {
		return nil
	}
	out := &catalogv1.Files{Location: text(f.Location), Listed: f.Listed, Properties: propertiesToWire(f.Properties), Comment: text(f.Comment)}
	for _, name := range f.Partitions {
		out.Partitions = append(out.Partitions, text(name))
	}
	out.Schema, _ = json.Marshal(f.Schema)
	for id, name := range f.Types {
		if out.Types == nil {
			out.Types = map[int32]string{}
		}
		out.Types[int32(id)] = text(name)
	}
	return out
}

func filesFromWire(f *catalogv1.Files, name string) (*catalogs.Files, error) {
	if f == nil {
		return nil, nil
	}
	if len(f.GetSchema()) > maxMetadata {
		return nil, fault.New(fault.Exhausted, "load table %s: a schema of %d bytes, the limit is %d", name, len(f.GetSchema()), maxMetadata)
	}
	schema, err := readSchema(f.GetSchema())
	if err != nil {
		return nil, fault.New(fault.Unavailable, "load table %s: the plugin's schema of it cannot be read: %w", name, err).In(name)
	}
	out := &catalogs.Files{Schema: schema, Partitions: f.GetPartitions(), Location: f.GetLocation(), Listed: f.GetListed(), Properties: f.GetProperties(),
		Comment: f.GetComment()}
	for id, name := range f.GetTypes() {
		if out.Types == nil {
			out.Types = map[int]string{}
		}
		out.Types[int(id)] = name
	}
	return out, nil
}

// readSchema reads a schema that somebody else wrote; reading one may panic.
func readSchema(raw []byte) (schema *iceberg.Schema, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read the schema")
	schema = &iceberg.Schema{}
	return schema, json.Unmarshal(raw, schema)
}

// Partitions implements catalogs.PartitionLister. Stopping the iterator ends the call in the plugin too.
func (c *Catalog) Partitions(ctx context.Context, req catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error] {
	request := &catalogv1.ListPartitionsRequest{Identifier: identifierToWire(req.Identifier), Principal: text(req.Principal), Names: req.Names}
	open := func(ctx context.Context) (receiver[*catalogv1.ListPartitionsResponse], error) {
		return c.rpc.ListPartitions(ctx, request)
	}
	return func(yield func(catalogs.Partition, error) bool) {
		bytes := 0
		listing(ctx, c, open, func(response *catalogv1.ListPartitionsResponse, yield func(catalogs.Partition, error) bool) bool {
			for _, line := range response.GetPartitions() {
				p := partitionFromWire(line)
				var err error
				if bytes += len(p.Name) + len(p.Location) + listedCost; bytes > maxPartitions {
					err = fault.New(fault.Exhausted, "list partitions of %s: they are longer than %d bytes together", strings.Join(req.Identifier, "."), maxPartitions)
				}
				if !yield(p, err) || err != nil {
					return false
				}
			}
			return true
		})(yield)
	}
}

func partitionFromWire(line *catalogv1.Partition) catalogs.Partition {
	out := catalogs.Partition{Name: line.GetName(), Location: line.GetLocation(), Format: line.GetFormat()}
	for _, v := range line.GetValues() {
		out.Values = append(out.Values, v.Text)
	}
	return out
}

func partitionToWire(p catalogs.Partition) *catalogv1.Partition {
	out := &catalogv1.Partition{Name: text(p.Name), Location: text(p.Location), Format: text(p.Format)}
	for _, v := range p.Values {
		value := &catalogv1.PartitionValue{}
		if v != nil {
			valid := text(*v)
			value.Text = &valid
		}
		out.Values = append(out.Values, value)
	}
	return out
}

// ListPartitions implements catalogv1.CatalogServiceServer.
func (s *service) ListPartitions(req *catalogv1.ListPartitionsRequest, stream grpc.ServerStreamingServer[catalogv1.ListPartitionsResponse]) error {
	return s.call(stream.Context(), "list partitions", func(catalog catalogs.Catalog) error {
		lister, ok := catalog.(catalogs.PartitionLister)
		if !ok {
			return fault.New(fault.Unsupported, "the catalog lists no partitions")
		}
		batch := &catalogv1.ListPartitionsResponse{}
		request := catalogs.PartitionRequest{Identifier: identifierFromWire(req.GetIdentifier()), Principal: req.GetPrincipal(), Names: req.GetNames()}
		for p, err := range lister.Partitions(stream.Context(), request) {
			if err != nil {
				return err
			}
			batch.Partitions = append(batch.Partitions, partitionToWire(p))
			if len(batch.Partitions) >= listingSize {
				if err := stream.Send(batch); err != nil {
					return err
				}
				batch = &catalogv1.ListPartitionsResponse{}
			}
		}
		if len(batch.Partitions) == 0 {
			return nil
		}
		return stream.Send(batch)
	})
}
