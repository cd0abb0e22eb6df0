package arith

// MaxPrecision is the most digits that a decimal has.
const MaxPrecision = 38

// minAdjusted is how many digits behind the point a result keeps, if it has them, where 38 are too few for all of them.
const minAdjusted = 6

// Adjusted gives a decimal type whose digits may be more than there can be: those before the point come first.
func Adjusted(precision, scale int) Type {
	if precision > MaxPrecision {
		whole := precision - scale
		precision, scale = MaxPrecision, max(MaxPrecision-whole, min(scale, minAdjusted))
	}
	return DecimalOf(max(precision, 1), scale)
}

// Bounded gives a decimal type whose digits may be more than there can be: they are cut off on either side.
func Bounded(precision, scale int) Type {
	return DecimalOf(min(precision, MaxPrecision), min(scale, MaxPrecision))
}

// Decimals gives the type of an operator's result on decimals; false: it takes none.
func Decimals(op string, p1, s1, p2, s2 int) (Type, bool) {
	switch scale := max(s1, s2); op {
	case "+", "-":
		return Adjusted(max(p1-s1, p2-s2)+scale+1, scale), true
	case "*":
		return Adjusted(p1+p2+1, s1+s2), true
	case "/":
		scale = max(minAdjusted, s1+p2+1)
		return Adjusted(p1-s1+s2+scale, scale), true
	case "%":
		return Adjusted(min(p1-s1, p2-s2)+scale, scale), true
	}
	return Type{}, false
}

// wholeDigits is how many digits the numbers of a type have.
var wholeDigits = map[Kind]int{Tinyint: 3, Smallint: 5, Int: 10, Bigint: 20}

// Exact gives the precision and scale with which an operand enters arithmetic with decimals: a literal's by its digits. NULL has those of the other operand.
func Exact(t, other Type) (precision, scale int) {
	switch {
	case t.Kind == Decimal:
		return t.Precision, t.Scale
	case t.Digits > 0:
		return t.Digits, 0
	case t.Kind == Void && other.Kind == Decimal:
		return other.Precision, other.Scale
	}
	return max(wholeDigits[t.Kind], 1), 0
}

// Common gives the type in which operands that are numbers or NULL meet where neither is a decimal, or one is a float: decimals stay what they are
// otherwise.
func Common(l, r Type) Type {
	switch {
	case l.Kind == Void && r.Kind == Void:
		return Of(Double)
	case l.Kind == Void:
		return Of(r.Kind)
	case r.Kind == Void:
		return Of(l.Kind)
	case l.floating() && r.floating():
		return Of(max(l.Kind, r.Kind))
	case l.floating() || r.floating():
		return Of(Double)
	}
	return Of(max(l.Kind, r.Kind))
}
