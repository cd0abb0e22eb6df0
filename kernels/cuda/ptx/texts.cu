// Byte strings: where they lie, their lengths, offsets by a scan in three steps, and their bytes.
#include "gather.cuh"

enum { STAGE = 1024 }; // words of a page that are looked at together

// One warp for a page: where its plain strings lie, as offset and length in 32 bits each.
KERNEL text_walk(u64 column) {
  SHARED u32 stage[STAGE];
  Columns c = (Columns)column;
  u64 page = block();
  Pages p = pageOf(c, page);
  States s = stateOf(c, page);
  if (s->bad || p->encoding != PLAIN) return; // bound
  u64 base = s->values & ~3ull, skew = s->values & 3, len = s->valuesLen;
  GLOBAL u64 *spans = (GLOBAL u64 *)p->dense;
  u32 lane = tid() & 31, n = (u32)s->present, k = 0, bad = OK;
  u64 at = 0; // of the next string's length, from values on
  while (k < n && !bad) { // guard
    u64 from = (at + skew) & ~3ull; // of the stage, from base on
    warpSync();                     // lane 0 has read the stage
    for (u32 j = lane; j < STAGE; j += 32) stage[j] = from + 4 * j < len + skew ? ((Words)base)[from / 4 + j] : 0; // guard
    warpSync(); // the stage is filled
    if (lane == 0) {
      while (k < n && !bad) { // guard
        u64 in = at + skew - from;
        if (in + 8 > 4 * STAGE) break; // bound
        u32 word = (u32)in / 4, shift = ((u32)in & 3) * 8;
        u32 length = (u32)(((u64)stage[word + 1] << 32 | stage[word]) >> shift);
        if (at + 4 > len || length > len - at - 4) bad = BAD_TEXT; // bound
        else spans[k++] = (at + 4) | (u64)length << 32;
        at += 4 + (u64)length;
      }
    }
    k = shflIdx(k, 0);
    at = shflIdx64(at, 0);
    bad = shflIdx(bad, 0);
  }
  if (bad && lane == 0) fail(c, page, bad);
}

// source gives a slot's string: where, and how long. Of one that begins as the one before it gives its Joined.
DEVICE Bytes source(Finder &f, const Slot &s, u32 *length) {
  Pages p = pageOf(f.c, s.page);
  u64 span;
  Bytes base;
  if (p->encoding == DICTIONARY) {
    u32 at = ((Words)p->dense)[s.index];
    if (at >= f.c->entries) { // bound
      flag(f.c, s.page, BAD_INDEX);
      return 0;
    }
    span = ((const GLOBAL u64 *)f.c->spans)[at];
    base = (Bytes)f.c->dictionary;
  } else if (p->encoding == DELTA_TEXT) {
    Joins j = (Joins)p->joined + s.index;
    *length = j->length;
    return (Bytes)((u64)j | JOINED);
  } else {
    span = ((const GLOBAL u64 *)p->dense)[s.index];
    base = (Bytes)stateOf(f.c, s.page)->values;
  }
  *length = (u32)(span >> 32);
  return base + (u32)span;
}

// Lengths become offsets within the tile of a block.
KERNEL text_lengths(u64 gather) {
  SHARED u64 sums[32]; // by warp
  Finder f = finderOf(gather);
  Gathers g = f.g;
  u32 nulls = 0, lane = tid() & 31, warp = tid() >> 5;
  u64 first = firstWord(), sum = 0;
  GLOBAL u32 *offsets = (GLOBAL u32 *)g->offsets;
  for (u32 k = 0; k < WORDS; k++) {
    Slot s = f.at(first + k);
    nulls += validWord(g, first + k, s);
    u32 length = 0;
    Bytes from = s.valid ? source(f, s, &length) : 0; // guard
    u64 slot = (first + k) * 32 + lane, inc = length;
    for (u32 d = 1; d < 32; d *= 2) {
      u64 o = shflUp64(inc, d);
      if (lane >= d) inc += o;
    }
    if (s.active) { // guard
      ((GLOBAL u64 *)g->sources)[slot] = (u64)from;
      offsets[slot] = (u32)(sum + inc - length);
    }
    sum += shflIdx64(inc, 31);
  }
  addNulls(g, nulls);
  if (lane == 0) sums[warp] = sum;
  barrier(); // all sums are there
  u64 before = 0, all = 0;
  for (u32 w = 0; w < threads() >> 5; w++) {
    if (w < warp) before += sums[w];
    all += sums[w];
  }
  for (u32 k = 0; k < WORDS; k++) {
    u64 slot = (first + k) * 32 + lane;
    if (slot < g->slots) offsets[slot] += (u32)before; // guard
  }
  if (tid() == 0) ((GLOBAL u64 *)g->sums)[block()] = all;
}

// One warp: the tiles' sums become what lies in front of each.
KERNEL text_scan(u64 gather) {
  Gathers g = (Gathers)gather;
  GLOBAL u64 *sums = (GLOBAL u64 *)g->sums;
  u32 lane = tid() & 31;
  u64 total = 0;
  for (u64 t0 = 0; t0 < g->tiles; t0 += 32) {
    u64 own = t0 + lane < g->tiles ? sums[t0 + lane] : 0, inc = own; // guard
    for (u32 d = 1; d < 32; d *= 2) {
      u64 o = shflUp64(inc, d);
      if (lane >= d) inc += o;
    }
    if (t0 + lane < g->tiles) sums[t0 + lane] = total + inc - own; // guard
    total += shflIdx64(inc, 31);
  }
  if (lane == 0) *(GLOBAL u64 *)g->total = total;
}

// One thread for an offset; the last is the end.
KERNEL text_offsets(u64 gather) {
  Gathers g = (Gathers)gather;
  u64 slot = (u64)block() * threads() + tid();
  GLOBAL u32 *offsets = (GLOBAL u32 *)g->offsets;
  if (slot < g->slots) offsets[slot] += (u32)((const GLOBAL u64 *)g->sums)[slot / (threads() * WORDS)]; // guard
  else if (slot == g->slots) offsets[slot] = (u32)*(const GLOBAL u64 *)g->total; // guard
}

// Eight lanes for a string.
KERNEL text_copy(u64 gather) {
  Gathers g = (Gathers)gather;
  u64 slot = ((u64)block() * threads() + tid()) / 8;
  if (slot >= g->slots) return; // bound
  Words offsets = (Words)g->offsets;
  u32 from = offsets[slot], end = offsets[slot + 1];
  if (end > g->capacity) return; // bound
  Bytes src = (Bytes)((const GLOBAL u64 *)g->sources)[slot];
  if ((u64)src & JOINED) return; // bound: text_join copies it
  GLOBAL u8 *out = (GLOBAL u8 *)g->out;
  for (u32 i = from + (tid() & 7); i < end; i += 8) out[i] = src[i - from];
}
