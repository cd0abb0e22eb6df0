package oracle

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skua-data/skua/conformance"
)

// Config says whom to ask and how. The zero value of every field but Target works.
type Config struct {
	Target  conformance.Target
	Paths   []conformance.Path   // questions take them in turn; none: query and prepared
	Names   []conformance.Rename // tables and catalogs that are called otherwise there: in statements, and in recorded values
	Texts   []conformance.Rename // other text in recorded values that is otherwise there, such as the beginning of paths
	Only    string               // ask what has this text in its id or its file's name
	Timeout time.Duration        // of one question; 0: a minute
}

// Verdict is the class of one question.
type Verdict struct {
	File, ID, SQL string
	Path          conformance.Path
	Class         Class
	Notes         []string
	Elapsed       time.Duration
}

// Report is the verdicts in the order of the questions.
type Report struct{ Verdicts []Verdict }

// Run asks everything. Each file has a session of its own.
func (s *Suite) Run(ctx context.Context, c Config) (*Report, error) {
	if len(c.Paths) == 0 {
		c.Paths = []conformance.Path{conformance.PathQuery, conformance.PathPrepared}
	}
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	report := &Report{}
	for i := range s.Files {
		if err := s.runFile(ctx, c, &s.Files[i], report); err != nil {
			return report, err
		}
	}
	return report, nil
}

func (s *Suite) runFile(ctx context.Context, c Config, f *File, report *Report) error {
	client, err := c.Target.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	names := conformance.NewRenames(c.Names, c.Texts)
	for i := range f.Answers {
		r := &f.Answers[i]
		sql, ok := r.statement()
		if !ok || !strings.Contains(r.ID, c.Only) && !strings.Contains(f.Name, c.Only) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		v := Verdict{File: f.Name, ID: r.ID, SQL: names.SQL(sql), Path: c.Paths[len(report.Verdicts)%len(c.Paths)]}
		started := time.Now()
		v.Class, v.Notes = s.ask(ctx, c, client, f, r, &v, names)
		v.Elapsed = time.Since(started)
		report.Verdicts = append(report.Verdicts, v)
	}
	return nil
}

func (s *Suite) ask(ctx context.Context, c Config, client *conformance.Client, f *File, r *Recorded, v *Verdict, names conformance.Renames) (Class, []string) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	answer, err := client.Ask(ctx, conformance.Question{SQL: v.SQL, Path: v.Path})
	if err == nil {
		defer answer.Release()
	}
	return s.judge(f, r, answer, err, names)
}

// Counts gives how many of each class there are in each file.
func (r *Report) Counts() map[string]map[Class]int {
	out := map[string]map[Class]int{}
	for _, v := range r.Verdicts {
		if out[v.File] == nil {
			out[v.File] = map[Class]int{}
		}
		out[v.File][v.Class]++
	}
	return out
}

// Of gives the verdicts of the classes named.
func (r *Report) Of(classes ...Class) []Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Verdict) bool { return !slices.Contains(classes, v.Class) })
}

// WriteCounts writes a line for each file, in the form that ParseCounts reads, and one for all.
func (r *Report) WriteCounts(w io.Writer) {
	counts := r.Counts()
	all := map[Class]int{}
	for _, file := range slices.Sorted(maps.Keys(counts)) {
		writeCounts(w, file, counts[file])
		for class, n := range counts[file] {
			all[class] += n
		}
	}
	writeCounts(w, "all", all)
}

func writeCounts(w io.Writer, name string, counts map[Class]int) {
	fmt.Fprintf(w, "%-24s", name)
	for _, class := range Classes() {
		fmt.Fprintf(w, " %s=%d", class, counts[class])
	}
	fmt.Fprintln(w)
}

// ParseCounts reads what WriteCounts wrote.
func ParseCounts(text string) (map[string]map[Class]int, error) {
	out := map[string]map[Class]int{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		out[words[0]] = map[Class]int{}
		for _, word := range words[1:] {
			class, number, _ := strings.Cut(word, "=")
			var n int
			if _, err := fmt.Sscanf(number, "%d", &n); err != nil || !slices.Contains(Classes(), Class(class)) {
				return nil, fmt.Errorf("counts: %q is no class with its number", word)
			}
			out[words[0]][Class(class)] = n
		}
	}
	return out, nil
}

// WriteVerdicts writes at most limit verdicts in full.
func WriteVerdicts(w io.Writer, verdicts []Verdict, limit int) {
	for i, v := range verdicts {
		if i == limit {
			fmt.Fprintf(w, "and %d more\n", len(verdicts)-limit)
			return
		}
		fmt.Fprintf(w, "%s %s (%s path)\n  %s\n  %s\n", v.Class, v.ID, v.Path, v.SQL, strings.Join(v.Notes, "\n  "))
	}
}
