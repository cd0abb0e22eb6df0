// Package ptxsim runs PTX kernels on the CPU and reports what a GPU would let pass in silence: accesses outside an allocation, misaligned
// accesses, reads of bytes or registers that were never written, two threads touching the same byte with nothing to order them, barriers
// and warp operations that not every thread reaches, and kernels that do not end.
//
// It understands the integer part of PTX that clang emits for byte decoding kernels, and a little floating point. An instruction it does
// not know is an error of Parse, never a wrong result.
//
// A warp runs in lock step with one program counter per lane; the group of lanes with the lowest counter runs, which joins diverged lanes
// again. Warps of a few resident blocks are interleaved at random from Options.Seed, so that a run is repeatable. Global and generic
// addresses are the same numbers.
//
// What it does not model: device functions, grids of more than one dimension, named barriers with a thread count, asynchronous copies,
// fences between blocks (data handed from block to block must be read and written by volatile or atomic accesses), bank conflicts, and a
// lane that waits in a loop for another lane of its own warp.
package ptxsim
