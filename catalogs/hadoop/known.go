package hadoop

import (
	"sync"
	"time"

	"github.com/skua-data/skua/storage"
)

// maxKnown bounds what is remembered of tables' folders; past it everything is forgotten.
const maxKnown = 100_000

// known remembers a metadata file in the folder of each table that was listed. It is safe for concurrent use.
type known struct {
	mu    sync.Mutex
	files map[storage.Location]knownFile
}

// knownFile is a metadata file, and when it was there.
type knownFile struct {
	name string
	seen time.Time
}

func (k *known) get(folder storage.Location) knownFile {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.files[folder]
}

func (k *known) add(folder storage.Location, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, again := k.files[folder]; k.files == nil || !again && len(k.files) >= maxKnown {
		k.files = map[storage.Location]knownFile{}
	}
	k.files[folder] = knownFile{name, time.Now()}
}

// forget forgets a folder that is no table any more.
func (k *known) forget(folder storage.Location) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.files, folder)
}
