// Tests of rows, whose results are ANDed into a mask with a bit for each slot.
#include "gather.cuh"

DEVICE void keep(GLOBAL u32 *mask, u64 word, bool yes, bool first, const Slot &s) {
  u32 bits = warpBallot(yes && s.active), there = warpBallot(s.active);
  if (there && (tid() & 31) == 0) mask[word] = first ? bits : mask[word] & bits; // guard
}

// The table has a bit for each entry of the dictionary, and null says what a null gives. Every page has a dictionary.
KERNEL filter_table(u64 gather, u64 table, u64 null, u64 mask, u64 start) {
  Finder f = finderOf(gather);
  u64 first = firstWord();
  for (u64 w = first; w < first + WORDS; w++) {
    Slot s = f.at(w);
    bool yes = null;
    if (s.valid) { // guard
      u32 at = ((Words)pageOf(f.c, s.page)->dense)[s.index];
      if (at < f.c->entries) yes = ((Words)table)[at >> 5] >> (at & 31) & 1; // guard
      else flag(f.c, s.page, BAD_INDEX);
    }
    keep((GLOBAL u32 *)mask, w, yes, start, s);
  }
}

// Comparisons as the host numbers them.
enum { EQ = 0, NE, LT, LE, GT, GE };

// How values are ordered.
enum { SIGNED4 = 0, SIGNED8, FLOAT4, FLOAT8 };

// order gives a number that is ordered as SQL orders the values: NaN equals itself and is the largest, -0.0 equals 0.0.
DEVICE i64 order(u64 v, u64 kind) {
  switch (kind) {
  case SIGNED4:
    return (i32)v;
  case FLOAT4: {
    u32 size = (u32)v & 0x7fffffffu;
    if (size > 0x7f800000u) return 0x7fffffffffffffffll;
    return (u32)v >> 31 ? -(i64)size : (i64)size;
  }
  case FLOAT8: {
    u64 size = v & 0x7fffffffffffffffull;
    if (size > 0x7ff0000000000000ull) return 0x7fffffffffffffffll;
    return v >> 63 ? -(i64)size : (i64)size;
  }
  }
  return (i64)v;
}

DEVICE bool holds(i64 v, u64 op, i64 literal) {
  switch (op) {
  case EQ:
    return v == literal;
  case NE:
    return v != literal;
  case LT:
    return v < literal;
  case LE:
    return v <= literal;
  case GT:
    return v > literal;
  }
  return v >= literal;
}

KERNEL filter_compare(u64 gather, u64 kind, u64 op, u64 literal, u64 mask, u64 start) {
  Finder f = finderOf(gather);
  u64 first = firstWord();
  for (u64 w = first; w < first + WORDS; w++) {
    Slot s = f.at(w);
    bool yes = s.valid && holds(order(f.number(s), kind), op, (i64)literal); // guard
    keep((GLOBAL u32 *)mask, w, yes, start, s);
  }
}

// Keeps the nulls, or those that are none.
KERNEL filter_null(u64 gather, u64 nulls, u64 mask, u64 start) {
  Finder f = finderOf(gather);
  u64 first = firstWord();
  for (u64 w = first; w < first + WORDS; w++) {
    Slot s = f.at(w);
    keep((GLOBAL u32 *)mask, w, s.valid != (bool)nulls, start, s);
  }
}
