// Package auth says who is calling: the principal, how it is found out, and the keyring that signs what the server hands out (tokens,
// tickets). It grants nothing: there is no right to check in it.
package auth

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skua-data/skua/fault"
)

// Principal is who a call is from. It is compared as a value.
type Principal struct {
	Name string // unique; Anonymous for none
}

// Anonymous is the principal of a call without credentials, where the server allows that.
var Anonymous = Principal{Name: "anonymous"}

// maxName bounds a principal's name: it is in every ticket and log line.
const maxName = 512

// newPrincipal checks a name that somebody outside chose.
func newPrincipal(name string) (Principal, error) {
	if name == "" || len(name) > maxName || name == Anonymous.Name || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return Principal{}, fault.New(fault.Unauthenticated, "the name of a principal is missing, too long or reserved")
	}
	return Principal{Name: name}, nil
}
