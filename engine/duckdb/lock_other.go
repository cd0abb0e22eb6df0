//go:build cgo && !unix

package duckdb

import "os"

// holdLock makes the file and locks nothing: nobody's folder is ever taken for abandoned.
func holdLock(path string, make bool) (unlock func(), held bool, err error) {
	if !make {
		return nil, false, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	return func() {}, true, f.Close()
}

func ownFile(os.FileInfo) bool { return false }
