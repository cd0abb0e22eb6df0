package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
)

// authority signs certificates.
type authority struct {
	t           *testing.T
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, key: newKey(t)}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	must(t, err)
	a.certificate, err = x509.ParseCertificate(der)
	must(t, err)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return key
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// issue makes a certificate and its key as PEM.
func (a *authority) issue(name string) (certificate, key []byte) {
	a.serial++
	k := newKey(a.t)
	template := &x509.Certificate{SerialNumber: big.NewInt(100 + a.serial), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, k.Public(), a.key)
	must(a.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(k)
	must(a.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// write writes a file whose state differs from any before.
func write(t *testing.T, path string, text []byte) {
	t.Helper()
	must(t, os.WriteFile(path+".new", text, 0o600))
	must(t, os.Rename(path+".new", path))
}

// serveWith starts a server with settings and gives its address.
func serveWith(t *testing.T, settings ...string) string {
	t.Helper()
	config, err := NewConfig(load(t, append(settings, "skua.listen=127.0.0.1:0")...))
	must(t, err)
	server, err := New(context.Background(), config, Parts{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background()) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server.Addr().String()
}

// whoAmI asks a server who it takes the caller for.
func whoAmI(t *testing.T, address string, secure *tls.Config, headers ...string) (string, error) {
	t.Helper()
	c, err := flightsql.NewClient(address, nil, nil, grpc.WithTransportCredentials(credentials.NewTLS(secure)))
	must(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(context.Background(), headers...), 10*time.Minute)
	defer cancel()
	info, err := c.Execute(ctx, "SELECT current_user()")
	if err != nil {
		return "", err
	}
	r, err := c.DoGet(ctx, info.Endpoint[0].Ticket)
	must(t, err)
	defer r.Release()
	if !r.Next() {
		t.Fatal(r.Err())
	}
	return r.RecordBatch().Column(0).(*array.String).Value(0), nil
}

func TestAClientsCertificateIsItsLogin(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	certificate, key, ca := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"), filepath.Join(dir, "ca.pem")
	c, k := ours.issue("server")
	write(t, certificate, c)
	write(t, key, k)
	write(t, ca, ours.pem())
	address := serveWith(t, "skua.tls.certificate-file="+certificate, "skua.tls.key-file="+key, "skua.tls.client-ca-file="+ca)
	as := func(a *authority, name string) *tls.Config {
		if name == "" {
			return &tls.Config{RootCAs: ours.pool()}
		}
		c, k := a.issue(name)
		pair, err := tls.X509KeyPair(c, k)
		must(t, err)
		return &tls.Config{RootCAs: ours.pool(), Certificates: []tls.Certificate{pair}}
	}
	if who, err := whoAmI(t, address, as(ours, "ada")); err != nil || who != "ada" {
		t.Errorf("%q, %v", who, err)
	}
	if who, err := whoAmI(t, address, as(ours, "ada"), "authorization", "Basic Ym9iOng="); err != nil || who != "ada" {
		t.Errorf("with a password that is nobody's: %q, %v", who, err)
	}
	if _, err := whoAmI(t, address, as(theirs, "ada")); err == nil {
		t.Error("another authority's certificate is taken")
	}
	if _, err := whoAmI(t, address, as(ours, "")); err == nil {
		t.Error("a client without a certificate is taken")
	}
	if _, err := whoAmI(t, address, as(ours, "anonymous")); err == nil {
		t.Error("a certificate of the reserved name is taken")
	}
	// The authorities are read again, too.
	write(t, ca, append(ours.pem(), theirs.pem()...))
	if who, err := whoAmI(t, address, as(theirs, "eve")); err != nil || who != "eve" {
		t.Errorf("after the authorities changed: %q, %v", who, err)
	}
}

func TestCertificatesAreReadAgainWhenTheyChange(t *testing.T) {
	first, second := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	c, k := first.issue("server")
	write(t, certificate, c)
	write(t, key, k)
	address := serveWith(t, "skua.tls.certificate-file="+certificate, "skua.tls.key-file="+key)
	ask := func(a *authority, ok bool) {
		t.Helper()
		if _, err := whoAmI(t, address, &tls.Config{RootCAs: a.pool()}); (err == nil) != ok {
			t.Error(err)
		}
	}
	ask(first, true)
	c, k = second.issue("server")
	write(t, certificate, c)
	ask(first, true) // its key is still to come
	write(t, key, k)
	ask(second, true)
	ask(first, false)
	write(t, certificate, []byte("no certificate"))
	ask(second, true)
}

func TestHealthAndReflectionNeedNoLogin(t *testing.T) {
	users := filepath.Join(t.TempDir(), "users")
	line, err := UserLine("ada", "pw")
	must(t, err)
	write(t, users, []byte(line))
	conn, err := grpc.NewClient(serveWith(t, "skua.auth.users-file="+users), grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	health, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil || health.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", health, err)
	}
	services, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	must(t, err)
	must(t, services.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}))
	if _, err := services.Recv(); err != nil {
		t.Error(err)
	}
	if _, err := pb.NewFlightServiceClient(conn).GetFlightInfo(ctx, &pb.FlightDescriptor{Cmd: []byte("SELECT 1")}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a statement without a login: %v", err)
	}
}

func TestBoundsCannotBeSwitchedOff(t *testing.T) {
	for _, c := range []struct{ setting, want string }{
		{"skua.session.max=0", "1 or more"},
		{"skua.session.idle-timeout=0", "more than 0"},
		{"skua.auth.jwt.keys=http://id.test/k", "skua.auth.jwt.issuer"},
		{"skua.tls.client-ca-file=/dev/null", "need TLS"},
		{"skua.tls.client-principal=shoe-size", "common-name"},
	} {
		if _, err := NewConfig(load(t, c.setting)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.setting, err)
		}
	}
}
