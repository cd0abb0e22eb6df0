package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/conformance"
)

// Class is what an answer is worth.
type Class string

// The classes, best first.
const (
	Equal   Class = "equal"    // columns and rows are the same
	ErrorOK Class = "error-ok" // an error was recorded and an error came
	Beyond  Class = "beyond"   // rows came where the reference fails by a fault or a limit of its own
	Decided Class = "decided"  // differs, as the deviations say it may
	Refused Class = "refused"  // rows were recorded; an error came that says that this is not supported
	Wrong   Class = "wrong"    // other rows or columns, or rows where an error was due
	Failed  Class = "failed"   // any other error
)

// Classes gives them in that order.
func Classes() []Class { return []Class{Equal, ErrorOK, Beyond, Decided, Refused, Wrong, Failed} }

var (
	unsupported    = regexp.MustCompile(`(?i)unsupported|not (yet )?supported|does not support|unimplemented|not implemented|refus`)
	referenceLimit = regexp.MustCompile(`(?i)Spark does not support|Cannot convert unsupported type to Spark`)
)

// judge classes what came, either an answer or an error, and says why.
func (s *Suite) judge(f *File, r *Recorded, got *conformance.Answer, err error, values conformance.Renames) (Class, []string) {
	class, notes := s.compareWith(f, r, got, err, values)
	if d, ok := s.deviations[r.ID]; ok && (class == Wrong || class == Failed || class == Beyond) {
		return Decided, append([]string{d.Why}, notes...)
	}
	return class, notes
}

func (s *Suite) compareWith(f *File, r *Recorded, got *conformance.Answer, err error, values conformance.Renames) (Class, []string) {
	correction, corrected := s.corrections[r.ID]
	switch {
	case err != nil:
		return r.judgeError(err)
	case got.Update:
		return r.judgeEffect()
	case r.Schema == "struct<>" && r.Error == nil:
		return judgeNothing(got)
	case r.Refuse != "":
		return Wrong, []string{fmt.Sprintf("%d rows where an error was due: %s", got.Rows(), r.Refuse)}
	case r.Error != nil:
		return r.judgeUnexpected(f, got)
	case !corrected:
		return verdict(compare(r, r.Rows, got, values))
	}
	bad := compare(r, correction.Rows, got, values)
	if bad != nil && compare(r, r.Rows, got, values) == nil {
		bad = []string{"the same wrong rows as the reference: " + correction.Why}
	}
	return verdict(bad)
}

func verdict(bad []string) (Class, []string) {
	if bad == nil {
		return Equal, nil
	}
	return Wrong, bad
}

func (r *Recorded) judgeError(err error) (Class, []string) {
	notes := []string{clip(err.Error())}
	switch {
	case r.Error != nil || r.Refuse != "":
		return ErrorOK, append([]string{r.sameText(err)}, notes...)
	case r.MayRefuse != "":
		return ErrorOK, append([]string{"may be refused: " + r.MayRefuse}, notes...)
	case unsupported.MatchString(err.Error()):
		return Refused, notes
	}
	return Failed, notes
}

// sameText says whether an error tells what the recorded one does.
func (r *Recorded) sameText(err error) string {
	for _, key := range []string{"condition", "root_message"} {
		recorded, _ := r.Error[key].(string)
		line, _, _ := strings.Cut(recorded, "\n")
		if line = line[:min(len(line), 60)]; line != "" && strings.Contains(err.Error(), line) {
			return "the same condition or message"
		}
	}
	return "another text"
}

// judgeEffect is for statements run as updates: they give a count and no rows.
func (r *Recorded) judgeEffect() (Class, []string) {
	switch {
	case r.Error != nil || r.Refuse != "":
		return Wrong, []string{"an effect where an error was due"}
	case r.Schema == "struct<>" || setValue.MatchString(r.SQL):
		return Equal, []string{"run for its effect"}
	}
	return Wrong, []string{"taken for an update, with rows due"}
}

// setValue finds the statements whose recorded row only repeats what was set.
var setValue = regexp.MustCompile(`(?is)^\s*SET\s+(.*=|TIME\s+ZONE\s)`)

// judgeNothing is for results without columns: one int64 column stands for them, since a stream without columns breaks clients.
func judgeNothing(got *conformance.Answer) (Class, []string) {
	fields := got.Schema.Fields()
	if got.Rows() == 0 || len(fields) == 1 && fields[0].Type.ID() == arrow.INT64 && got.Rows() == 1 {
		return Equal, nil
	}
	return Wrong, []string{fmt.Sprintf("%d rows where none were due", got.Rows())}
}

// judgeUnexpected is for rows where the reference failed.
func (r *Recorded) judgeUnexpected(f *File, got *conformance.Answer) (Class, []string) {
	recorded, err := json.Marshal(r.Error)
	if err != nil {
		return Failed, []string{err.Error()}
	}
	if r.ReferenceDefect == nil && !referenceLimit.Match(recorded) {
		return Wrong, []string{fmt.Sprintf("%d rows where an error was due: %v", got.Rows(), clip(string(recorded)))}
	}
	if f.generics != nil && f.generics.Rows != nil && wholeTable(r.SQL, f.table) {
		return verdict(compareGenerics(f.generics, got))
	}
	return Beyond, []string{fmt.Sprintf("%d rows", got.Rows())}
}
