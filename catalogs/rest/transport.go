package rest

import (
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// newTransport applies the rest.client.* properties that concern connections.
func newTransport(name string, p iceberg.Properties) (http.RoundTripper, error) {
	out := http.DefaultTransport.(*http.Transport).Clone()
	out.MaxIdleConnsPerHost = 16
	connect, err := milliseconds(name, p, "rest.client.connection-timeout-ms")
	if err != nil {
		return nil, err
	}
	if connect > 0 {
		out.DialContext = (&net.Dialer{Timeout: connect}).DialContext
	}
	for _, property := range []string{"rest.client.max-connections", "rest.client.connections-per-route"} {
		if text := p[property]; text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return nil, fault.New(fault.Invalid, "a number above 0 is expected, not %q", text).Change(key(name, property))
			}
			out.MaxConnsPerHost = n
		}
	}
	if host := p["rest.client.proxy.hostname"]; host != "" {
		proxy := &url.URL{Scheme: "http", Host: host}
		if port := p["rest.client.proxy.port"]; port != "" {
			proxy.Host = net.JoinHostPort(host, port)
		}
		if user := p["rest.client.proxy.username"]; user != "" {
			proxy.User = url.UserPassword(user, p["rest.client.proxy.password"])
		}
		out.Proxy = http.ProxyURL(proxy)
	}
	return out, nil
}
