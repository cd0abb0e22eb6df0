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
}

// Authenticator finds out who is calling. It is safe for concurrent use. Credentials that it does not accept are fault.Unauthenticated, with a
// text that does not tell whether the user exists.
type Authenticator interface {
	Authenticate(ctx context.Context, c Credentials) (Identity, error)
}

// AnonymousOnly takes everybody for Anonymous. Names and passwords are accepted and ignored, since some clients cannot do without; a foreign
// token is refused, since its owner believes it means something.
type AnonymousOnly struct{}

var _ Authenticator = AnonymousOnly{}

// Authenticate never looks at a password.
func (AnonymousOnly) Authenticate(_ context.Context, c Credentials) (Identity, error) {
	if c.Scheme == Bearer {
		return Identity{}, fault.New(fault.Unauthenticated, "the bearer token is not valid here")
	}
	return Identity{Principal: Anonymous}, nil
}
