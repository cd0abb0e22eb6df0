package host

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// drainTime is how long output is still read after a process ended, when something it started keeps the pipe open.
const drainTime = time.Second

// process runs a plugin for go-plugin. Its standard input is the lifeline: a pipe whose other end only this process holds, so that the kernel closes it
// however the server ends. A death signal would not do, since it follows the thread that forked.
type process struct {
	cmd            *exec.Cmd
	data           int64    // bytes that it may have mapped; 0: any number
	folder         string   // of the socket; go-plugin removes it, unless the process could not start
	lifeline       *os.File // held
	stdout, stderr *os.File // read
	done           chan struct{}

	mu      sync.Mutex
	started bool
	killed  bool   // before or after start
	state   error  // how it ended, once done is closed
	reason  string // why it was ended, where that is not plain
}

var _ runner.Runner = (*process)(nil)

func newProcess(p program) *process {
	cmd := exec.Command(p.path, p.args...)
	ownGroup(cmd)
	return &process{cmd: cmd, done: make(chan struct{})}
}

// environment is the server's without Skua's own variables, which configure other catalogs too, and with go-plugin's. A plugin in Go learns how much memory it
// has, so that it collects its garbage before it is ended.
func environment(handshake []string, memory int64) []string {
	out := []string{"GOMEMLIMIT=" + strconv.FormatInt(memory/10*9, 10)}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SKUA_") && !strings.HasPrefix(variable, "GOMEMLIMIT=") {
			out = append(out, variable)
		}
	}
	return append(out, handshake...)
}

// Start implements runner.Runner. A process that is killed before does not start.
func (p *process) Start(context.Context) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var given []*os.File // to the child, closed here
	var kept []*os.File
	defer func() {
		closeAll(given)
		if err != nil {
			closeAll(kept)
			_ = os.Remove(p.folder)
		}
	}()
	if p.killed {
		return errors.New("it was stopped before it started")
	}
	pipe := func() (read, write *os.File) {
		if err == nil {
			read, write, err = os.Pipe()
		}
		return read, write
	}
	inRead, inWrite := pipe()
	outRead, outWrite := pipe()
	errRead, errWrite := pipe()
	given, kept = []*os.File{inRead, outWrite, errWrite}, []*os.File{inWrite, outRead, errRead}
	if err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inRead, outWrite, errWrite
	p.lifeline, p.stdout, p.stderr = inWrite, outRead, errRead
	if err := p.cmd.Start(); err != nil {
		return err
	}
	bound(p.cmd.Process.Pid, p.data)
	p.started = true
	go p.reap() // ends with the process, which release waits for
	return nil
}

// reap waits for the process, ends what it started and left behind, and lets its readers go.
func (p *process) reap() {
	if awaitEnd(p.cmd.Process.Pid) {
		killGroup(p.cmd.Process) // whose number is still its own
	}
	state := p.cmd.Wait()
	p.mu.Lock()
	p.state = state
	p.mu.Unlock()
	deadline := time.Now().Add(drainTime)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = p.stderr.SetReadDeadline(deadline)
	close(p.done)
}

// kill ends the process and what it started, at once.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if !p.started || p.ended() {
		return
	}
	killGroup(p.cmd.Process)
}

// blame notes why the process is ended.
func (p *process) blame(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reason = reason
}

// blamed reports whether the process was ended for what it did.
func (p *process) blamed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason != ""
}

// ended reports whether the process ran and is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// await gives a process that was started time to end, and reports whether it has.
func (p *process) await(limit time.Duration) bool {
	if p.pid() == 0 {
		return false
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	return p.ended()
}

// release kills, waits, and closes what is held of the process. No reader may be left.
func (p *process) release() {
	p.kill()
	if p.pid() == 0 {
		return
	}
	<-p.done
	closeAll([]*os.File{p.lifeline, p.stdout, p.stderr})
}

// how says how the process ended, in words.
func (p *process) how() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != "" {
		return p.reason
	}
	if p.state == nil {
		return "exit status 0"
	}
	return p.state.Error()
}

// Wait implements runner.AttachedRunner.
func (p *process) Wait(context.Context) error {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Kill implements runner.AttachedRunner.
func (p *process) Kill(context.Context) error {
	p.kill()
	return nil
}

// ID implements runner.AttachedRunner; it is empty before the start.
func (p *process) ID() string {
	if pid := p.pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

// pid is 0 before the start.
func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		return 0
	}
	return p.cmd.Process.Pid
}

// Diagnose implements runner.Runner; the host has its own words.
func (p *process) Diagnose(context.Context) string { return "" }

// Stdout implements runner.Runner.
func (p *process) Stdout() io.ReadCloser { return p.stdout }

// Stderr implements runner.Runner.
func (p *process) Stderr() io.ReadCloser { return p.stderr }

// Name implements runner.Runner.
func (p *process) Name() string { return p.cmd.Path }

// PluginToHost implements runner.AddrTranslator: both ends are on one machine.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin implements runner.AddrTranslator.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close()
		}
	}
}
