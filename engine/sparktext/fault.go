package sparktext

import "github.com/skua-data/skua/fault"

// InvalidInput is the error of a value, spelled as a literal, that cannot be read as another type.
func InvalidInput(value, from, to string) *fault.Error {
	return fault.New(fault.Invalid, "The value %s of the type \"%s\" cannot be cast to \"%s\" because it is malformed. Correct the value as per the syntax, or "+
		"change its target type. Use `try_cast` to tolerate malformed input and return NULL instead.", value, from, to).With("CAST_INVALID_INPUT", "22018")
}

// CastOverflow is the error of a value, spelled as a literal, that another type does not hold.
func CastOverflow(value, from, to string) *fault.Error {
	return fault.New(fault.Invalid, "The value %s of the type \"%s\" cannot be cast to \"%s\" due to an overflow. Use `try_cast` to tolerate overflow and "+
		"return NULL instead.", value, from, to).With("CAST_OVERFLOW", "22003")
}
