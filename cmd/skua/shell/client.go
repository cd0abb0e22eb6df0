package shell

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
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
	authorization string // sent with every call; empty: none
}

// target splits a URI into gRPC's address and whether to use TLS.
func target(uri string) (address string, secure bool, err error) {
	if !strings.Contains(uri, "://") {
		return uri, false, nil
	}
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" {
		return "", false, fmt.Errorf("--uri %q: expected grpc://host:port or grpc+tls://host:port", uri)
	}
	switch strings.ToLower(u.Scheme) {
	case "grpc", "grpc+tcp":
	case "flightsql":
		secure = u.Query().Get("transport") != "tcp" // ADBC's spelling: TLS unless it says otherwise
	case "grpc+tls", "grpcs":
		secure = true
	default:
		return "", false, fmt.Errorf("--uri %q: unknown scheme %q; use grpc or grpc+tls", uri, u.Scheme)
	}
	return u.Host, secure, nil
}

func connect(ctx context.Context, config Config) (*client, error) {
	address, secure, err := target(config.URI)
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if secure {
		if transport, err = clientTLS(config.CAFile); err != nil {
			return nil, err
		}
	}
	sql, err := flightsql.NewClientCtx(ctx, address, nil, []flight.ClientMiddleware{flight.NewClientCookieMiddleware()},
		grpc.WithTransportCredentials(transport), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.URI, err)
	}
	sql.Alloc = memory.DefaultAllocator
	c := &client{sql: sql}
	switch {
	case config.Token != "":
		c.authorization = "Bearer " + config.Token
	case config.User != "":
		if err := c.login(ctx, config.User, config.Password); err != nil {
			return nil, errors.Join(fmt.Errorf("log in to %s: %w", config.URI, plain(err)), sql.Close())
		}
	}
	return c, nil
}

func clientTLS(caFile string) (credentials.TransportCredentials, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("read the authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", caFile)
		}
	}
	return credentials.NewTLS(config), nil
}

func (c *client) login(ctx context.Context, user, password string) error {
	out, err := c.sql.Client.AuthenticateBasicToken(ctx, user, password)
	if err != nil {
		return err
	}
	sent, _ := metadata.FromOutgoingContext(out)
	if values := sent.Get("authorization"); len(values) > 0 {
		c.authorization = values[len(values)-1]
	}
	return nil
}

func (c *client) with(ctx context.Context) context.Context {
	if c.authorization == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", c.authorization)
}

// query runs a statement on the query path and hands every batch to out.
func (c *client) query(ctx context.Context, text string, out output, progress *progress) (rows int64, err error) {
	ctx = c.with(ctx)
	info, err := c.sql.Execute(ctx, text)
	if err != nil {
		return 0, err
	}
	if len(info.Endpoint) == 0 && len(info.Schema) > 0 {
		schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
		if err != nil {
			return 0, err
		}
		return 0, errors.Join(out.start(schema), out.end())
	}
	progress.expect(info.TotalRecords)
	var schema *arrow.Schema
	for _, endpoint := range info.Endpoint {
		if err := c.fetch(ctx, endpoint.Ticket, &schema, out, progress, &rows); err != nil {
			return rows, err
		}
	}
	return rows, out.end()
}

func (c *client) fetch(ctx context.Context, ticket *flight.Ticket, schema **arrow.Schema, out output, progress *progress, rows *int64) error {
	reader, err := c.sql.DoGet(ctx, ticket)
	if err != nil {
		return err
	}
	defer reader.Release()
	if *schema == nil {
		*schema = reader.Schema()
		if err := out.start(*schema); err != nil {
			return err
		}
	}
	for reader.Next() {
		batch := reader.RecordBatch()
		*rows += batch.NumRows()
		progress.at(*rows)
		if err := out.batch(batch, progress); err != nil {
			return err
		}
	}
	return reader.Err()
}

// close ends the server's session, where it keeps one, and the connection. There is nothing to do about a failure.
func (c *client) close(ctx context.Context) {
	_, _ = c.sql.CloseSession(c.with(ctx), &flight.CloseSessionRequest{})
	_ = c.sql.Close()
}

// plain takes gRPC's wrapping off an error's text.
func plain(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	if s.Code() == codes.Canceled {
		return errors.New("cancelled")
	}
	return fmt.Errorf("%s: %s", s.Code(), s.Message())
}
