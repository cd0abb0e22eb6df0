package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins"
)

// grace is how long a plugin may take to end by itself when it is asked to.
const grace = 2 * time.Second

// maxAnswer bounds one message of a plugin, in bytes. Metadata comes in chunks of 1 MiB.
const maxAnswer = 16 << 20

// settleTime is how long a process that failed is left alone, so that its own end is reported and not ours.
const settleTime = 200 * time.Millisecond

// pongTime is how long a process may take to answer a signal of the connection, which needs nothing of the catalog.
const pongTime = 10 * time.Second

// instance is a running process with its catalog open.
type instance struct {
	client  *plugin.Client
	process *process
	catalog *plugins.Catalog
	since   time.Time // when it began to serve, by the host's clock
	once    sync.Once
}

// launch starts a process, shakes hands and opens the catalog in it, all before ctx ends. When anything fails the process is gone.
func (c *Catalog) launch(ctx context.Context) (*instance, error) {
	if err := c.limits.trusted(c.program.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unusable(c.definition, c.program.path, err)
	}
	printed := &output{log: c.log, redact: c.redact, budget: budget{now: time.Now}}
	process := newProcess(c.program)
	i := &instance{process: process, client: c.host.client(process, printed, c.limits.memory)}
	stop := context.AfterFunc(ctx, process.kill)
	defer stop()
	catalog, err := c.connect(ctx, i)
	if err != nil {
		ended := process.await(settleTime)
		i.kill()
		return nil, c.explain(ctx, err, process, ended, printed.last())
	}
	i.catalog = catalog
	c.log.Info("plugin started", "program", c.program.path, "pid", process.ID(), "version", catalog.Version())
	return i, nil
}

// client configures go-plugin for a process of our own. Its logger is off: it would read log lines itself, and trusts them.
func (h *Host) client(process *process, printed io.Writer, memory int64) *plugin.Client {
	return plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: plugins.Handshake(),
		Plugins:         plugin.PluginSet{plugins.Name: &plugins.Plugin{}},
		RunnerFunc: func(_ hclog.Logger, handshake *exec.Cmd, folder string) (runner.Runner, error) {
			process.cmd.Env, process.folder, process.data = environment(handshake.Env, memory), folder, mostData(memory)
			return process, nil
		},
		StartTimeout:     24 * time.Hour, // the launch has a time limit of its own
		Stderr:           printed,
		SyncStdout:       printed,
		SyncStderr:       printed,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}),
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: h.config.Silence, Timeout: pongTime}),
		},
		AutoMTLS:    true,
		SkipHostEnv: true,
	})
}

func (c *Catalog) connect(ctx context.Context, i *instance) (*plugins.Catalog, error) {
	protocol, err := i.client.Client()
	if err != nil {
		return nil, err
	}
	dispensed, err := protocol.Dispense(plugins.Name)
	if err != nil {
		return nil, err
	}
	client, ok := dispensed.(*plugins.Client)
	if !ok {
		return nil, fault.New(fault.Internal, "the plugin client is a %T", dispensed)
	}
	client.Patience = c.limits.patience
	return client.Open(ctx, c.program.typ, catalogs.Config{Name: c.definition.Name, Properties: forPlugin(c.definition.Properties), Locations: c.locations})
}

// explain says in the operator's words why a launch failed.
func (c *Catalog) explain(ctx context.Context, err error, process *process, ended bool, printed string) error {
	name, path := c.definition.Name, c.program.path
	var carried *fault.Error
	switch text := err.Error(); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return c.broken(printed, "open catalog %s: its plugin %s did not start within %s", name, path, c.limits.start)
	case ctx.Err() != nil:
		return fault.New(fault.Unavailable, "open catalog %s: stopped while its plugin was starting", name)
	case errors.As(err, &carried) && !errors.Is(err, plugins.ErrDisconnected):
		return fault.Wrap(err, "open catalog %s", name)
	case errors.Is(err, plugins.ErrDisconnected):
		return c.broken(printed, "open catalog %s: its plugin %s ended while it opened the catalog (%s)", name, path, process.how())
	case strings.HasPrefix(text, "incompatible API version"):
		return c.broken("", "open catalog %s: its plugin %s speaks another protocol (%s); this server speaks version %d: build the plugin with the server's plugins/sdk",
			name, path, text, plugins.ProtocolVersion)
	case strings.HasPrefix(text, "Unrecognized remote plugin message: "):
		line, _, _ := strings.Cut(strings.TrimPrefix(text, "Unrecognized remote plugin message: "), "\n")
		if line != "" {
			return c.broken("", "open catalog %s: %s is no catalog plugin: it printed %s instead of the handshake", name, path, shortened(c.redact.String(line)))
		}
		return c.broken(printed, "open catalog %s: its plugin %s ended before the handshake (%s)", name, path, process.how())
	case ended:
		return c.broken(printed, "open catalog %s: its plugin %s ended before the handshake (%s)", name, path, process.how())
	default:
		return c.broken(printed, "open catalog %s: its plugin %s cannot be used: %s", name, path, shortened(c.redact.String(text)))
	}
}

// broken makes the error, with what the plugin printed last.
func (c *Catalog) broken(printed, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if printed != "" {
		text += "; it printed: " + printed
	}
	return fault.New(fault.Unavailable, "%s", text).In(c.definition.Name)
}

// shortened quotes a text that anybody may have written.
func shortened(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// kill ends the process at once and frees what is held of it. Killing again waits until it is done.
func (i *instance) kill() { i.end(0) }

// stop asks the process to end and kills it when it does not.
func (i *instance) stop() { i.end(grace) }

func (i *instance) end(patience time.Duration) {
	i.once.Do(func() {
		if patience == 0 {
			i.process.kill()
		}
		force := time.AfterFunc(patience, i.process.kill)
		i.client.Kill()
		force.Stop()
		i.process.release()
	})
}
