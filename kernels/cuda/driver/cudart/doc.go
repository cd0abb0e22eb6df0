// Package cudart lets a program that uses gorgonia.org/cu start without an NVIDIA driver: it defines the driver's symbols itself, by a header
// of its own, and opens the driver library at run time. It exists under the build tag cuda. libcuda.a is an empty archive for the binding's
// -lcuda.
package cudart
