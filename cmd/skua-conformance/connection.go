package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/skua-data/skua/conformance"
)

// connection is the flags that say whom to ask.
type connection struct{ uri, user, passwordFile, tokenFile, tlsRoots string }

func (c *connection) flags(command *cobra.Command) {
	command.Flags().StringVar(&c.uri, "uri", "grpc://127.0.0.1:31337", "the server: grpc://host:port, or grpc+tls://host:port")
	command.Flags().StringVar(&c.user, "user", "", "log in as this user; needs --password-file")
	command.Flags().StringVar(&c.passwordFile, "password-file", "", "a `file` whose first line is the password")
	command.Flags().StringVar(&c.tokenFile, "token-file", "", "a `file` whose first line is a bearer token")
	command.Flags().StringVar(&c.tlsRoots, "tls-roots", "", "a `file` of certificates (PEM) that sign the server's; none: the system's")
}

// under takes what the flags leave open from a profile.
func (c connection) under(p *conformance.Profile) connection {
	if c.user == "" {
		c.user = p.User
	}
	if c.tlsRoots == "" {
		c.tlsRoots = p.TLSRoots
	}
	return c
}

// target makes a client's target of the flags.
func (c connection) target() (conformance.Target, error) {
	scheme, address, ok := strings.Cut(c.uri, "://")
	if !ok || scheme != "grpc" && scheme != "grpc+tls" && scheme != "grpc+tcp" {
		return conformance.Target{}, fmt.Errorf("--uri %q: expected grpc://host:port or grpc+tls://host:port", c.uri)
	}
	t := conformance.Target{Address: address, Credentials: insecure.NewCredentials()}
	if scheme == "grpc+tls" {
		roots, err := c.roots()
		if err != nil {
			return t, err
		}
		t.Credentials = credentials.NewTLS(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	}
	return t, c.login(&t)
}

func (c connection) roots() (*x509.CertPool, error) {
	if c.tlsRoots == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(c.tlsRoots)
	if err != nil {
		return nil, fmt.Errorf("--tls-roots: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--tls-roots %s: it holds no certificate", c.tlsRoots)
	}
	return pool, nil
}

// login sets how calls are let in: by a token, or by a user and a password that are changed for one.
func (c connection) login(t *conformance.Target) error {
	switch {
	case c.tokenFile != "":
		token, err := firstLine("--token-file", c.tokenFile)
		t.Authorization = "Bearer " + token
		return err
	case c.user == "":
		return nil
	case c.passwordFile == "":
		return fmt.Errorf("--user %s needs --password-file", c.user)
	}
	var err error
	t.User = c.user
	t.Password, err = firstLine("--password-file", c.passwordFile)
	return err
}

func firstLine(flag, file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimRight(line, "\r"), nil
}
