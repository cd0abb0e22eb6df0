package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// plain takes gRPC's wrapping off an error and says what to try where the connection or the login is at fault.
func (c *client) plain(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	switch s.Code() {
	case codes.Canceled:
		return errors.New("cancelled")
	case codes.Unavailable:
		if text := c.unreachable(s.Message()); text != "" {
			return errors.New(text)
		}
	case codes.Unauthenticated:
		if c.authorization == "" && !c.lost {
			return fmt.Errorf("%s: %s\nTo log in give --user and --password-file, or --token-file.", codeName(s.Code()), s.Message())
		}
	}
	return fmt.Errorf("%s: %s", codeName(s.Code()), s.Message())
}

// codeName is a code as the protocol spells it.
func codeName(c codes.Code) string {
	var out strings.Builder
	for i, r := range c.String() {
		if i > 0 && r >= 'A' && r <= 'Z' {
			out.WriteByte('_')
		}
		out.WriteRune(r)
	}
	return strings.ToUpper(out.String())
}

// dialing are how messages begin that gRPC's client makes before a server has said anything. A server's own errors may name connections too, those of its catalogs.
var dialing = []string{"connection error", "last connection error", "name resolver error", "dns: ", "produced zero addresses", "dial tcp"}

// unreachable says in one or two lines why there is no connection and what to try. Empty: it does not know. gRPC tells the cause in words only.
func (c *client) unreachable(message string) string {
	fromClient := slices.ContainsFunc(dialing, func(p string) bool { return strings.HasPrefix(message, p) })
	has := func(any ...string) bool {
		for _, s := range any {
			if strings.Contains(message, s) {
				return true
			}
		}
		return false
	}
	address := c.target.address
	switch {
	case fromClient && has("connection refused"):
		return "nothing listens on " + address + ": connection refused\nIs the server running, and is this its port? `skua serve --demo` starts one on 127.0.0.1:" + defaultPort + "."
	case fromClient && has("no such host", "zero addresses", "name resolver error", "server misbehaving"):
		return "unknown host in " + c.target.uri + "\nCheck --uri: grpc://host:port, or grpc+tls://host:port with TLS."
	case c.target.secure && has("first record does not look like a TLS handshake"):
		return "the server on " + address + " does not speak TLS\nTry --uri " + c.target.other() + "."
	case c.target.secure && has("unknown authority"):
		return "the certificate of " + address + " is signed by an authority that is not known here\nGive the authority with --ca-file FILE."
	case c.target.secure && has("certificate required", "bad certificate", "handshake failure", "unknown certificate authority", "unknown certificate", "unknown_ca"):
		return "the server on " + address + " does not take the client's certificate: " + message + "\nGive one that it trusts with --client-certificate FILE and --client-key FILE."
	case c.target.secure && has("x509: certificate"):
		return "the certificate of " + address + " is not valid: " + message
	case !c.answered && has("server preface", "connection reset", "EOF", "frame too large", "broken pipe"):
		hint := "If it speaks TLS, try --uri " + c.target.other() + "."
		if c.target.secure {
			hint = "If it wants a client certificate, give --client-certificate FILE and --client-key FILE of one that it trusts."
		}
		return "the server on " + address + " ended the connection: " + message + "\n" + hint
	case fromClient && has("i/o timeout", "no route to host", "network is unreachable"), has("deadline exceeded") && !c.answered:
		return "no answer from " + address + ": " + message
	}
	return ""
}
