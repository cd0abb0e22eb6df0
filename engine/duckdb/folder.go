//go:build cgo

package duckdb

import (
	"os"
	"path/filepath"

	"github.com/skua-data/skua/fault"
)

// Folders of engines begin so. Each has a file that its process holds locked for as long as it lives.
const (
	folderPrefix = "skua-sql-"
	lockName     = "lock"
)

// newFolder makes a folder to spill into, inside of another, and removes those whose processes were killed.
func newFolder(inside string) (folder string, unlock func(), err error) {
	fail := func(err error) (string, func(), error) {
		return "", nil, fault.New(fault.Unavailable, "make a folder for the SQL engine: %w", err).Change("skua.sql.spill.folder")
	}
	if inside == "" {
		inside = os.TempDir()
	} else if err := os.MkdirAll(inside, 0o700); err != nil {
		return fail(err)
	}
	removeAbandoned(inside)
	folder, err = os.MkdirTemp(inside, folderPrefix)
	if err != nil {
		return fail(err)
	}
	// The lock has its name only once it is held: a folder without one is nobody's to remove.
	early := filepath.Join(folder, lockName+".new")
	unlock, held, err := holdLock(early, true)
	if err == nil && held {
		err = os.Rename(early, filepath.Join(folder, lockName))
	}
	if err != nil {
		_ = os.RemoveAll(folder)
		return fail(err)
	}
	return folder, unlock, nil
}

// removeAbandoned removes the folders of processes that are gone. What cannot be removed, or is not surely ours, stays.
func removeAbandoned(inside string) {
	found, err := filepath.Glob(filepath.Join(inside, folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, folder := range found {
		if info, err := os.Lstat(folder); err != nil || !info.IsDir() || !ownFile(info) {
			continue
		}
		unlock, held, err := holdLock(filepath.Join(folder, lockName), false)
		if err != nil || !held {
			continue
		}
		_ = os.RemoveAll(folder)
		unlock()
	}
}
