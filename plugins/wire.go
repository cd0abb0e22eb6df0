package plugins

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
	"github.com/skua-data/skua/storage"
)

const (
	maxMetadata          = 256 << 20 // bytes of one table's metadata
	preallocatedMetadata = 64 << 20  // at most, before the bytes have come
)

// text makes a string that protobuf accepts: names in a file system may be any bytes.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func identifierToWire(identifier table.Identifier) *catalogv1.Identifier {
	out := &catalogv1.Identifier{Parts: make([]string, len(identifier))}
	for i, part := range identifier {
		out.Parts[i] = text(part)
	}
	return out
}

// identifierFromWire gives nil for the root.
func identifierFromWire(identifier *catalogv1.Identifier) table.Identifier {
	return slices.Clone(identifier.GetParts())
}

func propertiesToWire(properties map[string]string) map[string]string {
	if properties == nil {
		return nil
	}
	out := make(map[string]string, len(properties))
	for key, value := range properties {
		out[text(key)] = text(value)
	}
	return out
}

// configToWire refuses what protobuf would change: a secret with a replaced byte is a riddle.
func configToWire(typ string, config catalogs.Config) (*catalogv1.OpenRequest, error) {
	for _, key := range slices.Sorted(maps.Keys(config.Properties)) {
		if !utf8.ValidString(key) || !utf8.ValidString(config.Properties[key]) {
			return nil, fault.New(fault.Invalid, "catalog property %q or its value is not valid UTF-8", key)
		}
	}
	out := &catalogv1.OpenRequest{Type: text(typ), Name: text(config.Name), Properties: config.Properties}
	for _, mapping := range config.Locations {
		if !utf8.ValidString(mapping.From) || !utf8.ValidString(mapping.To) {
			return nil, fault.New(fault.Invalid, "location map: prefix %q or %q is not valid UTF-8", mapping.From, mapping.To)
		}
		out.Locations = append(out.Locations, &catalogv1.Mapping{From: mapping.From, To: mapping.To})
	}
	return out, nil
}

func configFromWire(request *catalogv1.OpenRequest) catalogs.Config {
	out := catalogs.Config{Name: request.GetName(), Properties: iceberg.Properties{}}
	maps.Copy(out.Properties, request.GetProperties())
	for _, mapping := range request.GetLocations() {
		out.Locations = append(out.Locations, storage.Mapping{From: mapping.GetFrom(), To: mapping.GetTo()})
	}
	return out
}

func capabilitiesToWire(c catalogs.Capabilities) *catalogv1.Capabilities {
	return &catalogv1.Capabilities{NestedNamespaces: c.NestedNamespaces, RootTables: c.RootTables, Views: c.Views, Files: c.Files,
		VendsCredentials: c.VendsCredentials, Unchanged: c.Unchanged, NamespaceDefault: c.NamespaceDefault, References: c.References, Refresh: c.Refresh,
		Reports: c.Reports, Partitions: c.Partitions}
}

func capabilitiesFromWire(c *catalogv1.Capabilities) catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: c.GetNestedNamespaces(), RootTables: c.GetRootTables(), Views: c.GetViews(), Files: c.GetFiles(),
		VendsCredentials: c.GetVendsCredentials(), Unchanged: c.GetUnchanged(), NamespaceDefault: c.GetNamespaceDefault(),
		References: c.GetReferences(), Refresh: c.GetRefresh(), Reports: c.GetReports(), Partitions: c.GetPartitions()}
}

func kindToWire(kind catalogs.Kind) catalogv1.TableKind {
	switch kind {
	case catalogs.KindTable:
		return catalogv1.TableKind_TABLE_KIND_ICEBERG
	case catalogs.KindView:
		return catalogv1.TableKind_TABLE_KIND_VIEW
	case catalogs.KindFiles:
		return catalogv1.TableKind_TABLE_KIND_FILES
	}
	return catalogv1.TableKind_TABLE_KIND_UNSPECIFIED
}

func kindFromWire(kind catalogv1.TableKind, identifier table.Identifier) (catalogs.Kind, error) {
	switch kind {
	case catalogv1.TableKind_TABLE_KIND_ICEBERG:
		return catalogs.KindTable, nil
	case catalogv1.TableKind_TABLE_KIND_VIEW:
		return catalogs.KindView, nil
	case catalogv1.TableKind_TABLE_KIND_FILES:
		return catalogs.KindFiles, nil
	}
	return 0, fault.New(fault.Unsupported, "table kind %s, which the plugin gives to %s, is not supported", kind, strings.Join(identifier, "."))
}

func entryFromWire(entry *catalogv1.TableEntry) (catalogs.Entry, error) {
	identifier := identifierFromWire(entry.GetIdentifier())
	kind, err := kindFromWire(entry.GetKind(), identifier)
	if err != nil {
		return catalogs.Entry{}, err
	}
	return catalogs.Entry{Identifier: identifier, Kind: kind}, nil
}

func requestToWire(req catalogs.LoadRequest) *catalogv1.LoadTableRequest {
	return &catalogv1.LoadTableRequest{Identifier: identifierToWire(req.Identifier), Held: text(req.Held), Reference: text(req.Reference),
		Principal: text(req.Principal), Fresh: req.Fresh}
}

func requestFromWire(req *catalogv1.LoadTableRequest) catalogs.LoadRequest {
	return catalogs.LoadRequest{Identifier: identifierFromWire(req.GetIdentifier()), Held: req.GetHeld(), Reference: req.GetReference(),
		Principal: req.GetPrincipal(), Fresh: req.GetFresh()}
}

func headToWire(t *catalogs.Table) *catalogv1.TableHead {
	out := &catalogv1.TableHead{Identifier: identifierToWire(t.Identifier), Kind: kindToWire(t.Kind), MetadataLocation: text(t.MetadataLocation),
		Config: propertiesToWire(t.Config), Format: text(t.Format),
		Files: filesToWire(t.Files)}
	for _, mapping := range t.Locations {
		out.Locations = append(out.Locations, &catalogv1.Mapping{From: text(mapping.From), To: text(mapping.To)})
	}
	for _, credential := range t.Credentials {
		wire := &catalogv1.Credential{Prefix: text(credential.Prefix), Properties: propertiesToWire(credential.Properties)}
		if !credential.Expires.IsZero() {
			wire.Expires = timestamppb.New(credential.Expires)
		}
		out.Credentials = append(out.Credentials, wire)
	}
	if t.Metadata != nil {
		size := int64(len(t.Metadata))
		out.MetadataSize = &size
	}
	return out
}

// headFromWire gives the table without its metadata, and how many bytes of it follow; -1: none, the metadata stays nil.
func headFromWire(head *catalogv1.TableHead) (*catalogs.Table, int64, error) {
	if head == nil {
		return nil, 0, fault.New(fault.Unavailable, "load table: the plugin's answer does not start with the table's head")
	}
	identifier := identifierFromWire(head.GetIdentifier())
	kind, err := kindFromWire(head.GetKind(), identifier)
	if err != nil {
		return nil, 0, err
	}
	out := &catalogs.Table{Identifier: identifier, Kind: kind, MetadataLocation: head.GetMetadataLocation(), Config: head.GetConfig(), Format: head.GetFormat()}
	if out.Files, err = filesFromWire(head.GetFiles(), strings.Join(identifier, ".")); err != nil {
		return nil, 0, err
	}
	for _, mapping := range head.GetLocations() {
		out.Locations = append(out.Locations, storage.Mapping{From: mapping.GetFrom(), To: mapping.GetTo()})
	}
	for _, wire := range head.GetCredentials() {
		credential := storage.Credential{Prefix: wire.GetPrefix(), Properties: wire.GetProperties()}
		if wire.GetExpires() != nil {
			credential.Expires = wire.GetExpires().AsTime()
		}
		out.Credentials = append(out.Credentials, credential)
	}
	size := int64(-1)
	if head.MetadataSize != nil {
		size = head.GetMetadataSize()
		if size < 0 || size > maxMetadata {
			return nil, 0, fault.New(fault.Exhausted, "load table %s: metadata of %d bytes, the limit is %d", strings.Join(identifier, "."), size, maxMetadata)
		}
	}
	return out, size, nil
}
