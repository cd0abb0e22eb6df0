package cuda

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
	"github.com/skua-data/skua/predicate"
)

// deletion is a barrier or a condition that is left out of a source.
type deletion struct {
	file string
	line int
	text string // what was left out
	body string // the file without it
}

func (d deletion) String() string { return fmt.Sprintf("%s:%d %s", d.file, d.line, d.text) }

var marked = regexp.MustCompile(`// (bound|guard)\b`)

// deletions lists every barrier, and every condition of every marked line.
func deletions(t *testing.T) (out []deletion) {
	for _, pattern := range []string{"ptx/*.cu", "ptx/*.cuh"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if filepath.Base(f) == "gpu.cuh" {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			for i, l := range lines {
				for _, v := range variants(l) {
					changed := append([]string(nil), lines...)
					changed[i] = v.line
					out = append(out, deletion{filepath.Base(f), i + 1, v.without, strings.Join(changed, "\n")})
				}
			}
		}
	}
	return out
}

type variant struct{ line, without string }

// variants gives a line without its barrier, or without one of its conditions.
func variants(l string) (out []variant) {
	if m := regexp.MustCompile(`\b(barrier|warpSync)\(\);`).FindString(l); m != "" {
		return []variant{{strings.Replace(l, m, "", 1), m}}
	}
	kind := marked.FindStringSubmatch(l)
	if kind == nil {
		return nil
	}
	from, to := condition(l)
	operator, neutral := " || ", "false"
	if kind[1] == "guard" {
		operator, neutral = " && ", "true"
	}
	parts := topLevel(l[from:to], operator)
	for i, p := range parts {
		changed := append([]string(nil), parts...)
		changed[i] = neutral
		out = append(out, variant{l[:from] + strings.Join(changed, operator) + l[to:], strings.TrimSpace(p)})
	}
	return out
}

// condition finds what stands in the parentheses of an if or a while, or in front of a question mark, or behind an equals sign.
func condition(l string) (from, to int) {
	if m := regexp.MustCompile(`\b(if|while) \(`).FindStringIndex(l); m != nil {
		depth := 1
		for to = m[1]; depth > 0; to++ {
			switch l[to] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		return m[1], to - 1
	}
	if to = strings.Index(l, " ? "); to >= 0 {
		from = strings.LastIndex(l[:to], "= ") + 2
		for _, s := range []string{"scan64(", "active, ", "back + ("} {
			if i := strings.LastIndex(l[:to], s); i >= 0 {
				from = max(from, i+len(s))
			}
		}
		return from, to
	}
	return strings.Index(l, "= ") + 2, strings.Index(l, ";")
}

// topLevel splits outside of parentheses.
func topLevel(s, operator string) (out []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], operator):
			out = append(out, s[from:i])
			from = i + len(operator)
		}
	}
	return append(out, s[from:])
}

// uses says which modules include a file.
var uses = map[string][]string{"page.cuh": ptx.Modules(), "hybrid.cuh": {"levels"}, "levels.cuh": {"levels", "lists"}, "delta.cuh": {"deltas", "textdeltas"},
	"gather.cuh": {"gather", "texts", "textdeltas", "filter"}}

// modules are those that the changed file is part of.
func (d deletion) modules() []string {
	if m := uses[d.file]; m != nil {
		return m
	}
	return []string{strings.TrimSuffix(d.file, ".cu")}
}

// compile gives the texts of all modules with one source changed.
func (d deletion) compile(t *testing.T) (out []string, err error) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("ptx")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, d.file), []byte(d.body), 0o644); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join("ptx", "manifest.txt"))
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^flags: (.*)$`).FindSubmatch(manifest)
	for _, m := range ptx.Modules() {
		if !slices.Contains(d.modules(), m) {
			text, err := ptx.Text(m)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
			continue
		}
		cmd := exec.Command("clang-16", append(strings.Fields(string(flags[1])), "-S", m+".cu", "-o", "-")...)
		cmd.Dir = dir
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("compile %s: %w", m, err)
		}
		out = append(out, string(text))
	}
	return out, nil
}

// question is something to decode, with what the CPU makes of it.
type question struct {
	group *kernels.RowGroup
	sel   *kernels.Selection
	test  predicate.Expr // nil: column 0 is read
	want  []arrow.Array
	kept  *kernels.Selection
	err   string
	sound bool // nothing is left to the CPU
	name  string
	uses  map[string]bool // modules
}

func ask(t *testing.T, c *cpu.Decoder, q question) question {
	if q.test != nil {
		r, err := c.Open(context.Background(), q.group)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, q.kept, err = r.Select(context.Background(), q.test, q.sel); err != nil {
			q.kept = kernels.NewSelection(nil)
		}
		q.err = fmt.Sprint(err)
		return q
	}
	var err error
	q.want, err = outcome(context.Background(), c, q.group, 0, q.sel, q.group.Rows/2+1)
	q.err = fmt.Sprint(err)
	return q
}

// answer says how a device's answer differs.
func (q *question) answer(ctx context.Context, d *Decoder) error {
	refused := d.Stats().Refused.Load()
	if q.test != nil {
		r, err := d.Open(ctx, q.group)
		if err != nil {
			return err
		}
		defer r.Close()
		_, kept, err := r.Select(ctx, q.test, q.sel)
		switch {
		case fmt.Sprint(err) != q.err:
			return fmt.Errorf("%v where the CPU says %v", err, q.err)
		case err == nil && fmt.Sprint(kept.Runs()) != fmt.Sprint(q.kept.Runs()):
			return fmt.Errorf("other rows are kept")
		}
		return nil
	}
	got, err := outcome(ctx, d, q.group, 0, q.sel, q.group.Rows/2+1)
	defer func() {
		for _, a := range got {
			a.Release()
		}
	}()
	if fmt.Sprint(err) != q.err || len(got) != len(q.want) {
		return fmt.Errorf("%v where the CPU says %v", err, q.err)
	}
	for i, a := range got {
		if err := sameBuffers(a.Data(), q.want[i].Data()); err != nil {
			return fmt.Errorf("other values")
		}
	}
	if q.sound && d.Stats().Refused.Load() > refused {
		return fmt.Errorf("a sound chunk is refused")
	}
	return nil
}

// questions are sound chunks of every kind, filters, and damaged chunks.
func questions(t *testing.T) (out []question) {
	c := cpu.New()
	r := rand.New(rand.NewSource(7))
	add := func(q question) { out = append(out, ask(t, c, q)) }
	for _, q := range crafted(t) {
		add(q)
	}
	for i, l := range kernelstest.Layouts() {
		for _, nullable := range []bool{true, false} {
			for j, f := range kernelstest.Flat(nullable) {
				batch := kernelstest.Random([]arrow.Field{f}, 260+37*j, 0.2, int64(i*100+j), memory.DefaultAllocator)
				data := kernelstest.Write(t, batch, l)
				for k, g := range openGroups(t, data, []arrow.Field{f}) {
					sel := kernels.All(g.Rows)
					if (i+j+k)%2 == 0 {
						sel = kernelstest.RandomSelection(r, g.Rows)
					}

					add(question{group: g, sel: sel, sound: true, name: l.Name})
					p := randomTest(r, predicate.Field{ID: j + 1, Path: []string{f.Name}, Type: f.Type}, batch.Column(0))
					add(question{group: g, sel: sel, test: p, name: l.Name + " filter"})
				}
				batch.Release()
			}
		}
	}
	for _, q := range largeQuestions(t) {
		add(q)
	}
	for _, q := range nestedQuestions(t, r) {
		add(q)
	}
	for i, g := range cuts(t, r, 1000) {
		add(question{group: g, sel: kernels.All(g.Rows), name: fmt.Sprint("cut ", i)})
	}
	for i, f := range damagedFiles(t) {
		for range 1 {
			data := bytes.Clone(f.data)
			for range 1 + r.Intn(2) {
				data[f.from+r.Intn(f.to-f.from)] = []byte{byte(r.Intn(256)), 0, 0xff, 0x80, 1}[r.Intn(5)]
			}
			g := openGroups(t, data, []arrow.Field{f.field})[0]
			add(question{group: g, sel: kernels.All(g.Rows), name: fmt.Sprint("damaged ", i)})
		}
	}
	return out
}

// nestedQuestions are columns that are nested in every way, sound and damaged.
func nestedQuestions(t *testing.T, r *rand.Rand) (out []question) {
	for i, f := range nestedFiles(t) {
		g := openGroups(t, f.data, []arrow.Field{f.field})[0]
		sel := kernels.All(g.Rows)
		if i%2 == 0 {
			sel = kernelstest.RandomSelection(r, g.Rows)
		}
		out = append(out, question{group: g, sel: sel, sound: true, name: "nested " + f.name})
		for range 3 {
			g := openGroups(t, f.damaged(r), []arrow.Field{f.field})[0]
			out = append(out, question{group: g, sel: kernels.All(g.Rows), name: fmt.Sprint("damaged nested ", i)})
		}
	}
	return out
}

// largeQuestions are chunks with many runs in a page, long strings, and many tiles.
func largeQuestions(t *testing.T) (out []question) {
	r := rand.New(rand.NewSource(8))
	add := func(f arrow.Field, rows int, l kernelstest.Layout, value func(b array.Builder, row int)) {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type)
		for row := range rows {
			value(b, row)
		}
		column := b.NewArray()
		batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{column}, int64(rows))
		g := openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{f})[0]
		out = append(out, question{group: g, sel: kernels.All(g.Rows), sound: true, name: "large " + f.Type.String()})
		batch.Release()
		column.Release()
	}
	one, plain := kernelstest.Layout{}, kernelstest.Layout{Options: []format.WriterProperty{format.WithDictionaryDefault(false)}}
	packed := func(c compress.Compression) kernelstest.Layout {
		return kernelstest.Layout{Options: append([]format.WriterProperty{format.WithCompression(c)}, plain.Options...)}
	}
	var v int64
	runs := func(b array.Builder, row int) {
		if r.Intn(11) == 0 {
			v = r.Int63n(9)
		}
		if v == 3 {
			b.AppendNull()
			return
		}
		b.(*array.Int64Builder).Append(v)
	}
	long := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, true)
	text := kernelstest.Field(1, "c", arrow.BinaryTypes.String, false)
	add(long, 5000, one, runs)
	add(long, 5000, packed(compress.Codecs.Snappy), runs)
	add(long, 5000, packed(compress.Codecs.Lz4Raw), runs)
	add(text, 900, plain, func(b array.Builder, row int) {
		b.(*array.StringBuilder).Append(strings.Repeat("x", []int{3, 40, 5000}[r.Intn(3)]))
	})
	add(text, 36_000, one, func(b array.Builder, row int) { b.(*array.StringBuilder).Append([]string{"a", "bb", ""}[r.Intn(3)]) })
	return out
}

// caught asks all questions that use one of the modules of a device that runs other kernels, and says what shows that they are others; "" is
// nothing. Without modules it asks them all, and notes what they use.
func caught(texts []string, asked []question, modules []string, races bool) string {
	sim, err := device.NewSimulated(texts...)
	if err != nil {
		return err.Error()
	}
	sim.Options = ptxsim.Options{MaxSteps: 1 << 22, MaxFaults: 1, NoRaces: !races}
	base := cpu.New()
	defer base.Close()
	d := New(Config{Device: sim, Base: base, Pages: base, Room: testRoom}).With(Force)
	defer d.Close()
	for i := range asked {
		q := &asked[i]
		if modules != nil && !slices.ContainsFunc(modules, func(m string) bool { return q.uses[m] }) {
			continue
		}
		before := sim.Costs()
		err := q.answer(context.Background(), d)
		if f := sim.Faults(); f != nil {
			err = f
		}
		if err != nil {
			first, rest, _ := strings.Cut(err.Error(), "\n")
			if strings.HasSuffix(first, "faults:") {
				first, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
			}
			return q.name + ": " + first
		}
		if modules == nil {
			q.note(before, sim.Costs())
		}
	}
	return ""
}

// note keeps which modules' kernels ran.
func (q *question) note(before, after map[string]device.Cost) {
	q.uses = map[string]bool{}
	for _, k := range ptx.All() {
		if after[k.Name].Launches > before[k.Name].Launches {
			q.uses[k.Module] = true
		}
	}
}

// TestEveryDeletedCheckIsSeen deletes every barrier and every condition of every marked line in turn. What is not seen is listed with the
// reason why it does no harm.
func TestEveryDeletedCheckIsSeen(t *testing.T) {
	if os.Getenv("SKUA_GPU_DELETE") == "" || os.Getenv("SKUA_GPU_DELETE") == "host" {
		t.Skip("SKUA_GPU_DELETE is not set: it compiles the kernels some hundred times")
	}
	if _, err := exec.LookPath("clang-16"); err != nil {
		t.Skip("no clang-16")
	}
	asked := questions(t)
	if by := caught(texts(t), asked, nil, true); by != "" {
		t.Fatalf("the kernels as they are: %s", by)
	}
	all, before := deletions(t), listedBefore(t)
	var lines []string
	seen := 0
	for _, d := range all {
		verdict := ""
		if key := withoutLine(d.String()); !wanted(d) {
			if v := before[key]; len(v) > 0 {
				verdict, before[key] = v[0], v[1:]
			}
		} else {
			if v := before[key]; len(v) > 0 {
				before[key] = v[1:]
			}
			verdict = judge(t, d, asked)
			fmt.Fprintln(os.Stderr, d, verdict)
		}
		if strings.HasPrefix(verdict, "seen: ") {
			seen++
		}
		lines = append(lines, fmt.Sprintf("%s: %s", d, verdict))
	}
	t.Logf("%d of %d deletions were seen\n%s", seen, len(all), strings.Join(lines, "\n"))
	if *update {
		text := fmt.Sprintf("# %d barriers and conditions, each deleted in turn: %d were seen, and how; the others do no harm.\n%s\n", len(all), seen, strings.Join(lines, "\n"))
		if err := os.WriteFile(filepath.Join("testdata", "deleted.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// wanted says whether a deletion is to be tried: SKUA_GPU_ONLY has parts of names, with commas between them. The list keeps what it says of others.
func wanted(d deletion) bool {
	only := os.Getenv("SKUA_GPU_ONLY")
	return only == "" || slices.ContainsFunc(strings.Split(only, ","), func(part string) bool { return strings.Contains(d.String(), part) })
}

// judge deletes and says what shows it.
func judge(t *testing.T, d deletion, asked []question) string {
	changed, err := d.compile(t)
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	by := caught(changed, asked, d.modules(), true)
	why, known := harmless[withoutLine(d.String())]
	switch {
	case by != "":
		return fmt.Sprintf("seen: %.150s", by)
	case known:
		return "harmless: " + why
	}
	t.Errorf("%s: deleted, and nothing shows it", d)
	return "NOT SEEN"
}

// listedBefore gives the verdicts of the list as it is.
func listedBefore(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "deleted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		for _, v := range []string{": seen: ", ": harmless: "} {
			if at, _, found := strings.Cut(line, v); found {
				key := withoutLine(at)
				out[key] = append(out[key], strings.TrimPrefix(line[len(at):], ": "))
				break
			}
		}
	}
	return out
}

// TestTheListOfDeletionsIsComplete holds the list that was written last to the sources as they are: it names every barrier and every condition
// of every marked line as often as they do, though perhaps at other lines; none is unseen, and every reason why one is harmless is used.
func TestTheListOfDeletionsIsComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "deleted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	listed, used, seen := map[string]int{}, map[string]bool{}, 0
	for at, verdicts := range listedBefore(t) {
		listed[at] = len(verdicts)
		for _, v := range verdicts {
			why, harm := strings.CutPrefix(v, "harmless: ")
			if !harm {
				seen++
				continue
			}
			used[at] = true
			if harmless[at] != why {
				t.Errorf("%s is listed as harmless because %s, the test says %q", at, why, harmless[at])
			}
		}
	}
	all := deletions(t)
	for _, d := range all {
		at := withoutLine(d.String())
		if listed[at]--; listed[at] < 0 {
			t.Errorf("%s is not in the list: %s", d, howToList)
		}
	}
	for at, n := range listed {
		if n > 0 {
			t.Errorf("the list has %s, which the sources do not: %s", at, howToList)
		}
	}
	for k := range harmless {
		if !used[k] {
			t.Errorf("%s is said to be harmless and is in no line of the list", k)
		}
	}
	if head := fmt.Sprintf("# %d barriers and conditions, each deleted in turn: %d were seen,", len(all), seen); !strings.HasPrefix(string(text), head) {
		t.Errorf("the list begins otherwise than %s", head)
	}
}

const howToList = "run SKUA_GPU_DELETE=1 go test ./kernels/cuda -run EveryDeleted -timeout 60m -update"

// withoutLine leaves the line out of file:line text.
func withoutLine(at string) string {
	file, rest, _ := strings.Cut(at, ":")
	_, text, _ := strings.Cut(rest, " ")
	return file + " " + text
}

// harmless has the conditions that may be deleted without a trace, with the reason.
var harmless = map[string]string{
	"delta.cuh shift > 63":                                "the tenth byte of a number is refused by the next condition, unless it is the last",
	"delta.cuh size == 0":                                 "a block of nothing has fewer values than miniblocks, which the next conditions refuse",
	"delta.cuh count > size":                              "its miniblocks then have no values, which the next condition refuses",
	"deltas.cu s->bad":                                    "a page that is bad already has no bytes of values",
	"pages.cu len - from < 4":                             "the levels then begin behind the page, where the zeros are refused as a run of nothing",
	"pages.cu at < len":                                   "the zeros behind the page are refused as a run of nothing; a page of nulls is left to the CPU",
	"pages.cu len - at < 4":                               "the zeros behind the page are refused as a run of nothing",
	"texts.cu !bad":                                       "the page is bad already, and what is written after stays in its room",
	"unpack.cu *n > size":                                 "lengths are of 64 bits, and their use refuses what is too long",
	"unpack.cu ip < len":                                  "the zeros behind a block are a match of nothing, which is refused",
	"levels.cu s->bad":                                    "a page that is bad already has no bytes of values, or no values",
	"texts.cu s->bad":                                     "a page that is bad already has no bytes of values",
	"pages.cu p->repLen > len":                            "the host refuses headers whose levels are longer than their page",
	"pages.cu p->defLen > len - p->repLen":                "the host refuses headers whose levels are longer than their page",
	"pages.cu slot < slots":                               "the host counts the slots that it sets bits for",
	"hybrid.cuh values == 0":                              "a run of nothing gives nothing, as on the CPU, and consumes bytes, so that the walk ends",
	"gather.cuh row - p->row0 >= p->rows":                 "the host sends the pages of all wanted rows",
	"gather.cuh (s.index + 1ull) * width <= t->valuesLen": "a page with fewer values than it claims was refused before",
	"gather.cuh s.index >= count":                         "a page with fewer values than it claims was refused before",
	"gather.cu s.index < t->valuesLen * 8":                "a page with fewer values than it claims was refused before",
	"hybrid.cuh first + 1 < count":                        "the last run ends behind every word that is asked for",
	"gather.cuh out->valid":                               "the index of a null is never used",
	"texts.cu end > g->capacity":                          "the host makes room for the sum of all lengths",
	"textdeltas.cu end > g->capacity":                     "the host makes room for the sum of all lengths",
	"textdeltas.cu s->bad":                                "a page that is bad already has no values",
	"unpack.cu flat <= p->packedLen":                      "the host refuses headers whose levels are longer than their page",
	"unpack.cu flat <= size":                              "the host refuses headers whose levels are longer than their page",
}

// TestConditionsAreTakenApart shows what is deleted from a line.
func TestConditionsAreTakenApart(t *testing.T) {
	for line, want := range map[string][]string{
		"  barrier(); // it is filled":                      {"   // it is filled"},
		"  if (a(b, c) || d > 1) return false; // bound":    {"  if (false || d > 1) return false; // bound", "  if (a(b, c) || false) return false; // bound"},
		"  while (a < b && x) a++; // guard":                {"  while (true && x) a++; // guard", "  while (a < b && true) a++; // guard"},
		"  u32 x = a + 1 < n ? load(a) : 0; // guard":       {"  u32 x = true ? load(a) : 0; // guard"},
		"  bool good = flat <= n && flat <= m; // guard":    {"  bool good = true && flat <= m; // guard", "  bool good = flat <= n && true; // guard"},
		"  u64 v = l + scan64(i < n ? l + p : 0); // guard": {"  u64 v = l + scan64(true ? l + p : 0); // guard"},
		"  if (plain) nothing();":                           nil,
	} {
		var got []string
		for _, v := range variants(line) {
			got = append(got, v.line)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s gives %q, want %q", line, got, want)
		}
	}
}
