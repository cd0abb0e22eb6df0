// From an output slot to its value: a thread asks for its slot's row, the page that has the row, and which of the page's values it is.
#pragma once
#include "page.cuh"

struct Gather {
  u64 column;
  u64 rowOf;       // row of each slot; 0: they are consecutive
  u64 first, slots; // the row of slot 0
  u64 out, valid;  // values and validity words; valid 0: not wanted
  u64 nulls;       // a counter
  u64 conversion;
  u64 offsets, sources, sums; // of texts
  u64 tiles;
  u64 total, capacity; // bytes of texts
  u64 reserved0, reserved1;
};

typedef const GLOBAL Gather *Gathers;

// What becomes of a stored value.
enum { COPY4 = 0, COPY8, COPY16, WIDEN, BIG8, BIG16 };

enum { WORDS = 8 }; // output words of a warp

// Slot is where a slot's value is.
struct Slot {
  u32 page;
  u32 index; // among the page's values that are no nulls
  bool active, valid;
};

// firstWord is the warp's first output word.
DEVICE u64 firstWord() { return ((u64)block() * (threads() >> 5) + (tid() >> 5)) * WORDS; }

// pageWith finds the page that has a row.
DEVICE u32 pageWith(Columns c, u64 row) {
  u32 lo = 0, hi = (u32)c->count;
  while (hi - lo > 1) {
    u32 mid = (lo + hi) / 2;
    if (pageOf(c, mid)->row0 <= row) lo = mid;
    else hi = mid;
  }
  return lo;
}

// Finder goes over the slots of a lane, one for each of the warp's words.
struct Finder {
  Gathers g;
  Columns c;
  u32 page;
  bool found;

  METHOD Slot at(u64 word) {
    Slot out = {0, 0, false, false};
    u64 slot = word * 32 + (tid() & 31);
    out.active = slot < g->slots;
    if (!out.active) return out; // bound
    u64 row = g->rowOf ? ((Words)g->rowOf)[slot] : g->first + slot;
    if (!found) page = pageWith(c, row);
    found = true;
    while (page + 1 < c->count && pageOf(c, page + 1)->row0 <= row) page++; // guard
    out.page = page;
    locate(row, &out);
    return out;
  }

  // locate says which of the page's values the row has.
  METHOD void locate(u64 row, Slot *out) {
    Pages p = pageOf(c, page);
    if (row - p->row0 >= p->rows) { // bound
      flag(c, page, BAD_ROW);
      return;
    }
    if (stateOf(c, page)->bad) return; // bound
    u32 i = (u32)(row - p->row0);
    out->index = i;
    out->valid = true;
    if (!c->maxDef) return;
    u64 word = p->word0 + (i >> 5);
    u32 bits = ((Words)c->valid)[word], bit = i & 31;
    out->valid = bits >> bit & 1;
    if (out->valid) out->index = ((Words)c->rank)[word] + popc(bits & ((1u << bit) - 1)); // guard
  }

  // stored gives where a fixed value lies, 0 and a flag where it does not. Pages whose bytes are split have it nowhere.
  METHOD Bytes stored(const Slot &s) {
    Pages p = pageOf(c, s.page);
    States t = stateOf(c, s.page);
    u64 width = c->stored;
    switch (p->encoding) {
    case DICTIONARY: {
      u32 at = ((Words)p->dense)[s.index];
      if (at < c->entries) return (Bytes)c->dictionary + at * width; // guard
      flag(c, s.page, BAD_INDEX);
      return 0;
    }
    case DELTA:
    case DELTA_TEXT:
      return (Bytes)p->dense + s.index * width;
    case PLAIN:
      if ((s.index + 1ull) * width <= t->valuesLen) return (Bytes)t->values + s.index * width; // guard
    }
    flag(c, s.page, BAD_VALUES);
    return 0;
  }

  // split gives the bytes first..first+n of a value of a page whose bytes are split, least significant first.
  METHOD u64 split(const Slot &s, u32 first, u32 n) {
    States t = stateOf(c, s.page);
    u64 count = t->valuesLen / c->stored, v = 0;
    if (s.index >= count) { // bound
      flag(c, s.page, BAD_VALUES);
      return 0;
    }
    Bytes p = (Bytes)t->values + first * count + s.index;
    for (u32 i = 0; i < n; i++) v |= (u64)p[i * count] << (8 * i);
    return v;
  }

  // bytes gives eight bytes of a value from first on, or those there are.
  METHOD u64 bytes(const Slot &s, u32 first, u32 n) {
    if (pageOf(c, s.page)->encoding == SPLIT) return split(s, first, n);
    Bytes p = stored(s);
    if (!p) return 0; // bound
    return n <= 4 ? load32(p + first) : load64(p + first);
  }

  // big gives n bytes as a big-endian signed number.
  METHOD u64 big(const Slot &s, u32 first, u32 n) {
    u64 v = __builtin_bswap64(bytes(s, first, n));
    if (n <= 4 && pageOf(c, s.page)->encoding != SPLIT) v = v >> 32 << 32;
    return (u64)((i64)v >> (64 - 8 * n));
  }

  // number gives a value of up to eight bytes as it is compared and copied back.
  METHOD u64 number(const Slot &s) {
    switch (g->conversion) {
    case COPY4:
      return bytes(s, 0, 4);
    case WIDEN:
      return (u64)(i64)(i32)bytes(s, 0, 4);
    case BIG8:
      return big(s, 0, (u32)c->stored);
    }
    return bytes(s, 0, 8);
  }
};

DEVICE Finder finderOf(u64 gather) {
  Gathers g = (Gathers)gather;
  return Finder{g, (Columns)g->column, 0, false};
}

// validWord writes a word of the output's validity, and counts its nulls.
DEVICE u32 validWord(Gathers g, u64 word, const Slot &s) {
  u32 there = warpBallot(s.active), bits = warpBallot(s.valid);
  if (there && g->valid && (tid() & 31) == 0) ((GLOBAL u32 *)g->valid)[word] = bits; // guard
  return popc(there & ~bits);
}

DEVICE void addNulls(Gathers g, u32 nulls) {
  if (nulls && (tid() & 31) == 0) atomicAdd32((GLOBAL u32 *)g->nulls, nulls);
}
