// Lists of one level: from levels to the lists that are wanted and the entries of the page that are their elements, which the gathering kernels
// bring to their slots. An entry is known by its place among all pages' words of validity: each page's entries begin at a multiple of 32.
#include "gather.cuh"
#include "hybrid.cuh"

struct List {
  u64 column;
  u64 pages;                   // a PageLists for each
  u64 starts, elements, lists; // words: entries that begin a row, that are elements, whose list is there
  u64 rows, wanted, before;    // words: rows that began before in the page; elements that are wanted, and how many are before in the page
  u64 expected, threshold;     // rows of the chunk; level from which on a list is there
  u64 bitmap, selected;        // rows that are wanted, and how many are before each word; 0: all of first..last
  u64 first, last, slots;
  u64 entryOf, elementOf;      // the entry that begins each slot, and that of each element
  u64 offsets, valid, nulls;
  u64 total, broken;           // elements; not 0: a page is bad, or the rows are not those expected
  u64 reserved0, reserved1;
};

struct PageLists {
  u64 rows, rowsBefore, elements, elementsBefore;
};

typedef const GLOBAL List *Lists;

DEVICE GLOBAL PageLists *listsOf(Lists l, u64 page) { return (GLOBAL PageLists *)l->pages + page; }
DEVICE bool isBroken(Lists l) { return *(const GLOBAL u64 *)l->broken != 0; }
DEVICE GLOBAL u32 *wordsAt(u64 words, Pages p) { return (GLOBAL u32 *)words + p->word0; }

struct RowStarts {
  GLOBAL u32 *to;
  METHOD void operator()(u32 word, bool active, u32 level) {
    u32 bits = warpBallot(active && level == 0);
    if ((tid() & 31) == 0) to[word] = bits; // guard
  }
};

struct ListBits {
  GLOBAL u32 *valid, *elements, *lists;
  u32 most, threshold, bad;
  METHOD void operator()(u32 word, bool active, u32 level) {
    u32 v = warpBallot(active && level == most), e = warpBallot(active && level > threshold), l = warpBallot(active && level >= threshold);
    if ((tid() & 31) == 0) { // guard
      valid[word] = v;
      elements[word] = e;
      lists[word] = l;
    }
    if (active && level > most) bad = BAD_LEVELS; // bound
  }
};

// One block for a page.
KERNEL list_levels(u64 list) {
  SHARED Runs runs;
  SHARED u32 tooLarge[32]; // by warp
  Lists l = (Lists)list;
  Columns c = (Columns)l->column;
  u64 page = block();
  Pages p = pageOf(c, page);
  States s = stateOf(c, page);
  if (s->bad) { // bound
    if (tid() == 0) listsOf(l, page)->rows = 0;
    return;
  }
  u32 entries = (u32)p->rows, words = (entries + 31) / 32;
  bool second = p->version == 2;
  Bytes reps = (Bytes)p->body + (second ? 0 : 4);
  u32 bad = hybrid(&runs, reps, second ? (u32)p->repLen : load32((Bytes)p->body), 1, entries, RowStarts{wordsAt(l->starts, p)});
  struct Sink {
    ListBits *to;
    METHOD void operator()(u32 word, bool active, u32 v) { (*to)(word, active, v); }
  };
  ListBits bits = {wordsAt(c->valid, p), wordsAt(l->elements, p), wordsAt(l->lists, p), (u32)c->maxDef, (u32)l->threshold, OK};
  if (!bad) bad = hybrid(&runs, (Bytes)s->levels, (u32)s->levelsLen, bitsOf((u32)c->maxDef), entries, Sink{&bits});
  u32 wrong = warpBallot(bits.bad != OK);
  if ((tid() & 31) == 0) tooLarge[tid() >> 5] = wrong;
  barrier(); // all words are there
  if (tid() >= 32) return;
  for (u32 w = 0; w < threads() >> 5; w++)
    if (!bad && tooLarge[w]) bad = BAD_LEVELS;
  u32 present = bad ? 0 : ranks(wordsAt(c->valid, p), wordsAt(c->rank, p), words);
  u32 begun = bad ? 0 : ranks(wordsAt(l->starts, p), wordsAt(l->rows, p), words);
  if (!bad && (page == 0 || second) && (*wordsAt(l->starts, p) & 1) == 0) bad = BAD_LEVELS; // the page begins inside of a row
  if (!bad && p->lists && p->lists != begun) bad = BAD_LEVELS;
  if (!bad) bad = shortOf(c, p, present, s->valuesLen);
  if (tid() == 0) {
    s->present = bad ? 0 : present;
    listsOf(l, page)->rows = bad ? 0 : begun;
    if (bad) fail(c, page, bad);
  }
}

// One warp: how many rows, or elements, are in front of each page. Where a page is bad or rows are missing nothing else is done with lists.
KERNEL list_bases(u64 list, u64 elements) {
  Lists l = (Lists)list;
  Columns c = (Columns)l->column;
  u32 lane = tid() & 31;
  u64 sum = 0;
  bool broken = elements && isBroken(l), bad = false;
  for (u64 p0 = 0; p0 < c->count && !broken; p0 += 32) {
    GLOBAL PageLists *p = listsOf(l, p0 + lane);
    u64 own = 0;
    if (p0 + lane < c->count) { // guard
      own = elements ? p->elements : p->rows;
      if (stateOf(c, p0 + lane)->bad) bad = true; // bound
    }
    u64 inc = own;
    for (u32 d = 1; d < 32; d *= 2) {
      u64 o = shflUp64(inc, d);
      if (lane >= d) inc += o;
    }
    if (p0 + lane < c->count) (elements ? p->elementsBefore : p->rowsBefore) = sum + inc - own; // guard
    sum += shflIdx64(inc, 31);
  }
  bool wrong = warpBallot(bad) || sum != l->expected; // bound
  if (lane) return;
  if (elements) {
    *(GLOBAL u64 *)l->total = sum;
    return;
  }
  *(GLOBAL u64 *)l->broken = wrong;
  if (wrong) flag(c, 0, BAD_LEVELS);
}

// wants says whether a row is wanted, and in which slot.
DEVICE bool wants(Lists l, u64 row, u64 *slot) {
  if (row >= l->last) return false; // bound
  *slot = row - l->first;
  if (!l->bitmap) return row >= l->first;
  u32 bits = ((Words)l->bitmap)[row >> 5], bit = (u32)row & 31;
  *slot = ((Words)l->selected)[row >> 5] + popc(bits & ((1u << bit) - 1));
  return bits >> bit & 1;
}

// One block for a page: the entries that begin slots, and the elements that are wanted.
KERNEL list_wanted(u64 list) {
  Lists l = (Lists)list;
  Columns c = (Columns)l->column;
  u64 page = block();
  Pages p = pageOf(c, page);
  if (isBroken(l)) return; // bound
  GLOBAL PageLists *in = listsOf(l, page);
  u32 lane = tid() & 31, words = ((u32)p->rows + 31) / 32;
  GLOBAL u32 *wanted = wordsAt(l->wanted, p);
  for (u32 w = tid() >> 5; w < words; w += threads() >> 5) {
    u32 starts = wordsAt(l->starts, p)[w];
    u64 row = in->rowsBefore + wordsAt(l->rows, p)[w] + popc(starts & ((2u << lane) - 1)) - 1, slot = 0;
    bool want = wants(l, row, &slot); // behind the last entry there is none that begins or is an element
    if (want && starts >> lane & 1) ((GLOBAL u32 *)l->entryOf)[slot] = (u32)(p->word0 + w) * 32 + lane; // guard
    u32 kept = warpBallot(want && wordsAt(l->elements, p)[w] >> lane & 1);
    if (lane == 0) wanted[w] = kept; // guard
  }
  barrier(); // all words are there
  if (tid() >= 32) return;
  u32 n = ranks(wanted, wordsAt(l->before, p), words);
  if (tid() == 0) in->elements = n;
}

// One thread for a slot: its offset and whether its list is there; the last offset is the end.
KERNEL list_slots(u64 list) {
  Lists l = (Lists)list;
  Columns c = (Columns)l->column;
  u64 slot = (u64)block() * threads() + tid();
  bool active = slot < l->slots, broken = isBroken(l), there = false;
  u32 offset = 0;
  if (active && !broken) { // guard
    u32 entry = ((Words)l->entryOf)[slot], w = entry >> 5, bit = entry & 31;
    offset = (u32)listsOf(l, pageWith(c, entry))->elementsBefore + ((Words)l->before)[w] + popc(((Words)l->wanted)[w] & ((1u << bit) - 1));
    there = ((Words)l->lists)[w] >> bit & 1;
  }
  if (slot == l->slots) offset = (u32)*(const GLOBAL u64 *)l->total;
  if (slot <= l->slots) ((GLOBAL u32 *)l->offsets)[slot] = offset; // guard
  u32 all = warpBallot(active), bits = warpBallot(there);
  if (all && l->valid && (tid() & 31) == 0) ((GLOBAL u32 *)l->valid)[slot >> 5] = bits; // guard
  u32 nulls = popc(all & ~bits);
  if (nulls && (tid() & 31) == 0) atomicAdd32((GLOBAL u32 *)l->nulls, nulls);
}

// One block for a page: where the elements that are wanted are.
KERNEL list_elements(u64 list) {
  Lists l = (Lists)list;
  Columns c = (Columns)l->column;
  u64 page = block();
  Pages p = pageOf(c, page);
  if (isBroken(l)) return; // bound
  u32 lane = tid() & 31, words = ((u32)p->rows + 31) / 32;
  u64 base = listsOf(l, page)->elementsBefore;
  for (u32 w = tid() >> 5; w < words; w += threads() >> 5) {
    u32 kept = wordsAt(l->wanted, p)[w];
    u64 at = base + wordsAt(l->before, p)[w] + popc(kept & ((1u << lane) - 1));
    if (kept >> lane & 1) ((GLOBAL u32 *)l->elementOf)[at] = (u32)(p->word0 + w) * 32 + lane; // guard
  }
}
