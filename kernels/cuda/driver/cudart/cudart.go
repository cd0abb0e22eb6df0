//go:build cuda

package cudart

/*
#cgo CFLAGS: -I${SRCDIR}/include
#cgo LDFLAGS: -L${SRCDIR} -ldl -lpthread
#include <cuda.h>
const char *skua_cuda_reason(void);
int skua_cuda_missing(void);
static CUresult skua_host_alloc(void **p, size_t n) { return cuMemHostAlloc(p, n, 1); } // portable: for every context
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Reason says why there is no device, or is empty.
func Reason() string { return C.GoString(C.skua_cuda_reason()) }

// Missing is the number of entry points that the loaded driver does not have.
func Missing() int { return int(C.skua_cuda_missing()) }

// HostAlloc gives n bytes of page-locked host memory. A context is current.
func HostAlloc(n int) ([]byte, error) {
	var p unsafe.Pointer
	if r := C.skua_host_alloc(&p, C.size_t(n)); r != C.CUDA_SUCCESS {
		return nil, fmt.Errorf("cuMemHostAlloc of %d bytes: error %d", n, int(r))
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// HostFree gives memory of HostAlloc back.
func HostFree(b []byte) error {
	if r := C.cuMemFreeHost(unsafe.Pointer(unsafe.SliceData(b))); r != C.CUDA_SUCCESS {
		return fmt.Errorf("cuMemFreeHost: error %d", int(r))
	}
	return nil
}
