package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ready writes the address so that a reader never sees half of it.
func ready(path, address string) error {
	if path == "" {
		return nil
	}
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, []byte(address+"\n"), 0o644); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(fmt.Errorf("write the ready file: %w", err), ignoreMissing(os.Remove(temporary)))
	}
	return nil
}

// unready removes the ready file, unless another server has written its own there since.
func unready(path, address string) error {
	if path == "" {
		return nil
	}
	written, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(written)) != address {
		return ignoreMissing(err)
	}
	return ignoreMissing(os.Remove(path))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
