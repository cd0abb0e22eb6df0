// The names of gpu.cuh for a host C++ compiler: every GPU thread is a real thread, so that the thread sanitizer sees missing barriers and the
// address sanitizer wrong addresses, at the source line. Blocks run one after another, because a shared variable is a static one.
#pragma once
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#define KERNEL extern "C" void
#define DEVICE static inline
#define METHOD inline
#define SHARED static
#define GLOBAL

struct Warp {
  std::barrier<> meet{32};
  u32 value[32];
};
struct Block {
  std::barrier<> meet;
  std::vector<std::unique_ptr<Warp>> warps;
  explicit Block(int n) : meet(n) {
    for (int i = 0; i < n / 32; i++) warps.push_back(std::make_unique<Warp>());
  }
};
inline thread_local u32 theTid, theBlock, theThreads;
inline thread_local Block *current;

DEVICE u32 tid() { return theTid; }
DEVICE u32 block() { return theBlock; }
DEVICE u32 threads() { return theThreads; }
DEVICE Warp &ownWarp() { return *current->warps[theTid / 32]; }
DEVICE void barrier() { current->meet.arrive_and_wait(); }
DEVICE void warpSync() { ownWarp().meet.arrive_and_wait(); }
DEVICE u32 exchange(u32 v, u32 from) {
  Warp &w = ownWarp();
  __atomic_store_n(&w.value[theTid & 31], v, __ATOMIC_RELAXED);
  w.meet.arrive_and_wait();
  u32 r = __atomic_load_n(&w.value[from], __ATOMIC_RELAXED);
  w.meet.arrive_and_wait();
  return r;
}
DEVICE u32 warpBallot(bool p) {
  Warp &w = ownWarp();
  __atomic_store_n(&w.value[theTid & 31], (u32)p, __ATOMIC_RELAXED);
  w.meet.arrive_and_wait();
  u32 r = 0;
  for (int i = 0; i < 32; i++) r |= __atomic_load_n(&w.value[i], __ATOMIC_RELAXED) << i;
  w.meet.arrive_and_wait();
  return r;
}
DEVICE u32 shflUp(u32 v, u32 d) {
  u32 lane = theTid & 31;
  return exchange(v, lane >= d ? lane - d : lane);
}
DEVICE u32 shflIdx(u32 v, u32 lane) { return exchange(v, lane & 31); }
DEVICE void atomicAdd32(u32 *p, u32 v) { __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
DEVICE void atomicMax32(u32 *p, u32 v) {
  u32 old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (old < v && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
DEVICE u32 popc(u32 v) { return (u32)__builtin_popcount(v); }

template <class F> void launch(int grid, int threadsPerBlock, F kernel) {
  for (int b = 0; b < grid; b++) {
    Block blk(threadsPerBlock);
    std::vector<std::thread> all;
    for (int i = 0; i < threadsPerBlock; i++)
      all.emplace_back([&, i] {
        theTid = i, theBlock = b, theThreads = threadsPerBlock, current = &blk;
        kernel();
      });
    for (auto &t : all) t.join();
  }
}
