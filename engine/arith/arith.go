// Package arith says what Spark makes of arithmetic: the type of a result by the types of the operands, under ANSI. It is one set of rules for constants and for
// expressions over rows.
package arith

// Kind is a type without its numbers.
type Kind uint8

// The kinds of types that the rules tell apart, the numbers by how wide they are.
const (
	Unknown Kind = iota // nothing is known of the result: it is not for these rules
	Void                // of NULL
	Boolean
	Tinyint
	Smallint
	Int
	Bigint
	Float
	Double
	Decimal
	String
	Date
	Timestamp
	TimestampNTZ
	Interval
	Months // an interval of months or years
	Days   // an interval of days
	Other  // lists, structs, binaries and whatever else has no arithmetic
)

// Type is a type. Digits is how many an integer literal needs, which counts for it in arithmetic with decimals; 0: it is none.
type Type struct {
	Kind             Kind
	Precision, Scale int // of decimals
	Digits           int
}

// Of gives the type of a kind.
func Of(k Kind) Type { return Type{Kind: k} }

// DecimalOf gives a decimal type.
func DecimalOf(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// Whole reports whether the values are whole numbers other than decimals.
func (t Type) Whole() bool { return t.Kind >= Tinyint && t.Kind <= Bigint }

// Number reports whether the values are numbers.
func (t Type) Number() bool { return t.Kind >= Tinyint && t.Kind <= Decimal }

func (t Type) floating() bool { return t.Kind == Float || t.Kind == Double }

// Widens reports whether every value is one of another kind, too, or the nearest double: any cast makes the same of it.
func (t Type) Widens(to Kind) bool {
	switch {
	case t.Whole() && to >= Tinyint && to <= Double:
		return t.Kind <= to
	case t.Kind == Float || t.Kind == Decimal:
		return to == Double
	}
	return t.Kind == to || t.Kind == Date && (to == Timestamp || to == TimestampNTZ)
}

// IsInterval reports whether the values are intervals.
func (t Type) IsInterval() bool { return t.Kind == Interval || t.Kind == Months || t.Kind == Days }

// Datetime reports whether the values are dates or timestamps.
func (t Type) Datetime() bool { return t.Kind >= Date && t.Kind <= TimestampNTZ }

// IsTimestamp reports whether the values are timestamps.
func (t Type) IsTimestamp() bool { return t.Kind == Timestamp || t.Kind == TimestampNTZ }

// Wrong is the last part of the condition DATATYPE_MISMATCH that Spark gives operands which an operator does not take.
type Wrong string

// The ways in which operands are wrong.
const (
	Different  Wrong = "BINARY_OP_DIFF_TYPES"
	WrongType  Wrong = "BINARY_OP_WRONG_TYPE"
	Unexpected Wrong = "UNEXPECTED_INPUT_TYPE"
)

// Error gives the condition.
func (w Wrong) Error() string { return "DATATYPE_MISMATCH." + string(w) }
