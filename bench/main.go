// Command bench measures four readers on the same generated tables in interleaved runs: iceberg-go's own reader, arrow-go's Parquet reader on the
// bare files, Skua in process, and Skua's server with a Flight client. The tables are flat, wide, of texts, nested, full of nulls, with deletes and
// of many small files; in Snappy and in ZSTD; laid out as Go's and as Java's writers do. It reports processor time, time, peak of memory, bytes
// read and calls to read, and ratios to iceberg-go's reader. Every figure is of the run of least processor time; only ratios of one run of
// the program mean something.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The readers.
const (
	icebergGo     = "iceberg-go"
	pqArrow       = "pqarrow"
	inProcess     = "skua"
	throughFlight = "skua-flight"
)

var readers = []string{icebergGo, pqArrow, inProcess, throughFlight}

// setup is what the flags say.
type setup struct {
	rows, rounds int
	dir          string
	skua, local  string
	tables       string
	json         string
	child, work  string // internal
	address      string
	readers      string
}

func main() {
	var s setup
	flag.IntVar(&s.rows, "rows", 400_000, "rows of a table of 100 %; some have fewer")
	flag.IntVar(&s.rounds, "rounds", 3, "interleaved rounds")
	flag.StringVar(&s.dir, "dir", filepath.Join(os.TempDir(), "skua-bench"), "where the tables are kept between runs")
	flag.StringVar(&s.skua, "skua", "bin/skua", "the server's binary")
	flag.StringVar(&s.local, "local", "bin/skua-local", "the binary of bench/local, which reads in process")
	flag.StringVar(&s.tables, "tables", "", "names of the tables to read, or parts of them, with commas between; empty: all")
	flag.StringVar(&s.readers, "readers", strings.Join(readers, ","), "the readers, with commas between")
	flag.StringVar(&s.json, "json", "", "a file for every figure of every round")
	flag.StringVar(&s.child, "child", "", "internal: read with one reader and print what it cost")
	flag.StringVar(&s.work, "work", "", "internal")
	flag.StringVar(&s.address, "address", "", "internal")
	flag.Parse()
	if err := s.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func (s *setup) run(ctx context.Context) error {
	works := s.works()
	if s.child != "" {
		i := slices.IndexFunc(works, func(w work) bool { return w.id() == s.work })
		if i < 0 {
			return fmt.Errorf("no work %q", s.work)
		}
		return (&child{dir: s.dir, address: s.address, work: works[i]}).run(ctx, s.child)
	}
	if len(works) == 0 {
		return fmt.Errorf("no table is called like %s", s.tables)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	for _, w := range works {
		if err := w.table.make(ctx, s.dir, w.table.rows(s.rows)); err != nil {
			return err
		}
	}
	server, err := startServer(ctx, s.skua, s.dir)
	if err != nil {
		return err
	}
	defer server.stop()
	all, err := s.rounded(ctx, works, server)
	if err != nil {
		return err
	}
	if s.json != "" {
		if err := writeJSON(s.json, all); err != nil {
			return err
		}
	}
	return s.report(os.Stdout, works, all)
}

func (s *setup) works() (out []work) {
	for _, t := range tables {
		wanted := s.tables == "" || slices.ContainsFunc(strings.Split(s.tables, ","), func(part string) bool { return strings.Contains(t.name, part) })
		if wanted {
			out = append(out, t.works(s.rows)...)
		}
	}
	return out
}

// measured is what one read cost, by whom and in which round.
type measured struct {
	Work   string `json:"work"`
	Reader string `json:"reader"`
	Round  int    `json:"round"`
	Cost   cost   `json:"cost"`
}

// reads says whether a reader can do a work: bare files know neither deletes nor filters.
func canRead(reader string, w work) bool {
	return reader != pqArrow || !w.table.deletes && w.below == 0
}

// rounded measures every work with every reader, in turns whose order is turned round from one to the next.
func (s *setup) rounded(ctx context.Context, works []work, server *server) (out []measured, err error) {
	order := strings.Split(s.readers, ",")
	for round := range s.rounds {
		for _, w := range works {
			for _, reader := range order {
				if !canRead(reader, w) {
					continue
				}
				c, err := s.measure(ctx, reader, w, server)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", reader, w.id(), err)
				}
				fmt.Fprintf(os.Stderr, "round %d %-32s %-12s %7.3f s of CPU\n", round+1, w.id(), reader, c.all())
				out = append(out, measured{w.id(), reader, round, c})
			}
		}
		slices.Reverse(order)
	}
	return out, nil
}

// measure has one reader read in a process of its own. What Skua's server used meanwhile is its cost.
func (s *setup) measure(ctx context.Context, reader string, w work, server *server) (cost, error) {
	if reader == inProcess {
		columns, filter := "*", "-"
		if w.columns != nil {
			columns = strings.Join(w.columns, ",")
		}
		if w.below > 0 {
			filter = fmt.Sprintf("%s<%d", keyName, w.below)
		}
		metadata, err := newestMetadata(w.table.folder(s.dir))
		if err != nil {
			return cost{}, err
		}
		return output(exec.CommandContext(ctx, s.local, "skua", metadata, "scan", columns, filter))
	}
	self, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	command := exec.CommandContext(ctx, self, "-child", reader, "-dir", s.dir, "-work", w.id(), "-rows", strconv.Itoa(s.rows), "-address", server.address)
	if reader != throughFlight {
		return output(command)
	}
	before, err := usageOf(server.process())
	if err != nil {
		return cost{}, err
	}
	c, err := output(command)
	if err != nil {
		return cost{}, err
	}
	after, err := usageOf(server.process())
	c.Client, c.User, c.System = c.cpu(), (after.user - before.user).Seconds(), (after.system - before.system).Seconds()
	c.Peak, c.ReadBytes, c.Reads = after.peak, after.reads.bytes-before.reads.bytes, after.reads.calls-before.reads.calls
	return c, err
}

// output runs a program that prints its cost.
func output(command *exec.Cmd) (c cost, err error) {
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(out, &c)
}

// newestMetadata is the metadata file of a table's last version.
func newestMetadata(folder string) (string, error) {
	hint, err := os.ReadFile(filepath.Join(folder, "metadata", "version-hint.text"))
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "metadata", "v"+strings.TrimSpace(string(hint))+".metadata.json"), nil
}

func writeJSON(path string, all []measured) error {
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
