// The format's mixture of repeated and bit-packed runs. One thread of a block walks the heads of up to RUNS runs, then all threads unpack;
// a warp gives 32 values at once, which begin at a multiple of 32.
#pragma once
#include "page.cuh"

enum { RUNS = 64 };

struct Runs {
  u32 start[RUNS + 1]; // first value of each run
  u32 where[RUNS];     // bit-packed: byte offset; repeated: the value
  u32 packed[RUNS];
  u32 count, limit, bad;
};

// Walker is what the walking thread remembers.
struct Walker {
  u32 pos, at;
};

// headOf reads the head of a run at w->pos into place r; false where it is malformed.
DEVICE bool headOf(Runs *t, u32 r, Walker *w, Bytes src, u32 len, u32 width, u32 n) {
  u64 head = 0;
  for (u32 shift = 0;; shift += 7) {
    if (w->pos >= len || shift > 28) return false; // bound
    u32 b = src[w->pos++];
    head |= (u64)(b & 127) << shift;
    if (b < 128) break;
  }
  u64 values = head >> 1;
  if (values > 1ull << 31) return false; // bound
  if (head & 1) {
    u64 bytes = values * width;
    if (bytes > len - w->pos) bytes = len - w->pos; // bound: some writers cut the last run short
    values *= 8;
    if (width && values > bytes * 8 / width) values = bytes * 8 / width; // bound
    t->where[r] = w->pos;
    t->packed[r] = 1;
    w->pos += (u32)bytes;
  } else {
    u32 bytes = (width + 7) / 8, v = 0;
    if (bytes > len - w->pos) return false; // bound
    for (u32 i = 0; i < bytes; i++) v |= (u32)src[w->pos + i] << (8 * i);
    if ((u64)v >> width) return false; // bound
    t->where[r] = v;
    t->packed[r] = 0;
    w->pos += bytes;
  }
  if (values == 0) return false; // bound
  if (values > n - w->at) values = n - w->at; // bound
  w->at += (u32)values;
  t->start[r + 1] = w->at;
  return true;
}

// walk fills the table: first the runs that reach past done, then new ones.
DEVICE void walk(Runs *t, Walker *w, Bytes src, u32 len, u32 width, u32 n, u32 done) {
  u32 r = 0, bad = OK;
  if (done == 0) {
    t->start[0] = 0;
  } else {
    u32 k = 0, all = t->count;
    while (k < all && t->start[k + 1] <= done) k++; // guard
    for (; k < all; k++, r++) {
      t->start[r] = t->start[k];
      t->where[r] = t->where[k];
      t->packed[r] = t->packed[k];
    }
    t->start[r] = w->at;
  }
  while (r < RUNS && w->at < n && !bad) { // guard
    if (headOf(t, r, w, src, len, width, n)) r++;
    else bad = BAD_RUNS;
  }
  t->count = r;
  t->limit = w->at < n ? w->at & ~31u : n;
  t->bad = bad;
}

// unpackAt gives value i of a bit-packed run that begins at p.
DEVICE u32 unpackAt(Bytes p, u32 i, u32 width) {
  u64 bit = (u64)i * width;
  p += bit >> 3;
  Words a = (Words)((u64)p & ~3ull);
  u32 shift = ((u32)(u64)p & 3) * 8 + ((u32)bit & 7);
  u64 mask = (1ull << width) - 1;
  return (u32)(((u64)a[1] << 32 | a[0]) >> shift & mask);
}

// valueAt gives value i, which lies in one of the runs from..count.
DEVICE u32 valueAt(const Runs *t, u32 from, u32 count, Bytes src, u32 i, u32 width) {
  u32 lo = from, hi = count - from > 32 ? from + 32 : count;
  while (hi - lo > 1) {
    u32 mid = (lo + hi) / 2;
    if (t->start[mid] <= i) lo = mid;
    else hi = mid;
  }
  u32 v = t->where[lo];
  return t->packed[lo] ? unpackAt(src + v, i - t->start[lo], width) : v;
}

// hybrid gives all n values to emit(word, active, value), whole warps at a time. All threads of the block call it; the result, why the page
// is bad, is the same for all.
template <class Emit> DEVICE u32 hybrid(Runs *t, Bytes src, u32 len, u32 width, u32 n, Emit emit) {
  u32 lane = tid() & 31, warp = tid() >> 5, warps = threads() >> 5, done = 0;
  Walker w = {0, 0};
  while (done < n) {
    barrier(); // the table is not read any more
    if (tid() == 0) walk(t, &w, src, len, width, n, done);
    barrier(); // it is filled
    if (t->bad) return t->bad; // bound
    u32 limit = t->limit, count = t->count, first = 0;
    for (u32 word = done / 32 + warp; word * 32 < limit; word += warps) {
      u32 i = word * 32 + lane;
      bool active = i < limit;
      while (first + 1 < count && t->start[first + 1] <= word * 32) first++; // guard
      emit(word, active, active ? valueAt(t, first, count, src, i, width) : 0); // guard
    }
    done = limit;
  }
  return OK;
}

// ranks writes how many values are there in front of each word, and gives how many there are. One warp calls it.
DEVICE u32 ranks(Words valid, GLOBAL u32 *rank, u32 words) {
  u32 lane = tid() & 31, sum = 0;
  for (u32 w0 = 0; w0 < words; w0 += 32) {
    u32 own = w0 + lane < words ? popc(valid[w0 + lane]) : 0, inc = own; // guard
    for (u32 d = 1; d < 32; d *= 2) {
      u32 o = shflUp(inc, d);
      if (lane >= d) inc += o;
    }
    if (w0 + lane < words) rank[w0 + lane] = sum + inc - own; // guard
    sum += shflIdx(inc, 31);
  }
  return sum;
}

// bitsOf is how many bits a level takes.
DEVICE u32 bitsOf(u32 most) {
  u32 n = 0;
  for (; most; most >>= 1) n++;
  return n;
}
