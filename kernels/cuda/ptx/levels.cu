// Definition levels to validity bits, dictionary indices and run-length booleans to dense values.
#include "levels.cuh"

// One block for a page.
KERNEL levels(u64 column) {
  SHARED Runs runs;
  SHARED u32 tooLarge[32]; // by warp
  Columns c = (Columns)column;
  u64 page = block();
  Pages p = pageOf(c, page);
  States s = stateOf(c, page);
  if (s->bad) return; // bound
  u32 rows = (u32)p->rows, words = (rows + 31) / 32;
  GLOBAL u32 *valid = (GLOBAL u32 *)c->valid + p->word0, *rank = (GLOBAL u32 *)c->rank + p->word0;
  ValidBits bits = {valid, (u32)c->threshold, (u32)c->maxDef, OK};
  u32 bad = hybrid(&runs, (Bytes)s->levels, (u32)s->levelsLen, bitsOf((u32)c->maxDef), rows, Into<ValidBits>{&bits});
  bad = worst(tooLarge, bad, bits.bad);
  if (tid() >= 32) return;
  u32 present = bad ? 0 : ranks(valid, rank, words);
  if (!bad) bad = shortOf(c, p, present, s->valuesLen);
  if (tid() == 0) {
    s->present = present;
    if (bad) fail(c, page, bad);
  }
}

struct Dense {
  GLOBAL u32 *to;
  METHOD void operator()(u32 word, bool active, u32 v) {
    if (active) to[word * 32 + (tid() & 31)] = v; // guard
  }
};

// One block for a page.
KERNEL indices(u64 column) {
  SHARED Runs runs;
  Columns c = (Columns)column;
  u64 page = block();
  Pages p = pageOf(c, page);
  States s = stateOf(c, page);
  if (s->bad || (p->encoding != DICTIONARY && p->encoding != RLE)) return; // bound
  u32 bad = hybrid(&runs, (Bytes)s->values, (u32)s->valuesLen, (u32)s->width, (u32)s->present, Dense{(GLOBAL u32 *)p->dense});
  if (bad && tid() == 0) fail(c, page, bad);
}
