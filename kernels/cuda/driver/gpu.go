//go:build cuda

package driver

import (
	"fmt"
	"regexp"
	"runtime"
	"sync"

	"gorgonia.org/cu"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/cuda/device"
)

// gpu is a device with a thread of its own, in which its context is current: all calls of the driver are made there.
type gpu struct {
	info    device.Info
	calls   chan func()
	done    sync.WaitGroup
	kernels map[string]cu.Function
}

var _ device.Device = (*gpu)(nil)

var entryName = regexp.MustCompile(`\.entry\s+(\w+)`)

func open(d cu.Device, texts []string) (*gpu, error) {
	g := &gpu{calls: make(chan func()), kernels: map[string]cu.Function{}}
	if err := g.describe(d); err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	g.done.Go(func() { g.thread(d, started) })
	if err := <-started; err != nil {
		return nil, err
	}
	err := g.do(func() error { return g.load(texts) })
	if err != nil {
		_ = g.Close() // the first error counts
		return nil, err
	}
	return g, nil
}

func (g *gpu) describe(d cu.Device) error {
	name, err := d.Name()
	if err != nil {
		return fmt.Errorf("its name: %w", err)
	}
	memory, err := d.TotalMem()
	if err != nil {
		return fmt.Errorf("its memory: %w", err)
	}
	major, minor, err := d.ComputeCapability()
	if err != nil {
		return fmt.Errorf("its architecture: %w", err)
	}
	processors, err := d.Attribute(cu.MultiprocessorCount)
	if err != nil {
		return fmt.Errorf("its processors: %w", err)
	}
	v := cu.Version()
	g.info = device.Info{Name: name, Memory: memory, Processors: processors, Capability: fmt.Sprintf("%d.%d", major, minor),
		Driver: fmt.Sprintf("%d.%d", v/1000, v%1000/10)}
	if major < 8 {
		return fmt.Errorf("%s has the architecture %s, the kernels need 8.0", name, g.info.Capability)
	}
	return nil
}

// thread makes the calls until there are no more.
func (g *gpu) thread(d cu.Device, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, err := d.MakeContext(cu.SchedBlockingSync)
	if err == nil {
		err = cu.SetCurrentContext(ctx)
	}
	started <- err
	if err != nil {
		return
	}
	for call := range g.calls {
		call()
	}
	_ = ctx.Destroy() // nobody is left to tell
}

// do makes a call in the device's thread.
func (g *gpu) do(f func() error) (err error) {
	done := make(chan struct{})
	g.calls <- func() {
		defer close(done)
		defer fault.Recover(&err, fault.Internal, "call the driver of %s", g.info.Name)
		err = f()
	}
	<-done
	return err
}

// load compiles the kernels, which the driver does once for a device and keeps.
func (g *gpu) load(texts []string) error {
	for _, text := range texts {
		m, err := cu.LoadData(text)
		if err != nil {
			return fmt.Errorf("load the kernels: %w", err)
		}
		for _, name := range entryName.FindAllStringSubmatch(text, -1) {
			f, err := m.Function(name[1])
			if err != nil {
				return fmt.Errorf("find the kernel %s: %w", name[1], err)
			}
			g.kernels[name[1]] = f
		}
	}
	return nil
}

// Info describes the device.
func (g *gpu) Info() device.Info { return g.info }

// Close ends the device's thread.
func (g *gpu) Close() error {
	close(g.calls)
	g.done.Wait()
	return nil
}
