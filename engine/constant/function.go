package constant

import (
	"encoding/hex"
	"math"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// function is a function of constants. Arguments are cast to the types in takes, the last of which repeats when variadic; a nil type takes any.
// Unless nulls is set, a NULL argument makes the result NULL.
type function struct {
	name     string
	takes    []arrow.DataType
	least    int // how many arguments it needs
	variadic bool
	nulls    bool
	gives    arrow.DataType // nil: what apply says
	apply    func(in sparktype.Session, args []sparktype.Value) (sparktype.Value, error)
}

// functions are those that take constants only, by name; the names of types cast, as in double('1.5').
var functions = []function{
	{name: "timestamp_seconds", takes: []arrow.DataType{nil}, least: 1, gives: sparktype.Timestamp, apply: epochSeconds},
	{name: "timestamp_millis", takes: []arrow.DataType{nil}, least: 1, gives: sparktype.Timestamp, apply: epoch(1_000)},
	{name: "timestamp_micros", takes: []arrow.DataType{nil}, least: 1, gives: sparktype.Timestamp, apply: epoch(1)},
	{name: "unix_micros", takes: []arrow.DataType{sparktype.Timestamp}, least: 1, gives: sparktype.Bigint, apply: sinceEpoch(1)},
	{name: "unix_millis", takes: []arrow.DataType{sparktype.Timestamp}, least: 1, gives: sparktype.Bigint, apply: sinceEpoch(1_000)},
	{name: "unix_seconds", takes: []arrow.DataType{sparktype.Timestamp}, least: 1, gives: sparktype.Bigint, apply: sinceEpoch(1_000_000)},
	{name: "date_from_unix_date", takes: []arrow.DataType{sparktype.Int}, least: 1, gives: sparktype.Date, apply: same},
	{name: "unix_date", takes: []arrow.DataType{sparktype.Date}, least: 1, gives: sparktype.Int, apply: same},
	{name: "date_add", takes: []arrow.DataType{sparktype.Date, sparktype.Int}, least: 2, gives: sparktype.Date, apply: addDays(1)},
	{name: "dateadd", takes: []arrow.DataType{sparktype.Date, sparktype.Int}, least: 2, gives: sparktype.Date, apply: addDays(1)},
	{name: "date_sub", takes: []arrow.DataType{sparktype.Date, sparktype.Int}, least: 2, gives: sparktype.Date, apply: addDays(-1)},
	{name: "make_date", takes: []arrow.DataType{sparktype.Int, sparktype.Int, sparktype.Int}, least: 3, gives: sparktype.Date, apply: makeDate},
	{name: "to_date", takes: []arrow.DataType{sparktype.Date}, least: 1, gives: sparktype.Date, apply: same},
	{name: "to_timestamp", takes: []arrow.DataType{sparktype.Timestamp}, least: 1, gives: sparktype.Timestamp, apply: same},
	{name: "to_timestamp_ntz", takes: []arrow.DataType{sparktype.TimestampNTZ}, least: 1, gives: sparktype.TimestampNTZ, apply: same},
	{name: "to_timestamp_ltz", takes: []arrow.DataType{sparktype.Timestamp}, least: 1, gives: sparktype.Timestamp, apply: same},
	{name: "current_timestamp", gives: sparktype.Timestamp, apply: now},
	{name: "now", gives: sparktype.Timestamp, apply: now},
	{name: "localtimestamp", gives: sparktype.TimestampNTZ, apply: nowAs(sparktype.TimestampNTZ)},
	{name: "current_date", gives: sparktype.Date, apply: nowAs(sparktype.Date)},
	{name: "curdate", gives: sparktype.Date, apply: nowAs(sparktype.Date)},
	{name: "current_timezone", gives: sparktype.String, apply: func(in sparktype.Session, _ []sparktype.Value) (sparktype.Value, error) {
		return sparktype.TextValue(in.Zone.String()), nil
	}},
	{name: "concat", takes: []arrow.DataType{nil}, variadic: true, apply: concat},
	{name: "unhex", takes: []arrow.DataType{sparktype.String}, least: 1, gives: sparktype.Binary, apply: unhex},
	{name: "hex", takes: []arrow.DataType{nil}, least: 1, gives: sparktype.String, apply: toHex},
	{name: "lower", takes: []arrow.DataType{sparktype.String}, least: 1, gives: sparktype.String, apply: onText(sparktext.Lower)},
	{name: "lcase", takes: []arrow.DataType{sparktype.String}, least: 1, gives: sparktype.String, apply: onText(sparktext.Lower)},
	{name: "upper", takes: []arrow.DataType{sparktype.String}, least: 1, gives: sparktype.String, apply: onText(sparktext.Upper)},
	{name: "ucase", takes: []arrow.DataType{sparktype.String}, least: 1, gives: sparktype.String, apply: onText(sparktext.Upper)},
	{name: "trim", takes: []arrow.DataType{sparktype.String}, least: 1, gives: sparktype.String, apply: onText(func(s string) string { return strings.Trim(s, " ") })},
	{name: "length", takes: []arrow.DataType{nil}, least: 1, gives: sparktype.Int, apply: length},
	{name: "char_length", takes: []arrow.DataType{nil}, least: 1, gives: sparktype.Int, apply: length},
	{name: "abs", takes: []arrow.DataType{nil}, least: 1, apply: absolute},
	{name: "negative", takes: []arrow.DataType{nil}, least: 1, apply: negative},
	{name: "positive", takes: []arrow.DataType{nil}, least: 1, apply: func(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) { return a[0], nil }},
	{name: "pi", gives: sparktype.Double, apply: func(sparktype.Session, []sparktype.Value) (sparktype.Value, error) {
		return sparktype.Value{Value: math.Pi}, nil
	}},
	{name: "e", gives: sparktype.Double, apply: func(sparktype.Session, []sparktype.Value) (sparktype.Value, error) {
		return sparktype.Value{Value: math.E}, nil
	}},
	{name: "coalesce", takes: []arrow.DataType{nil}, least: 1, variadic: true, nulls: true, apply: coalesce},
	{name: "ifnull", takes: []arrow.DataType{nil, nil}, least: 2, nulls: true, apply: coalesce},
	{name: "nvl", takes: []arrow.DataType{nil, nil}, least: 2, nulls: true, apply: coalesce},
}

// niladics are the functions that may stand without parentheses.
var niladics = map[string]bool{"current_timestamp": true, "current_date": true, "localtimestamp": true}

// executorWords are the functions without parentheses that an Executor alone has.
var executorWords = map[string]bool{"current_time": true, "localtime": true, "current_role": true}

// ExecutorWord reports whether a name that no column has is a function without parentheses that an Executor alone has.
func ExecutorWord(e *syntax.Column) bool {
	return len(e.Parts) == 1 && !e.Parts[0].Quoted && executorWords[strings.ToLower(e.Parts[0].Text)]
}

func functionNamed(name string) (function, bool) {
	for _, f := range functions {
		if f.name == name && f.apply != nil {
			return f, true
		}
	}
	if t, ok := sparktype.Named(name); ok && name != "void" && name != "char" { // char(65) is A
		return function{name: name, takes: []arrow.DataType{t}, least: 1, nulls: true, gives: t, apply: same}, true
	}
	if name == "decimal" {
		t := sparktype.Decimal(10, 0)
		return function{name: name, takes: []arrow.DataType{t}, least: 1, nulls: true, gives: t, apply: same}, true
	}
	return function{}, false
}

// niladic gives a function without parentheses, or says that a column has no place here.
func (ev *Evaluator) niladic(e *syntax.Column) (sparktype.Value, error) {
	if v, ok := ev.Scope.Variable(e); ok {
		return v, nil
	}
	if name, ok := ev.functionLike(e); ok {
		if v, ok := ev.Scope.SessionValue(name); ok {
			return v, nil
		}
		f, _ := functionNamed(name)
		return ev.invoke(f, nil)
	}
	if err := ev.Scope.Resolve(e); err != nil {
		return sparktype.Value{}, err
	}
	return sparktype.Value{}, fault.New(fault.Unsupported, "the column %s where a constant is due is not supported", syntax.BackQuote(syntax.Texts(e.Parts)...))
}

// IsConstant reports whether a name means a constant: a function without parentheses or a session variable, which no column hides.
func (ev *Evaluator) IsConstant(e *syntax.Column) bool {
	_, ok := ev.functionLike(e)
	return ok
}

// functionLike reports whether a name is a function without parentheses: no column has it.
func (ev *Evaluator) functionLike(e *syntax.Column) (string, bool) {
	name := strings.ToLower(e.Parts[0].Text)
	if _, ok := ev.Scope.Variable(e); ok {
		return name, true
	}
	_, ofSession := ev.Scope.SessionValue(name)
	if len(e.Parts) != 1 || e.Parts[0].Quoted || !niladics[name] && !ofSession {
		return "", false
	}
	return name, ev.Scope.Resolve(e) != nil
}

func (ev *Evaluator) call(e *syntax.Call) (sparktype.Value, error) {
	name := strings.ToLower(e.Name[len(e.Name)-1].Text)
	if IsTest(e) {
		return ev.Scope.Test(e)
	}
	if v, ok := ev.Scope.SessionValue(name); ok && len(e.Name) == 1 && len(e.Args) == 0 && !e.Star {
		return v, nil
	}
	f, ok := functionNamed(name)
	if !ok || len(e.Name) > 1 || e.Star || e.Distinct {
		return sparktype.Value{}, fault.New(fault.Unsupported, "the function %s is not supported", strings.Join(syntax.Texts(e.Name), "."))
	}
	args := make([]sparktype.Value, len(e.Args))
	for i, a := range e.Args {
		c, err := ev.evaluate(a)
		if err != nil {
			return sparktype.Value{}, err
		}
		if c.Unbound {
			return sparktype.Value{Type: arrow.Null, Unbound: true}, nil
		}
		args[i] = c
	}
	if ev.leavesCall(name, args) {
		return sparktype.Value{}, leftOver(e)
	}
	return ev.invoke(f, args)
}

func (ev *Evaluator) invoke(f function, args []sparktype.Value) (sparktype.Value, error) {
	if n := len(args); n < f.least || n > len(f.takes) && !f.variadic {
		if n > f.least {
			return sparktype.Value{}, fault.New(fault.Unsupported, "the function %s with %d arguments is not supported", f.name, n)
		}
		return sparktype.Value{}, fault.New(fault.Invalid, "The `%s` requires %d parameters but the actual number is %d. ", f.name, f.least, n).
			With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605")
	}
	missing := false
	for i := range args {
		var err error
		if t := f.takes[min(i, len(f.takes)-1)]; t != nil {
			if args[i], err = ev.Cast(args[i], t); err != nil {
				return sparktype.Value{}, err
			}
		}
		missing = missing || args[i].Null()
	}
	if missing && !f.nulls {
		t := f.gives
		if t == nil {
			t = args[0].Type
		}
		return sparktype.NullOf(t), nil
	}
	out, err := f.apply(ev.Session, args)
	if f.gives != nil {
		out.Type = f.gives
	}
	out.Digits = 0
	return out, err
}

func same(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) { return a[0], nil }

func now(in sparktype.Session, _ []sparktype.Value) (sparktype.Value, error) {
	return sparktype.Value{Type: sparktype.Timestamp, Value: in.Now.UnixMicro()}, nil
}

// nowAs gives the date or the wall clock of the statement in the session's zone.
func nowAs(t arrow.DataType) func(sparktype.Session, []sparktype.Value) (sparktype.Value, error) {
	return func(in sparktype.Session, _ []sparktype.Value) (sparktype.Value, error) {
		return in.Cast(sparktype.Value{Type: sparktype.Timestamp, Value: in.Now.UnixMicro()}, t)
	}
}

func sinceEpoch(divisor int64) func(sparktype.Session, []sparktype.Value) (sparktype.Value, error) {
	return func(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
		return sparktype.Value{Value: sparktext.FloorDiv(a[0].Value.(int64), divisor)}, nil
	}
}

func addDays(sign int64) func(sparktype.Session, []sparktype.Value) (sparktype.Value, error) {
	return func(in sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
		sum := a[0].Value.(int64) + sign*a[1].Value.(int64)
		if !in.Ansi {
			sum = int64(int32(sum)) // Spark's days run over
		}
		if sum != int64(int32(sum)) {
			return sparktype.Value{}, arith.Overflow("integer", "add")
		}
		return sparktype.Value{Value: sum}, nil
	}
}

func makeDate(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	y, m, d := a[0].Value.(int64), a[1].Value.(int64), a[2].Value.(int64)
	t := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
	if m < 1 || m > 12 || d < 1 || d > 31 || t.Day() != int(d) || y < -999_999 || y > 999_999 {
		return sparktype.Value{}, fault.New(fault.Invalid, "Invalid date '%d-%d-%d'. %s.", y, m, d, arith.AnsiOff).With("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "22023")
	}
	return sparktype.Value{Value: sparktext.FloorDiv(t.Unix(), sparktext.SecondsPerDay)}, nil
}

func concat(in sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	var out strings.Builder
	raw := len(a) > 0
	for _, c := range a {
		raw = raw && c.Type.ID() == arrow.BINARY
	}
	for _, c := range a {
		if b, ok := c.Value.([]byte); ok && raw {
			out.Write(b)
		} else {
			out.WriteString(in.Text(c))
		}
	}
	if raw {
		return sparktype.Value{Type: sparktype.Binary, Value: []byte(out.String())}, nil
	}
	return sparktype.TextValue(out.String()), nil
}

func unhex(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	raw, ok := sparktype.Unhex(a[0].Value.(string))
	if !ok {
		return sparktype.Value{}, nil
	}
	return sparktype.Value{Value: raw}, nil
}

func toHex(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	switch v := a[0].Value.(type) {
	case int64:
		if sparktype.Integral(a[0].Type) {
			return sparktype.TextValue(strings.ToUpper(new(big.Int).SetUint64(uint64(v)).Text(16))), nil
		}
	case string:
		return sparktype.TextValue(strings.ToUpper(hex.EncodeToString([]byte(v)))), nil
	case []byte:
		return sparktype.TextValue(strings.ToUpper(hex.EncodeToString(v))), nil
	}
	return sparktype.Value{}, fault.New(fault.Unsupported, "the function hex of %s is not supported", sparktype.SQLName(a[0].Type))
}

func onText(f func(string) string) func(sparktype.Session, []sparktype.Value) (sparktype.Value, error) {
	return func(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
		return sparktype.TextValue(f(a[0].Value.(string))), nil
	}
}

func length(in sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	if raw, ok := a[0].Value.([]byte); ok {
		return sparktype.Value{Value: int64(len(raw))}, nil
	}
	return sparktype.Value{Value: int64(utf8.RuneCountInString(in.Text(a[0])))}, nil
}

func absolute(in sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	switch v := a[0].Value.(type) {
	case float64:
		return sparktype.Value{Type: a[0].Type, Value: math.Abs(v)}, nil
	case decimal128.Num:
		return sparktype.Value{Type: a[0].Type, Value: v.Abs()}, nil
	case int64:
		if sparktype.Integral(a[0].Type) && v >= 0 {
			return a[0], nil
		}
	}
	return negative(in, a)
}

func negative(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	if !sparktype.Numeric(a[0].Type) {
		return sparktype.Value{}, fault.New(fault.Unsupported, "the negative of %s is not supported", sparktype.SQLName(a[0].Type))
	}
	return negate(a[0])
}

// coalesce gives the first argument that is not NULL, in the type that all have in common.
func coalesce(in sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	common := a[0].Type
	for _, c := range a[1:] {
		t, ok := sparktype.Common(common, c.Type)
		if !ok {
			return sparktype.Value{}, fault.New(fault.Unsupported, "a choice between %s and %s is not supported", sparktype.SQLName(common), sparktype.SQLName(c.Type))
		}
		common = t
	}
	for _, c := range a {
		if !c.Null() {
			return in.Cast(c, common)
		}
	}
	return sparktype.NullOf(common), nil
}

// truthFunctions are the functions that are tests.
var truthFunctions = map[string]bool{"isnan": true, "isnull": true, "isnotnull": true, "startswith": true, "equal_null": true}

// IsTest reports whether a call is a test, which the scope evaluates.
func IsTest(e *syntax.Call) bool {
	return len(e.Name) == 1 && truthFunctions[strings.ToLower(e.Name[0].Text)]
}

// FunctionNames gives the names of all functions that an evaluator knows but those of a session: the tests among them, and the types, which cast.
func FunctionNames() []string {
	names := append(sparktype.Words(), "decimal")
	for _, f := range functions {
		names = append(names, f.name)
	}
	for name := range truthFunctions {
		names = append(names, name)
	}
	return names
}
