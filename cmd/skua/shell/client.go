package shell

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// client is one connection with its login.
type client struct {
	sql           *flightsql.Client
	target        target
	authorization string // sent with every call; empty: none
	answered      bool   // a statement had an answer: there may be a session
	lost          bool   // the last call failed because the session or the login is no more
}

func connect(ctx context.Context, config Config) (*client, error) {
	to, err := parseTarget(config.URI)
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if to.secure {
		if transport, err = clientTLS(config); err != nil {
			return nil, err
		}
	} else if config.CAFile+config.CertificateFile != "" {
		return nil, fmt.Errorf("certificates are for TLS, and %s is in plain text; use --uri %s", config.URI, to.other())
	}
	sql, err := flightsql.NewClientCtx(ctx, to.address, nil, []flight.ClientMiddleware{flight.NewClientCookieMiddleware()},
		grpc.WithTransportCredentials(transport), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.URI, err)
	}
	sql.Alloc = memory.DefaultAllocator
	c := &client{sql: sql, target: to}
	if config.Token != "" {
		c.authorization = "Bearer " + config.Token
	}
	if err := c.login(ctx, config.User, config.Password); err != nil {
		return nil, errors.Join(err, sql.Close())
	}
	return c, nil
}

func clientTLS(config Config) (credentials.TransportCredentials, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if config.CAFile != "" {
		pem, err := os.ReadFile(config.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the authorities: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", config.CAFile)
		}
	}
	if (config.CertificateFile == "") != (config.KeyFile == "") {
		return nil, errors.New("a client certificate needs its key, and a key its certificate: give both --client-certificate and --client-key")
	}
	if config.CertificateFile != "" {
		pair, err := tls.LoadX509KeyPair(config.CertificateFile, config.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load the client certificate %s and its key: %w", config.CertificateFile, err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(out), nil
}

// login trades user and password for a token; without a user there is nothing to do.
func (c *client) login(ctx context.Context, user, password string) error {
	if user == "" {
		return nil
	}
	out, err := c.sql.Client.AuthenticateBasicToken(ctx, user, password)
	if err != nil {
		c.authorization = "Basic" // what plain has to know: there was a login
		return fmt.Errorf("log in as %s: %w", user, c.plain(err))
	}
	sent, _ := metadata.FromOutgoingContext(out)
	if values := sent.Get("authorization"); len(values) > 0 {
		c.authorization = values[len(values)-1]
	}
	return nil
}

// check asks for nothing in particular, so that an interactive shell does not begin without a server.
func (c *client) check(ctx context.Context) error {
	_, err := c.sql.GetSqlInfo(c.with(ctx), []flightsql.SqlInfo{flightsql.SqlInfoFlightSqlServerName})
	if code := status.Code(err); code == codes.Unavailable || code == codes.Unauthenticated {
		return c.plain(err)
	}
	return nil
}

func (c *client) with(ctx context.Context) context.Context {
	if c.authorization == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", c.authorization)
}

// close ends the server's session, where it keeps one, and the connection. There is nothing to do about a failure.
func (c *client) close(ctx context.Context) {
	_, _ = c.sql.CloseSession(c.with(ctx), &flight.CloseSessionRequest{})
	_ = c.sql.Close()
}
