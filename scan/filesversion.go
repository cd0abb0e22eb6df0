package scan

import (
	"context"

	"github.com/skua-data/skua/storage"
)

// openStored opens a data file. A plain one must be the one that was listed, when it is opened and whenever it is read: who writes to it there makes no snapshot.
func (p *tablePlan) openStored(ctx context.Context, d *dataFile) (storage.File, error) {
	t := p.source.table
	file, err := t.store.Open(ctx, d.Path, sizeHint(d.Size))
	if err != nil || d.version == "" {
		return file, err
	}
	known := storage.VersionedOf(file)
	if known == nil {
		return file, nil
	}
	known.Expect(d.version)
	if known.Version() != d.version { // a remote file has by now what is expected, and is found out when it is read
		file.Close()
		return nil, filesChanged(t.Name())
	}
	return listedFile{file, d.version}, nil
}

// listedFile is a file that has a version since before it was read. What is kept of it, such as its footer, is of that version.
type listedFile struct {
	storage.File
	version string
}

// Unwrap gives the file itself.
func (f listedFile) Unwrap() storage.File { return f.File }

// Key names the file's bytes.
func (f listedFile) Key() string { return f.File.Key() + "\x00" + f.version }
