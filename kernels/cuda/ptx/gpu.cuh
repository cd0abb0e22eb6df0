// The names that the kernels use of a GPU, for three compilers: clang (-x cuda --cuda-device-only -nocudainc -nocudalib, which makes the
// PTX that ships), nvcc, and a host C++ compiler with the emulation in hostemu.h.
#pragma once
typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#if defined(HOSTEMU)
#include "hostemu.h"
#elif defined(__clang__)
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static inline __attribute__((device, always_inline))
#define METHOD inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))
#define GLOBAL __attribute__((address_space(1)))
DEVICE u32 tid() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE void barrier() { __syncthreads(); }
DEVICE void warpSync() { __nvvm_bar_warp_sync(~0u); }
DEVICE u32 warpBallot(bool p) { return __nvvm_vote_ballot_sync(~0u, p); }
DEVICE u32 shflUp(u32 v, u32 d) { return __nvvm_shfl_sync_up_i32(~0u, v, d, 0); }
DEVICE u32 shflIdx(u32 v, u32 lane) { return __nvvm_shfl_sync_idx_i32(~0u, v, lane, 31); }
DEVICE void atomicAdd32(GLOBAL u32 *p, u32 v) { __nvvm_atom_add_gen_i((int *)p, (int)v); }
DEVICE void atomicMax32(GLOBAL u32 *p, u32 v) { __nvvm_atom_max_gen_ui((u32 *)p, v); }
DEVICE u32 popc(u32 v) { return (u32)__builtin_popcount(v); }
#else
#define KERNEL extern "C" __global__ void
#define DEVICE static __device__ __forceinline__
#define METHOD __device__ __forceinline__
#define SHARED __shared__
#define GLOBAL
DEVICE u32 tid() { return threadIdx.x; }
DEVICE u32 block() { return blockIdx.x; }
DEVICE u32 threads() { return blockDim.x; }
DEVICE void barrier() { __syncthreads(); }
DEVICE void warpSync() { __syncwarp(); }
DEVICE u32 warpBallot(bool p) { return __ballot_sync(~0u, p); }
DEVICE u32 shflUp(u32 v, u32 d) { return __shfl_up_sync(~0u, v, d); }
DEVICE u32 shflIdx(u32 v, u32 lane) { return __shfl_sync(~0u, v, (int)lane); }
DEVICE void atomicAdd32(u32 *p, u32 v) { atomicAdd(p, v); }
DEVICE void atomicMax32(u32 *p, u32 v) { atomicMax(p, v); }
DEVICE u32 popc(u32 v) { return (u32)__popc(v); }
#endif

typedef const GLOBAL u8 *Bytes;
typedef const GLOBAL u32 *Words;

DEVICE u64 shflIdx64(u64 v, u32 lane) {
  return (u64)shflIdx((u32)(v >> 32), lane) << 32 | shflIdx((u32)v, lane);
}
DEVICE u64 shflUp64(u64 v, u32 d) {
  return (u64)shflUp((u32)(v >> 32), d) << 32 | shflUp((u32)v, d);
}

// Loads of bytes that lie anywhere, by aligned words. Of a value that is not aligned they read up to 3 bytes in front and 7 behind, where
// every buffer of file data has padding.
DEVICE u32 load32(Bytes p) {
  Words a = (Words)((u64)p & ~3ull);
  u32 shift = ((u32)(u64)p & 3) * 8, low = a[0];
  return shift ? (u32)(((u64)a[1] << 32 | low) >> shift) : low;
}
DEVICE u64 load64(Bytes p) {
  Words a = (Words)((u64)p & ~3ull);
  u32 shift = ((u32)(u64)p & 3) * 8;
  u64 v = (u64)a[1] << 32 | a[0];
  return shift ? v >> shift | (u64)a[2] << (64 - shift) : v;
}
