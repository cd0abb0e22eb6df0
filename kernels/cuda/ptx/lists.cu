// What is inside of lists, maps and structs: from levels to the slots that are wanted at each depth, their offsets, and the entries that are values,
// which the gathering kernels bring to their slots. At depth 0 a slot is a row, at each further depth an entry of the lists of the one before. An
// entry is known by its place among all pages' words of validity: each page's entries begin at a multiple of 32.
#include "gather.cuh"
#include "levels.cuh"

struct Nest {
  u64 column;
  u64 rowCounts;          // PageCount for each page: rows that begin in it
  u64 reps, defs;         // a byte for each entry; 0: the column has no such levels
  u64 starts, rows;       // words: entries that begin a row, and how many began before in the page
  u64 maxRep;
  u64 bitmap, selected;   // rows that are wanted, and how many are before each word; 0: all of first..last
  u64 first, last;
  u64 depths, broken;     // maxRep + 1 of them; not 0: a page is bad
  u64 reserved0, reserved1, reserved2;
};

struct Depth {
  u64 ancestor;       // level from which on an entry is a slot
  u64 wanted, before; // words: entries that are wanted slots, and how many are before in the page
  u64 counts;         // PageCount for each page: of those
  u64 entryOf;        // the entry that begins each slot
  u64 total;
  u64 reserved0, reserved1;
};

// PageCount is how many there are in a page, and in those before it.
struct PageCount {
  u64 own, before;
};

// Slots are those of a list, a map or a struct.
struct Slots {
  u64 nest, depth, slots;
  u64 threshold;      // level from which on the value is there
  u64 offsets, valid; // 0: none
  u64 nulls;          // a counter
  u64 reserved0;
};

typedef const GLOBAL Nest *Nests;
typedef const GLOBAL Depth *Depths;
typedef GLOBAL PageCount *Counts;

DEVICE Depths depthOf(Nests n, u64 k) { return (Depths)n->depths + k; }
DEVICE bool isBroken(Nests n) { return *(const GLOBAL u64 *)n->broken != 0; }
DEVICE GLOBAL u32 *wordsAt(u64 words, Pages p) { return (GLOBAL u32 *)words + p->word0; }
DEVICE GLOBAL u8 *bytesAt(u64 bytes, Pages p) { return (GLOBAL u8 *)bytes + 32 * p->word0; }

// Reps keeps every repetition level, and which of them begin a row.
struct Reps {
  GLOBAL u32 *starts;
  GLOBAL u8 *to;
  u32 most, bad;
  METHOD void operator()(u32 word, bool active, u32 level) {
    u32 bits = warpBallot(active && level == 0);
    if ((tid() & 31) == 0) starts[word] = bits; // guard
    to[word * 32 + (tid() & 31)] = (u8)level; // there is room for whole words
    if (active && level > most) bad = BAD_LEVELS; // bound
  }
};

// Defs keeps every definition level, and which of them have a value.
struct Defs {
  ValidBits bits;
  GLOBAL u8 *to;
  METHOD void operator()(u32 word, bool active, u32 level) {
    bits(word, active, level);
    to[word * 32 + (tid() & 31)] = (u8)level; // there is room for whole words
  }
};

// everyEntry is for a column outside of lists: each entry begins a row.
DEVICE void everyEntry(GLOBAL u32 *starts, u32 entries) {
  for (u32 w = tid(); w * 32 < entries; w += threads()) starts[w] = entries - w * 32 < 32 ? (1u << (entries & 31)) - 1 : ~0u;
}

// One block for a page.
KERNEL list_levels(u64 nest) {
  SHARED Runs runs;
  SHARED u32 tooLarge[32]; // by warp
  Nests n = (Nests)nest;
  Columns c = (Columns)n->column;
  u64 page = block();
  Pages p = pageOf(c, page);
  States s = stateOf(c, page);
  Counts rows = (Counts)n->rowCounts + page;
  if (s->bad) { // bound
    if (tid() == 0) rows->own = 0;
    return;
  }
  u32 entries = (u32)p->rows, words = (entries + 31) / 32, bad = OK, own = OK;
  bool second = p->version == 2;
  GLOBAL u32 *starts = wordsAt(n->starts, p);
  if (n->maxRep) {
    Bytes from = (Bytes)p->body + (second ? 0 : 4);
    Reps reps = {starts, bytesAt(n->reps, p), (u32)n->maxRep, OK};
    bad = hybrid(&runs, from, second ? (u32)p->repLen : load32((Bytes)p->body), bitsOf((u32)n->maxRep), entries, Into<Reps>{&reps});
    own = reps.bad;
  } else {
    everyEntry(starts, entries);
  }
  if (!bad && c->maxDef) {
    Defs defs = {{wordsAt(c->valid, p), (u32)c->maxDef, (u32)c->maxDef, OK}, bytesAt(n->defs, p)};
    bad = hybrid(&runs, (Bytes)s->levels, (u32)s->levelsLen, bitsOf((u32)c->maxDef), entries, Into<Defs>{&defs});
    own |= defs.bits.bad;
  }
  bad = worst(tooLarge, bad, own);
  if (tid() >= 32) return;
  u32 present = bad ? 0 : c->maxDef ? ranks(wordsAt(c->valid, p), wordsAt(c->rank, p), words) : entries;
  u32 begun = bad ? 0 : ranks(starts, wordsAt(n->rows, p), words);
  if (!bad && (page == 0 || second) && (*starts & 1) == 0) bad = BAD_LEVELS; // the page begins inside of a row
  if (!bad && p->lists && p->lists != begun) bad = BAD_LEVELS;
  if (!bad) bad = shortOf(c, p, present, s->valuesLen);
  if (tid() == 0) {
    s->present = bad ? 0 : present;
    rows->own = bad ? 0 : begun;
    if (bad) fail(c, page, bad);
  }
}

// One warp: how many rows, or slots of depth which - 1, are in front of each page. Where a page is bad nothing else is done.
KERNEL list_bases(u64 nest, u64 which) {
  Nests n = (Nests)nest;
  Columns c = (Columns)n->column;
  u32 lane = tid() & 31;
  u64 sum = 0;
  bool bad = false;
  if (which && isBroken(n)) { // bound
    if (lane == 0) *(GLOBAL u64 *)depthOf(n, which - 1)->total = 0;
    return;
  }
  Counts counts = which ? (Counts)depthOf(n, which - 1)->counts : (Counts)n->rowCounts;
  for (u64 p0 = 0; p0 < c->count; p0 += 32) {
    Counts p = counts + p0 + lane;
    u64 own = 0;
    if (p0 + lane < c->count) { // guard
      own = p->own;
      if (stateOf(c, p0 + lane)->bad) bad = true; // bound
    }
    u64 inc = own;
    for (u32 d = 1; d < 32; d *= 2) {
      u64 o = shflUp64(inc, d);
      if (lane >= d) inc += o;
    }
    if (p0 + lane < c->count) p->before = sum + inc - own; // guard
    sum += shflIdx64(inc, 31);
  }
  bool wrong = warpBallot(bad);
  if (lane) return;
  if (which) {
    *(GLOBAL u64 *)depthOf(n, which - 1)->total = sum;
    return;
  }
  *(GLOBAL u64 *)n->broken = wrong;
}

// wants says whether a row is wanted.
DEVICE bool wants(Nests n, u64 row) {
  if (row >= n->last) return false; // bound
  if (!n->bitmap) return row >= n->first;
  return ((Words)n->bitmap)[row >> 5] >> ((u32)row & 31) & 1;
}

// defBefore gives the definition level of the entry in front of one that goes on with a row, which may be on the page before.
DEVICE u32 defBefore(Nests n, Columns c, u64 page, u32 i) {
  if (i) return bytesAt(n->defs, pageOf(c, page))[i - 1]; // bound
  Pages p = pageOf(c, page - 1);
  return bytesAt(n->defs, p)[p->rows - 1];
}

// One block for a page: the entries that are wanted slots, at every depth. An entry that goes on with a list in a list has one of the same list in front
// of it.
KERNEL list_wanted(u64 nest) {
  Nests n = (Nests)nest;
  Columns c = (Columns)n->column;
  u64 page = block();
  Pages p = pageOf(c, page);
  if (isBroken(n)) return; // bound
  u32 lane = tid() & 31, entries = (u32)p->rows, words = (entries + 31) / 32;
  u64 rowsBefore = ((Counts)n->rowCounts + page)->before;
  for (u32 w = tid() >> 5; w < words; w += threads() >> 5) {
    u32 starts = wordsAt(n->starts, p)[w], i = w * 32 + lane;
    u64 row = rowsBefore + wordsAt(n->rows, p)[w] + popc(starts & ((2u << lane) - 1)) - 1;
    bool want = i < entries && wants(n, row);       // guard
    u32 rep = n->reps ? bytesAt(n->reps, p)[i] : 0; // guard
    u32 def = n->defs ? bytesAt(n->defs, p)[i] : 0; // guard
    if (want && rep > 1 && defBefore(n, c, page, i) < depthOf(n, rep)->ancestor) flag(c, page, BAD_LEVELS);
    for (u64 k = 0; k <= n->maxRep; k++) {
      Depths d = depthOf(n, k);
      u32 kept = warpBallot(want && rep <= k && def >= d->ancestor);
      if (lane == 0) wordsAt(d->wanted, p)[w] = kept; // guard
    }
  }
  barrier(); // all words are there
  for (u64 k = tid() >> 5; k <= n->maxRep; k += threads() >> 5) {
    Depths d = depthOf(n, k);
    u32 own = ranks(wordsAt(d->wanted, p), wordsAt(d->before, p), words);
    if (lane == 0) ((Counts)d->counts + page)->own = own; // guard
  }
}

// One block for a page: which entries begin the slots of each depth.
KERNEL list_entries(u64 nest) {
  Nests n = (Nests)nest;
  Columns c = (Columns)n->column;
  u64 page = block();
  Pages p = pageOf(c, page);
  if (isBroken(n)) return; // bound
  u32 lane = tid() & 31, words = ((u32)p->rows + 31) / 32;
  for (u64 k = 0; k <= n->maxRep; k++) {
    Depths d = depthOf(n, k);
    u64 base = ((Counts)d->counts + page)->before;
    for (u32 w = tid() >> 5; w < words; w += threads() >> 5) {
      u32 kept = wordsAt(d->wanted, p)[w];
      u64 at = base + wordsAt(d->before, p)[w] + popc(kept & ((1u << lane) - 1));
      if (kept >> lane & 1) ((GLOBAL u32 *)d->entryOf)[at] = (u32)(p->word0 + w) * 32 + lane; // guard
    }
  }
}

// One thread for a slot: its offset and whether its value is there; the last offset is the end.
KERNEL list_slots(u64 slots) {
  const GLOBAL Slots *to = (const GLOBAL Slots *)slots;
  Nests n = (Nests)to->nest;
  Columns c = (Columns)n->column;
  Depths d = depthOf(n, to->depth), inner = d + 1;
  u64 slot = (u64)block() * threads() + tid();
  bool active = slot < to->slots, there = false;
  u32 offset = 0;
  if (active) { // guard
    u32 entry = ((Words)d->entryOf)[slot], w = entry >> 5, bit = entry & 31;
    there = !n->defs || ((Bytes)n->defs)[entry] >= to->threshold;
    if (to->offsets) // guard
      offset = (u32)((Counts)inner->counts + pageWith(c, entry))->before + ((Words)inner->before)[w] + popc(((Words)inner->wanted)[w] & ((1u << bit) - 1));
  }
  if (to->offsets && slot == to->slots) offset = (u32)*(const GLOBAL u64 *)inner->total; // guard
  if (to->offsets && slot <= to->slots) ((GLOBAL u32 *)to->offsets)[slot] = offset; // guard
  u32 all = warpBallot(active), bits = warpBallot(there);
  if (all && to->valid && (tid() & 31) == 0) ((GLOBAL u32 *)to->valid)[slot >> 5] = bits; // guard
  u32 nulls = popc(all & ~bits);
  if (nulls && (tid() & 31) == 0) atomicAdd32((GLOBAL u32 *)to->nulls, nulls);
}

// One thread for an offset: two leaves of a list have to have the same.
KERNEL list_agree(u64 offsets, u64 others, u64 count, u64 column) {
  u64 i = (u64)block() * threads() + tid();
  if (i >= count) return; // bound
  if (((Words)offsets)[i] != ((Words)others)[i]) flag((Columns)column, 0, BAD_LEVELS);
}
