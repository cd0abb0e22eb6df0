package shell

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// defaultPort is where a server listens when nobody says otherwise.
const defaultPort = "31337"

// target is whom a URI means.
type target struct {
	uri     string
	address string // host:port
	secure  bool   // TLS
}

// parseTarget splits a URI, or a bare host with or without a port.
func parseTarget(uri string) (target, error) {
	if !strings.Contains(uri, "://") {
		address, err := withPort(uri)
		if err != nil {
			return target{}, fmt.Errorf("--uri %q: %w", uri, err)
		}
		return target{uri, address, false}, nil
	}
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" {
		return target{}, fmt.Errorf("--uri %q: expected grpc://host:port or grpc+tls://host:port", uri)
	}
	if u.User != nil {
		return target{}, errors.New("--uri: the user is no part of it; give it with --user and --password-file")
	}
	secure := false
	switch strings.ToLower(u.Scheme) {
	case "grpc", "grpc+tcp":
	case "flightsql":
		secure = u.Query().Get("transport") != "tcp" // ADBC's spelling: TLS unless it says otherwise
	case "grpc+tls", "grpcs":
		secure = true
	default:
		return target{}, fmt.Errorf("--uri %q: unknown scheme %q; use grpc (plain text) or grpc+tls", uri, u.Scheme)
	}
	address, err := withPort(u.Host)
	if err != nil {
		return target{}, fmt.Errorf("--uri %q: %w", uri, err)
	}
	return target{uri, address, secure}, nil
}

// withPort adds the default port to a host that has none.
func withPort(host string) (string, error) {
	if _, port, err := net.SplitHostPort(host); err == nil && port != "" {
		return host, nil
	}
	name := strings.TrimSuffix(host, ":")
	if inner, found := strings.CutPrefix(name, "["); found {
		name = strings.TrimSuffix(inner, "]")
	}
	if name == "" || strings.Contains(name, ":") && net.ParseIP(name) == nil {
		return "", errors.New("expected host:port")
	}
	return net.JoinHostPort(name, defaultPort), nil
}

// other is the same server by the other scheme.
func (t target) other() string {
	if t.secure {
		return "grpc://" + t.address
	}
	return "grpc+tls://" + t.address
}
