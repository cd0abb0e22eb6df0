// Fixed values to output slots: null slots are zero.
#include "gather.cuh"

DEVICE void store(Finder &f, u64 slot, const Slot &s) {
  Gathers g = f.g;
  switch (g->conversion) {
  case COPY4:
    ((GLOBAL u32 *)g->out)[slot] = s.valid ? (u32)f.number(s) : 0;
    return;
  case COPY16: {
    GLOBAL u64 *to = (GLOBAL u64 *)g->out + 2 * slot;
    to[0] = s.valid ? f.bytes(s, 0, 8) : 0;
    to[1] = s.valid ? f.bytes(s, 8, 8) : 0;
    return;
  }
  case BIG16: {
    GLOBAL u64 *to = (GLOBAL u64 *)g->out + 2 * slot;
    u32 high = (u32)f.c->stored - 8;
    to[0] = s.valid ? f.big(s, high, 8) : 0;
    to[1] = s.valid ? f.big(s, 0, high) : 0;
    return;
  }
  }
  ((GLOBAL u64 *)g->out)[slot] = s.valid ? f.number(s) : 0;
}

KERNEL gather_fixed(u64 gather) {
  Finder f = finderOf(gather);
  u32 nulls = 0;
  u64 first = firstWord();
  for (u64 w = first; w < first + WORDS; w++) {
    Slot s = f.at(w);
    nulls += validWord(f.g, w, s);
    if (s.active) store(f, w * 32 + (tid() & 31), s); // guard
  }
  addNulls(f.g, nulls);
}

// Values of any width, byte by byte.
KERNEL gather_bytes(u64 gather) {
  Finder f = finderOf(gather);
  u32 nulls = 0, width = (u32)f.c->stored;
  u64 first = firstWord();
  for (u64 w = first; w < first + WORDS; w++) {
    Slot s = f.at(w);
    nulls += validWord(f.g, w, s);
    if (!s.active) continue; // bound
    GLOBAL u8 *to = (GLOBAL u8 *)f.g->out + (w * 32 + (tid() & 31)) * width;
    bool split = s.valid && pageOf(f.c, s.page)->encoding == SPLIT;
    Bytes from = s.valid && !split ? f.stored(s) : 0;
    for (u32 i = 0; i < width; i++) to[i] = from ? from[i] : split ? (u8)f.split(s, i, 1) : 0;
  }
  addNulls(f.g, nulls);
}

// Booleans, a bit each.
KERNEL gather_bits(u64 gather) {
  Finder f = finderOf(gather);
  u32 nulls = 0;
  u64 first = firstWord();
  for (u64 w = first; w < first + WORDS; w++) {
    Slot s = f.at(w);
    nulls += validWord(f.g, w, s);
    bool bit = false;
    if (s.valid) {
      States t = stateOf(f.c, s.page);
      if (pageOf(f.c, s.page)->encoding == RLE) bit = ((Words)pageOf(f.c, s.page)->dense)[s.index];
      else if (s.index < t->valuesLen * 8) bit = ((Bytes)t->values)[s.index >> 3] >> (s.index & 7) & 1; // guard
      else flag(f.c, s.page, BAD_VALUES);
    }
    u32 bits = warpBallot(bit);
    if (warpBallot(s.active) && (tid() & 31) == 0) ((GLOBAL u32 *)f.g->out)[w] = bits; // guard
  }
  addNulls(f.g, nulls);
}
