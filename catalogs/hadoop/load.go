package hadoop

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"slices"
	"sync"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// Bounds of what is read whole, in bytes.
const (
	maxMetadata = 256 << 20 // of a metadata file, packed and unpacked
	maxSent     = 16 << 20  // of metadata that is sent along
	maxHint     = 1 << 10
)

// Load finds the current metadata file of a table and reads it. Where the caller holds that very file, or the file is so large that it should be in memory
// once and not in two processes, it gives the location alone.
func (c *catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	if req.Reference != "" {
		return nil, fault.New(fault.Unsupported, "references of the whole catalog (%q) are not supported by the catalog type hadoop", req.Reference)
	}
	t, err := c.load(ctx, req)
	if fault.Is(err, fault.Unavailable) && !c.closed.Load() && ctx.Err() == nil {
		// A commit moved the metadata while we looked: look again, once.
		t, err = c.load(ctx, req)
	}
	return t, err
}

func (c *catalog) load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	folder, ok := c.folder(req.Identifier)
	if !ok || len(req.Identifier) == 0 {
		return nil, noTable(req.Identifier)
	}
	at, err := c.current(ctx, req.Identifier, under(folder, "metadata"))
	if err != nil {
		return nil, err
	}
	out := &catalogs.Table{Identifier: slices.Clone(req.Identifier), Kind: catalogs.KindTable, MetadataLocation: at}
	file, err := c.store.Open(ctx, at, -1)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.Unavailable, "load %s: %v", at, err).In(at)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if req.Held == at && c.delivered.only(at, file.Key()) {
		return out, nil
	}
	if out.Metadata, err = read(ctx, file, at); err != nil {
		return nil, err
	}
	c.delivered.add(at, file.Key())
	return out, nil
}

// current gives the location of the current metadata file in a metadata folder.
func (c *catalog) current(ctx context.Context, id table.Identifier, folder storage.Location) (storage.Location, error) {
	var names []string
	for info, err := range c.list(ctx, folder) {
		if fault.Is(err, fault.NotFound) {
			return "", noTable(id)
		}
		if err != nil {
			return "", err
		}
		if !info.Folder {
			names = append(names, base(info.Location))
		}
	}
	v := parseVersions(names)
	hint, hinted := 0, false
	if v.hinted {
		// Whatever is wrong with the hint, the names decide then.
		if text, err := c.store.ReadAll(ctx, under(folder, hintFile), maxHint); err == nil {
			hint, hinted = parseHint(text)
		}
		if err := c.check(ctx); err != nil {
			return "", err
		}
	}
	name, lost := v.current(hint, hinted)
	if lost > 0 {
		return "", fault.New(fault.Corrupt, "Metadata file for version %d is missing, which %s names", lost, under(folder, hintFile)).In(folder)
	}
	if name == "" {
		return "", noTable(id)
	}
	return under(folder, name), nil
}

// read gives a metadata file's JSON, unpacked where it is gzip, whatever its name says; nil where it is too large to be sent.
func read(ctx context.Context, file storage.File, at storage.Location) ([]byte, error) {
	switch {
	case file.Size() > maxMetadata:
		return nil, tooLarge(at)
	case file.Size() > maxSent:
		return nil, nil
	}
	data := make([]byte, file.Size())
	if n, err := file.ReadAt(data, 0); err != nil && (err != io.EOF || n < len(data)) {
		if err == io.EOF {
			return nil, fault.New(fault.Unavailable, "read %s: it was cut off while it was read", at).In(at)
		}
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return unpack(ctx, data, at)
	}
	if len(data) == 0 {
		return nil, fault.New(fault.Corrupt, "the metadata file %s is empty", at).In(at)
	}
	return data, nil
}

// unpack gives what is packed in data; nil where it is too large to be sent, of which not a byte is kept.
func unpack(ctx context.Context, data []byte, at storage.Location) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fault.New(fault.Corrupt, "unpack the metadata file %s: %w", at, err).In(at)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxSent+1))
	size := int64(len(out))
	for err == nil && size > maxSent && size <= maxMetadata && ctx.Err() == nil {
		n, more := io.CopyN(io.Discard, r, 8<<20)
		if size += n; more == io.EOF {
			break
		}
		err = more
	}
	switch {
	case ctx.Err() != nil:
		return nil, fault.Wrap(ctx.Err(), "unpack the metadata file %s", at)
	case err != nil:
		return nil, fault.New(fault.Corrupt, "unpack the metadata file %s: %w", at, err).In(at)
	case size > maxMetadata:
		return nil, tooLarge(at)
	case size > maxSent:
		return nil, nil
	case len(out) == 0:
		return nil, fault.New(fault.Corrupt, "the metadata file %s is empty", at).In(at)
	}
	return out, nil
}

func tooLarge(at storage.Location) error {
	return fault.New(fault.Exhausted, "the metadata file %s is larger than %d bytes", at, maxMetadata).In(at)
}

// maxDelivered bounds what is remembered; past it everything is forgotten, which costs one read a table.
const maxDelivered = 10_000

// delivered remembers which file was handed out under a location. A table dropped and made again reuses its locations: a caller may be told that
// what it holds still stands only where no other file was ever handed out under that name.
type delivered struct {
	mu    sync.Mutex
	files map[storage.Location]string // storage key; empty: several
}

func (d *delivered) only(at storage.Location, key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return key != "" && d.files[at] == key
}

func (d *delivered) add(at storage.Location, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.files = map[storage.Location]string{}
	}
	switch held, known := d.files[at]; {
	case known && held != key:
		d.files[at] = ""
	case !known && len(d.files) >= maxDelivered:
		d.files = map[storage.Location]string{at: key}
	default:
		d.files[at] = key
	}
}
