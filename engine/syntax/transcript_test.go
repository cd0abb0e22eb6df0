package syntax

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts anew")

// outline writes a tree by its fields, without positions and without what only records the source.
func outline(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "-"
		}
		return outline(v.Elem())
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, outline(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Struct:
		return outlineStruct(v)
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	default:
		return fmt.Sprint(v)
	}
}

func outlineStruct(v reflect.Value) string {
	name := v.Type().Name()
	var parts []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Name == "node", f.Type == reflect.TypeFor[Pos](), f.Name == "Source", f.Name == "Quoted", v.Field(i).IsZero(),
			f.Name == "Text" && (name == "Item" || name == "Literal"):
			continue
		}
		parts = append(parts, f.Name+":"+outline(v.Field(i)))
	}
	return name + "{" + strings.Join(parts, " ") + "}"
}

// read parses a whole statement.
func read(sql string) (*Select, error) {
	p := NewParser(sql)
	s, err := p.Select()
	if err != nil {
		return nil, err
	}
	return s, p.End()
}

var transcripts = []string{"select", "unsupported", "errors", "lexical"}

// record is a statement of a transcript with its outcome: one or more lines, ----, the outcome, and an empty line.
type record struct{ sql, want string }

func records(t testing.TB, file string) []record {
	data, err := os.ReadFile("testdata/" + file + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []record
	for r := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		sql, want, _ := strings.Cut(r, "\n----")
		out = append(out, record{strings.TrimSpace(sql), strings.TrimSpace(want)})
	}
	return out
}

// TestTranscripts reads the statements of testdata/*.txt and compares what each gives: its canonical text, what of it is not supported, or
// its error.
func TestTranscripts(t *testing.T) {
	for _, file := range transcripts {
		t.Run(file, func(t *testing.T) {
			var out []string
			for _, r := range records(t, file) {
				got := outcome(t, strings.ReplaceAll(r.sql, "␀", "\x00"))
				if got != r.want && !*rewrite {
					t.Errorf("%s\ngave\n%s\nwant\n%s", r.sql, got, r.want)
				}
				out = append(out, r.sql+"\n----\n"+got+"\n")
			}
			if *rewrite {
				if err := os.WriteFile("testdata/"+file+".txt", []byte(strings.Join(out, "\n")), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// outcome reads sql and spells what came of it.
func outcome(t *testing.T, sql string) string {
	s, err := read(sql)
	if err != nil {
		return "error: " + err.Error()
	}
	text := checkPrinted(t, s)
	if s.Unsupported != "" {
		p := s.UnsupportedPos
		return fmt.Sprintf("%s at line %d, pos %d", s.Unsupported, p.Line, p.Column)
	}
	return text
}

// checkPrinted fails unless a tree survives being printed and read again, and gives the text.
func checkPrinted(t *testing.T, s *Select) string {
	t.Helper()
	text := s.String()
	again, err := read(text)
	if err != nil {
		t.Fatalf("%s\nis printed and then fails: %v", text, err)
	}
	if a, b := outline(reflect.ValueOf(s)), outline(reflect.ValueOf(again)); s.Unsupported == "" && a != b {
		t.Errorf("%s\nwas\n%s\nand is\n%s", text, a, b)
	}
	if again.String() != text || again.Unsupported != s.Unsupported {
		t.Errorf("%s\nprints again as\n%s", text, again)
	}
	return text
}
