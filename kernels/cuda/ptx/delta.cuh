// Streams of DELTA_BINARY_PACKED: a header, then blocks of miniblocks, each with a width of its own. A warp decodes a stream, whose heads all
// lanes read alike.
#pragma once
#include "page.cuh"

enum { BLOCK_MOST = 1 << 20, TOTAL_MOST = 64 << 20 };

// Reader reads varints. All lanes of the warp read the same.
struct Reader {
  Bytes src;
  u32 len, at;
  bool bad;
  METHOD u64 varint() {
    u64 v = 0;
    for (u32 shift = 0;; shift += 7) {
      if (at >= len || shift > 63) { // bound
        bad = true;
        return 0;
      }
      u32 b = src[at++];
      if (shift == 63 && b > 1) { // bound
        bad = true;
        return 0;
      }
      v |= (u64)(b & 127) << shift;
      if (b < 128) return v;
    }
  }
  METHOD u64 zigzag() {
    u64 v = varint();
    return v >> 1 ^ (0 - (v & 1));
  }
};

// packedAt gives value i of width bits, up to 64.
DEVICE u64 packedAt(Bytes p, u32 i, u32 width) {
  if (width == 0) return 0;
  u64 bit = (u64)i * width;
  p += bit >> 3;
  Words a = (Words)((u64)p & ~3ull);
  u32 shift = ((u32)(u64)p & 3) * 8 + ((u32)bit & 7);
  u64 v = ((u64)a[1] << 32 | a[0]) >> shift;
  if (shift) v |= (u64)a[2] << (64 - shift);
  return v & (~0ull >> (64 - width));
}

// scan64 sums the lanes' values up to the own.
DEVICE u64 scan64(u64 v) {
  u32 lane = tid() & 31;
  for (u32 d = 1; d < 32; d *= 2) {
    u64 o = shflUp64(v, d);
    if (lane >= d) v += o;
  }
  return v;
}

// Deltas gives the first n values of a stream to put(i, value), and then stands behind those values' miniblocks.
template <class Put> struct Deltas {
  Reader in;
  Put put;
  u64 last;
  u32 perMini, minis, total, n, done;

  // mini decodes a miniblock of the given width; false where its bits are missing.
  METHOD bool mini(u64 least, u32 width) {
    u32 lane = tid() & 31, count = total - done < perMini ? total - done : perMini;
    u64 bytes = (u64)perMini / 8 * width;
    if (bytes > in.len - in.at) bytes = in.len - in.at; // bound: some writers cut the last one short
    if (width > 64 || (u64)count * width > bytes * 8) return false; // bound
    for (u32 g = 0; g < count && done + g < n; g += 32) {
      u32 i = g + lane;
      u64 v = last + scan64(i < count ? least + packedAt(in.src + in.at, i, width) : 0); // guard
      if (i < count && done + i < n) put(done + i, v); // guard
      last = shflIdx64(v, 31);
    }
    in.at += (u32)bytes;
    done += count;
    return true;
  }

  // block decodes the miniblocks of a block that begin in front of value end.
  METHOD bool block(u32 end) {
    u64 least = in.zigzag();
    u32 widths = in.at;
    if (in.bad || in.len - in.at < minis) return false; // bound
    in.at += minis;
    for (u32 m = 0; m < minis && done < end; m++)
      if (!mini(least, in.src[widths + m])) return false;
    return true;
  }

  // run decodes the stream; whole also walks the miniblocks behind the first n values.
  METHOD bool run(bool whole) {
    u64 size = in.varint(), count = in.varint(), all = in.varint();
    last = in.zigzag();
    if (in.bad || size == 0 || size > BLOCK_MOST || count == 0 || count > size || size % count || size / count % 8 || all > TOTAL_MOST || all < n) // bound
      return false;
    perMini = (u32)(size / count);
    minis = (u32)count;
    total = (u32)all;
    if ((tid() & 31) == 0) put(0, last);
    u32 end = whole ? total : n;
    for (done = 1; done < end;)
      if (!block(end)) return false;
    return true;
  }
};
