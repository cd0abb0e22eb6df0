package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/bind"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// reference turns a time-travel clause into a scan's reference.
func (s *statement) reference(b *bind.Binder, at *syntax.TimeTravel) (scan.Reference, error) {
	switch {
	case at == nil:
		return scan.Reference{}, nil
	case !at.Version:
		return s.timestamp(b, at.Expr, "TIMESTAMP AS OF "+at.Source)
	case at.Text != nil:
		return versionReference(*at.Text, "VERSION AS OF "+at.Source), nil
	}
	id, err := strconv.ParseInt(at.Number, 10, 64)
	if err != nil {
		return scan.Reference{}, fault.New(fault.Invalid, "Cannot find matching snapshot ID or reference name for version %s", at.Number).At(position(at.Pos))
	}
	return scan.Reference{Kind: scan.RefSnapshot, ID: id, Clause: "VERSION AS OF " + at.Source}, nil
}

func versionReference(version, clause string) scan.Reference {
	return scan.Reference{Kind: scan.RefName, Name: version, Clause: clause}
}

// timestamp evaluates the expression of TIMESTAMP AS OF: cast to a timestamp in the session's zone, cut to milliseconds.
func (s *statement) timestamp(b *bind.Binder, e syntax.Expr, clause string) (scan.Reference, error) {
	c, err := b.Evaluate(&syntax.Cast{Expr: e, Type: syntax.TypeName{Name: "timestamp", Pos: e.Pos()}})
	if err != nil {
		return scan.Reference{}, timestampExpr(e, err)
	}
	micros, ok := c.Value.(int64)
	if !ok {
		return scan.Reference{}, timestampExpr(e, nil)
	}
	if t, isTime := c.Type.(*arrow.TimestampType); !isTime || t.Unit != arrow.Microsecond {
		return scan.Reference{}, fault.New(fault.Internal, "TIMESTAMP AS OF gave a %s", c.Type)
	}
	return scan.Reference{Kind: scan.RefTimestamp, ID: time.UnixMicro(micros).UnixMilli(), Clause: clause}, nil
}

// timestampExpr refuses an expression that is no timestamp; what is not built keeps its own error.
func timestampExpr(e syntax.Expr, cause error) error {
	if fault.Is(cause, fault.Unsupported) {
		return cause
	}
	return fault.New(fault.Invalid, "The time travel timestamp expression %s is invalid. Cannot be casted to the \"TIMESTAMP\" type.", e).
		With("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT", "42K0E").At(position(e.Pos()))
}

// tableOptions are the pairs of WITH by their hyphenated lower-case name. The later of two spellings of one name wins, as in a map.
type tableOptions map[string]string

func (s *statement) tableOptions(b *bind.Binder, given []syntax.TableOption) (tableOptions, error) {
	out := tableOptions{}
	for _, o := range given {
		c, err := b.Evaluate(o.Value)
		if err != nil {
			return nil, err
		}
		name := strings.ToLower(o.Key)
		if known, ok := session.LookupReadOption(name); ok {
			name = known.Name
		}
		out[name] = optionText(o.Value, c)
	}
	return out, nil
}

// optionText gives an option's value as its reader parses it.
func optionText(e syntax.Expr, c sparktype.Value) string {
	if l, ok := e.(*syntax.Literal); ok {
		return l.Value
	}
	return fmt.Sprint(c.Value)
}

// travelOptions are the options that choose a snapshot, in the order in which they are looked at.
var travelOptions = []string{"snapshot-id", "as-of-timestamp", "branch", "tag", "version-as-of", "timestamp-as-of"}

// retired are those of them that Iceberg refuses since it leaves time travel to Spark's own clauses, in its order and words. A setting brings
// them back.
var retired = []struct{ option, instead string }{
	{"snapshot-id", "Time travel option `snapshot-id` is no longer supported, use Spark built-in `versionAsOf` instead"},
	{"as-of-timestamp", "Time travel option `as-of-timestamp` (in millis) is no longer supported, use Spark built-in `timestampAsOf` instead (properly formatted timestamp)"},
	{"tag", "Time travel option `tag` is no longer supported, use Spark built-in `versionAsOf` instead"},
}

// travelOptionsKey is the setting under which the retired options are honoured.
const travelOptionsKey = "skua.sql.time-travel-options"

// refuseRetired refuses the retired options unless the session wants them.
func (s *statement) refuseRetired(options tableOptions) error {
	if v, _ := s.state.Get(travelOptionsKey); strings.EqualFold(v, "true") {
		return nil
	}
	for _, r := range retired {
		if _, ok := options[r.option]; ok {
			return fault.New(fault.Invalid, "%s", r.instead).Change(travelOptionsKey)
		}
	}
	return nil
}

// optionReference gives the reference that options choose, if any. Two of them, and one beside a clause, are refused.
func (s *statement) optionReference(b *bind.Binder, options tableOptions, clause scan.Reference) (scan.Reference, error) {
	if err := s.refuseRetired(options); err != nil {
		return scan.Reference{}, err
	}
	if between, ok, err := rangeOptions(options, clause); ok || err != nil {
		return between, err
	}
	var set []string
	for _, name := range travelOptions {
		if _, ok := options[name]; ok {
			set = append(set, name)
		}
	}
	switch {
	case len(set) == 0:
		return clause, nil
	case len(set) > 1:
		return scan.Reference{}, conflictingOptions(options, set)
	case clause.Kind != scan.RefCurrent:
		return scan.Reference{}, fault.New(fault.Invalid, "Cannot set the read option %s beside %s: both select which table snapshot to scan", set[0], clause.Clause)
	}
	name, value := set[0], options[set[0]]
	written := name + " = " + value
	switch name {
	case "branch":
		return scan.Reference{Kind: scan.RefBranch, Name: value, Clause: written}, nil
	case "tag":
		return scan.Reference{Kind: scan.RefTag, Name: value, Clause: written}, nil
	case "version-as-of":
		return versionReference(value, written), nil
	case "timestamp-as-of":
		return s.timestamp(b, &syntax.Literal{Kind: syntax.String, Value: value, Text: "'" + value + "'"}, written)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return scan.Reference{}, fault.New(fault.Invalid, "read option %s: For input string: \"%s\"", name, value)
	}
	if name == "snapshot-id" {
		return scan.Reference{Kind: scan.RefSnapshot, ID: n, Clause: written}, nil
	}
	return scan.Reference{Kind: scan.RefTimestamp, ID: n, Clause: written}, nil
}

// wapReference gives the branch of spark.wap.branch where nothing else chooses a snapshot: of a table that allows it and has the branch.
func (s *statement) wapReference(f *found, at scan.Reference) (scan.Reference, error) {
	branch, ok := s.state.Get(wapBranchKey)
	if !ok || at.Kind != scan.RefCurrent || f.reference.Kind != scan.RefCurrent || f.metadata ||
		!slices.Contains(f.opened.Branches(), branch) && !slices.Contains(f.opened.Tags(), branch) {
		return at, nil
	}
	d, err := f.opened.Describe("")
	if err != nil {
		return at, err
	}
	for _, p := range d.Properties {
		if p.Key == "write.wap.enabled" && strings.EqualFold(p.Value, "true") {
			return scan.Reference{Kind: scan.RefBranch, Name: branch, Clause: wapBranchKey + " = " + branch}, nil
		}
	}
	return at, nil
}

func conflictingOptions(options tableOptions, set []string) error {
	if len(set) == 2 && set[0] == "snapshot-id" && set[1] == "as-of-timestamp" {
		return fault.New(fault.Invalid, "Cannot set both snapshot-id and as-of-timestamp to select which table snapshot to scan")
	}
	var given []string
	for _, name := range set {
		given = append(given, name+" ("+options[name]+")")
	}
	return fault.New(fault.Invalid, "Can specify only one of %s", strings.Join(given, ", "))
}

// rangeOptions gives the range of snapshots that options choose, which an incremental read or a changelog is over; false: none.
func rangeOptions(options tableOptions, clause scan.Reference) (scan.Reference, bool, error) {
	_, start := options["start-snapshot-id"]
	_, end := options["end-snapshot-id"]
	_, from := options["start-timestamp"]
	_, to := options["end-timestamp"]
	_, snapshot := options["snapshot-id"]
	_, timestamp := options["as-of-timestamp"]
	_, branch := options["branch"]
	if !start && !end && !from && !to {
		return scan.Reference{}, false, nil
	}
	refuse := func(text string) (scan.Reference, bool, error) {
		return scan.Reference{}, false, fault.New(fault.Invalid, "%s", text)
	}
	switch {
	case (start || end) && (snapshot || timestamp):
		return refuse("Cannot set start-snapshot-id and end-snapshot-id for incremental scans when either snapshot-id or as-of-timestamp is set")
	case clause.Kind != scan.RefCurrent || snapshot || timestamp:
		return refuse("Cannot use time travel in incremental scan")
	case branch:
		return scan.Reference{}, false, unsupported("the read option branch beside a range of snapshots is not supported")
	}
	out := scan.Reference{Kind: scan.RefRange, Range: &scan.Range{}}
	var words []string
	for _, o := range []struct {
		name string
		into **int64
	}{{"start-snapshot-id", &out.Range.After}, {"end-snapshot-id", &out.Range.Until}, {"start-timestamp", &out.Range.AfterTime}, {"end-timestamp", &out.Range.UntilTime}} {
		value, ok := options[o.name]
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return scan.Reference{}, false, fault.New(fault.Invalid, "read option %s: For input string: \"%s\"", o.name, value)
		}
		*o.into = &n
		words = append(words, o.name+" = "+value)
	}
	out.Clause = strings.Join(words, ", ")
	return out, true, nil
}

// changelog says that a name is of a table's changelog.
func (f *found) changelog() bool { return f.metadata && strings.EqualFold(f.suffix, "changes") }
