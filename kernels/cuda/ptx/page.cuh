// What the host tells the kernels about pages and columns, and what kernels leave for each other. Every field has 8 bytes; addresses are
// of device memory. The Go side writes the same layouts.
//
// Lines that keep kernels inside of their memory are marked: "bound" refuses what lies outside, "guard" leaves out what does. A test deletes
// each condition of each such line, and each barrier, and wants to see it.
#pragma once
#include "gpu.cuh"

// Why a page is left to the CPU.
enum { OK = 0, BAD_HEADER, BAD_LEVELS, BAD_RUNS, BAD_INDEX, BAD_VALUES, BAD_DELTA, BAD_TEXT, BAD_PACKED, BAD_ROW };

// Encodings by their number in the format.
enum { PLAIN = 0, RLE = 3, DELTA = 5, DELTA_LENGTH = 6, DELTA_TEXT = 7, DICTIONARY = 8, SPLIT = 9 };

enum { PADDING = 16 }; // zero bytes behind every buffer of file data

struct Page {
  u64 packed, packedLen; // compressed bytes; 0: the body is there
  u64 body, bodyLen;     // uncompressed, padded
  u64 flat;              // bytes in front that are never compressed
  u64 codec;
  u64 version;           // of the data page
  u64 repLen, defLen;    // of version 2
  u64 rows;              // values with nulls
  u64 row0;              // the first one's row in the row group
  u64 encoding;
  u64 word0;             // its first validity word in the column's
  u64 dense;             // where its values go that are decoded before they are gathered
  u64 joined;            // its Joined strings
  u64 lists;             // rows that its header says begin in it; 0: it does not say
};

// State is a page's, made by open_pages.
struct State {
  u64 levels, levelsLen, values, valuesLen;
  u64 width;   // of dictionary indices
  u64 present; // values that are no nulls
  u64 bad;     // why it is left to the CPU
  u64 reserved;
};

// Joined is a string that begins as the one before it in its page.
struct Joined {
  u64 from;   // its bytes from prefix on lie at from + prefix
  u32 length; // of all
  u32 prefix; // what it shares
  u64 back;   // so many strings before is the nearest that shares less; meaningless where it shares nothing
};

enum : u64 { JOINED = 1ull << 63 }; // in the address of a string: it is that of its Joined

struct Column {
  u64 pages, states, status, count;
  u64 maxDef;    // 0: the column has no levels
  u64 threshold; // level from which on a value is there
  u64 stored;    // bytes of a fixed value
  u64 dictionary, entries;
  u64 spans;       // of a dictionary of texts: offset and length in 32 bits each
  u64 valid, rank; // words: 32 rows' bits, and how many are there before
  u64 boolean;     // the values are booleans
  u64 repeated;    // the values are entries of lists: rows are entries then, and each page's begin at a multiple of 32
  u64 reserved0, reserved1;
};

typedef const GLOBAL Page *Pages;
typedef GLOBAL State *States;
typedef const GLOBAL Column *Columns;
typedef GLOBAL Joined *Joins;

DEVICE Pages pageOf(Columns c, u64 i) { return (Pages)c->pages + i; }
DEVICE States stateOf(Columns c, u64 i) { return (States)c->states + i; }
DEVICE void flag(Columns c, u64 page, u32 why) { atomicMax32((GLOBAL u32 *)c->status + page, why); }

// shortOf says that a page of values that lie there as they are has fewer than it claims, also where nobody wants those that are missing: the
// CPU counts them when it passes them.
DEVICE u32 shortOf(Columns c, Pages p, u64 present, u64 bytes) {
  u64 have = ~0ull; // texts and encoded values are counted when they are decoded
  if (p->encoding == PLAIN && c->boolean) have = bytes * 8;
  else if ((p->encoding == PLAIN || p->encoding == SPLIT) && c->stored) have = bytes / c->stored;
  return present > have ? BAD_VALUES : OK;
}

// fail leaves a page to the CPU. One thread of those that own the page calls it.
DEVICE void fail(Columns c, u64 page, u32 why) {
  stateOf(c, page)->bad = why;
  flag(c, page, why);
}
