package arith

import "github.com/skua-data/skua/fault"

// AnsiOff is the advice that Spark's errors of arithmetic end with.
const AnsiOff = `If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error`

// Overflow is the error of a result that its type does not hold. tolerant names the function that gives NULL then.
func Overflow(what, tolerant string) error {
	return fault.New(fault.Invalid, "%s overflow. Use 'try_%s' to tolerate overflow and return NULL instead. %s.", what, tolerant, AnsiOff).
		With("ARITHMETIC_OVERFLOW", "22003")
}

// DivideByZero is the error of a division by 0.
func DivideByZero() error {
	return fault.New(fault.Invalid, "Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. %s.", AnsiOff).
		With("DIVIDE_BY_ZERO", "22012")
}

// RemainderByZero is the error of a remainder by 0.
func RemainderByZero() error {
	return fault.New(fault.Invalid, "Remainder by zero. Use `try_mod` to tolerate divisor being 0 and return NULL instead. %s.", AnsiOff).
		With("REMAINDER_BY_ZERO", "22012")
}

// OutOfRange is the error of a number that a decimal type does not hold.
func OutOfRange(number string, precision, scale int) error {
	return fault.New(fault.Invalid, "%s cannot be represented as Decimal(%d, %d). %s, and return NULL instead.", number, precision, scale, AnsiOff).
		With("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003")
}

// SmallOverflow is the error of a result that a tinyint or smallint does not hold.
func SmallOverflow(left, op, right, tolerant string) error {
	return fault.New(fault.Invalid, "%s %s %s caused overflow. Use `try_%s` to ignore overflow problem and return NULL.", left, op, right, tolerant).
		With("BINARY_ARITHMETIC_OVERFLOW", "22003")
}
