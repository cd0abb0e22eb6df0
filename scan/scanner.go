package scan

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/avrofile"
	"github.com/skua-data/skua/scan/manifest"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
)

// Bounds of what is read whole. Metadata past them is refused rather than read.
const (
	maxMetadata  = 256 << 20 // bytes of a metadata file, after decompression
	maxManifest  = 256 << 20 // bytes of a manifest list or a manifest
	defaultCache = 256 << 20

	defaultFooters = 64 << 20

	defaultDeletes = 2 << 30

	defaultDeleteCache = 256 << 20
)

// Config is what a Scanner is made of. Stores and Decoder are required.
type Config struct {
	Stores        *storage.Mux
	Decoder       kernels.Decoder
	Fallback      kernels.Decoder                         // takes every column; reads those of scans that want no other; nil: Decoder
	Decoders      map[string]kernels.Decoder              // others, by the names under which scans want them
	Properties    func(catalog string) iceberg.Properties // a catalog's, for the store; nil: none
	MetadataCache int64                                   // bytes of parsed metadata, decoded manifests and columns of listings kept; 0: 256 MiB
	FooterCache   int64                                   // bytes of Parquet footers and small remote files kept; 0: 64 MiB
	DeleteCache   int64                                   // bytes of decoded delete files kept; 0: 256 MiB
	DeleteMemory  int64                                   // bytes of deleted positions and keys that one plan may hold; 0: 2 GiB
}

// Scanner holds what the scans of a process share: the stores, the decoder, and the caches of parsed metadata and decoded manifests, of what listings tell of
// tables, of footers and of decoded delete files. It is safe for concurrent use.
type Scanner struct {
	config  Config
	cache   *cache
	told    *cache // of what Unread.Kept keeps
	deletes *cache // of shared values
	footers *parquet.Footers
	codecs  *avrofile.Codecs // of manifests
}

// NewScanner makes a scanner. It opens nothing.
func NewScanner(c Config) *Scanner {
	if c.MetadataCache <= 0 {
		c.MetadataCache = defaultCache
	}
	if c.DeleteMemory <= 0 {
		c.DeleteMemory = defaultDeletes
	}
	if c.Fallback == nil {
		c.Fallback = c.Decoder
	}
	if c.FooterCache <= 0 {
		c.FooterCache = defaultFooters
	}
	if c.DeleteCache <= 0 {
		c.DeleteCache = defaultDeleteCache
	}
	deletes, told := newCache(c.DeleteCache), newCache(c.MetadataCache/4)
	deletes.quiet, told.quiet = true, true
	return &Scanner{config: c, cache: newCache(c.MetadataCache - told.bound), told: told, deletes: deletes, footers: parquet.NewFooters(c.FooterCache),
		codecs: avrofile.NewCodecs(manifest.BlockMost)}
}

// Forget lets go of the metadata, footers and deletes that are kept for later scans.
func (s *Scanner) Forget() {
	s.cache.forget()
	s.told.forget()
	s.deletes.forget()
	s.footers.Forget()
}

// Table parses a loaded table's metadata, or takes it from the cache. Features that are not built are refused by the scan that needs
// them, not here.
func (s *Scanner) Table(ctx context.Context, t *catalogs.Table) (*Table, error) {
	u, err := s.Find(ctx, t)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	return u.Table(ctx)
}

func (s *Scanner) store(t *catalogs.Table) storage.Store {
	var renew storage.Renew
	if load := t.Renew(); load != nil {
		renew = func(ctx context.Context) (map[string]string, []storage.Credential, error) {
			fresh, err := load(ctx)
			if err != nil {
				return nil, nil, err
			}
			return s.properties(t.Catalog, fresh), fresh.Credentials, nil
		}
	}
	return wholeStore{s.config.Stores.ForLease(s.properties(t.Catalog, t), t.Credentials, t.Locations, renew), quoteAll(t.Catalog, t.Identifier), t.Kind == catalogs.KindFiles}
}

// properties are the catalog's with those of a table over them.
func (s *Scanner) properties(catalog string, t *catalogs.Table) map[string]string {
	properties := map[string]string{}
	if s.config.Properties != nil {
		for k, v := range s.config.Properties(catalog) {
			properties[k] = v
		}
	}
	for k, v := range t.Config {
		properties[k] = v
	}
	return properties
}

// sizedMetadata is a table's metadata with what parsing loses, and the size of the file it was read from, in bytes.
type sizedMetadata struct {
	table.Metadata
	defaults defaults
	size     int64
}

func sized(size int, name string, raw []byte) (sizedMetadata, int64, error) {
	m, memory, err := parseMetadata(name, raw)
	m.size = int64(size)
	return m, memory, err
}

// readWhole reads a file that Open has sized and counts it as metadata.
func readWhole(ctx context.Context, file storage.File, name string, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if file.Size() > limit {
		return nil, fault.New(fault.Exhausted, "%s: %d bytes of metadata are over the limit of %d", name, file.Size(), limit)
	}
	raw := make([]byte, file.Size())
	if n, err := file.ReadAt(raw, 0); err != nil && (err != io.EOF || n < len(raw)) {
		return nil, fault.Wrap(fault.As(fault.Corrupt, err), "read %s", name)
	}
	resource.From(ctx).Counters.MetadataBytes.Add(int64(len(raw)))
	if bytes.HasPrefix(raw, []byte(magicEncrypted)) {
		return nil, fault.New(fault.Unsupported, "encrypted metadata files are not supported yet: %s", name).In(name)
	}
	return raw, nil
}

// magicEncrypted begins a file that Iceberg encrypts as a whole (its AES GCM stream): metadata, manifest lists, manifests and data that is not Parquet.
const magicEncrypted = "AGS1"

// gunzip unpacks metadata that is gzip by its first bytes; writers name such files in more than one way.
func gunzip(name string, raw []byte) ([]byte, error) {
	if !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return raw, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fault.New(fault.Corrupt, "metadata file %s: %w", name, err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxMetadata+1))
	if err != nil {
		return nil, fault.New(fault.Corrupt, "metadata file %s: %w", name, err)
	}
	if len(out) > maxMetadata {
		return nil, fault.New(fault.Exhausted, "metadata file %s unpacks to more than %d bytes", name, maxMetadata)
	}
	return out, nil
}

func parseMetadata(name string, raw []byte) (m sizedMetadata, size int64, err error) {
	defer fault.Recover(&err, fault.Corrupt, "metadata file %s", name)
	if m.Metadata, err = table.ParseMetadataBytes(raw); err == nil {
		m.defaults, err = readDefaults(raw)
	}
	if err != nil {
		return m, 0, fault.New(fault.Corrupt, "metadata file %s: %w", name, err)
	}
	return m, int64(len(raw)) * 2, nil // the parsed form holds the same strings and some pointers
}

func quoteAll(catalog string, id table.Identifier) string {
	parts := id
	if catalog != "" {
		parts = append([]string{catalog}, id...)
	}
	return strings.Join(parts, ".")
}
