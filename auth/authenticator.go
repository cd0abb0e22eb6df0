package auth

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/skua-data/skua/fault"
)

// Scheme says what a client showed.
type Scheme uint8

// The schemes.
const (
	None   Scheme = iota // nothing
	Basic                // a user's name and password
	Bearer               // a token that this keyring did not sign
)

// Credentials are what a client showed on a call. They are never logged.
type Credentials struct {
	Scheme         Scheme
	User, Password string            // of Basic
	Token          string            // of Bearer
	Certificate    *x509.Certificate // what the connection showed and TLS verified; nil: none
}

// Identity is what credentials prove.
type Identity struct {
	Principal Principal
	Until     time.Time // what is proven ends then, and with it every token made of it; zero: no end of its own
	Proof     string    // names the password that was shown, and tells nothing of it; empty: it was no password
}

// Authenticator finds out who is calling. It is safe for concurrent use. Credentials that it does not accept are fault.Unauthenticated, with a
// text that does not tell whether the user exists.
type Authenticator interface {
	Authenticate(ctx context.Context, c Credentials) (Identity, error)
}

// Gate is all that decides who comes in.
type Gate interface {
	Authenticator

	// Stands reports whether a password that once let a principal in would still do so: a token that was made of it is worth no more than the password.
	// It gives nil or fault.Unauthenticated.
	Stands(p Principal, proof string) error
}

// AnonymousOnly takes everybody for Anonymous. Names and passwords are accepted and ignored, since some clients cannot do without; a foreign
// token is refused, since its owner believes it means something. A token that was left out is none: see noToken.
type AnonymousOnly struct{}

// noToken is what flightsql-dbapi sends as its token where it was given none: Python's text of nothing.
const noToken = "None"

var _ Gate = AnonymousOnly{}

// Authenticate never looks at a password.
func (AnonymousOnly) Authenticate(_ context.Context, c Credentials) (Identity, error) {
	if c.Scheme == Bearer && c.Token != "" && c.Token != noToken {
		return Identity{}, fault.New(fault.Unauthenticated, "the bearer token is not valid here")
	}
	return Identity{Principal: Anonymous}, nil
}

// Stands is true of every token: no password was looked at.
func (AnonymousOnly) Stands(Principal, string) error { return nil }
