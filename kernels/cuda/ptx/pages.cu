// Splits pages into their streams, and lists the rows that are selected.
#include "page.cuh"

// One thread for a page.
KERNEL open_pages(u64 column) {
  Columns c = (Columns)column;
  u64 i = (u64)block() * threads() + tid();
  if (i >= c->count) return; // bound
  Pages p = pageOf(c, i);
  States s = stateOf(c, i);
  Bytes body = (Bytes)p->body;
  u64 len = p->bodyLen, at = 0, levels = 0, levelsLen = 0, width = 0;
  u32 bad = ((Words)c->status)[i];
  if (!bad && p->version == 2) {
    if (p->repLen > len || p->defLen > len - p->repLen) bad = BAD_HEADER; // bound
    levels = p->repLen;
    levelsLen = p->defLen;
    at = p->repLen + p->defLen;
  } else if (!bad && c->maxDef) {
    u64 from = 0;
    if (c->repeated) {
      if (len < 4 || load32(body) > len - 4) bad = BAD_HEADER; // bound
      else from = 4 + load32(body);
    }
    if (len - from < 4) { // bound
      bad = BAD_HEADER;
    } else {
      levels = from + 4;
      levelsLen = load32(body + from);
      if (levelsLen > len - levels) bad = BAD_HEADER; // bound
      at = levels + levelsLen;
    }
  }
  if (!bad && at < len) { // guard: else a page of nulls
    if (p->encoding == DICTIONARY) {
      width = body[at++];
      if (width > 32) bad = BAD_HEADER; // bound
    } else if (p->encoding == RLE) {
      width = 1;
      if (len - at < 4) { // bound
        bad = BAD_HEADER;
      } else {
        u64 n = load32(body + at);
        at += 4;
        if (n > len - at) bad = BAD_HEADER; // bound
        else len = at + n;
      }
    } else if (p->encoding == SPLIT) {
      if ((len - at) % c->stored) bad = BAD_HEADER; // bound
    }
  }
  if (!bad && !c->maxDef) bad = shortOf(c, p, p->rows, at < len ? len - at : 0);
  s->levels = p->body + levels;
  s->levelsLen = levelsLen;
  s->values = p->body + at;
  s->valuesLen = bad ? 0 : len - at;
  s->width = width;
  s->present = p->rows; // as long as there are no levels
  s->bad = bad;
  if (bad) flag(c, i, bad);
}

// One thread for a row: rowOf lists the rows whose bit is set; before is how many are set in front of each word.
KERNEL select_rows(u64 bitmap, u64 before, u64 rows, u64 rowOf, u64 slots) {
  u64 row = (u64)block() * threads() + tid();
  if (row >= rows) return; // bound
  u32 bits = ((Words)bitmap)[row >> 5], bit = (u32)row & 31;
  if (!(bits >> bit & 1)) return;
  u64 slot = ((Words)before)[row >> 5] + popc(bits & ((1u << bit) - 1));
  if (slot < slots) ((GLOBAL u32 *)rowOf)[slot] = (u32)row; // guard
}
