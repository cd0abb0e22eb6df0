package arith

// Rounding gives the type of round, bround, ceil and floor with a number of digits.
func Rounding(function string, t Type, digits int) (Type, error) {
	up := function == "ceil" || function == "floor"
	switch {
	case t.Kind == Unknown:
		return Type{}, nil
	case !t.Number() && t.Kind != String && t.Kind != Void:
		return Type{}, Unexpected
	case t.Kind == Decimal || up:
		return roundedDecimal(Ceiled(t), digits), nil
	case t.Kind == String || t.Kind == Void:
		return Of(Double), nil
	}
	return Of(t.Kind), nil
}

// Ceiled gives the decimal type of what ceil and floor with digits round.
func Ceiled(t Type) Type {
	switch t.Kind {
	case Decimal:
		return t
	case Float:
		return DecimalOf(14, 7)
	case Double:
		return DecimalOf(30, 15)
	case String, Void:
		return DecimalOf(MaxPrecision, 18)
	}
	return DecimalOf(wholeDigits[t.Kind], 0)
}

func roundedDecimal(t Type, digits int) Type {
	whole := t.Precision - t.Scale + 1
	if digits < 0 {
		return Bounded(max(whole, 1-digits), 0)
	}
	scale := min(t.Scale, digits)
	return Bounded(whole+scale, scale)
}

// Ceiling gives the type of ceil and floor without a number of digits.
func Ceiling(t Type) (Type, error) {
	switch {
	case t.Kind == Unknown:
		return Type{}, nil
	case t.Kind == Decimal:
		return roundedDecimal(t, 0), nil
	case t.Number(), t.Kind == String, t.Kind == Void:
		return Of(Bigint), nil
	}
	return Type{}, Unexpected
}
