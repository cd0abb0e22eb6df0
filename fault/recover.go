package fault

import (
	"fmt"
	"runtime/debug"
)

// Panic is the error that Recover makes of a panic; Stack is for the server's log and never for a client.
type Panic struct {
	Value any
	Stack []byte
}

// Error names the panic's value only.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Recover turns a panic of the calling goroutine into an error of the kind given, stored in *errp. Use it as the first defer of every
// worker: `defer fault.Recover(&err, fault.Corrupt, "read %s", path)`. What was being done is only formatted when there was a panic.
func Recover(errp *error, kind Kind, format string, args ...any) {
	if v := recover(); v != nil {
		p := &Panic{Value: v, Stack: debug.Stack()}
		*errp = &Error{Kind: kind, Message: fmt.Sprintf(format, args...) + ": " + p.Error(), Cause: p}
	}
}
