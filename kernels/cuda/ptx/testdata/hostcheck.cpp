// Runs the kernels as host C++ on small inputs and checks the results; or on damaged ones, of which it tells what becomes.
#include "../pages.cu"
#include "../levels.cu"
#include "../deltas.cu"
#include "../gather.cu"
#include "../texts.cu"
#include "../filter.cu"
#include "../unpack.cu"
#include "../textdeltas.cu"
#include "../lists.cu"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

typedef std::vector<u8> Data;
static std::mt19937 rnd(1);
static bool wrong = false;

// What damaged inputs become: a number for each, which two builds are compared by.
static bool damaging = false;
static u32 mutation = 0; // of the input; 0: it is sound
static u64 became = 0;
static void note(const void *p, size_t n) {
  for (size_t i = 0; i < n; i++) became = (became ^ ((const u8 *)p)[i]) * 1099511628211ull;
}
template <class T> static void note(const std::vector<T> &v) { note(v.data(), v.size() * sizeof(T)); }

static void check(bool ok, const char *what) {
  if (!ok && !damaging) printf("%s: wrong\n", what), wrong = true;
}

// few makes damaged inputs small, as there are many.
static u32 few(u32 rows) { return damaging ? rows / 16 : rows; }

// Setup is a column of one page with everything that kernels need.
struct Setup {
  Page page{};
  State state{};
  u32 status = 0, nulls = 0;
  Column column{};
  Gather gather{};
  std::vector<u32> valid, rank, dense, outValid;
  std::vector<u64> wide, out, sources, sums;
  Data body;

  Setup(u32 rows, Data bytes, u64 encoding, u64 maxDef) : valid(rows / 32 + 1), rank(rows / 32 + 1), dense(rows), outValid(rows / 32 + 1), wide(rows), out(rows) {
    if (mutation && !bytes.empty()) damage(bytes);
    body = bytes;
    body.resize(body.size() + PADDING);
    page.body = (u64)body.data();
    page.bodyLen = bytes.size();
    page.version = 1;
    page.rows = rows;
    page.encoding = encoding;
    page.dense = encoding == DICTIONARY ? (u64)dense.data() : (u64)wide.data();
    column.pages = (u64)&page;
    column.states = (u64)&state;
    column.status = (u64)&status;
    column.count = 1;
    column.maxDef = column.threshold = maxDef;
    column.stored = 8;
    column.valid = (u64)valid.data();
    column.rank = (u64)rank.data();
    gather.column = (u64)&column;
    gather.slots = rows;
    gather.out = (u64)out.data();
    gather.valid = (u64)outValid.data();
    gather.nulls = (u64)&nulls;
    gather.conversion = COPY8;
    launch(1, 128, [&] { open_pages((u64)&column); });
  }
  // damage changes some bytes, mostly of what comes first, or cuts the end off.
  static void damage(Data &bytes) {
    std::mt19937 r(mutation);
    for (u32 n = r() % 3; n < 3; n++) bytes[r() % (r() % 2 ? bytes.size() : std::min<size_t>(bytes.size(), 40))] = r() % 2 ? r() : (u8[]){0, 1, 0x7f, 0x80, 0xff}[r() % 5];
    if (r() % 4 == 0) bytes.resize(r() % bytes.size());
  }
  ~Setup() {
    note(&status, 4), note(&nulls, 4), note(&state.present, 8), note(&state.bad, 8);
    if (!status) note(out), note(outValid), note(valid), note(rank);
  }
  u64 c() { return (u64)&column; }
  u64 g() { return (u64)&gather; }
  int tiles() { return (int)(gather.slots + 1023) / 1024; }
};

// shortRuns makes repeated and packed runs of few values each.
static Data shortRuns(std::vector<u32> &want, u32 n, u32 width, u32 most) {
  Data out;
  while (want.size() < n) {
    if (rnd() % 3) {
      u32 count = 1 + rnd() % 20, v = rnd() % most;
      out.push_back(count << 1);
      for (u32 i = 0; i < (width + 7) / 8; i++) out.push_back(v >> (8 * i));
      want.insert(want.end(), count, v);
      continue;
    }
    out.push_back(3);
    u64 bits = 0;
    for (u32 i = 0; i < 8; i++) {
      u32 v = rnd() % most;
      want.push_back(v);
      bits |= (u64)v << (i * width);
    }
    for (u32 i = 0; i < width; i++) out.push_back(bits >> (8 * i));
  }
  want.resize(n);
  return out;
}

static void dictionary() {
  u32 rows = few(2500);
  std::vector<u32> level, index;
  Data def = shortRuns(level, rows, 1, 2), body(4);
  u32 n = def.size(), present = 0;
  memcpy(body.data(), &n, 4);
  body.insert(body.end(), def.begin(), def.end());
  for (u32 l : level) present += l;
  Data values = shortRuns(index, present, 7, 100);
  body.push_back(7);
  body.insert(body.end(), values.begin(), values.end());
  Setup s(rows, body, DICTIONARY, 1);
  std::vector<u64> entries(102);
  for (auto &e : entries) e = rnd();
  s.column.dictionary = (u64)entries.data();
  s.column.entries = 100;
  launch(1, 128, [&] { ::levels(s.c()); });
  launch(1, 128, [&] { indices(s.c()); });
  launch(s.tiles(), 128, [&] { gather_fixed(s.g()); });
  bool ok = s.status == 0 && s.nulls == rows - present;
  for (u32 i = 0, k = 0; i < rows; i++) ok &= s.out[i] == (level[i] ? entries[index[k++]] : 0);
  check(ok, "dictionary");
  std::vector<u32> mask(rows / 32 + 1), table = {0xffffffff, 0, 0, 0};
  launch(s.tiles(), 128, [&] { filter_table(s.g(), (u64)table.data(), 0, (u64)mask.data(), 1); });
  launch(s.tiles(), 128, [&] { filter_null(s.g(), 0, (u64)mask.data(), 0); });
  for (u32 i = 0, k = 0; i < rows; i++) ok &= (mask[i / 32] >> (i % 32) & 1) == (level[i] && index[k++] < 32);
  check(ok, "filter");
}

static void delta() {
  u32 rows = damaging ? 300 : 700;
  std::vector<i64> want = {-5};
  Data body = {0x80, 1, 4, (u8)(rows & 127 | 128), (u8)(rows >> 7), 9};
  while (want.size() < rows) {
    body.push_back(5); // -3
    for (int m = 0; m < 4; m++) body.push_back(5);
    for (int m = 0; m < 4; m++) {
      Data bits(20);
      for (int i = 0; i < 32; i++) {
        u32 v = rnd() % 32;
        if (want.size() < rows) want.push_back(want.back() - 3 + v);
        for (int b = 0; b < 5; b++) bits[(5 * i + b) / 8] |= (v >> b & 1) << ((5 * i + b) % 8);
      }
      body.insert(body.end(), bits.begin(), bits.end());
    }
  }
  Setup s(rows, body, DELTA, 0);
  launch(1, 32, [&] { deltas(s.c()); });
  launch(s.tiles(), 128, [&] { gather_fixed(s.g()); });
  check(s.status == 0 && !memcmp(s.out.data(), want.data(), 8 * rows), "delta");
  if (damaging) return;
  s.page.bodyLen -= 75;
  launch(1, 128, [&] { open_pages(s.c()); });
  launch(1, 32, [&] { deltas(s.c()); });
  check(s.status == BAD_DELTA, "short delta");
  s.status = 0;
  s.page.bodyLen = 3; // refused before lanes wait for each other
  launch(1, 128, [&] { open_pages(s.c()); });
  launch(1, 32, [&] { deltas(s.c()); });
  check(s.status == BAD_DELTA, "half a header");
}

static void strings() {
  u32 rows = few(3000);
  Data body, want;
  for (u32 i = 0; i < rows; i++) {
    u32 n = rnd() % 100 ? rnd() % 12 : 3000;
    for (int k = 0; k < 4; k++) body.push_back(n >> (8 * k));
    for (u32 k = 0; k < n; k++) body.push_back('a' + rnd() % 26), want.push_back(body.back());
  }
  Setup s(rows, body, PLAIN, 0);
  std::vector<u32> offsets(rows + 1);
  u64 total = 0;
  s.sources.resize(rows);
  s.sums.resize(s.tiles());
  s.gather.offsets = (u64)offsets.data();
  s.gather.sources = (u64)s.sources.data();
  s.gather.sums = (u64)s.sums.data();
  s.gather.tiles = s.tiles();
  s.gather.total = (u64)&total;
  launch(1, 32, [&] { text_walk(s.c()); });
  launch(s.tiles(), 128, [&] { text_lengths(s.g()); });
  launch(1, 32, [&] { text_scan(s.g()); });
  launch(rows / 128 + 1, 128, [&] { text_offsets(s.g()); });
  note(offsets);
  if (damaging && s.status) return;
  Data out(total);
  s.gather.out = (u64)out.data();
  s.gather.capacity = total;
  launch(rows / 16 + 1, 128, [&] { text_copy(s.g()); });
  note(out);
  check(s.status == 0 && offsets[rows] == want.size() && out == want, "strings");
}

// deltaStream writes numbers in blocks of 64 with two miniblocks of 16 bits a value.
static Data deltaStream(const std::vector<i64> &v) {
  Data out;
  auto varint = [&](u64 n) {
    for (; n > 127; n >>= 7) out.push_back(n | 128);
    out.push_back(n);
  };
  auto zigzag = [&](i64 n) { varint((u64)n << 1 ^ (u64)(n >> 63)); };
  varint(64), varint(2), varint(v.size()), zigzag(v[0]);
  for (size_t at = 1; at < v.size(); at += 64) {
    size_t end = std::min(v.size(), at + 64);
    i64 least = 1 << 30;
    for (size_t i = at; i < end; i++) least = std::min(least, v[i] - v[i - 1]);
    zigzag(least), out.push_back(16), out.push_back(end - at > 32 ? 16 : 0);
    for (size_t i = at; i < at + (end - at > 32 ? 64 : 32); i++) {
      u64 d = i < end ? v[i] - v[i - 1] - least : 0;
      out.push_back(d), out.push_back(d >> 8);
    }
  }
  return out;
}

static void sharing() {
  u32 rows = damaging ? 70 : 210;
  for (u64 encoding : {DELTA_LENGTH, DELTA_TEXT})
    for (u32 width : {0u, 7u}) {
      if (width && encoding == DELTA_LENGTH) continue;
      std::vector<i64> prefixes, lengths;
      Data own, want;
      std::string last;
      for (u32 i = 0; i < rows; i++) {
        u32 most = encoding == DELTA_TEXT ? last.size() : 0;
        u32 prefix = i % 5 ? most : rnd() % (most + 1), n = width ? width - prefix : rnd() % 9;
        prefixes.push_back(prefix), lengths.push_back(n);
        last.resize(prefix);
        for (u32 k = 0; k < n; k++) last.push_back('a' + rnd() % 26), own.push_back(last.back());
        want.insert(want.end(), last.begin(), last.end());
      }
      Data body = encoding == DELTA_TEXT ? deltaStream(prefixes) : Data(), second = deltaStream(lengths);
      body.insert(body.end(), second.begin(), second.end());
      body.insert(body.end(), own.begin(), own.end());
      Setup s(rows, body, encoding, 0);
      std::vector<Joined> joined(rows);
      s.page.joined = (u64)joined.data();
      s.column.stored = width;
      launch(1, 32, [&] { text_deltas(s.c()); });
      if (width) {
        Data out(rows * width);
        s.gather.out = (u64)out.data();
        launch(s.tiles(), 128, [&] { gather_bytes(s.g()); });
        note(out);
        check(s.status == 0 && out == want, "fixed values that share");
        continue;
      }
      std::vector<u32> offsets(rows + 1);
      u64 total = 0;
      s.sources.resize(rows), s.sums.resize(s.tiles());
      s.gather.offsets = (u64)offsets.data();
      s.gather.sources = (u64)s.sources.data();
      s.gather.sums = (u64)s.sums.data();
      s.gather.tiles = s.tiles();
      s.gather.total = (u64)&total;
      launch(s.tiles(), 128, [&] { text_lengths(s.g()); });
      launch(1, 32, [&] { text_scan(s.g()); });
      launch(rows / 128 + 1, 128, [&] { text_offsets(s.g()); });
      note(offsets);
      if (damaging && s.status) continue;
      Data out(total);
      s.gather.out = (u64)out.data();
      s.gather.capacity = total;
      launch(rows / 16 + 1, 128, [&] { text_copy(s.g()); });
      launch(rows / 16 + 1, 128, [&] { text_join(s.g()); });
      note(out);
      check(s.status == 0 && out == want, "texts that share");
      if (damaging) continue;
      s.page.bodyLen -= own.size() + 1;
      launch(1, 128, [&] { open_pages(s.c()); });
      launch(1, 32, [&] { text_deltas(s.c()); });
      check(s.status == BAD_TEXT, "texts that are missing");
    }
}

// levelRuns writes levels of up to three bits, repeated where eight are the same.
static Data levelRuns(std::vector<u32> v, u32 width) {
  Data out(4);
  v.resize((v.size() + 7) / 8 * 8);
  for (size_t i = 0; i < v.size(); i += 8) {
    bool same = true;
    u32 bits = 0;
    for (u32 k = 0; k < 8; k++) same &= v[i + k] == v[i], bits |= v[i + k] << (k * width);
    out.push_back(same ? 16 : 3);
    for (u32 k = 0; k < (same ? 1 : width); k++) out.push_back(same ? v[i] : bits >> (8 * k));
  }
  u32 n = out.size() - 4;
  memcpy(out.data(), &n, 4);
  return out;
}

// listed reads lists of lists: level 0 is no list, 1 an empty one, 2 an inner list that is null, 3 one that is empty, 4 a null, 5 a value.
static void listed() {
  for (bool all : {true, false}) {
    std::vector<u32> rep, def, outer = {0}, inner = {0};
    std::vector<u64> values, want, there;
    u32 rows = few(600), kept = 0, nulls = 0;
    std::vector<u32> bitmap(rows / 32 + 1), selected(rows / 32 + 1);
    for (u32 i = 0; i < rows; i++) {
      if (i % 32 == 0) selected[i / 32] = kept;
      bool wanted = all || rnd() % 3 == 0;
      if (wanted) bitmap[i / 32] |= 1u << (i % 32), kept++;
      u32 kind = rnd() % 4, lists = kind < 2 ? 0 : 1 + rnd() % 3;
      if (!lists) rep.push_back(0), def.push_back(kind);
      for (u32 l = 0; l < lists; l++) {
        u32 n = rnd() % 5;
        if (!n) rep.push_back(l > 0), def.push_back(2 + rnd() % 2);
        for (u32 k = 0; k < n; k++) {
          rep.push_back(k ? 2 : l > 0), def.push_back(rnd() % 8 ? 5 : 4);
          if (def.back() == 5) values.push_back(rnd());
          if (wanted) want.push_back(def.back() == 5 ? values.back() : 0);
        }
        if (wanted) inner.push_back(want.size());
      }
      if (wanted) outer.push_back(inner.size() - 1), there.push_back(kind > 0), nulls += kind == 0;
    }
    Data body = levelRuns(rep, 2), second = levelRuns(def, 3);
    body.insert(body.end(), second.begin(), second.end());
    body.insert(body.end(), (u8 *)values.data(), (u8 *)(values.data() + values.size()));
    u32 entries = rep.size(), words = entries / 32 + 1;
    Setup s(entries, body, PLAIN, 5);
    s.column.repeated = 1;
    PageCount rowCount{}, counts[3]{};
    std::vector<u32> w[8], entryOf[3], offsets[2], valid(kept / 32 + 1);
    for (auto &x : w) x.resize(words);
    Data reps(32 * words), defs(32 * words);
    u64 total[3] = {}, broken = 0;
    u32 listNulls = 0;
    Depth depths[3];
    for (int k = 0; k < 3; k++) {
      entryOf[k].resize(entries);
      depths[k] = {(u64)2 * k, (u64)w[2 + 2 * k].data(), (u64)w[3 + 2 * k].data(), (u64)&counts[k], (u64)entryOf[k].data(), (u64)&total[k]};
    }
    Nest n{s.c(), (u64)&rowCount, (u64)reps.data(), (u64)defs.data(), (u64)w[0].data(), (u64)w[1].data(), 2};
    if (!all) n.bitmap = (u64)bitmap.data(), n.selected = (u64)selected.data();
    n.last = rows, n.depths = (u64)depths, n.broken = (u64)&broken;
    auto run = [&] {
      launch(1, 128, [&] { open_pages(s.c()); });
      launch(1, 128, [&] { list_levels((u64)&n); });
      launch(1, 32, [&] { list_bases((u64)&n, 0); });
      launch(1, 128, [&] { list_wanted((u64)&n); });
      for (u64 k = 1; k < 4; k++) launch(1, 32, [&] { list_bases((u64)&n, k); });
      launch(1, 128, [&] { list_entries((u64)&n); });
    };
    run();
    note(total, sizeof total), note(valid);
    if (damaging && (s.status || total[0] != kept)) continue;
    check(s.status == 0 && total[0] == kept && total[1] == inner.size() - 1 && total[2] == want.size(), "slots of lists");
    for (u64 k = 0; k < 2; k++) {
      offsets[k].resize(total[k] + 1);
      Slots to{(u64)&n, k, total[k], 2 * k + 1, (u64)offsets[k].data()};
      u32 ignored = 0;
      to.valid = k ? 0 : (u64)valid.data(), to.nulls = k ? (u64)&ignored : (u64)&listNulls;
      launch(total[k] / 128 + 1, 128, [&] { list_slots((u64)&to); });
      note(offsets[k]);
      if (damaging) continue;
      launch(total[k] / 128 + 1, 128, [&] { list_agree((u64)offsets[k].data(), (u64)(k ? inner : outer).data(), total[k] + 1, s.c()); });
    }
    check(s.status == 0 && offsets[0] == outer && offsets[1] == inner && listNulls == nulls, "lists");
    for (u32 i = 0; i < kept; i++) check((valid[i / 32] >> (i % 32) & 1) == there[i], "lists that are there");
    std::vector<u64> out(total[2] + 1);
    std::vector<u32> outValid(total[2] / 32 + 1);
    s.gather.rowOf = (u64)entryOf[2].data();
    s.gather.slots = total[2];
    s.gather.out = (u64)out.data(), s.gather.valid = (u64)outValid.data();
    launch(s.tiles(), 128, [&] { gather_fixed(s.g()); });
    out.resize(total[2]);
    check(s.status == 0 && out == want, "elements");
    note(out);
    if (damaging) continue;
    inner[1]++;
    launch(total[1] / 128 + 1, 128, [&] { list_agree((u64)offsets[1].data(), (u64)inner.data(), total[1] + 1, s.c()); });
    check(s.status == BAD_LEVELS, "lists that differ");
    s.status = 0, s.page.bodyLen = 3;
    run();
    check(s.status == BAD_HEADER && broken && !total[2], "lists of a bad page");
  }
}

static void packed() {
  // LZ4: literals "abcd", a match 4 back of 40, literals "xyz". Snappy: the same.
  Data lz4 = {0x4f, 'a', 'b', 'c', 'd', 4, 0, 21, 0x30, 'x', 'y', 'z'};
  Data snappy = {47, 3 << 2, 'a', 'b', 'c', 'd', 39 << 2 | 2, 4, 0, 2 << 2, 'x', 'y', 'z'};
  std::string want;
  for (int i = 0; i < 44; i++) want += "abcd"[i % 4];
  want += "xyz";
  for (u64 codec : {SNAPPY, LZ4}) {
    Data in = codec == LZ4 ? lz4 : snappy;
    Setup s(1, Data(want.size()), PLAIN, 0);
    s.page.codec = codec;
    if (mutation) Setup::damage(in);
    s.page.packedLen = in.size();
    in.resize(in.size() + PADDING), s.page.packed = (u64)in.data();
    launch(1, 32, [&] { unpack(s.c()); });
    if (!s.status) note(s.body);
    check(s.status == 0 && !memcmp(s.body.data(), want.data(), want.size()), "packed");
  }
}

static void selected() {
  u32 rows = few(1000);
  std::vector<u32> bitmap(rows / 32 + 1), before(rows / 32 + 1), want;
  for (u32 i = 0; i < rows; i++) {
    if (i % 32 == 0) before[i / 32] = want.size();
    if (rnd() % 3 == 0) bitmap[i / 32] |= 1u << (i % 32), want.push_back(i);
  }
  std::vector<u32> got(want.size());
  launch(rows / 128 + 1, 128, [&] { select_rows((u64)bitmap.data(), (u64)before.data(), rows, (u64)got.data(), got.size()); });
  check(got == want, "selected rows");
}

// With an argument only the check of that name runs; with a number behind it as many times, on damaged input but for the first.
int main(int argc, char **argv) {
  const struct {
    const char *name;
    void (*run)();
  } checks[] = {{"dictionary", dictionary}, {"delta", delta}, {"strings", strings}, {"packed", packed}, {"sharing", sharing}, {"listed", listed}, {"selected", selected}};
  damaging = argc > 2;
  for (int i = 0; damaging && i < atoi(argv[2]); i++)
    for (auto &c : checks) {
      if (strcmp(argv[1], c.name)) continue;
      rnd.seed(i / 8 + 1), mutation = i, became = 14695981039346656037ull;
      c.run();
      printf("%d %llx\n", i, became);
      fflush(stdout);
    }
  if (damaging) return 0;
  for (auto &c : checks)
    if (argc < 2 || !strcmp(argv[1], c.name)) c.run();
  puts(wrong ? "FAIL" : "ok");
  return wrong;
}
