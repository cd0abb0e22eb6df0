package shell

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chzyer/readline"
)

func TestPasswordIsAskedForTwice(t *testing.T) {
	for _, c := range []struct {
		typed []string
		err   error
		want  string // the password, or a part of the error
		bad   bool
	}{
		{[]string{"s3 cret", "s3 cret"}, nil, "s3 cret", false},
		{[]string{"a", "b"}, nil, "differ", true},
		{[]string{""}, nil, "empty", true},
		{[]string{"a"}, readline.ErrInterrupt, "cancelled", true},
		{nil, readline.ErrInterrupt, "cancelled", true},
		{nil, io.EOF, "cancelled", true},
		{nil, errors.New("no terminal"), "no terminal", true},
	} {
		left := c.typed
		got, err := twice("Password: ", func(string) (string, error) {
			if len(left) == 0 {
				return "", c.err
			}
			typed := left[0]
			left = left[1:]
			return typed, nil
		})
		if c.bad && (err == nil || !strings.Contains(err.Error(), c.want)) || !c.bad && (err != nil || got != c.want) || len(left) > 0 {
			t.Errorf("%q: %q, %v", c.typed, got, err)
		}
	}
}

func TestPasswordFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	for text, want := range map[string]string{"a b \r\nrest": "a b ", "a": "a", "\n": "", "": ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := AskPassword(file, "Password: ")
		file.Close()
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
