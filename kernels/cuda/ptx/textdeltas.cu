// Byte strings whose lengths come first, delta encoded: DELTA_LENGTH_BYTE_ARRAY, and DELTA_BYTE_ARRAY, where each also says how many bytes it
// shares with the one before. A shared byte is the own one of the nearest string before that shares less than its place, so that no string
// waits for another: every string knows the nearest before it that shares less, and there are at most as many steps as it shares bytes.
#include "delta.cuh"
#include "gather.cuh"

enum { LENGTH_MOST = 0x7fffffff };

// Lengths puts numbers of 32 bits, step bytes apart.
struct Lengths {
  GLOBAL u8 *to;
  u32 step;
  bool bad;
  METHOD void operator()(u32 i, u64 v) {
    if (v > LENGTH_MOST) bad = true; // bound: below zero too
    *(GLOBAL u32 *)(to + (u64)i * step) = (u32)v;
  }
};

// lengthsAt decodes the stream of n lengths that begins at byte at, and moves at behind it.
DEVICE bool lengthsAt(States s, u32 n, u32 *at, GLOBAL u8 *to, u32 step) {
  Deltas<Lengths> d;
  d.in = {(Bytes)s->values, (u32)s->valuesLen, *at, false};
  d.put = {to, step, false};
  d.n = n;
  bool good = d.run(true);
  *at = d.in.at;
  return good && !warpBallot(d.put.bad);
}

// spans turns lengths, the upper halves, into offsets and lengths.
DEVICE bool spans(States s, u32 n, u32 begin, GLOBAL u64 *span) {
  u32 lane = tid() & 31;
  u64 at = begin;
  for (u32 g = 0; g < n; g += 32) {
    u32 i = g + lane;
    u32 length = i < n ? (u32)(span[i] >> 32) : 0; // guard
    u64 end = at + scan64(length);
    if (i < n) span[i] = (end - length) | (u64)length << 32; // guard
    at = shflIdx64(end, 31);
  }
  if (at > s->valuesLen) return false; // bound
  return true;
}

// nearest gives how many strings before is the nearest that shares less than string i, which shares own bytes. All lanes call it.
DEVICE u32 nearest(Joins j, u32 i, u32 own) {
  u32 lane = tid() & 31, back = 0;
  for (u32 d = 1; d < 32; d++) {
    u32 other = shflUp(own, d);
    if (!back && d <= lane && other < own) back = d;
    if (!warpBallot(own && !back && d < lane)) break;
  }
  if (own && !back) { // guard
    u32 k = (i & ~31u) - 1;
    while (j[k].prefix >= own) k -= (u32)j[k].back;
    back = i - k;
  }
  return back;
}

// link says of each string where its own bytes lie, how long it is, and which is the nearest that shares less. Where width is not 0, all
// strings have that length.
DEVICE bool link(States s, u32 n, u32 begin, Joins j, u32 width) {
  u32 lane = tid() & 31, before = 0;
  u64 at = begin;
  for (u32 g = 0; g < n; g += 32) {
    u32 i = g + lane;
    u32 own = i < n ? j[i].length : 0;     // guard
    u32 prefix = i < n ? j[i].prefix : 0; // guard
    u32 length = own + prefix;
    u64 end = at + scan64(own);
    u32 previous = shflUp(length, 1);
    if (lane == 0) previous = before;
    bool wrong = prefix > previous || end > s->valuesLen || (width && length != width && i < n); // bound
    if (warpBallot(wrong)) return false;                                                         // bound
    warpSync(); // the strings before are linked
    u32 back = nearest(j, i, prefix);
    if (i < n) { // guard
      j[i].from = s->values + end - length;
      j[i].length = length;
      j[i].back = back;
    }
    at = shflIdx64(end, 31);
    before = shflIdx(length, 31);
  }
  return true;
}

// join copies every step-th byte of a string from first on, the last one first. first is less than step.
DEVICE void join(Joins j, u32 first, u32 step, u32 length, GLOBAL u8 *to) {
  for (u32 n = (length - first + step - 1) / step; n > 0; n--) {
    u32 b = first + (n - 1) * step;
    while (j->prefix > b) j -= j->back;
    to[b] = ((Bytes)j->from)[b];
  }
}

// One warp for a page. Strings become spans, or Joined strings, and those of a fixed width dense values.
KERNEL text_deltas(u64 column) {
  Columns c = (Columns)column;
  u64 page = block();
  Pages p = pageOf(c, page);
  States s = stateOf(c, page);
  u32 n = (u32)s->present, at = 0, width = (u32)c->stored;
  if (s->bad || (p->encoding != DELTA_LENGTH && p->encoding != DELTA_TEXT) || n == 0) return; // bound
  bool good;
  if (p->encoding == DELTA_LENGTH) {
    GLOBAL u8 *span = (GLOBAL u8 *)p->dense;
    good = lengthsAt(s, n, &at, span + 4, 8);
    warpSync(); // the lengths are there
    good = good && spans(s, n, at, (GLOBAL u64 *)span);
  } else {
    Joins j = (Joins)p->joined;
    good = lengthsAt(s, n, &at, (GLOBAL u8 *)&j->prefix, sizeof(Joined)) && lengthsAt(s, n, &at, (GLOBAL u8 *)&j->length, sizeof(Joined));
    warpSync(); // the lengths are there
    good = good && link(s, n, at, j, width);
    warpSync(); // the strings are linked
    for (u32 i = tid(); good && width && i < n; i += 32) join(j + i, 0, 1, width, (GLOBAL u8 *)p->dense + (u64)i * width);
  }
  if (!good && tid() == 0) fail(c, page, BAD_TEXT);
}

// Eight lanes for a string that begins as the one before it.
KERNEL text_join(u64 gather) {
  Gathers g = (Gathers)gather;
  u64 slot = ((u64)block() * threads() + tid()) / 8;
  if (slot >= g->slots) return; // bound
  Words offsets = (Words)g->offsets;
  u32 from = offsets[slot], end = offsets[slot + 1];
  u64 src = ((const GLOBAL u64 *)g->sources)[slot];
  if (end > g->capacity || !(src & JOINED)) return; // bound
  join((Joins)(src & ~(u64)JOINED), tid() & 7, 8, end - from, (GLOBAL u8 *)g->out + from);
}
