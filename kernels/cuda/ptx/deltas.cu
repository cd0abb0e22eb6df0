// DELTA_BINARY_PACKED to dense values.
#include "delta.cuh"

struct Numbers {
  GLOBAL u8 *to;
  u64 stored;
  METHOD void operator()(u32 i, u64 v) {
    if (stored == 4) ((GLOBAL u32 *)to)[i] = (u32)v;
    else ((GLOBAL u64 *)to)[i] = v;
  }
};

// One warp for a page.
KERNEL deltas(u64 column) {
  Columns c = (Columns)column;
  u64 page = block();
  Pages p = pageOf(c, page);
  States s = stateOf(c, page);
  if (s->bad || p->encoding != DELTA || s->present == 0) return; // bound
  Deltas<Numbers> d;
  d.in = {(Bytes)s->values, (u32)s->valuesLen, 0, false};
  d.put = {(GLOBAL u8 *)p->dense, c->stored};
  d.n = (u32)s->present;
  bool good = d.run(false);
  warpSync(); // all lanes have read the page's state
  if (!good && tid() == 0) fail(c, page, BAD_DELTA);
}
