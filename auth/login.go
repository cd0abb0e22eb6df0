package auth

import (
	"context"
	"strings"

	"github.com/skua-data/skua/fault"
)

// tokenUser is the name under which a client that knows only names and passwords sends a bearer token as its password.
const tokenUser = "token"

// Login joins the ways to log in that an operator configured; a nil one is not offered. Where none is, nobody can log in.
type Login struct {
	Users        *Static
	Tokens       *JWT
	Certificates *Certificates
}

var _ Gate = Login{}

// Authenticate asks the way that fits what was shown. A name with a password or a token goes before the connection's certificate, which
// then only opened the door.
func (l Login) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	switch {
	case c.Scheme == Bearer && l.Tokens != nil:
		return l.Tokens.Authenticate(ctx, c)
	case c.Scheme == Bearer:
		return Identity{}, fault.New(fault.Unauthenticated, "the bearer token is not valid here")
	case c.Scheme == Basic && l.Tokens != nil && strings.EqualFold(c.User, tokenUser):
		return l.Tokens.Authenticate(ctx, Credentials{Scheme: Bearer, Token: c.Password, Certificate: c.Certificate})
	case c.Scheme == Basic && l.Users != nil:
		return l.Users.Authenticate(ctx, c)
	case l.Certificates != nil && c.Certificate != nil:
		return l.Certificates.Authenticate(ctx, c) // a password beside it is nobody's here, and some clients cannot do without
	}
	return Identity{}, fault.New(fault.Unauthenticated, "log in with %s", l.ways())
}

// ways tells what is offered.
func (l Login) ways() string {
	var ways []string
	if l.Users != nil {
		ways = append(ways, "user and password")
	}
	if l.Tokens != nil {
		ways = append(ways, "a bearer token")
	}
	if l.Certificates != nil {
		ways = append(ways, "a client certificate")
	}
	return strings.Join(ways, " or ")
}

// Stands asks for the password among the users.
func (l Login) Stands(p Principal, proof string) error {
	if l.Users == nil {
		return fault.New(fault.Unauthenticated, "nobody logs in with a password here any more; log in again with %s", l.ways())
	}
	return l.Users.Stands(p, proof)
}
