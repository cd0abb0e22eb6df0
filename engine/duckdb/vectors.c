//go:build cgo

// Arrow columns written straight into the engine's vectors, where the engine's own conversion would go through 128 bits or build each text from pieces:
// texts, binary values and decimals of up to 18 digits. A long text stays where it is, in the batch.
#include "bridge.h"

#include <string.h>

// A text as the engine keeps it: up to 12 bytes inside, else a prefix and a pointer.
typedef struct {
	uint32_t length;
	char prefix[4];
	const char *pointer;
} long_text;

#define INLINED 12

int skua_vector_kind(const struct ArrowSchema *column) {
	if (column->dictionary || (column->metadata && *(const int32_t *)column->metadata > 0)) {
		return SKUA_OTHER;
	}
	if (!strcmp(column->format, "u") || !strcmp(column->format, "z")) {
		return SKUA_TEXT;
	}
	if (strncmp(column->format, "d:", 2)) {
		return SKUA_OTHER;
	}
	const char *scale = strchr(column->format, ',');
	int digits = atoi(column->format + 2);
	if (!scale || strchr(scale + 1, ',') || digits < 1 || digits > 18) {
		return SKUA_OTHER;
	}
	return digits <= 4 ? SKUA_DECIMAL16 : digits <= 9 ? SKUA_DECIMAL32 : SKUA_DECIMAL64;
}

static bool is_valid(const uint8_t *bits, int64_t at) { return !bits || bits[at >> 3] >> (at & 7) & 1; }

// set_valid copies which of n values are not null.
static void set_valid(duckdb_vector to, const uint8_t *bits, int64_t offset, int64_t n) {
	duckdb_vector_ensure_validity_writable(to);
	uint64_t *out = duckdb_vector_get_validity(to);
	int64_t from = offset >> 3, last = (offset + n - 1) >> 3, shift = offset & 7;
	for (int64_t i = 0; i < n; i += 64, from += 8, out++) {
		uint64_t word = 0;
		int64_t there = last - from + 1;
		memcpy(&word, bits + from, there < 8 ? there : 8);
		word >>= shift;
		if (shift && there > 8) {
			word |= (uint64_t)bits[from + 8] << (64 - shift);
		}
		*out = word;
	}
}

static void texts(const struct ArrowArray *a, const uint8_t *valid, int64_t n, long_text *out) {
	const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset;
	const char *bytes = a->buffers[2];
	for (int64_t i = 0; i < n; i++) {
		uint32_t length = offsets[i + 1] - offsets[i];
		const char *text = bytes + offsets[i];
		if (!is_valid(valid, a->offset + i)) {
			continue;
		}
		if (length > INLINED) {
			out[i].length = length;
			memcpy(out[i].prefix, text, 4);
			out[i].pointer = text;
			continue;
		}
		// The bytes after the last one are zero. They are put together in registers: what is stored in pieces and loaded whole has to wait.
		uint64_t low = 0, high = 0;
		if (length >= 8) {
			uint32_t end;
			memcpy(&low, text, 8);
			memcpy(&end, text + length - 4, 4);
			high = length == 8 ? 0 : end >> (8 * (INLINED - length));
		} else if (length >= 4) {
			uint32_t begin, end;
			memcpy(&begin, text, 4);
			memcpy(&end, text + length - 4, 4);
			low = begin | (uint64_t)end << (8 * (length - 4));
		} else if (length) {
			low = (uint8_t)text[0] | (uint64_t)(uint8_t)text[length >> 1] << (8 * (length >> 1)) | (uint64_t)(uint8_t)text[length - 1] << (8 * (length - 1));
		}
		uint64_t words[2] = {length | low << 32, low >> 32 | high << 32};
		memcpy(&out[i], words, sizeof words);
	}
}

// A decimal of 128 bits, as Arrow has it.
typedef struct {
	int64_t low, high;
} wide;

#define DECIMALS(name, type)                                                                                                                          \
	static bool name(const wide *in, int64_t n, type *out) {                                                                                          \
		uint64_t beyond = 0;                                                                                                                          \
		for (int64_t i = 0; i < n; i++) {                                                                                                             \
			out[i] = (type)in[i].low;                                                                                                                 \
			beyond |= (uint64_t)((in[i].low ^ out[i]) | (in[i].high ^ in[i].low >> 63));                                                              \
		}                                                                                                                                             \
		return !beyond;                                                                                                                               \
	}

DECIMALS(decimals16, int16_t)
DECIMALS(decimals32, int32_t)
DECIMALS(decimals64, int64_t)

// beyond reports whether a value that is not null has more bits than it may have.
static bool beyond(const wide *in, const uint8_t *valid, int64_t offset, int64_t n, int kind) {
	for (int64_t i = 0; i < n; i++) {
		int64_t low = in[i].low;
		int64_t kept = kind == SKUA_DECIMAL16 ? (int16_t)low : kind == SKUA_DECIMAL32 ? (int32_t)low : low;
		if ((kept != low || in[i].high != low >> 63) && is_valid(valid, offset + i)) {
			return true;
		}
	}
	return false;
}

bool skua_write_vector(int kind, const struct ArrowArray *a, int64_t n, duckdb_vector to) {
	const uint8_t *valid = a->null_count ? a->buffers[0] : NULL;
	void *out = duckdb_vector_get_data(to);
	if (valid) {
		set_valid(to, valid, a->offset, n);
	}
	if (kind == SKUA_TEXT) {
		texts(a, valid, n, out);
		return true;
	}
	const wide *in = (const wide *)a->buffers[1] + a->offset;
	bool fits = kind == SKUA_DECIMAL16 ? decimals16(in, n, out) : kind == SKUA_DECIMAL32 ? decimals32(in, n, out) : decimals64(in, n, out);
	return fits || !beyond(in, valid, a->offset, n, kind);
}
