package storage

import (
	"errors"
	"io"
	"strings"

	"github.com/skua-data/skua/fault"
)

// mapped is a file that was opened elsewhere than its metadata says: its errors keep the spelling of the metadata.
type mapped struct {
	File
	opened, at Location
}

// Unwrap gives the file where it was opened.
func (m *mapped) Unwrap() File { return m.File }

// ReadAt reads from the file where it was opened.
func (m *mapped) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.File.ReadAt(p, off)
	return n, respell(err, m.opened, m.at)
}

// Close closes the file where it was opened.
func (m *mapped) Close() error { return respell(m.File.Close(), m.opened, m.at) }

// respell gives err with the location that was asked for in place of the mapped one. The cause goes, since its text holds the mapped location.
func respell(err error, opened, at Location) error {
	if err == nil || opened == at || errors.Is(err, io.EOF) {
		return err
	}
	text := fault.Error{Kind: fault.KindOf(err), Message: strings.ReplaceAll(err.Error(), opened, at), Object: at}
	var inner *fault.Error
	if errors.As(err, &inner) {
		text.Setting = inner.Setting
	}
	if errors.Is(err, ErrChanged) {
		text.Cause = ErrChanged
	}
	return &text
}
