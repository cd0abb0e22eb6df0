package arith

// Binary gives the type of a binary operator's result. A text stands for a number of the type that the other operand asks for. An unknown type
// says that the engine knows better, an error that Spark has no such operation.
func Binary(op string, l, r Type) (Type, error) {
	switch {
	case l.Kind == Unknown || r.Kind == Unknown:
		return Type{}, nil
	case op == "||":
		return concatenated(l, r), nil
	case op == "<<" || op == ">>" || op == ">>>":
		return shifted(l, r)
	case l.Datetime() || r.Datetime() || l.IsInterval() || r.IsInterval():
		return times(op, l, r)
	}
	l, r = meant(op, l, r)
	if !numeric(l) || !numeric(r) {
		return Type{}, mismatch(l, r)
	}
	switch exact := l.Kind == Decimal || r.Kind == Decimal; {
	case op == "pmod":
		return Binary("%", l, r)
	case op == "&" || op == "|" || op == "^":
		if l.Kind == Void && r.Kind == Void {
			return Of(Int), nil
		}
		if c := Common(l, r); c.Whole() {
			return c, nil
		}
		return Type{}, mismatch(l, r)
	case op == "DIV":
		if l.floating() || r.floating() {
			return Type{}, mismatch(l, r)
		}
		return Of(Bigint), nil
	case op == "/" && l.Kind == Void:
		return Of(Double), nil
	case exact && !l.floating() && !r.floating():
		p1, s1 := Exact(l, r)
		p2, s2 := Exact(r, l)
		t, _ := Decimals(op, p1, s1, p2, s2)
		return t, nil
	case op == "/":
		return Of(Double), nil
	}
	return Common(l, r), nil
}

func numeric(t Type) bool { return t.Number() || t.Kind == Void }

// meant gives the types that operands have once texts among them are numbers.
func meant(op string, l, r Type) (Type, Type) {
	text := func(other Type) Type {
		switch {
		case other.Whole() && op == "/":
			return Of(Double)
		case other.Whole():
			return Of(Bigint)
		case other.Number() && op != "DIV" && op != "&" && op != "|" && op != "^":
			return Of(Double)
		}
		return Of(String)
	}
	switch {
	case l.Kind == String:
		return text(r), r
	case r.Kind == String:
		return l, text(l)
	}
	return l, r
}

// mismatch tells what is wrong with two operands: they have no type in common, or the operator does not take it.
func mismatch(l, r Type) error {
	l.Digits, r.Digits = 0, 0
	doubles := l.Kind == Double && r.Kind == Decimal || l.Kind == Decimal && r.Kind == Double
	if l == r || doubles || (l.Kind == String || r.Kind == String) && !l.IsInterval() && !r.IsInterval() {
		return WrongType
	}
	return Different
}

func concatenated(l, r Type) Type {
	if l.Kind == Other || r.Kind == Other || l.IsInterval() || r.IsInterval() {
		return Type{}
	}
	return Of(String)
}

// shifted gives the type of a shift: of a bigint, or of an int, which everything else is cast to.
func shifted(l, r Type) (Type, error) {
	for _, t := range []Type{l, r} {
		if !numeric(t) && t.Kind != String {
			return Type{}, Unexpected
		}
	}
	if l.Kind == Bigint {
		return Of(Bigint), nil
	}
	return Of(Int), nil
}

// times gives the type of an operator that has a date, a timestamp or an interval among its operands.
func times(op string, l, r Type) (Type, error) {
	switch {
	case l.IsInterval() || r.IsInterval():
		return intervals(op, l, r)
	case op == "+" && r.Kind == Date, op == "+" && l.Kind == Date:
		if l.Kind != Date {
			l, r = r, l
		}
		if r.Kind == Void {
			return Of(Timestamp), nil
		}
		return days(r)
	case op == "-" && l.Kind == Date && !r.Datetime() && r.Kind != String && r.Kind != Void:
		return days(r)
	case op == "-" && apart(l) && apart(r):
		if (l.Kind == Date || r.Kind == Date) && !l.IsTimestamp() && !r.IsTimestamp() {
			return Of(Days), nil
		}
		return Of(Interval), nil
	case op == "+" && (l.Kind == Void || r.Kind == Void):
		return Of(max(l.Kind, r.Kind)), nil
	case op == "-":
		return Type{}, Unexpected
	}
	return Type{}, mismatch(l, r)
}

// apart reports whether the time between a value and another one may be asked for.
func apart(t Type) bool { return t.Datetime() || t.Kind == String || t.Kind == Void }

// days gives the type of a date with days added or taken away.
func days(number Type) (Type, error) {
	if number.Whole() && number.Kind != Bigint {
		return Of(Date), nil
	}
	return Type{}, Unexpected
}

// intervals gives the type of an operator with an interval.
func intervals(op string, l, r Type) (Type, error) {
	both := l.IsInterval() && r.IsInterval()
	switch {
	case both && (op == "+" || op == "-") && l.Kind == r.Kind:
		return Of(l.Kind), nil
	case both && (op == "+" || op == "-"):
		return Of(Interval), nil
	case op == "DIV" && l.IsInterval() && (both || r.Kind == Void), op == "DIV" && l.Kind == Void:
		return Of(Bigint), nil
	case op == "+" && l.IsInterval():
		return moved(r, l)
	case op == "+" || op == "-" && r.IsInterval():
		return moved(l, r)
	case (op == "*" || op == "/") && l.Kind == Months && !both && !r.Datetime(), op == "*" && r.Kind == Months && !both && !l.Datetime():
		return Of(Months), nil
	case op == "-" && r.Kind == Void, op == "*" && !both && !l.Datetime() && !r.Datetime(), op == "/" && l.IsInterval() && !both && !r.Datetime():
		return Of(Interval), nil
	case op == "-" && r.Datetime(), op == "*", op == "/" && l.IsInterval():
		return Type{}, Unexpected
	case both:
		return Type{}, WrongType
	}
	return Type{}, Different
}

// moved gives the type of a time with an interval added: a day stays one where the interval has no hours.
func moved(at, by Type) (Type, error) {
	switch {
	case at.Kind == Date && (by.Kind == Days || by.Kind == Months):
		return Of(Date), nil
	case at.Kind == Date && by.Kind == Interval:
		return Of(Timestamp), nil
	case at.IsTimestamp(), at.Kind == String:
		return Of(at.Kind), nil
	case at.Kind == Void:
		return Of(by.Kind), nil
	case by.Kind == Months:
		return Type{}, Different
	}
	return Type{}, Unexpected
}

// Unary gives the type of a sign or of ~ before an operand.
func Unary(op string, t Type) (Type, error) {
	switch {
	case t.Kind == Unknown:
		return Type{}, nil
	case op == "sign" && (t.Number() || t.IsInterval()):
		return Of(Double), nil
	case op == "~" && t.Kind == Void:
		return Of(Int), nil
	case op == "~" && t.Whole():
		return Of(t.Kind), nil
	case op == "~":
		return Type{}, Unexpected
	case t.Kind == String || t.Kind == Void:
		return Of(Double), nil
	case t.Number() || t.IsInterval():
		return Type{Kind: t.Kind, Precision: t.Precision, Scale: t.Scale}, nil
	}
	return Type{}, Unexpected
}
