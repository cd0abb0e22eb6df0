package auth

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/skua-data/skua/fault"
)

// Algorithms are those that a token may be signed with. All have a public key: with a shared one, whoever can verify can also sign.
var Algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// JWTConfig says whose tokens are taken. Keys, Issuer and Audience must be set: without the last two a token that the same provider gave for
// another service would open this one.
type JWTConfig struct {
	Keys       string        // a JSON Web Key Set: a file, or an https URL; http for this machine only
	Issuer     string        // what iss must be
	Audience   string        // what aud must hold
	UserClaim  string        // the claim that names the principal; empty: sub
	Algorithms []string      // of Algorithms; empty: all
	Leeway     time.Duration // how far clocks may differ; 0: 30 seconds
	Refresh    time.Duration // how long fetched keys are used before they are fetched again; 0: 15 minutes
	Now        func() time.Time
	Log        *slog.Logger
}

// JWT authenticates bearer tokens that an identity provider signed. It is safe for concurrent use.
type JWT struct {
	config JWTConfig
	keys   *keySet
	parser *jwt.Parser
}

var _ Authenticator = (*JWT)(nil)

// NewJWT checks the configuration. Keys are fetched when a token first needs them.
func NewJWT(c JWTConfig) (*JWT, error) {
	if c.Issuer == "" || c.Audience == "" {
		return nil, fault.New(fault.Invalid, "tokens are taken of one issuer and for one audience only: set skua.auth.jwt.issuer and skua.auth.jwt.audience")
	}
	if len(c.Algorithms) == 0 {
		c.Algorithms = Algorithms
	}
	for _, a := range c.Algorithms {
		if !slices.Contains(Algorithms, a) {
			return nil, fault.New(fault.Invalid, "tokens cannot be signed with %q", a).Change("skua.auth.jwt.algorithms")
		}
	}
	if c.UserClaim == "" {
		c.UserClaim = "sub"
	}
	if c.Leeway <= 0 {
		c.Leeway = 30 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	keys, err := newKeySet(c)
	if err != nil {
		return nil, err
	}
	parser := jwt.NewParser(jwt.WithValidMethods(c.Algorithms), jwt.WithIssuer(c.Issuer), jwt.WithAudience(c.Audience), jwt.WithExpirationRequired(),
		jwt.WithLeeway(c.Leeway), jwt.WithTimeFunc(c.Now))
	return &JWT{config: c, keys: keys, parser: parser}, nil
}

// errBadToken tells nothing of why: the log does.
func errBadToken() error {
	return fault.New(fault.Unauthenticated, "the bearer token is not valid or has expired; get a new one")
}

// Authenticate verifies a token. What it proves ends with the token. Keys that cannot be fetched are fault.Unavailable.
func (j *JWT) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	if c.Scheme != Bearer {
		return Identity{}, fault.New(fault.Unauthenticated, "log in with a bearer token")
	}
	claims := jwt.MapClaims{}
	_, err := j.parser.ParseWithClaims(c.Token, claims, func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		return j.keys.find(ctx, id, t.Method.Alg())
	})
	if unreachable := (*keysUnreachable)(nil); errors.As(err, &unreachable) {
		return Identity{}, fault.New(fault.Unavailable, "the keys that verify bearer tokens cannot be read").Change("skua.auth.jwt.keys")
	}
	if err != nil {
		j.config.Log.Info("bearer token refused", "reason", reason(err))
		return Identity{}, errBadToken()
	}
	name, _ := claims[j.config.UserClaim].(string)
	p, err := newPrincipal(name)
	if err != nil {
		j.config.Log.Info("bearer token refused", "reason", "its claim "+j.config.UserClaim+" names nobody")
		return Identity{}, errBadToken()
	}
	until, err := claims.GetExpirationTime()
	if err != nil || until == nil {
		return Identity{}, errBadToken()
	}
	return Identity{Principal: p, Until: until.Add(j.config.Leeway)}, nil
}

// reason says why a token was refused in words of our own: the parser's quote the token.
func reason(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{jwt.ErrTokenExpired, "it has expired"}, {jwt.ErrTokenNotValidYet, "it is not valid yet"}, {jwt.ErrTokenUsedBeforeIssued, "it was issued later"},
		{jwt.ErrTokenInvalidIssuer, "it has another issuer"}, {jwt.ErrTokenInvalidAudience, "it is for another audience"},
		{jwt.ErrTokenRequiredClaimMissing, "a claim is missing"}, {errUnknownKey, "its key is not known"}, {errKeyMisuse, "its key is for something else"},
		{jwt.ErrTokenSignatureInvalid, "its signature or algorithm is not accepted"}, {jwt.ErrTokenMalformed, "it is malformed"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "it is not valid"
}
