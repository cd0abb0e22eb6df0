// Package sparktype is Spark's types and their values: how Arrow has a type and how Spark names it, the type in which two of them meet, and what
// literals, casts and bound arguments give. It knows no expressions: package constant evaluates those.
package sparktype

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// Session is what values depend on besides their spelling. Casts, typed literals and texts are its methods.
type Session struct {
	Zone *time.Location
	Now  time.Time // of the statement
	Ansi bool      // an error instead of what Spark makes NULL or lets run over: the dialect is ansi
}

// Value is a value that is known before any row is read, in one of Spark's types.
type Value struct {
	Type    arrow.DataType
	Value   any  // nil for NULL, else as a predicate.Literal of the type holds it
	Unbound bool // a parameter whose value comes later: NULL in the meantime
	Digits  int  // of an integer literal: how many decimal digits it needs, since decimals take literals by value and not by type
}

// Null reports whether the value is NULL, as one that is not bound yet is, too.
func (c Value) Null() bool { return c.Value == nil }

// NullOf gives a type's NULL.
func NullOf(t arrow.DataType) Value { return Value{Type: t} }

// TextValue gives a string.
func TextValue(s string) Value { return Value{Type: String, Value: s} }

// BoolValue gives a boolean.
func BoolValue(v bool) Value { return Value{Type: Boolean, Value: v} }
