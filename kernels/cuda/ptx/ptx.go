// Package ptx holds the GPU kernels of Parquet decoding: their sources, and the PTX that clang makes of them, which is checked in and
// embedded. The PTX is of ISA 7.0 for sm_80, so that every driver since CUDA 11.0 takes it for every device since Ampere. The manifest names
// the compiler and has the hashes of all sources; a test holds it to them.
package ptx

import (
	"embed"
	"fmt"
)

//go:generate sh generate.sh

//go:embed *.ptx
var texts embed.FS

// Kernel is an entry point.
type Kernel struct {
	Name    string
	Module  string // the file that has it, without its ending
	Threads int    // of a block
	Params  int    // each of 8 bytes
}

// The kernels. What they do stands in their sources.
var (
	OpenPages     = Kernel{"open_pages", "pages", 128, 1}
	SelectRows    = Kernel{"select_rows", "pages", 128, 5}
	Levels        = Kernel{"levels", "levels", 128, 1}
	Indices       = Kernel{"indices", "levels", 128, 1}
	Deltas        = Kernel{"deltas", "deltas", 32, 1}
	GatherFixed   = Kernel{"gather_fixed", "gather", 128, 1}
	GatherBytes   = Kernel{"gather_bytes", "gather", 128, 1}
	GatherBits    = Kernel{"gather_bits", "gather", 128, 1}
	TextWalk      = Kernel{"text_walk", "texts", 32, 1}
	TextLengths   = Kernel{"text_lengths", "texts", 128, 1}
	TextScan      = Kernel{"text_scan", "texts", 32, 1}
	TextOffsets   = Kernel{"text_offsets", "texts", 128, 1}
	TextCopy      = Kernel{"text_copy", "texts", 128, 1}
	TextDeltas    = Kernel{"text_deltas", "textdeltas", 32, 1}
	TextJoin      = Kernel{"text_join", "textdeltas", 128, 1}
	ListLevels    = Kernel{"list_levels", "lists", 128, 1}
	ListBases     = Kernel{"list_bases", "lists", 32, 2}
	ListWanted    = Kernel{"list_wanted", "lists", 128, 1}
	ListEntries   = Kernel{"list_entries", "lists", 128, 1}
	ListSlots     = Kernel{"list_slots", "lists", 128, 1}
	ListAgree     = Kernel{"list_agree", "lists", 128, 4}
	FilterTable   = Kernel{"filter_table", "filter", 128, 5}
	FilterCompare = Kernel{"filter_compare", "filter", 128, 6}
	FilterNull    = Kernel{"filter_null", "filter", 128, 4}
	Unpack        = Kernel{"unpack", "unpack", 32, 1}
)

// All lists the kernels.
func All() []Kernel {
	return []Kernel{OpenPages, SelectRows, Levels, Indices, Deltas, GatherFixed, GatherBytes, GatherBits, TextWalk, TextLengths, TextScan,
		TextOffsets, TextCopy, TextDeltas, TextJoin, ListLevels, ListBases, ListWanted, ListEntries, ListSlots, ListAgree,
		FilterTable, FilterCompare, FilterNull, Unpack}
}

// Modules lists the files of PTX.
func Modules() []string {
	var out []string
	for _, k := range All() {
		if len(out) == 0 || out[len(out)-1] != k.Module {
			out = append(out, k.Module)
		}
	}
	return out
}

// Text gives a module's PTX.
func Text(module string) (string, error) {
	b, err := texts.ReadFile(module + ".ptx")
	if err != nil {
		return "", fmt.Errorf("no PTX of %s: %w", module, err)
	}
	return string(b), nil
}
