package predicate

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

var opText = [...]string{Eq: "=", NotEq: "<>", Lt: "<", LtEq: "<=", Gt: ">", GtEq: ">="}

// String gives the operator as SQL has it.
func (op Op) String() string { return opText[op] }

// Negate gives the operator that is true where op is false, for values that are not null.
func (op Op) Negate() Op {
	return [...]Op{Eq: NotEq, NotEq: Eq, Lt: GtEq, LtEq: Gt, Gt: LtEq, GtEq: Lt}[op]
}

// Swap gives the operator with its sides exchanged: a < b is b > a.
func (op Op) Swap() Op {
	return [...]Op{Eq: Eq, NotEq: NotEq, Lt: Gt, LtEq: GtEq, Gt: Lt, GtEq: LtEq}[op]
}

// String gives TRUE, FALSE or NULL.
func (c Constant) String() string { return [...]string{False: "FALSE", True: "TRUE", Null: "NULL"}[c] }

// String gives SQL text.
func (e And) String() string { return textOf(e) }

// String gives SQL text.
func (e Or) String() string { return textOf(e) }

// String gives SQL text.
func (e Not) String() string { return textOf(e) }

// String gives SQL text.
func (e IsNull) String() string { return textOf(e) }

// String gives SQL text.
func (e IsNaN) String() string { return textOf(e) }

// String gives SQL text.
func (e Comparison) String() string { return textOf(e) }

// String gives SQL text.
func (e In) String() string { return textOf(e) }

// String gives SQL text.
func (e StartsWith) String() string { return textOf(e) }

func textOf(e Expr) string {
	var b strings.Builder
	write(&b, e, false)
	return b.String()
}

// write appends e's text; inside a tighter operator lists get parentheses.
func write(b *strings.Builder, e Expr, tight bool) {
	switch e := e.(type) {
	case Constant:
		b.WriteString(e.String())
	case And:
		write(b, e.Left, isOr(e.Left))
		b.WriteString(" AND ")
		write(b, e.Right, isOr(e.Right))
	case Or:
		if tight {
			b.WriteByte('(')
		}
		write(b, e.Left, false)
		b.WriteString(" OR ")
		write(b, e.Right, false)
		if tight {
			b.WriteByte(')')
		}
	case Not:
		writeNot(b, e.Expr)
	default:
		writeLeaf(b, e, "")
	}
}

func isOr(e Expr) bool { _, ok := e.(Or); return ok }

func writeNot(b *strings.Builder, e Expr) {
	switch e.(type) {
	case IsNull, In, StartsWith:
		writeLeaf(b, e, "NOT ")
	default:
		b.WriteString("NOT (")
		write(b, e, false)
		b.WriteByte(')')
	}
}

// writeLeaf appends a test of one field; not is "NOT " for the tests that SQL negates inside.
func writeLeaf(b *strings.Builder, e Expr, not string) {
	switch e := e.(type) {
	case IsNull:
		b.WriteString(quotePath(e.Field.Path) + " IS " + not + "NULL")
	case IsNaN:
		b.WriteString("isnan(" + quotePath(e.Field.Path) + ")")
	case Comparison:
		b.WriteString(quotePath(e.Field.Path) + " " + e.Op.String() + " " + e.Value.String())
	case In:
		b.WriteString(quotePath(e.Field.Path) + " " + not + "IN (")
		for i, v := range e.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(v.String())
		}
		if e.HasNull {
			if len(e.Values) > 0 {
				b.WriteString(", ")
			}
			b.WriteString("NULL")
		}
		b.WriteByte(')')
	case StartsWith:
		b.WriteString(quotePath(e.Field.Path) + " " + not + "LIKE " + quoteText(escapePattern(e.Prefix)+"%"))
	}
}

func quotePath(path []string) string {
	quoted := make([]string, len(path))
	for i, p := range path {
		quoted[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(quoted, ".")
}

func escapePattern(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// String gives the literal as SQL writes it.
func (l Literal) String() string {
	t := l.Type
	if e, ok := t.(arrow.ExtensionType); ok {
		if b, is := l.Value.([]byte); is && e.ExtensionName() == "arrow.uuid" && len(b) == 16 {
			h := hex.EncodeToString(b)
			return "'" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:] + "'"
		}
		t = e.StorageType()
	}
	switch v := l.Value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return numberText(t, v)
	case float64:
		return floatText(t, v)
	case decimal128.Num:
		if d, ok := t.(arrow.DecimalType); ok {
			return v.ToString(d.GetScale())
		}
		return v.BigInt().String()
	case string:
		return quoteText(v)
	case []byte:
		return "X'" + strings.ToUpper(hex.EncodeToString(v)) + "'"
	}
	return "?"
}

func numberText(t arrow.DataType, v int64) string {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return "DATE '" + time.Unix(0, 0).UTC().AddDate(0, 0, int(v)).Format("2006-01-02") + "'"
	case *arrow.TimestampType:
		at := instant(v, t.Unit).Format("2006-01-02 15:04:05.999999999")
		if t.TimeZone == "" {
			return "TIMESTAMP_NTZ '" + at + "'"
		}
		return "TIMESTAMP '" + at + "Z'"
	case *arrow.Time64Type:
		return "TIME '" + instant(v, t.Unit).Format("15:04:05.999999999") + "'"
	}
	return strconv.FormatInt(v, 10)
}

// instant gives the moment that v units since the epoch are.
func instant(v int64, unit arrow.TimeUnit) time.Time {
	perSecond := int64(time.Second / unit.Multiplier())
	seconds, rest := v/perSecond, v%perSecond
	if rest < 0 {
		seconds, rest = seconds-1, rest+perSecond
	}
	return time.Unix(seconds, rest*int64(unit.Multiplier())).UTC()
}

func floatText(t arrow.DataType, v float64) string {
	name, size := "double", 64
	if t.ID() == arrow.FLOAT32 {
		name, size = "float", 32
	}
	switch {
	case math.IsNaN(v):
		return name + "('NaN')"
	case math.IsInf(v, 1):
		return name + "('Infinity')"
	case math.IsInf(v, -1):
		return name + "('-Infinity')"
	case v != 0 && (math.Abs(v) < 1e-3 || math.Abs(v) >= 1e7):
		return strconv.FormatFloat(v, 'E', -1, size)
	}
	s := strconv.FormatFloat(v, 'f', -1, size)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
