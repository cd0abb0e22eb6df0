package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// liftedName is what stands for the arguments of a call that are made of aggregates.
const liftedName = "skua_lifted"

// byArgument are the functions written as macros that are chosen by the type of an argument. The engine does not know it of aggregates and of what is made of them.
var byArgument = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`add_months base64 bit_length char_length character_length convert_timezone crc32 date date_add date_diff date_format date_from_unix_date date_part
		date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear encode extract format_number from_unixtime from_utc_timestamp
		hour last_day left len length lpad make_timestamp make_timestamp_ltz make_timestamp_ntz minute month monthname months_between next_day octet_length
		quarter rpad second sha2 substr substring timestamp timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff to_binary to_char
		to_date to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar trunc try_make_timestamp try_make_timestamp_ltz
		try_make_timestamp_ntz try_to_binary try_to_date try_to_timestamp unix_date unix_timestamp weekday weekofyear year`) {
		out[name] = true
	}
	return out
}()

// noDate are those of them that take days, times and intervals, none of which is nearer to NULL than the others.
var noDate = map[string]bool{"year": true, "quarter": true, "month": true, "day": true, "dayofmonth": true, "dayofweek": true, "weekday": true, "weekofyear": true, "dayofyear": true, "hour": true,
	"minute": true, "second": true, "extract": true, "date_part": true, "datepart": true}

// lifted writes a call whose arguments have aggregates as a lambda over them, whose types are known inside; false: it is none.
func (r *rewriter) lifted(name string, open int, call func()) bool {
	if !r.Spark || !byArgument[name] || !r.at(open).Is("(") {
		return false
	}
	var parts [][2]int
	for _, b := range r.argumentBounds() {
		for from := b[0]; from < b[1]; {
			end := min(r.endOf(from, "FROM", "FOR"), b[1])
			if end == from+1 && r.at(from).Is("NULL") && noDate[name] {
				r.standsFor(from, stand{"CAST(NULL AS DATE)", end})
			}
			if _, done := r.stands[from]; !done && r.aggregates(from, end) {
				parts = append(parts, [2]int{from, end})
			}
			from = end + 1
		}
	}
	if len(parts) == 0 {
		return false
	}
	pos := r.at(open - 1).Pos
	r.emitAt("list_transform([struct_pack(", pos)
	for i, p := range parts {
		if i > 0 {
			r.emit(",")
		}
		r.emit("p" + itoa(i) + " :=")
		r.out.pieces = append(r.out.pieces, r.between(p)...)
	}
	r.emit(")], lambda " + liftedName + ":")
	for i, p := range parts {
		r.standsFor(p[0], stand{"struct_extract(" + liftedName + ", 'p" + itoa(i) + "')", p[1]})
	}
	call()
	for _, p := range parts {
		delete(r.stands, p[0])
	}
	r.emit(")[1]")
	return true
}

// stand is a text that stands for what is between its token and another one.
type stand struct {
	text string
	end  int
}

func (r *rewriter) standsFor(from int, s stand) {
	if r.stands == nil {
		r.stands = map[int]stand{}
	}
	r.stands[from] = s
}

// stood writes what stands for the tokens that come next; false: nothing does.
func (r *rewriter) stood() bool {
	s, ok := r.stands[r.next]
	if ok {
		r.emitAt(s.text, r.peek().Pos)
		r.next = s.end
	}
	return ok
}

// aggregates reports whether there are calls of aggregates or of window functions between two tokens.
func (r *rewriter) aggregates(from, to int) bool {
	for i := from; i+1 < to; i++ {
		t := r.at(i)
		if t.Kind != syntax.Word || !r.at(i+1).Is("(") || i > 0 && r.at(i-1).Is(".") {
			continue
		}
		if isAggregate(strings.ToLower(t.Text)) || t.Is("OVER") || t.Is("FILTER") {
			return true
		}
	}
	return false
}

// isAggregate reports whether a function, in lower case, is an aggregate.
func isAggregate(name string) bool {
	if _, ok := aggregations[name]; ok {
		return true
	}
	_, ok := statistic(name)
	return ok || strings.HasPrefix(name, "bitmap_") && strings.HasSuffix(name, "_agg") || valueCalls[name][1] != "" || oneOf(syntax.Token{Kind: syntax.Word, Text: name}, "sum", "avg", "mean", "count", "try_sum", "try_avg", "percentile_cont", "percentile_disc", "grouping", "grouping_id")
}
