package flightsql

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/fault"
)

// The headers that carry identity.
const (
	authorizationHeader = "authorization"
	sessionHeader       = "x-skua-session"
	sessionCookie       = "arrow_flight_session_id"
)

// caller is who makes a call and what names a session.
type caller struct {
	principal auth.Principal
	until     time.Time   // the login ends then; zero: no end of its own
	proof     string      // of the password that the login was; empty: none
	token     string      // the session name inside the bearer token; empty: no token of this server
	named     string      // the session id of a cookie or a header; empty: none
	conn      *connection // nil where the server was made without Options
	headers   metadata.MD
}

type callerKey struct{}

// callerOf gives the caller of an admitted call.
func callerOf(ctx context.Context) *caller {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c
	}
	return &caller{principal: auth.Anonymous}
}

// identify authenticates a call and puts its caller into the context.
func (s *Server) identify(ctx context.Context) (context.Context, error) {
	headers, _ := metadata.FromIncomingContext(ctx)
	c := &caller{headers: headers, conn: connectionOf(ctx), named: namedSession(headers)}
	shown, err := shownIn(headers)
	if err != nil {
		return nil, err
	}
	shown.Certificate = certificateOf(ctx)
	if shown.Scheme == auth.Bearer {
		token, mine, err := s.config.Keyring.ParseToken(shown.Token)
		if mine {
			if err == nil {
				err = s.acceptToken(ctx, c, token, shown)
			}
			return context.WithValue(ctx, callerKey{}, c), err
		}
	}
	identity, err := s.config.Auth.Authenticate(ctx, shown)
	if err != nil {
		return nil, err
	}
	c.principal, c.until, c.proof = identity.Principal, identity.Until, identity.Proof
	return context.WithValue(ctx, callerKey{}, c), nil
}

// certificateOf gives the certificate that the connection's client showed and TLS verified.
func certificateOf(ctx context.Context) *x509.Certificate {
	if p, ok := peer.FromContext(ctx); ok {
		if secure, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(secure.State.VerifiedChains) > 0 {
			return secure.State.VerifiedChains[0][0]
		}
	}
	return nil
}

// acceptToken takes a verified token's word. A token for anonymous is worth nothing where nobody may be anonymous any more, and one that was made of a
// password nothing where that password does not let in any more. A token past half of its life is
// renewed by a response header, which clients that can do so pick up, unless the login ends with it.
func (s *Server) acceptToken(ctx context.Context, c *caller, t auth.Token, shown auth.Credentials) error {
	if t.Principal == auth.Anonymous {
		if _, err := s.config.Auth.Authenticate(ctx, auth.Credentials{Certificate: shown.Certificate}); err != nil {
			return err
		}
	}
	if t.Proof != "" {
		if err := s.config.Auth.Stands(t.Principal, t.Proof); err != nil {
			return err
		}
	}
	c.principal, c.token, c.until, c.proof = t.Principal, t.Session, t.Until, t.Proof
	life, age := t.Expires.Sub(t.Issued), s.config.Now().Sub(t.Issued)
	if age < life/2 || t.Issued.IsZero() || !t.Until.IsZero() && !t.Until.After(t.Expires) {
		return nil
	}
	header, err := s.bearer(c)
	if err != nil {
		return err
	}
	return setHeader(ctx, authorizationHeader, header)
}

// bearer makes an authorization header for a caller and the session its token names.
func (s *Server) bearer(c *caller) (string, error) {
	token, err := s.config.Keyring.SignToken(auth.Token{Principal: c.principal, Session: c.token, Expires: s.config.Now().Add(s.config.Limits.Token), Until: c.until, Proof: c.proof})
	return "Bearer " + token, err
}

// maxAgent bounds what is kept of a client's name for itself.
const maxAgent = 120

// agent is what the client calls itself.
func (c *caller) agent() string {
	name := c.header("user-agent")
	return strings.ToValidUTF8(name[:min(len(name), maxAgent)], "")
}

// setHeader adds to the response's headers. Outside a gRPC call there is no response.
func setHeader(ctx context.Context, pairs ...string) error {
	if grpc.ServerTransportStreamFromContext(ctx) == nil {
		return nil
	}
	return grpc.SetHeader(ctx, metadata.Pairs(pairs...))
}

// shownIn reads the authorization header. Go clients do not pad Basic's base64, the others do.
func shownIn(headers metadata.MD) (auth.Credentials, error) {
	values := headers.Get(authorizationHeader)
	if len(values) == 0 || values[0] == "" {
		return auth.Credentials{}, nil
	}
	scheme, rest, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case strings.EqualFold(scheme, "bearer"):
		return auth.Credentials{Scheme: auth.Bearer, Token: rest}, nil
	case strings.EqualFold(scheme, "basic"):
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(rest, "="))
		user, password, found := strings.Cut(string(raw), ":")
		if err != nil || !found {
			return auth.Credentials{}, fault.New(fault.Unauthenticated, "the authorization header is malformed")
		}
		return auth.Credentials{Scheme: auth.Basic, User: user, Password: password}, nil
	}
	return auth.Credentials{}, fault.New(fault.Unauthenticated, "the authorization header has neither Basic nor Bearer credentials")
}

// namedSession gives the session id that a cookie or the session header holds; malformed ones are ignored.
func namedSession(headers metadata.MD) string {
	for _, line := range headers.Get("cookie") {
		cookies, err := http.ParseCookie(line)
		if err != nil {
			continue
		}
		for _, c := range cookies {
			if c.Name == sessionCookie && wellFormed(c.Value) {
				return c.Value
			}
		}
	}
	for _, v := range headers.Get(sessionHeader) {
		if wellFormed(v) {
			return v
		}
	}
	return ""
}

// wellFormed reports whether a text can be an id that the session store made: 26 characters of base32.
func wellFormed(id string) bool {
	return len(id) == 26 && !strings.ContainsFunc(id, func(r rune) bool { return !(r >= 'A' && r <= 'Z' || r >= '2' && r <= '7') })
}

// cookieFor gives the Set-Cookie value for a session id; the empty id deletes the cookie.
func cookieFor(id string) string {
	if id == "" {
		return (&http.Cookie{Name: sessionCookie, MaxAge: -1, Expires: time.Unix(1, 0)}).String()
	}
	return (&http.Cookie{Name: sessionCookie, Value: id}).String()
}
