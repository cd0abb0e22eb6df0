//go:build cuda && !cudafake

package inprocess

// gpu is the GPU decoder of this build.
const gpu = "gpu"

var gpuMissing = map[string]string{"gpu-simulated": "this build asks the driver for GPUs; the stand-in is in builds with the tag cudafake"}
