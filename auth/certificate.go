package auth

import (
	"context"
	"crypto/x509"

	"github.com/skua-data/skua/fault"
)

// The fields of a certificate that can name its principal.
const (
	CommonName = "common-name"
	Subject    = "subject" // the whole distinguished name, as RFC 2253 writes it
	DNSName    = "dns"     // the first of the alternative names of each kind
	Email      = "email"
	URI        = "uri"
)

// Certificates takes the principal from a client's certificate, which TLS has verified. It is safe for concurrent use.
type Certificates struct {
	field func(*x509.Certificate) string
}

var _ Authenticator = (*Certificates)(nil)

// NewCertificates names the field that holds the principal.
func NewCertificates(field string) (*Certificates, error) {
	first := func(names []string) string {
		if len(names) == 0 {
			return ""
		}
		return names[0]
	}
	switch field {
	case CommonName:
		return &Certificates{func(c *x509.Certificate) string { return c.Subject.CommonName }}, nil
	case Subject:
		return &Certificates{func(c *x509.Certificate) string { return c.Subject.String() }}, nil
	case DNSName:
		return &Certificates{func(c *x509.Certificate) string { return first(c.DNSNames) }}, nil
	case Email:
		return &Certificates{func(c *x509.Certificate) string { return first(c.EmailAddresses) }}, nil
	case URI:
		return &Certificates{func(c *x509.Certificate) string {
			if len(c.URIs) == 0 {
				return ""
			}
			return c.URIs[0].String()
		}}, nil
	}
	return nil, fault.New(fault.Invalid, "a certificate has no field %q", field)
}

// Authenticate reads the field. What it proves ends with the certificate.
func (m *Certificates) Authenticate(_ context.Context, c Credentials) (Identity, error) {
	if c.Certificate == nil {
		return Identity{}, fault.New(fault.Unauthenticated, "log in with a client certificate")
	}
	p, err := newPrincipal(m.field(c.Certificate))
	if err != nil {
		return Identity{}, fault.New(fault.Unauthenticated, "the client certificate names nobody").Change("skua.tls.client-principal")
	}
	return Identity{Principal: p, Until: c.Certificate.NotAfter}, nil
}
