//go:build !cuda

package inprocess

// gpu is the GPU decoder of this build; there is none.
const gpu = ""

var gpuMissing = map[string]string{
	"gpu":           "this build has no GPU decoder: make build-gpu has",
	"gpu-simulated": "this build has no stand-in for a GPU: make conformance-gpu has",
}
