// Package oracle holds a Flight SQL server against recorded answers of Spark: it asks every recorded query and classes what came. The answers are
// files of JSON lines; testdata/expected beside this package's parent holds those of the fixture tables. It judges rows, column names and types, not
// nullability, and of errors only that there is one.
package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Suite is a folder of answers.
type Suite struct {
	Files       []File
	corrections map[string]note // right rows where the recorded ones are known to be wrong
	deviations  map[string]note // answers that may differ by decision
}

// File holds the answers about one table, or of one session.
type File struct {
	Name     string
	Answers  []Recorded
	table    string // as statements spell it; empty for a session
	generics *generics
}

// Recorded is one question with what Spark gave.
type Recorded struct {
	ID              string
	SQL             string
	Options         map[string]json.RawMessage // read options; then Table and Keep stand for the statement
	Table           string
	Keep            json.RawMessage // a list of columns, or the text of a filter
	Ordered         bool
	Schema          string
	Columns         []column
	Rows            [][]any
	Error           map[string]any
	ReferenceDefect json.RawMessage `json:"reference_defect"`
	Refuse          string          // why rows must not come
	MayRefuse       string          `json:"may_refuse"` // why an error is as good as rows
}

// column is [name, type, nullable].
type column struct {
	name string
	text string
	typ  *typ
}

// UnmarshalJSON reads the triple.
func (c *column) UnmarshalJSON(b []byte) error {
	triple := []any{&c.name, &c.text, new(bool)}
	if err := json.Unmarshal(b, &triple); err != nil {
		return err
	}
	c.typ = parseType(c.text)
	return nil
}

// generics are all rows of a table, as Iceberg's own generic reader spells them, for tables that Spark refuses.
type generics struct {
	Schema string
	Rows   [][]any
}

// note is a line about an answer.
type note struct {
	ID, Why string
	Rows    [][]any
}

// Load reads the *.jsonl in folder, or in its subfolder expected, and corrections.jsonl and deviations.jsonl in either or in the folder above.
func Load(folder string) (*Suite, error) {
	within := filepath.Join(folder, "expected")
	if info, err := os.Stat(within); err != nil || !info.IsDir() {
		within = folder
	}
	paths, err := filepath.Glob(filepath.Join(within, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	s := &Suite{}
	for _, path := range paths {
		if base := filepath.Base(path); base == "corrections.jsonl" || base == "deviations.jsonl" {
			continue
		}
		f, err := loadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read answers %s: %w", path, err)
		}
		s.Files = append(s.Files, f)
	}
	if len(s.Files) == 0 {
		return nil, fmt.Errorf("no answers (*.jsonl) in %s", folder)
	}
	if s.corrections, err = loadNotes(within, "corrections.jsonl"); err != nil {
		return nil, err
	}
	s.deviations, err = loadNotes(within, "deviations.jsonl")
	return s, err
}

func loadFile(path string) (File, error) {
	f := File{Name: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	err := eachLine(path, func(line []byte) error {
		var kind struct{ Kind, Table string }
		if err := json.Unmarshal(line, &kind); err != nil {
			return err
		}
		switch kind.Kind {
		case "", "query":
			var r Recorded
			if err := decode(line, &r); err != nil {
				return err
			}
			f.Answers = append(f.Answers, r)
		case "table":
			f.table = kind.Table
		case "generics":
			f.generics = &generics{}
			return decode(line, f.generics)
		}
		return nil
	})
	return f, err
}

// loadNotes reads a file of notes in the folder of the answers or the one above; without one there are none.
func loadNotes(folder, name string) (map[string]note, error) {
	out := map[string]note{}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{absolute, filepath.Dir(absolute)} {
		err := eachLine(filepath.Join(dir, name), func(line []byte) error {
			var n note
			if err := decode(line, &n); err != nil {
				return err
			}
			out[n.ID] = n
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return out, nil
}

func eachLine(path string, do func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := do(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// decode keeps numbers as they are written.
func decode(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	return d.Decode(into)
}

// statement is the SQL that asks; ok is false where there is none.
func (r *Recorded) statement() (sql string, ok bool) {
	if r.Options == nil {
		return r.SQL, r.SQL != ""
	}
	options := make([]string, 0, len(r.Options))
	for key, raw := range r.Options {
		text := string(raw)
		var quoted string
		if json.Unmarshal(raw, &quoted) == nil {
			text = quoted
		}
		options = append(options, fmt.Sprintf("`%s` = '%s'", key, strings.ReplaceAll(text, "'", `\'`)))
	}
	slices.Sort(options)
	wanted, where := "*", ""
	var list []string
	var filter string
	switch {
	case json.Unmarshal(r.Keep, &list) == nil && len(list) > 0:
		wanted = strings.Join(list, ", ")
	case json.Unmarshal(r.Keep, &filter) == nil && filter != "":
		where = " WHERE " + filter
	}
	return fmt.Sprintf("SELECT %s FROM %s WITH (%s)%s", wanted, r.Table, strings.Join(options, ", "), where), true
}
