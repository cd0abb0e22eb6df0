package scan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// Defaults of the read options, Iceberg's.
const (
	defaultTarget         = 128 << 20
	defaultMetadataTarget = 32 << 20
	defaultLookback       = 10
	defaultOpenCost       = 4 << 20
	defaultParallelism    = 200 // Spark's shuffle partitions
	minAdaptiveTarget     = 16 << 20
)

// readOptions are the read options in force for one scan.
type readOptions struct {
	Target      int64
	Lookback    int64
	OpenCost    int64
	Adaptive    bool // the target may be lowered to what the scan's size asks for
	Parallelism int64
	BatchRows   int64  // rows in a batch at most; 0: as bytes allow
	Grouping    bool   // splits keep to one partition each
	Concurrency int64  // splits that a stream reads at once, at most; 0: as the cores allow
	Decoder     string // the name of the decoder wanted; empty: the scanner's
	Native      bool   // columns are read by the fastest decoder that takes them, not all by the general one

	Datetime rebaseMode // of plain files whose writer is not known
	Int96    rebaseMode

	resolved []Resolved
	ignored  []Option // that have no effect on plain files
}

// property is where a read option falls back to.
type property struct {
	option, key string
	fallback    int64
	bits        int
}

// scanKind says which properties a scan goes by.
type scanKind uint8

const (
	scanData scanKind = iota
	scanMetadata
	scanPositionDeletes // a metadata table that is cut like data
	scanFiles           // plain files
)

// resolveOptions merges the options of a request with the table's properties: option, then property, then default. As Iceberg does, it parses
// a property also where an option wins, in the order target, lookback, cost; it checks no ranges.
func resolveOptions(options []Option, properties iceberg.Properties, kind scanKind) (readOptions, error) {
	target := property{"split-size", "read.split.target-size", defaultTarget, 64}
	if kind == scanMetadata {
		target.key, target.fallback = "read.split.metadata-target-size", defaultMetadataTarget
	}
	var ignored []Option
	if kind == scanFiles {
		options, ignored = filesOptions(options)
	}
	r := optionReader{options: options, properties: properties}
	out := readOptions{
		ignored:  ignored,
		Target:   r.number(target),
		Lookback: r.number(property{"lookback", "read.split.planning-lookback", defaultLookback, 32}),
		OpenCost: r.number(property{"file-open-cost", "read.split.open-file-cost", defaultOpenCost, 64}),
	}
	_, explicit := r.option("split-size")
	adaptive := "read.split.adaptive-size.enabled"
	if kind != scanData && kind != scanFiles {
		adaptive = "" // metadata tables have no properties of their own
	}
	out.Adaptive = r.flag("adaptive-split-size-enabled", adaptive, true) && !explicit
	out.Grouping = r.flag("preserve-data-grouping", "", false)
	out.Parallelism = r.number(property{"adaptive-split-size-parallelism", "", defaultParallelism, 32})
	out.Native = true
	if kind == scanFiles {
		out.Datetime, out.Int96 = r.rebase(datetimeRebaseOption), r.rebase(int96RebaseOption)
	}
	if kind == scanData || kind == scanFiles {
		out.Native = r.on("native-decoder")
		if o, ok := r.option("decoder"); ok {
			out.Decoder = o.Value
			r.resolved = append(r.resolved, Resolved{Name: o.Name, Value: o.Value, Scope: o.Scope, Key: o.Key})
		}
	}
	out.BatchRows = r.number(property{"batch-size", "", 0, 32})
	out.Concurrency = r.number(property{"concurrency", "", 0, 32})
	out.resolved = r.resolved
	if _, given := r.option("batch-size"); given && out.BatchRows <= 0 && r.err == nil {
		r.err = fault.New(fault.Invalid, "Invalid number of rows to read: %d", out.BatchRows)
	}
	if _, given := r.option("concurrency"); given && out.Concurrency <= 0 && r.err == nil {
		r.err = out.refuse("concurrency", "Splits read at once must be > 0: %d", out.Concurrency)
	}
	return out, r.err
}

type optionReader struct {
	options    []Option
	properties iceberg.Properties
	resolved   []Resolved
	err        error // the first
}

func (r *optionReader) option(name string) (Option, bool) {
	for _, o := range r.options {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

func (r *optionReader) number(p property) int64 {
	out, from := p.fallback, Resolved{Name: p.option, Scope: "default"}
	if text, ok := r.properties[p.key]; ok && p.key != "" {
		from.Scope, from.Key = "property", p.key
		out = r.parse(text, p, from)
	}
	if o, ok := r.option(p.option); ok {
		from.Scope, from.Key = o.Scope, o.Key
		out = r.parse(o.Value, p, from)
	}
	from.Value = strconv.FormatInt(out, 10)
	if p.fallback != 0 || from.Scope != "default" {
		r.resolved = append(r.resolved, from)
	}
	return out
}

// parse reads a number as Java does. What people write instead, such as 512m, is refused with the number that it would be.
func (r *optionReader) parse(text string, p property, from Resolved) int64 {
	n, err := strconv.ParseInt(strings.Map(asciiDigit, text), 10, p.bits)
	if err == nil || r.err != nil {
		return n
	}
	hint := ""
	if bytes, ok := sizeInWords(text); ok && p.bits == 64 {
		hint = fmt.Sprintf(": write %d", bytes)
	}
	r.err = fault.New(fault.Invalid, "For input string: \"%s\": the read option %s%s takes a whole number of %d bits%s", text, p.option, from.origin(), p.bits, hint).Change(from.Key)
	return n
}

// asciiDigit turns any decimal digit into 0 to 9, since Java's parser takes them all. Digits come in rows of ten.
func asciiDigit(r rune) rune {
	if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
		return r
	}
	for _, row := range unicode.Nd.R16 {
		if uint32(r) >= uint32(row.Lo) && uint32(r) <= uint32(row.Hi) {
			return '0' + (r-rune(row.Lo))%10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if uint32(r) >= row.Lo && uint32(r) <= row.Hi {
			return '0' + (r-rune(row.Lo))%10
		}
	}
	return r
}

// flag gives what the first that is set says; as in Spark, every word but true is false. A fallback of false is not worth telling.
func (r *optionReader) flag(name, key string, fallback bool) bool {
	out, from := fallback, Resolved{Name: name, Scope: "default"}
	if text, ok := r.properties[key]; ok && key != "" {
		out, from.Scope, from.Key = strings.EqualFold(text, "true"), "property", key
	}
	if o, ok := r.option(name); ok {
		out, from.Scope, from.Key = strings.EqualFold(o.Value, "true"), o.Scope, o.Key
	}
	from.Value = strconv.FormatBool(out)
	if fallback || from.Scope != "default" {
		r.resolved = append(r.resolved, from)
	}
	return out
}

// on gives a switch that is on unless something says false; only then is it worth telling.
func (r *optionReader) on(name string) bool {
	o, ok := r.option(name)
	if !ok || !strings.EqualFold(o.Value, "false") {
		return true
	}
	r.resolved = append(r.resolved, Resolved{Name: name, Value: "false", Scope: o.Scope, Key: o.Key})
	return false
}

// rebase gives a mode; that of files whose writer is not known is Spark 4's where none is set, and then not worth telling.
func (r *optionReader) rebase(name string) rebaseMode {
	o, ok := r.option(name)
	if !ok {
		return rebaseCorrected
	}
	out := rebaseMode(strings.ToUpper(o.Value))
	r.resolved = append(r.resolved, Resolved{Name: name, Value: string(out), Scope: o.Scope, Key: o.Key})
	if out != rebaseCorrected && out != rebaseLegacy && out != rebaseException && r.err == nil {
		r.err = fault.New(fault.Invalid, "%s is none of CORRECTED, LEGACY and EXCEPTION%s", o.Value, Resolved{Scope: o.Scope, Key: o.Key}.origin()).Change(o.Key)
	}
	return out
}

// check refuses values that parse and make no sense, in Iceberg's words and order.
func (o readOptions) check() error {
	switch {
	case o.Target <= 0:
		return o.refuse("split-size", "Split size must be > 0: %d", o.Target)
	case o.Lookback <= 0:
		return o.refuse("lookback", "Split planning lookback must be > 0: %d", o.Lookback)
	case o.OpenCost < 0:
		return o.refuse("file-open-cost", "File open cost must be >= 0: %d", o.OpenCost)
	}
	return nil
}

func (o readOptions) refuse(name, text string, value int64) error {
	for _, r := range o.resolved {
		if r.Name == name {
			return fault.New(fault.Invalid, "%s%s", fmt.Sprintf(text, value), r.origin()).Change(r.Key)
		}
	}
	return fault.New(fault.Invalid, text, value)
}

// adapt lowers the target where the scan would give fewer splits than can run at once. size is the bytes of all planned files with their
// deletes.
func (o readOptions) adapt(size int64) (readOptions, error) {
	if !o.Adaptive {
		return o, nil
	}
	target, err := adjustTarget(size, o.Parallelism, o.Target)
	if err != nil {
		return o, err
	}
	if target != o.Target {
		o.Target = target
		o.resolved = append(o.resolved, Resolved{Name: "effective-split-size", Value: strconv.FormatInt(target, 10), Scope: "adaptive"})
	}
	return o, nil
}

func adjustTarget(size, parallelism, target int64) (int64, error) {
	if parallelism <= 0 {
		return 0, fault.New(fault.Invalid, "Split parallelism must be > 0: %d", parallelism)
	}
	if target <= 0 {
		return 0, fault.New(fault.Invalid, "Split size must be > 0: %d", target)
	}
	if ceilDiv(size, target) >= parallelism {
		return target, nil
	}
	return max(size/parallelism, min(minAdaptiveTarget, target)), nil
}

func ceilDiv(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return a / b
	}
	return (a + b - 1) / b
}
