// Package plugins is the protocol between the server and the process of a catalog plugin: the handshake, and catalogs.Catalog over gRPC, both
// ends. It starts no process (host does) and serves none (sdk does). Wire types stop here: whoever uses it sees catalogs' types. No secret leaves it
// in an error, see Redactor.
package plugins

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

// ProtocolVersion changes when a plugin of the old protocol could not be understood any more. New fields and methods do not change it.
const ProtocolVersion = 1

// Name is under which a plugin serves its catalog in go-plugin's set.
const Name = "catalog"

// The magic cookie: a variable in the environment of a plugin's process that says a server started it. It is no secret and guards nothing.
const (
	CookieKey   = "CATALOG_PLUGIN_COOKIE"
	CookieValue = "8e0a5c6a1f0b4e0d9d7c2b61f3a94c57"
)

// ErrDisconnected is in the chain of a fault.Unavailable when the connection to the plugin broke, most often because its process ended.
var ErrDisconnected = errors.New("plugins: the connection to the plugin is broken")

// closeTimeout bounds how long a catalog may take to close.
const closeTimeout = 2 * time.Second

// Handshake is what both ends must agree on before they speak.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: ProtocolVersion, MagicCookieKey: CookieKey, MagicCookieValue: CookieValue}
}

// Plugin is go-plugin's hook for both ends. The plugin's end sets Served; the server's end leaves it nil and gets a *Client from Dispense.
type Plugin struct {
	plugin.NetRPCUnsupportedPlugin
	Served *Server
}

var (
	_ plugin.GRPCPlugin = (*Plugin)(nil)
	_ plugin.Plugin     = (*Plugin)(nil)
)

// GRPCServer registers the plugin's end.
func (p *Plugin) GRPCServer(_ *plugin.GRPCBroker, registrar *grpc.Server) error {
	if p.Served == nil {
		return errors.New("plugins: nothing to serve")
	}
	catalogv1.RegisterCatalogServiceServer(registrar, &service{server: p.Served})
	return nil
}

// GRPCClient gives a *Client, the server's end. Its calls take their own contexts; the one given here ends with the process.
func (p *Plugin) GRPCClient(process context.Context, _ *plugin.GRPCBroker, connection *grpc.ClientConn) (any, error) {
	rpc := catalogv1.NewCatalogServiceClient(connection)
	shut := func() error {
		ctx, cancel := context.WithTimeout(process, closeTimeout)
		defer cancel()
		_, err := rpc.Close(ctx, &catalogv1.CloseRequest{})
		return decodeError(ctx, err, NewRedactor(nil))
	}
	return &Client{rpc: rpc, shut: shut}, nil
}
