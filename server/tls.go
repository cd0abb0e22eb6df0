package server

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// certificates are the TLS files of a listener. They are read again when they change, so that a renewed certificate needs no restart; what
// cannot be read leaves the old ones in force. It is safe for concurrent use.
type certificates struct {
	files TLS
	log   *slog.Logger

	mu      sync.Mutex
	config  *tls.Config
	stamps  [3]stamp
	refused [3]stamp // of a change that could not be read: it is told once
}

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if path == "" || err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// newCertificates reads the files.
func newCertificates(files TLS, log *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, log: log, stamps: stampsOf(files)}
	var err error
	c.config, err = loadTLS(files)
	return c, err
}

// serverConfig asks for the files' state at each new connection.
func (c *certificates) serverConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(), nil }}
}

func stampsOf(files TLS) [3]stamp {
	return [3]stamp{stampOf(files.CertificateFile), stampOf(files.KeyFile), stampOf(files.ClientCAFile)}
}

func (c *certificates) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	stamps := stampsOf(c.files)
	if stamps == c.stamps || stamps == c.refused {
		return c.config
	}
	config, err := loadTLS(c.files)
	if err != nil { // perhaps one of the files is still to come
		c.refused = stamps
		c.log.Warn("the certificates changed and cannot be read; the old ones stay", "error", err.Error())
		return c.config
	}
	c.config, c.stamps, c.refused = config, stamps, [3]stamp{}
	c.log.Info("the certificates were read again", "file", c.files.CertificateFile)
	return config
}

// loadTLS makes a configuration of the files as they are.
func loadTLS(t TLS) (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(t.CertificateFile, t.KeyFile)
	if err != nil {
		return nil, fault.New(fault.Invalid, "load the certificate %s and its key: %w", t.CertificateFile, err).Change("skua.tls.certificate-file")
	}
	out := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}}
	if t.ClientCAFile == "" {
		return out, nil
	}
	pem, err := os.ReadFile(t.ClientCAFile)
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the client authorities: %w", err).Change("skua.tls.client-ca-file")
	}
	out.ClientCAs = x509.NewCertPool()
	if !out.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fault.New(fault.Invalid, "%s holds no certificate", t.ClientCAFile).Change("skua.tls.client-ca-file")
	}
	out.ClientAuth = tls.RequireAndVerifyClientCert
	return out, nil
}
