package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
)

// best is the run of least processor time for each work and reader.
func best(all []measured) (map[string]map[string]cost, error) {
	out := map[string]map[string]cost{}
	for _, m := range all {
		of := out[m.Work]
		if of == nil {
			of = map[string]cost{}
			out[m.Work] = of
		}
		for reader, c := range of {
			if c.Rows != m.Cost.Rows {
				return nil, fmt.Errorf("%s: %s read %d rows, %s %d", m.Work, reader, c.Rows, m.Reader, m.Cost.Rows)
			}
		}
		if old, seen := of[m.Reader]; !seen || m.Cost.all() < old.all() {
			of[m.Reader] = m.Cost
		}
	}
	return out, nil
}

// report prints a table in Markdown, a line for each work and reader, and the mean ratios.
func (s *setup) report(w io.Writer, works []work, all []measured) error {
	least, err := best(all)
	if err != nil {
		return err
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(w, "%s %s/%s, %d cores, load %s; the least of %d rounds.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(strings.Fields(string(load))[:min(3, len(load))], " "), s.rounds)
	fmt.Fprintln(w, "| table | work | rows | reader | CPU s | wall s | peak MiB | MiB read | reads | CPU / iceberg-go | wall / iceberg-go |")
	fmt.Fprintln(w, "| --- | --- | --: | --- | --: | --: | --: | --: | --: | --: | --: |")
	ratios := map[string][]float64{}
	for _, work := range works {
		of := least[work.id()]
		base, compared := of[icebergGo]
		for _, reader := range readers {
			c, ok := of[reader]
			if !ok {
				continue
			}
			cpu, wall := "–", "–"
			if compared {
				cpu, wall = fmt.Sprintf("%.2f", c.all()/base.all()), fmt.Sprintf("%.2f", c.Wall/base.Wall)
				ratios[reader] = append(ratios[reader], c.all()/base.all())
			}
			fmt.Fprintf(w, "| %s | %s | %d | %s | %s | %.3f | %d | %.1f | %d | %s | %s |\n", work.table.name, work.name, c.Rows, reader, c.seconds(), c.Wall, c.Peak>>10,
				float64(c.ReadBytes)/(1<<20), c.Reads, cpu, wall)
		}
	}
	fmt.Fprintln(w, "\nMean of the ratios of CPU seconds to iceberg-go's (geometric):")
	for _, reader := range readers {
		if list := ratios[reader]; len(list) > 0 {
			fmt.Fprintf(w, "- %s: %.2f over %d works\n", reader, mean(list), len(list))
		}
	}
	fmt.Fprintln(w, "\niceberg-go: its own reader. pqarrow: arrow-go's reader on the bare files, without deletes and filters. skua: in process, without a server.\n"+
		"skua-flight: the server + the client that receives every batch; peak and reads are the server's, reads of sockets among them.")
	return nil
}

// seconds shows the server and its client apart.
func (c cost) seconds() string {
	if c.Client == 0 {
		return fmt.Sprintf("%.3f", c.cpu())
	}
	return fmt.Sprintf("%.2f + %.3f", c.cpu(), c.Client)
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += math.Log(max(x, 1e-6))
	}
	return math.Exp(sum / float64(len(list)))
}
