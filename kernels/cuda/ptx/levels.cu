// Definition levels to validity bits, dictionary indices and run-length booleans to dense values.
#include "hybrid.cuh"

// ValidBits keeps a bit for every level, and notes levels that are too large.
struct ValidBits {
  GLOBAL u32 *valid;
  u32 threshold, maxDef, bad;
  METHOD void operator()(u32 word, bool active, u32 level) {
    u32 bits = warpBallot(active && level >= threshold);
    if ((tid() & 31) == 0) valid[word] = bits;
    if (active && level > maxDef) bad = BAD_LEVELS; // bound
  }
};

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
  struct Sink {
    ValidBits *to;
    METHOD void operator()(u32 word, bool active, u32 v) { (*to)(word, active, v); }
  };
  ValidBits bits = {valid, (u32)c->threshold, (u32)c->maxDef, OK};
  u32 bad = hybrid(&runs, (Bytes)s->levels, (u32)s->levelsLen, bitsOf((u32)c->maxDef), rows, Sink{&bits});
  u32 wrong = warpBallot(bits.bad != OK);
  if ((tid() & 31) == 0) tooLarge[tid() >> 5] = wrong;
  barrier(); // all words are there
  if (tid() >= 32) return;
  for (u32 w = 0; w < threads() >> 5; w++)
    if (!bad && tooLarge[w]) bad = BAD_LEVELS;
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
