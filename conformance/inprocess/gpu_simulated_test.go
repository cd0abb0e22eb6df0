//go:build cuda && cudafake

package inprocess

// gpu is the GPU decoder of this build.
const gpu = "gpu-simulated"

var gpuMissing = map[string]string{"gpu": "this build has the stand-in for a GPU, and none else"}
