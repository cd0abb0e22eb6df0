// Package standin stands in for NVIDIA's driver under the tags cuda and cudafake: the entry points that kernels/cuda/driver calls through the
// binding, over a simulated memory, with kernels run by kernels/ptxsim. It is for tests of everything between the decoder and the driver.
package standin
