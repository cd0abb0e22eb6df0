package engine

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
	apply    func(b *binder, args []constant) (constant, error)
}

// functions are those that take constants only, by name; the names of types cast, as in double('1.5').
var functions = []function{
	{name: "timestamp_seconds", takes: []arrow.DataType{typeBigint}, least: 1, gives: typeTimestamp, apply: epoch(1_000_000)},
	{name: "timestamp_millis", takes: []arrow.DataType{typeBigint}, least: 1, gives: typeTimestamp, apply: epoch(1_000)},
	{name: "timestamp_micros", takes: []arrow.DataType{typeBigint}, least: 1, gives: typeTimestamp, apply: epoch(1)},
	{name: "unix_micros", takes: []arrow.DataType{typeTimestamp}, least: 1, gives: typeBigint, apply: sinceEpoch(1)},
	{name: "unix_millis", takes: []arrow.DataType{typeTimestamp}, least: 1, gives: typeBigint, apply: sinceEpoch(1_000)},
	{name: "unix_seconds", takes: []arrow.DataType{typeTimestamp}, least: 1, gives: typeBigint, apply: sinceEpoch(1_000_000)},
	{name: "date_from_unix_date", takes: []arrow.DataType{typeInt}, least: 1, gives: typeDate, apply: same},
	{name: "unix_date", takes: []arrow.DataType{typeDate}, least: 1, gives: typeInt, apply: same},
	{name: "date_add", takes: []arrow.DataType{typeDate, typeInt}, least: 2, gives: typeDate, apply: addDays(1)},
	{name: "dateadd", takes: []arrow.DataType{typeDate, typeInt}, least: 2, gives: typeDate, apply: addDays(1)},
	{name: "date_sub", takes: []arrow.DataType{typeDate, typeInt}, least: 2, gives: typeDate, apply: addDays(-1)},
	{name: "make_date", takes: []arrow.DataType{typeInt, typeInt, typeInt}, least: 3, gives: typeDate, apply: makeDate},
	{name: "to_date", takes: []arrow.DataType{typeDate}, least: 1, gives: typeDate, apply: same},
	{name: "to_timestamp", takes: []arrow.DataType{typeTimestamp}, least: 1, gives: typeTimestamp, apply: same},
	{name: "to_timestamp_ntz", takes: []arrow.DataType{typeTimestampNTZ}, least: 1, gives: typeTimestampNTZ, apply: same},
	{name: "to_timestamp_ltz", takes: []arrow.DataType{typeTimestamp}, least: 1, gives: typeTimestamp, apply: same},
	{name: "current_timestamp", gives: typeTimestamp, apply: now},
	{name: "now", gives: typeTimestamp, apply: now},
	{name: "localtimestamp", gives: typeTimestampNTZ, apply: nowAs(typeTimestampNTZ)},
	{name: "current_date", gives: typeDate, apply: nowAs(typeDate)},
	{name: "curdate", gives: typeDate, apply: nowAs(typeDate)},
	{name: "current_timezone", gives: typeString, apply: func(b *binder, _ []constant) (constant, error) { return textConstant(b.zone.String()), nil }},
	{name: "concat", takes: []arrow.DataType{nil}, variadic: true, apply: concat},
	{name: "unhex", takes: []arrow.DataType{typeString}, least: 1, gives: typeBinary, apply: unhex},
	{name: "hex", takes: []arrow.DataType{nil}, least: 1, gives: typeString, apply: toHex},
	{name: "lower", takes: []arrow.DataType{typeString}, least: 1, gives: typeString, apply: onText(sparktext.Lower)},
	{name: "lcase", takes: []arrow.DataType{typeString}, least: 1, gives: typeString, apply: onText(sparktext.Lower)},
	{name: "upper", takes: []arrow.DataType{typeString}, least: 1, gives: typeString, apply: onText(sparktext.Upper)},
	{name: "ucase", takes: []arrow.DataType{typeString}, least: 1, gives: typeString, apply: onText(sparktext.Upper)},
	{name: "trim", takes: []arrow.DataType{typeString}, least: 1, gives: typeString, apply: onText(func(s string) string { return strings.Trim(s, " ") })},
	{name: "length", takes: []arrow.DataType{nil}, least: 1, gives: typeInt, apply: length},
	{name: "char_length", takes: []arrow.DataType{nil}, least: 1, gives: typeInt, apply: length},
	{name: "abs", takes: []arrow.DataType{nil}, least: 1, apply: absolute},
	{name: "negative", takes: []arrow.DataType{nil}, least: 1, apply: negative},
	{name: "positive", takes: []arrow.DataType{nil}, least: 1, apply: func(_ *binder, a []constant) (constant, error) { return a[0], nil }},
	{name: "pi", gives: typeDouble, apply: func(*binder, []constant) (constant, error) { return constant{value: math.Pi}, nil }},
	{name: "e", gives: typeDouble, apply: func(*binder, []constant) (constant, error) { return constant{value: math.E}, nil }},
	{name: "coalesce", takes: []arrow.DataType{nil}, least: 1, variadic: true, nulls: true, apply: coalesce},
	{name: "ifnull", takes: []arrow.DataType{nil, nil}, least: 2, nulls: true, apply: coalesce},
	{name: "nvl", takes: []arrow.DataType{nil, nil}, least: 2, nulls: true, apply: coalesce},
}

// niladics are the functions that may stand without parentheses.
var niladics = map[string]bool{"current_timestamp": true, "current_date": true, "localtimestamp": true}

// executorWords are the functions without parentheses that an Executor alone has.
var executorWords = map[string]bool{"current_time": true, "localtime": true, "current_role": true}

func functionNamed(name string) (function, bool) {
	for _, f := range functions {
		if f.name == name && f.apply != nil {
			return f, true
		}
	}
	if t, ok := namedTypes[name]; ok && name != "void" && name != "char" { // char(65) is A
		return function{name: name, takes: []arrow.DataType{t}, least: 1, nulls: true, gives: t, apply: same}, true
	}
	if name == "decimal" {
		t := decimalType(10, 0)
		return function{name: name, takes: []arrow.DataType{t}, least: 1, nulls: true, gives: t, apply: same}, true
	}
	return function{}, false
}

// niladic gives a function without parentheses, or says that a column has no place here.
func (b *binder) niladic(e *syntax.Column) (constant, error) {
	if v, ok := b.variable(e); ok {
		return v, nil
	}
	if name, ok := b.functionLike(e); ok {
		if v, ok := b.sessionValue(name); ok {
			return v, nil
		}
		f, _ := functionNamed(name)
		return b.invoke(f, nil)
	}
	if _, err := b.column(e); err != nil {
		if len(e.Parts) == 1 && !e.Parts[0].Quoted && executorWords[strings.ToLower(e.Parts[0].Text)] {
			return constant{}, unsupported("the function %s is not supported", e.Parts[0].Text)
		}
		return constant{}, err
	}
	return constant{}, unsupported("the column %s where a constant is due is not supported", quoted(texts(e.Parts)))
}

// variable gives the value of a session variable that a name of one part means where no column has it.
func (b *binder) variable(e *syntax.Column) (constant, bool) {
	if b.session == nil || len(e.Parts) != 1 || b.session.state.Objects.Len() == 0 {
		return constant{}, false
	}
	if _, err := b.column(e); err == nil {
		return constant{}, false
	}
	return b.session.variable(texts(e.Parts))
}

// functionLike reports whether a name is a function without parentheses: no column has it.
func (b *binder) functionLike(e *syntax.Column) (string, bool) {
	name := strings.ToLower(e.Parts[0].Text)
	if _, ok := b.variable(e); ok {
		return name, true
	}
	_, ofSession := b.sessionValue(name)
	if len(e.Parts) != 1 || e.Parts[0].Quoted || !niladics[name] && !ofSession {
		return "", false
	}
	_, err := b.column(e)
	return name, err != nil
}

func (b *binder) call(e *syntax.Call) (constant, error) {
	name := strings.ToLower(e.Name[len(e.Name)-1].Text)
	if isTruthFunction(e) {
		return b.truthConstant(e)
	}
	if v, ok := b.sessionValue(name); ok && len(e.Name) == 1 && len(e.Args) == 0 && !e.Star {
		return v, nil
	}
	f, ok := functionNamed(name)
	if !ok || len(e.Name) > 1 || e.Star || e.Distinct {
		return constant{}, unsupported("the function %s is not supported", strings.Join(texts(e.Name), "."))
	}
	args := make([]constant, len(e.Args))
	for i, a := range e.Args {
		c, err := b.evaluate(a)
		if err != nil {
			return constant{}, err
		}
		if c.unbound {
			return constant{typ: arrow.Null, unbound: true}, nil
		}
		args[i] = c
	}
	if b.leavesCall(name, args) {
		return constant{}, leftOver(e)
	}
	return b.invoke(f, args)
}

func (b *binder) invoke(f function, args []constant) (constant, error) {
	if n := len(args); n < f.least || n > len(f.takes) && !f.variadic {
		if n > f.least {
			return constant{}, unsupported("the function %s with %d arguments is not supported", f.name, n)
		}
		return constant{}, fault.New(fault.Invalid, "The `%s` requires %d parameters but the actual number is %d. ", f.name, f.least, n).
			With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605")
	}
	missing := false
	for i := range args {
		var err error
		if t := f.takes[min(i, len(f.takes)-1)]; t != nil {
			if args[i], err = b.cast(args[i], t); err != nil {
				return constant{}, err
			}
		}
		missing = missing || args[i].null()
	}
	if missing && !f.nulls {
		t := f.gives
		if t == nil {
			t = args[0].typ
		}
		return nullOf(t), nil
	}
	out, err := f.apply(b, args)
	if f.gives != nil {
		out.typ = f.gives
	}
	out.digits = 0
	return out, err
}

func same(_ *binder, a []constant) (constant, error) { return a[0], nil }

func now(b *binder, _ []constant) (constant, error) {
	return constant{typ: typeTimestamp, value: b.now.UnixMicro()}, nil
}

// nowAs gives the date or the wall clock of the statement in the session's zone.
func nowAs(t arrow.DataType) func(*binder, []constant) (constant, error) {
	return func(b *binder, _ []constant) (constant, error) {
		return b.cast(constant{typ: typeTimestamp, value: b.now.UnixMicro()}, t)
	}
}

func epoch(factor int64) func(*binder, []constant) (constant, error) {
	return func(_ *binder, a []constant) (constant, error) {
		z := new(big.Int).Mul(big.NewInt(a[0].value.(int64)), big.NewInt(factor))
		if !z.IsInt64() {
			return constant{}, fault.New(fault.Invalid, "long overflow").With("ARITHMETIC_OVERFLOW", "22003")
		}
		return constant{value: z.Int64()}, nil
	}
}

func sinceEpoch(divisor int64) func(*binder, []constant) (constant, error) {
	return func(_ *binder, a []constant) (constant, error) {
		return constant{value: floorDiv(a[0].value.(int64), divisor)}, nil
	}
}

func addDays(sign int64) func(*binder, []constant) (constant, error) {
	return func(_ *binder, a []constant) (constant, error) {
		sum := a[0].value.(int64) + sign*a[1].value.(int64)
		if sum != int64(int32(sum)) {
			return constant{}, arith.Overflow("integer", "add")
		}
		return constant{value: sum}, nil
	}
}

func makeDate(_ *binder, a []constant) (constant, error) {
	y, m, d := a[0].value.(int64), a[1].value.(int64), a[2].value.(int64)
	t := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, utc)
	if m < 1 || m > 12 || d < 1 || d > 31 || t.Day() != int(d) || y < -999_999 || y > 999_999 {
		return constant{}, fault.New(fault.Invalid, "Invalid date '%d-%d-%d'. %s.", y, m, d, arith.AnsiOff).With("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "22023")
	}
	return constant{value: floorDiv(t.Unix(), secondsPerDay)}, nil
}

func concat(b *binder, a []constant) (constant, error) {
	var out strings.Builder
	raw := len(a) > 0
	for _, c := range a {
		raw = raw && c.typ.ID() == arrow.BINARY
		out.WriteString(b.text(c))
	}
	if raw {
		return constant{typ: typeBinary, value: []byte(out.String())}, nil
	}
	return textConstant(out.String()), nil
}

func unhex(_ *binder, a []constant) (constant, error) {
	digits := a[0].value.(string)
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return constant{}, nil
	}
	return constant{value: raw}, nil
}

func toHex(_ *binder, a []constant) (constant, error) {
	switch v := a[0].value.(type) {
	case int64:
		if integral(a[0].typ) {
			return textConstant(strings.ToUpper(new(big.Int).SetUint64(uint64(v)).Text(16))), nil
		}
	case string:
		return textConstant(strings.ToUpper(hex.EncodeToString([]byte(v)))), nil
	case []byte:
		return textConstant(strings.ToUpper(hex.EncodeToString(v))), nil
	}
	return constant{}, unsupported("the function hex of %s is not supported", sqlName(a[0].typ))
}

func onText(f func(string) string) func(*binder, []constant) (constant, error) {
	return func(_ *binder, a []constant) (constant, error) { return textConstant(f(a[0].value.(string))), nil }
}

func length(b *binder, a []constant) (constant, error) {
	if raw, ok := a[0].value.([]byte); ok {
		return constant{value: int64(len(raw))}, nil
	}
	return constant{value: int64(utf8.RuneCountInString(b.text(a[0])))}, nil
}

func absolute(_ *binder, a []constant) (constant, error) {
	switch v := a[0].value.(type) {
	case float64:
		return constant{typ: a[0].typ, value: math.Abs(v)}, nil
	case decimal128.Num:
		return constant{typ: a[0].typ, value: v.Abs()}, nil
	case int64:
		if integral(a[0].typ) && v >= 0 {
			return a[0], nil
		}
	}
	return negative(nil, a)
}

func negative(_ *binder, a []constant) (constant, error) {
	if !numeric(a[0].typ) {
		return constant{}, unsupported("the negative of %s is not supported", sqlName(a[0].typ))
	}
	return negate(a[0])
}

// coalesce gives the first argument that is not NULL, in the type that all have in common.
func coalesce(b *binder, a []constant) (constant, error) {
	common := a[0].typ
	for _, c := range a[1:] {
		t, ok := commonType(common, c.typ)
		if !ok {
			return constant{}, unsupported("a choice between %s and %s is not supported", sqlName(common), sqlName(c.typ))
		}
		common = t
	}
	for _, c := range a {
		if !c.null() {
			return b.cast(c, common)
		}
	}
	return nullOf(common), nil
}
