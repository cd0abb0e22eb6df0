package syntax

import "fmt"

// Error is a text that is no SQL, or one that breaks a rule of the language that can be seen without knowing any table. Message has neither
// the condition nor the position.
type Error struct {
	Message      string
	Condition    string // Spark's error condition, such as PARSE_SYNTAX_ERROR
	SQLState     string
	Line, Column int // as in Pos
}

// Error renders the text as Spark does: [CONDITION] message SQLSTATE: state (line l, pos c).
func (e *Error) Error() string {
	return fmt.Sprintf("[%s] %s SQLSTATE: %s (line %d, pos %d)", e.Condition, e.Message, e.SQLState, e.Line, e.Column)
}

// errorAt makes an Error with one of Spark's conditions.
func errorAt(p Pos, condition, state, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Condition: condition, SQLState: state, Line: p.Line, Column: p.Column}
}
