// Levels of a page: what a thread notes of each, and what the block makes of it.
#pragma once
#include "hybrid.cuh"

// ValidBits keeps a bit for every level, and notes levels that are too large.
struct ValidBits {
  GLOBAL u32 *valid;
  u32 threshold, most, bad;
  METHOD void operator()(u32 word, bool active, u32 level) {
    u32 bits = warpBallot(active && level >= threshold);
    if ((tid() & 31) == 0) valid[word] = bits;
    if (active && level > most) bad = BAD_LEVELS; // bound
  }
};

// Into lets hybrid, which copies what it calls, change it.
template <class Sink> struct Into {
  Sink *to;
  METHOD void operator()(u32 word, bool active, u32 v) { (*to)(word, active, v); }
};

// worst says for the first warp whether levels were bad for any thread. All threads of the block call it, and all that they wrote is there then.
DEVICE u32 worst(u32 *tooLarge, u32 bad, u32 own) {
  u32 wrong = warpBallot(own != OK);
  if ((tid() & 31) == 0) tooLarge[tid() >> 5] = wrong;
  barrier(); // all words are there
  if (tid() >= 32) return bad;
  for (u32 w = 0; w < threads() >> 5; w++)
    if (!bad && tooLarge[w]) bad = BAD_LEVELS;
  return bad;
}
