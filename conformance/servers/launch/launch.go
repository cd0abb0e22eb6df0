// Package launch starts real catalogs and stores on this machine, without containers, for tests and for people. Each is a process of its own on loopback, at
// ports that were free, with its files in a folder that goes when it stops. What it needs is downloaded once, to the folder that SKUA_SERVERS_HOME names, else
// to skua-servers in the user's cache. It is not part of the server.
package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// host is the only address that anything listens on.
const host = "127.0.0.1"

// Settings steer a server; About tells which it knows.
type Settings map[string]string

// Server is a running server.
type Server struct {
	Address string            // host:port
	Client  map[string]string // what a client needs beside the address, such as keys

	site *site
	keep io.Closer // the server lives while it is open
	done chan struct{}
}

// site is where a server runs, and how it is started.
type site struct {
	home, folder string // of downloads, of this server
	ports        []int
	settings     Settings
	command      []string
	environment  []string          // over this process's
	client       map[string]string // for Server.Client
}

// at is the address of the site's first port.
func (s *site) at() string { return fmt.Sprintf("%s:%d", host, s.ports[0]) }

// in is a path in the server's folder.
func (s *site) in(name string) string { return filepath.Join(s.folder, name) }

// kind is a server that can be started.
type kind struct {
	name, about string
	ports       int
	prepare     func(context.Context, *site) error // downloads what is missing, and sets the command
	ready       func(context.Context, *site) error // nil when it answers
}

// ErrMissing is the error of a server that needs a program which this machine lacks.
var ErrMissing = errors.New("a program is missing")

// patience is how long a server may take until it answers, after the downloads.
const patience = 5 * time.Minute

func kinds() []kind {
	return []kind{restFixture, hive("hive3"), hive("hive4"), nessie, moto, issuer, postgres, mariadb, versitygw, fakeGCS, azurite, miniHDFS}
}

// About tells of each server what it is, a line each.
func About() string {
	var b strings.Builder
	for _, k := range kinds() {
		fmt.Fprintf(&b, "%-10s %s\n", k.name, k.about)
	}
	return b.String()
}

// Start starts a server and waits until it answers.
func Start(ctx context.Context, name string, settings Settings) (*Server, error) {
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no server is called %q", name)
	}
	server, err := all[i].start(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return server, nil
}

func (k kind) start(ctx context.Context, settings Settings) (_ *Server, err error) {
	home := os.Getenv("SKUA_SERVERS_HOME")
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		home = filepath.Join(cache, "skua-servers")
	}
	s := &site{home: home, settings: settings, client: map[string]string{}}
	if s.folder, err = os.MkdirTemp("", "skua-"+k.name+"-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(s.folder)
		}
	}()
	if s.ports, err = free(k.ports); err != nil {
		return nil, err
	}
	if err := k.prepare(ctx, s); err != nil {
		return nil, err
	}
	server, err := s.run()
	if err != nil {
		return nil, err
	}
	deadline, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for why := errors.New("not asked yet"); why != nil; {
		select {
		case <-server.done:
			return nil, fmt.Errorf("it ended:\n%s", server.Log())
		case <-deadline.Done():
			text := server.Log()
			_ = server.Stop()
			return nil, fmt.Errorf("it does not answer (%w):\n%s", why, text)
		case <-time.After(100 * time.Millisecond):
			why = k.ready(deadline, s)
		}
	}
	return server, nil
}

// keeper runs a command and ends it when its own input ends, so that no server outlives a test that was killed.
const keeper = `exec 3<&0; "$@" </dev/null 3<&- & p=$!; { read -r _ <&3; kill $p; sleep 10; kill -9 $p; } 2>/dev/null & exec 3<&-; wait $p`

// run starts the site's command.
func (s *site) run() (*Server, error) {
	log, err := os.Create(s.in("log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := exec.Command("bash", append([]string{"-c", keeper, "keeper"}, s.command...)...)
	c.Dir, c.Env, c.Stdout, c.Stderr = s.folder, append(os.Environ(), s.environment...), log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the terminal is the test's
	keep, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	server := &Server{Address: s.at(), Client: s.client, site: s, keep: keep, done: make(chan struct{})}
	go func() { // ends with the server, which Stop waits for
		_ = c.Wait()
		close(server.done)
	}()
	return server, nil
}

// Log gives the end of what the server printed.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.site.in("log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// Stop ends the server, waits for its end, and removes its files.
func (s *Server) Stop() error {
	err := s.keep.Close()
	<-s.done
	return errors.Join(err, os.RemoveAll(s.site.folder))
}

// free gives ports that nobody listens on just now.
func free(n int) (out []int, err error) {
	for range n {
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}

// open is ready when the first port accepts connections.
func open(ctx context.Context, s *site) error {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.at())
	if err != nil {
		return err
	}
	return c.Close()
}

// answers is ready when an address answers with success; port counts from the site's first.
func answers(port int, path string) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d%s", host, s.ports[port], path), nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	}
}
