//go:build cuda && cudafake

package standin

/*
#cgo CFLAGS: -I${SRCDIR}/../cudart/include -Wno-unused-parameter
#include <stddef.h>
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/skua-data/skua/kernels/ptxsim"
)

// Results of the driver's calls.
const (
	success        = 0
	invalidValue   = 1
	notReady       = 600
	illegalAddress = 700
)

// function is a kernel of a module.
type function struct {
	module *ptxsim.Module
	name   string
}

// machine is the one device that a process has.
type machine struct {
	mu        sync.Mutex
	memory    *ptxsim.Device
	modules   []*ptxsim.Module
	functions []function
	broken    C.int // after a fault every call fails, as on a device
	faults    []string
	queries   int
	devices   int
	fail      string // the kernel whose next launch fails
}

// The driver's entry points have no argument that could hold a machine.
var the = &machine{memory: ptxsim.NewDevice(), devices: 1}

// Faults tells the faults of kernels so far.
func Faults() []string {
	the.mu.Lock()
	defer the.mu.Unlock()
	return append([]string(nil), the.faults...)
}

// FailNext makes the next launch of a kernel fail as a wrong address would.
func FailNext(kernel string) {
	the.mu.Lock()
	defer the.mu.Unlock()
	the.fail = kernel
}

// Mend makes the device usable again.
func Mend() {
	the.mu.Lock()
	defer the.mu.Unlock()
	the.broken, the.faults, the.fail = success, nil, ""
}

//export skuaDevices
func skuaDevices() C.int { return C.int(the.devices) }

//export skuaLoad
func skuaLoad(text *C.char) C.size_t {
	the.mu.Lock()
	defer the.mu.Unlock()
	m, err := ptxsim.Parse(C.GoString(text))
	if err != nil {
		the.faults = append(the.faults, err.Error())
		return 0
	}
	the.modules = append(the.modules, m)
	return C.size_t(len(the.modules))
}

//export skuaFunction
func skuaFunction(module C.size_t, name *C.char) C.size_t {
	the.mu.Lock()
	defer the.mu.Unlock()
	f := function{the.modules[module-1], C.GoString(name)}
	if f.module.Instructions(f.name) < 0 {
		return 0
	}
	the.functions = append(the.functions, f)
	return C.size_t(len(the.functions))
}

//export skuaAlloc
func skuaAlloc(n C.size_t) C.ulonglong {
	the.mu.Lock()
	defer the.mu.Unlock()
	return C.ulonglong(the.memory.Alloc("device memory", int(n)).Addr())
}

//export skuaFree
func skuaFree(p C.ulonglong) C.int {
	the.mu.Lock()
	defer the.mu.Unlock()
	b := the.memory.Find(uint64(p), 0)
	if b == nil || b.Addr() != uint64(p) {
		return invalidValue
	}
	the.memory.Free(b)
	return the.broken
}

// stretch finds device memory that lies in one allocation.
func stretch(p C.ulonglong, n C.size_t) (b *ptxsim.Buffer, at int) {
	if b = the.memory.Find(uint64(p), int(n)); b != nil {
		at = int(uint64(p) - b.Addr())
	}
	return b, at
}

//export skuaToDevice
func skuaToDevice(to C.ulonglong, from unsafe.Pointer, n C.size_t) C.int {
	the.mu.Lock()
	defer the.mu.Unlock()
	b, at := stretch(to, n)
	if b == nil {
		return invalidValue
	}
	b.Write(at, unsafe.Slice((*byte)(from), int(n)))
	return the.broken
}

//export skuaToHost
func skuaToHost(to unsafe.Pointer, from C.ulonglong, n C.size_t) C.int {
	the.mu.Lock()
	defer the.mu.Unlock()
	b, at := stretch(from, n)
	if b == nil {
		return invalidValue
	}
	copy(unsafe.Slice((*byte)(to), int(n)), b.Bytes()[at:])
	return the.broken
}

//export skuaSet
func skuaSet(p C.ulonglong, v C.uchar, n C.size_t) C.int {
	the.mu.Lock()
	defer the.mu.Unlock()
	b, at := stretch(p, n)
	if b == nil {
		return invalidValue
	}
	bytes := make([]byte, int(n))
	for i := range bytes {
		bytes[i] = byte(v)
	}
	b.Write(at, bytes)
	return the.broken
}

//export skuaQuery
func skuaQuery() C.int {
	the.mu.Lock()
	defer the.mu.Unlock()
	if the.queries++; the.queries%2 == 1 {
		return notReady
	}
	return the.broken
}

//export skuaLaunch
func skuaLaunch(f C.size_t, blocks, threads, shared C.uint, params *unsafe.Pointer) C.int {
	the.mu.Lock()
	defer the.mu.Unlock()
	if the.broken != success {
		return the.broken
	}
	fn := the.functions[f-1]
	args := make([]uint64, fn.module.Params(fn.name))
	for i, p := range unsafe.Slice(params, len(args)) {
		args[i] = *(*uint64)(p)
	}
	res, err := fn.module.Run(the.memory, fn.name, ptxsim.Launch{Grid: int(blocks), Block: int(threads), Shared: int(shared), Args: args})
	if err == nil {
		err = res.Err()
	}
	switch {
	case err != nil:
		the.faults = append(the.faults, fn.name+": "+err.Error())
		the.broken = illegalAddress
	case the.fail == fn.name:
		the.fail, the.broken = "", illegalAddress
	}
	return success // as on a device, the next call tells
}
