// Package auth says who is calling: the principal, how it is found out, and the keyring that signs what the server hands out (tokens,
// tickets). It grants nothing: there is no right to check in it.
package auth

// Principal is who a call is from. It is compared as a value.
type Principal struct {
	Name string // unique; Anonymous for none
}

// Anonymous is the principal of a call without credentials, where the server allows that.
var Anonymous = Principal{Name: "anonymous"}
