package sdk

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/plugins"
)

// ProtocolVersion is that of the protocol which Serve speaks; a server of another one refuses the plugin.
const ProtocolVersion = plugins.ProtocolVersion

// Serve is the main function of a plugin: it serves one catalog to the server that started the process, and returns when that server is done with it. open is asked
// once for the constructor of a catalog type; a plugin with one catalog may ignore typ. Serve takes over standard input, output and error, and slog's
// default logger. Started by hand it says what the program is for and exits with 1.
func Serve(open func(typ string) (catalogs.Constructor, error), opts ...Option) {
	settings := newSettings(opts)
	if !Launched() {
		fmt.Fprint(os.Stderr, settings.usage)
		os.Exit(1)
	}
	log := settings.logger(os.Stderr)
	server := plugins.NewServer(plugins.ServerConfig{Open: open, Version: settings.version, Log: log})
	go watch(os.Stdin) // ends with the process: what it waits for is the process's end
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugins.Handshake(),
		Plugins:         plugin.PluginSet{plugins.Name: &plugins.Plugin{Served: server}},
		GRPCServer:      grpcServer,
		Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr, JSONFormat: true}),
	})
	if err := server.Close(); err != nil {
		log.Warn("close catalog", "error", err)
	}
}

// grpcServer lets the server ask often whether this process still lives.
func grpcServer(options []grpc.ServerOption) *grpc.Server {
	return plugin.DefaultGRPCServer(append(options, grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true})))
}

// Launched reports whether a server started this process, so that a plugin's main can tell a user at a terminal more than Serve does.
func Launched() bool { return os.Getenv(plugins.CookieKey) == plugins.CookieValue }

// watch ends the process when the lifeline closes: the server is gone, however it went. Nothing is flushed, since a catalog only reads.
func watch(lifeline io.Reader) {
	_, _ = io.Copy(io.Discard, lifeline)
	removeSocket(os.Getenv(plugin.EnvUnixSocketDir))
	os.Exit(0)
}

// removeSocket removes the folder that the server made for this process's socket and can no longer remove itself. Anything else in it stays.
func removeSocket(folder string) {
	if folder == "" {
		return
	}
	sockets, _ := filepath.Glob(filepath.Join(folder, "plugin*"))
	for _, socket := range sockets {
		_ = os.Remove(socket)
	}
	_ = os.Remove(folder)
}
