package scan

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// TestNativeDecoderIsChosenPerScan reads a table with deletes with the decoders joined and with the fallback alone: the rows are the same, who
// read them is not.
func TestNativeDecoderIsChosenPerScan(t *testing.T) {
	fallback := parquet.NewFallback()
	config := oracleScanner(t, "testdata/oracle").config
	config.Decoder, config.Fallback = kernels.Prefer(cpu.New(), fallback), fallback
	scanner := NewScanner(config)
	defer config.Decoder.Close()
	for _, name := range []string{"pos_v2", "eq_v2"} {
		source, err := oracleTable(t, scanner, "testdata/oracle", []string{"deletes"}, name).Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		read := func(options ...Option) (rows string, n int64, decoders string, told []Resolved) {
			request := Request{Fields: fieldIDs(source.Schema()), Limit: -1, Options: options}
			p, err := source.Plan(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := Decoders(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			batch, err := readAll(resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 2}).NewStatement("t")), source, request)
			if err != nil {
				t.Fatal(err)
			}
			defer batch.Release()
			text, err := array.RecordToStructArray(batch).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			return string(text), batch.NumRows(), strings.Join(lines, "\n"), p.Explain().Options
		}
		off := Option{Name: "native-decoder", Value: "FALSE", Scope: "session", Key: "k"}
		rows, n, fast, told := read()
		slowRows, _, slow, slowTold := read(off)
		if n == 0 || rows != slowRows {
			t.Errorf("%s: %d rows\n%s, and without the native decoder\n%s", name, n, rows, slowRows)
		}
		if !strings.Contains(fast, ": cpu") || strings.Contains(slow, ": cpu") || !strings.Contains(slow, ": fallback (takes every column)") {
			t.Errorf("%s: read by\n%s, and without the native decoder by\n%s", name, fast, slow)
		}
		if len(slowTold) != len(told)+1 || !slices.Contains(slowTold, Resolved{"native-decoder", "false", "session", "k"}) {
			t.Errorf("%s: told %v, then %v", name, told, slowTold)
		}
	}
}
