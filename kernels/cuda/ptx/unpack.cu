// Snappy and LZ4 blocks to pages, a warp for each: all lanes read the same tags, copies are spread over the lanes.
#include "page.cuh"

enum { SNAPPY = 1, LZ4 = 2 };

struct Unpacker {
  Bytes src;
  GLOBAL u8 *dst;
  u32 len, size, ip, op;

  METHOD bool literal(u64 n) {
    if (n > len - ip || n > size - op) return false; // bound
    for (u32 i = tid() & 31; i < (u32)n; i += 32) dst[op + i] = src[ip + i];
    ip += (u32)n;
    op += (u32)n;
    return true;
  }

  // match repeats n bytes from back bytes ago, which may reach into what it writes.
  METHOD bool match(u32 back, u64 n) {
    if (back == 0 || back > op || n > size - op) return false; // bound
    warpSync(); // what it reads was written by other lanes
    for (u32 i = tid() & 31; i < (u32)n; i += 32) dst[op + i] = dst[op - back + (i < back ? i : i % back)]; // guard
    op += (u32)n;
    return true;
  }

  // number reads n bytes, least significant first.
  METHOD bool number(u32 n, u32 *v) {
    if (n > len - ip) return false; // bound
    *v = 0;
    for (u32 i = 0; i < n; i++) *v |= (u32)src[ip++] << (8 * i);
    return true;
  }

  METHOD bool snappy() {
    u64 claimed = 0;
    for (u32 shift = 0;; shift += 7) {
      if (ip >= len || shift > 28) return false; // bound
      u32 b = src[ip++];
      claimed |= (u64)(b & 127) << shift;
      if (b < 128) break;
    }
    if (claimed != size) return false; // bound
    while (ip < len) { // guard
      u32 tag = src[ip++], n = tag >> 2, back;
      switch (tag & 3) {
      case 0:
        if (n >= 60) {
          if (!number(n - 59, &n)) return false;
        }
        if (!literal((u64)n + 1)) return false;
        continue;
      case 1:
        if (!number(1, &back)) return false;
        back |= tag >> 5 << 8;
        n = 4 + (n & 7);
        break;
      case 2:
        if (!number(2, &back)) return false;
        n++;
        break;
      default:
        if (!number(4, &back)) return false;
        n++;
      }
      if (!match(back, n)) return false;
    }
    return op == size;
  }

  // length reads what goes beyond a token's four bits.
  METHOD bool length(u64 *n) {
    if (*n < 15) return true;
    for (;;) {
      if (ip >= len || *n > size) return false; // bound
      u32 b = src[ip++];
      *n += b;
      if (b < 255) return true;
    }
  }

  METHOD bool lz4() {
    while (ip < len) { // guard
      u32 token = src[ip++], back;
      u64 n = token >> 4;
      if (!length(&n) || !literal(n)) return false;
      if (ip == len) return op == size && (token & 15) == 0; // the last sequence has no match
      if (!number(2, &back)) return false;
      n = token & 15;
      if (!length(&n) || !match(back, n + 4)) return false;
    }
    return false;
  }
};

// One warp for a page.
KERNEL unpack(u64 column) {
  Columns c = (Columns)column;
  u64 page = block();
  Pages p = pageOf(c, page);
  if (!p->packed) return; // bound
  Bytes src = (Bytes)p->packed;
  GLOBAL u8 *body = (GLOBAL u8 *)p->body;
  u32 flat = (u32)p->flat, size = (u32)p->bodyLen, lane = tid() & 31;
  bool good = flat <= p->packedLen && flat <= size; // guard
  if (good) {
    for (u32 i = lane; i < flat; i += 32) body[i] = src[i];
    Unpacker u = {src + flat, body + flat, (u32)p->packedLen - flat, size - flat, 0, 0};
    if (u.len || u.size) good = p->codec == SNAPPY ? u.snappy() : u.lz4(); // else a page of nulls
  }
  for (u32 i = lane; i < PADDING; i += 32) body[size + i] = 0;
  if (!good && lane == 0) flag(c, page, BAD_PACKED);
}
