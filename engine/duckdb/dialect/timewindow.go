package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// timeWindow is a query that groups its rows by windows of time: window(ts, '10 minutes', '5 minutes', '1 minute').
type timeWindow struct {
	query  int    // its SELECT
	join   string // with the windows of a row
	key    string // the call as it is written
	calls  []int  // the tokens that it begins at
	insert int    // the token in front of which the windows are joined
	from   bool   // the query has FROM
	fields []int  // the names behind calls that are elements of its select list with them
	stars  []int  // the stars of its select list that have no qualifier
}

// joinedWindows are the columns that a join with a row's windows has: a star of what the query reads has none of them.
const joinedWindows = "skua_starts.skua_start, skua_window.`window`"

// maxWindows is how many windows one row may be in.
const maxWindows = 1000

// timeWindows gives the text of a statement in which a join with a row's windows stands for the calls of window; false: it has none.
func (r *rewriter) timeWindows() (string, bool) {
	if !r.Spark || !slices.ContainsFunc(r.tokens, func(t syntax.Token) bool { return t.Is("WINDOW") }) {
		return "", false
	}
	found := map[int]*timeWindow{}
	where := r.places()
	for i, t := range r.tokens {
		if !r.callsWindow(i) {
			continue
		}
		if r.closing(i+1) < 0 {
			return "", false
		}
		query := where[i].query
		w := found[query]
		if w == nil {
			w = &timeWindow{query: query}
			found[query] = w
		}
		join, ok := r.windowsOfRow(i)
		key := r.textOf(i+1, r.closing(i+1))
		switch {
		case !ok:
			return "", false
		case len(r.Values) > 0 || query < 0:
			r.refused(t.Pos, "window is not supported beside session variables and outside of SELECT")
			return "", false
		case w.key != "" && w.key != key:
			r.invalid(i, "_LEGACY_ERROR_TEMP_1039", "", "Multiple time/session window expressions would result in a cartesian product of rows, therefore they are currently not supported.")
			return "", false
		}
		w.join, w.key, w.calls = join, key, append(w.calls, i)
		if end := r.closing(i + 1); where[i].clause == "SELECT" && r.around(i) == r.around(query) && oneOf(r.at(i-1), "SELECT", "DISTINCT", ",") && r.at(end).Is(".") && oneOf(r.at(end+2), ",", "FROM") {
			w.fields = append(w.fields, end+1)
		}
	}
	if len(found) == 0 {
		return "", false
	}
	for _, w := range found {
		if !r.joinsWindows(w, where) {
			return "", false
		}
	}
	return r.withWindows(found), true
}

// callsWindow reports whether a call of window begins at a token: no list of windows with names does.
func (r *rewriter) callsWindow(i int) bool {
	return r.at(i).Is("WINDOW") && r.at(i).Kind == syntax.Word && r.at(i+1).Is("(") && (i == 0 || !r.at(i-1).Is("."))
}

// windowsOfRow writes the join with a row's windows; false: the arguments are wrong.
func (r *rewriter) windowsOfRow(at int) (string, bool) {
	kept := r.next
	r.next = at + 1
	bounds := r.argumentBounds()
	r.next = kept
	if len(bounds) < 2 || len(bounds) > 4 {
		r.wrongCount("window", len(bounds), aggregation{least: 2, most: 4}, r.at(at).Pos)
		return "", false
	}
	times := make([]int64, 3)
	for i, b := range bounds[1:] {
		text, ok := r.literal(b)
		if !ok {
			r.invalid(at, "_LEGACY_ERROR_TEMP_1207", "", "The duration and time inputs to window must be an integer, long or string literal.")
			return "", false
		}
		if times[i], ok = r.windowTime(at, text); !ok {
			return "", false
		}
	}
	if len(bounds) == 2 {
		times[1] = times[0]
	}
	switch size, slide, start := times[0], times[1], times[2]; {
	case size <= 0 || slide <= 0:
		r.invalid(at, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "42K09", "The duration of a window must be between (0, 9223372036854775807].")
		return "", false
	case slide > size:
		r.invalid(at, "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "42K09", "The `slide_duration` must be <= the `window_duration`.")
		return "", false
	case max(start, -start) >= slide:
		r.invalid(at, "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "42K09", "The `abs(start_time)` must be < the `slide_duration`.")
		return "", false
	case (size-1)/slide >= maxWindows:
		r.refused(r.at(at).Pos, "a row is in more than %d windows", maxWindows)
		return "", false
	default:
		numbers := strconv.FormatInt(size, 10) + ", " + strconv.FormatInt(slide, 10) + ", " + strconv.FormatInt(start, 10)
		of := r.textOf(bounds[0][0], bounds[0][1])
		return "LATERAL VIEW explode(skua_windows(" + numbers + ", " + of + ")) skua_starts AS skua_start " +
			"LATERAL VIEW explode(array(skua_window_of(skua_start, " + strconv.FormatInt(size, 10) + ", " + of + "))) skua_window AS `window`", true
	}
}

// windowTime gives the microseconds of an interval; false: it is none, or has months.
func (r *rewriter) windowTime(at int, text string) (int64, bool) {
	words := strings.TrimSpace(text)
	if len(words) > 9 && strings.EqualFold(words[:9], "interval ") {
		words = words[9:]
	}
	tokens, err := syntax.Tokens("INTERVAL " + words)
	if err == nil {
		literal, n, readErr := syntax.ReadInterval(tokens)
		switch {
		case readErr != nil || n != len(tokens)-1:
		case literal.Months:
			r.invalid(at, "_LEGACY_ERROR_TEMP_3231", "", "Intervals greater than a month is not supported (%s).", text)
			return 0, false
		default:
			return literal.Value, true
		}
	}
	r.invalid(at, "CANNOT_PARSE_INTERVAL", "22006", "Unable to parse '%s'. Please ensure that the value provided is in a valid format for defining an interval.", text)
	return 0, false
}

// textOf gives the statement's text of some tokens.
func (r *rewriter) textOf(from, to int) string {
	last := r.at(to - 1)
	return r.text[r.at(from).Pos.Offset : last.Pos.Offset+len(last.Text)]
}

// joinsWindows finds where the windows of a query are joined: behind FROM, or in its place.
func (r *rewriter) joinsWindows(w *timeWindow, where []place) bool {
	end := w.query + 1
	for ; end < len(r.tokens)-1; end++ {
		t := r.at(end)
		if t.Is("(") {
			if end = r.closing(end) - 1; end < 0 {
				return false
			}
			continue
		}
		inFrom := where[end].query == w.query && (where[end].clause == "FROM" || where[end].clause == "ON")
		w.from = w.from || inFrom
		if len(w.stars) > 0 && inFrom && oneOf(t, "USING", "NATURAL") {
			return !r.refused(r.at(w.stars[0]).Pos, "window beside * is not supported over joins with USING and NATURAL: name the columns")
		}
		if t.Is("*") && oneOf(r.at(end-1), "SELECT", "DISTINCT", "ALL", ",") && where[end].clause == "SELECT" {
			w.stars = append(w.stars, end)
		}
		if t.Is(")") || t.Is(";") || !(t.Is("EXCEPT") && r.at(end-1).Is("*")) && oneOf(t, "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "QUALIFY", "UNION", "INTERSECT", "EXCEPT", "MINUS", "SORT", "CLUSTER", "DISTRIBUTE", "OFFSET") ||
			t.Is("WINDOW") && r.namesWindow(end) {
			break
		}
	}
	w.insert = end
	return true
}

// withWindows writes the statement anew.
func (r *rewriter) withWindows(found map[int]*timeWindow) string {
	var b strings.Builder
	joins, ends, behind := map[int]string{}, map[int]int{}, map[int]string{}
	for _, w := range found {
		from := ""
		if !w.from {
			from = "FROM (SELECT 1) "
		}
		joins[w.insert] = " " + from + w.join + " "
		for _, field := range w.fields {
			behind[field] = " AS " + syntax.Quote("window."+r.at(field).Name()) + " "
		}
		for _, star := range w.stars {
			if oneOf(r.at(star+1), "EXCEPT", "EXCLUDE") && r.at(star+2).Is("(") {
				behind[star+2] = joinedWindows + ", "
			} else {
				behind[star] = " EXCEPT (" + joinedWindows + ") "
			}
		}
		for _, c := range w.calls {
			ends[c] = r.closing(c + 1)
		}
	}
	at := 0
	copyTo := func(token int) {
		if offset := r.at(token).Pos.Offset; offset > at {
			b.WriteString(r.text[at:offset])
			at = offset
		}
	}
	for i := 0; i < len(r.tokens); i++ {
		copyTo(i)
		b.WriteString(joins[i])
		t := r.at(i)
		switch end, call := ends[i]; {
		case call:
			b.WriteString("`window`")
			at = r.at(end-1).Pos.Offset + 1
			i = end - 1
		case t.Is("WINDOW") && t.Kind == syntax.Word && !r.namesWindow(i), t.Is("END") && i > 0 && r.at(i-1).Is("."):
			b.WriteString("`" + t.Text + "`")
			at = t.Pos.Offset + len(t.Text)
		}
		if text := behind[i]; text != "" {
			copyTo(i + 1)
			b.WriteString(text)
		}
	}
	b.WriteString(r.text[at:])
	return b.String()
}

// namesWindow reports whether the word at a token begins a list of windows with names.
func (r *rewriter) namesWindow(i int) bool { return r.at(i+2).Is("AS") && r.at(i+3).Is("(") }

// windowCalls are the functions that windows of time are written with.
var windowCalls = map[string]function{
	"window_time": counting("window_time", 1, 1, byTypes(1, 1, func(types []Type) (verdict, error) {
		out := verdict{text: `(($1)."end" - to_microseconds(1))`, casts: []string{""}}
		if t := types[0]; t.Name != "STRUCT" && t.Name != "" {
			return out, unexpected("window_time", "STRUCT<start: TIMESTAMP, end: TIMESTAMP>", t)
		}
		return out, nil
	})),
	"skua_windows":   byTypes(4, 4, windowRule("skua_window_starts($1, $2, $3, epoch_us($4))", "skua_window_starts($1, $2, $3, epoch_us($4))")),
	"skua_window_of": byTypes(3, 3, windowRule("{'start': make_timestamptz($1), 'end': make_timestamptz(($1) + ($2))}", "{'start': make_timestamp($1), 'end': make_timestamp(($1) + ($2))}")),
}

// windowRule is for what is written otherwise of wall clocks than of instants, which are the last argument.
func windowRule(instant, wall string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		last := len(types) - 1
		out := verdict{text: instant, casts: make([]string, len(types))}
		switch t := types[last]; {
		case t.Name == "TIMESTAMP":
			out.text = wall
		case t.Name == "DATE", t.Name == "VARCHAR", t.Name == `"NULL"`:
			out.casts[last] = "TIMESTAMP WITH TIME ZONE"
		case t.Name != "" && !isDatetime(t):
			return out, unexpected("window", "(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)", t)
		}
		return out, nil
	}
}
