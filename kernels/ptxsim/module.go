package ptxsim

import "sort"

// Module is a parsed PTX file. It is immutable and safe to share.
type Module struct {
	Version, Target string
	kernels         map[string]*kernel
	vars            []moduleVar
	sharedVars      []string // statements of shared variables outside of kernels
	files           map[string]string
}

// moduleVar is a variable of the global or constant space.
type moduleVar struct {
	name     string
	data     []byte
	readOnly bool
}

type param struct {
	name         string
	offset, size int
}

type variable struct {
	name         string
	offset, size int
}

type kernel struct {
	name       string
	params     []param
	paramBytes int
	code       []instr
	shared     []variable
	sharedSize int  // static part, with gaps between variables
	dynShared  bool // has an extern shared array, at sharedSize
	localSize  int
	npreds     int
	width      []uint8 // bits of each register
	regName    []string
	consts     []constReg
	specials   []specialReg
}

type constReg struct {
	reg   int32
	value uint64
	ref   string // name of a module variable whose address is the value
}

type specialReg struct {
	reg  int32
	name string
}

// Kernels lists the entry points in alphabetical order.
func (m *Module) Kernels() []string {
	var out []string
	for n := range m.kernels {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Params is how many parameters a kernel has, or -1 where there is no such kernel.
func (m *Module) Params(kernel string) int {
	if k := m.kernels[kernel]; k != nil {
		return len(k.params)
	}
	return -1
}

// Instructions is the number of instructions of a kernel, or -1 where there is no such kernel.
func (m *Module) Instructions(kernel string) int {
	if k := m.kernels[kernel]; k != nil {
		return len(k.code)
	}
	return -1
}

// SharedBytes is the static shared memory of a kernel, without the gaps that the simulator puts between variables; -1: no such kernel.
func (m *Module) SharedBytes(kernel string) int {
	k := m.kernels[kernel]
	if k == nil {
		return -1
	}
	n := 0
	for _, v := range k.shared {
		n += v.size
	}
	return n
}

// LocalBytes is the local memory of one thread of a kernel, -1 where there is no such kernel.
func (m *Module) LocalBytes(kernel string) int {
	if k := m.kernels[kernel]; k != nil {
		return k.localSize
	}
	return -1
}
