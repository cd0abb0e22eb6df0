//go:build cgo

package duckdb

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestFoldersOfTheDeadAreRemoved kills a process that had a folder, and one that lives keeps its own.
func TestFoldersOfTheDeadAreRemoved(t *testing.T) {
	if inside := os.Getenv("SKUA_FOLDER_OF"); inside != "" {
		if _, _, err := newFolder(inside); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("made\n")
		select {} // until it is killed
	}
	if runtime.GOOS == "windows" {
		t.Skip("folders are not locked here")
	}
	inside := t.TempDir()
	mine, unlock, err := newFolder(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	unlocked := filepath.Join(inside, folderPrefix+"unlocked")
	if err := os.Mkdir(unlocked, 0o700); err != nil {
		t.Fatal(err)
	}
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFoldersOfTheDeadAreRemoved$")
	other.Env = append(os.Environ(), "SKUA_FOLDER_OF="+inside)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	folders := func() int {
		found, _ := filepath.Glob(filepath.Join(inside, folderPrefix+"*"))
		return len(found)
	}
	removeAbandoned(inside)
	if n := folders(); n != 3 {
		t.Errorf("%d folders while all of their processes live, want 3", n)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	removeAbandoned(inside)
	if n := folders(); n != 2 {
		t.Errorf("%d folders once a process was killed, want mine and the one without a lock", n)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}
