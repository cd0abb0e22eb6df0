// Package driver finds the GPUs of this machine. What talks to NVIDIA's driver is built under the tag cuda only; without it there are no
// devices. A binary with the tag needs neither a toolkit to be built nor a driver to start. The tag cudafake puts a stand-in in the driver's
// place, which runs the kernels on the CPU, for tests.
package driver

// Report says what was found.
type Report struct {
	Built   bool   // with the tag cuda
	Devices int    // that the driver has
	Reason  string // why there are none that can be used; empty where there are
	Missing int    // entry points that the driver does not have
}
