package auth

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// usersFile is where users come from. It is looked at when somebody logs in or shows a token that was made of a password.
type usersFile struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	stamp   fileStamp
	refused fileStamp // of a change that could not be read: it is told once
}

// fileStamp tells one state of a file from another.
type fileStamp struct {
	modified time.Time
	size     int64
}

// stampOf gives the zero stamp for a file that cannot be seen.
func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

// LoadStatic reads the users of a file: see NewStatic. When the file changes it is read again, so that users come, go and change passwords without a
// restart; what cannot be read leaves the old users in force and is told to log, which may be nil.
func LoadStatic(path string, log *slog.Logger) (*Static, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the users: %w", err).Change("skua.auth.users-file")
	}
	defer f.Close()
	file := &usersFile{path: path, log: log, stamp: stampOf(path)} // before it is read: a change meanwhile is seen later
	s, err := NewStatic(f)
	if err != nil {
		return nil, fault.Wrap(err, "read %s", path)
	}
	s.file = file
	return s, nil
}

// now gives the users as the file has them.
func (s *Static) now() *users {
	if f := s.file; f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if stamp := stampOf(f.path); stamp != f.stamp && stamp != f.refused {
			s.reload(stamp)
		}
	}
	return s.current.Load()
}

// reload reads the file again; its lock is held.
func (s *Static) reload(stamp fileStamp) {
	f := s.file
	read, err := s.readFile()
	if err != nil { // perhaps it is being written
		f.refused = stamp
		f.log.Warn("the users file changed and cannot be read; the old users stay", "file", f.path, "error", err.Error())
		return
	}
	s.current.Store(read)
	f.stamp, f.refused = stamp, fileStamp{}
	f.log.Info("the users file was read again", "file", f.path, "users", len(read.hashes))
}

func (s *Static) readFile() (*users, error) {
	f, err := os.Open(s.file.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return s.read(f)
}
