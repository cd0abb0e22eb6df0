package inprocess

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/outside"
	"github.com/skua-data/skua/conformance/report"
	"github.com/skua-data/skua/server"
)

// guarded is the configuration of a server that wants TLS and a password, and what a client needs of it.
type guarded struct {
	settings             map[string]string
	roots                *x509.CertPool
	rootsFile, passwords string
}

const (
	guardedUser     = "ana"
	guardedPassword = "a password"
)

func newGuarded(t *testing.T) guarded {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	line, err := server.UserLine(guardedUser, guardedPassword)
	if err != nil {
		t.Fatal(err)
	}
	g := guarded{settings: maps.Clone(lake(t)), roots: x509.NewCertPool(), rootsFile: filepath.Join(dir, "server.pem"), passwords: filepath.Join(dir, "password")}
	pemText := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	g.roots.AppendCertsFromPEM(pemText)
	for file, text := range map[string][]byte{g.rootsFile: pemText, filepath.Join(dir, "server.key"): pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		filepath.Join(dir, "users"): []byte(line + "\n"), g.passwords: []byte(guardedPassword + "\n")} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g.settings["skua.tls.certificate-file"], g.settings["skua.tls.key-file"] = g.rootsFile, filepath.Join(dir, "server.key")
	g.settings["skua.auth.users-file"] = filepath.Join(dir, "users")
	return g
}

// TestScriptsOverTLSWithALogin runs the smoke profile, or with SKUA_CONFORMANCE=full every case, on a server that wants both.
func TestScriptsOverTLSWithALogin(t *testing.T) {
	scripts, err := conformance.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	g := newGuarded(t)
	target := start(t, g.settings).Target()
	target.Credentials = credentials.NewTLS(&tls.Config{RootCAs: g.roots, MinVersion: tls.VersionTLS12})
	target.Cookies = true
	target.User, target.Password = guardedUser, "wrong"
	refused := conformance.Run(t.Context(), conformance.Config{Connect: target.Sessions(), Only: "reading/one-row"}, scripts...)
	if c := report.Count(refused); c.Failed != 1 || c.Passed != 0 {
		t.Errorf("with a wrong password %s", c)
	}
	target.Password = guardedPassword
	out := cell(t, conformance.Config{Connect: target.Sessions(), Cell: conformance.Cell{Cookies: true, Path: conformance.PathPrepared}, Smoke: !full()}, scripts)
	t.Log(report.Count(out))
}

// TestOtherClients runs the scripts through ADBC from Python and from Go and through Arrow's JDBC driver, over TLS with a login.
func TestOtherClients(t *testing.T) {
	folder := os.Getenv("SKUA_CLIENTS")
	if folder == "" {
		t.Skip("make conformance-clients sets SKUA_CLIENTS, and has the driver that Java needs")
	}
	scripts, err := conformance.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	if jars, _ := filepath.Glob(filepath.Join(folder, "jdbc", "*.jar")); len(jars) > 0 {
		t.Setenv("SKUA_JDBC_DRIVER", jars[0])
	}
	g := newGuarded(t)
	address := start(t, g.settings).Target().Address
	started := time.Now()
	var all []conformance.Outcome
	for _, program := range []string{filepath.Join("..", "outside", "adbc.py"), filepath.Join(folder, "adbc-go"), filepath.Join("..", "outside", "Jdbc.java")} {
		client, err := outside.Start(t.Context(), outside.Config{Program: program, URI: "grpc+tls://" + address, User: guardedUser, PasswordFile: g.passwords, TLSRoots: g.rootsFile})
		if err != nil {
			t.Error(err)
			continue
		}
		for _, path := range conformance.Paths() {
			at := conformance.Cell{Path: path, Cookies: true}.With(conformance.Through, client.Name())
			out := cell(t, conformance.Config{Connect: client.Sessions(), Cell: at}, scripts)
			t.Log(at, report.Count(out))
			all = append(all, out...)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	writeResults(t, report.Run{Title: "Skua, through other clients", Profile: "reference", Started: started, Outcomes: all})
}
