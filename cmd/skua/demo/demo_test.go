package demo

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestMakeOnceAndLeaveOthersAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 360,000 rows")
	}
	dir := filepath.Join(t.TempDir(), "lake")
	say := func(string, ...any) {}
	made, err := Make(context.Background(), dir, say)
	if err != nil || !made {
		t.Fatalf("made %t, %v", made, err)
	}
	if made, err = Make(context.Background(), dir, say); err != nil || made {
		t.Fatalf("a second Make: made %t, %v", made, err)
	}
	if err := os.Rename(filepath.Join(dir, complete), filepath.Join(dir, making)); err != nil {
		t.Fatal(err)
	}
	if made, err = Make(context.Background(), dir, say); err != nil || !made {
		t.Fatalf("after an interrupted one: made %t, %v", made, err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "mine"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err = Make(context.Background(), other, say); err == nil {
		t.Fatal("a folder with other things must be refused")
	}
}
