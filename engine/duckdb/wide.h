// Whole numbers of 256 bits without a sign.
#ifndef SKUA_WIDE_H
#define SKUA_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 u128;

// wide is made of 64-bit limbs, the lowest first.
typedef struct {
	uint64_t limb[4];
} wide;

static inline wide wide_of(u128 n) { return (wide){{(uint64_t)n, (uint64_t)(n >> 64), 0, 0}}; }

static inline u128 wide_low(wide n) { return (u128)n.limb[1] << 64 | n.limb[0]; }

static inline bool wide_narrow(wide n) { return !n.limb[2] && !n.limb[3]; }

// wide_multiply multiplies by a number of 64 bits; false: the product has more than 256.
static inline bool wide_multiply(wide *n, uint64_t by) {
	u128 carry = 0;
	for (int i = 0; i < 4; i++) {
		carry += (u128)n->limb[i] * by;
		n->limb[i] = (uint64_t)carry;
		carry >>= 64;
	}
	return !carry;
}

// wide_product is the product of two numbers of 128 bits.
static inline wide wide_product(u128 a, u128 b) {
	wide out = {{0, 0, 0, 0}};
	uint64_t x[2] = {(uint64_t)a, (uint64_t)(a >> 64)}, y[2] = {(uint64_t)b, (uint64_t)(b >> 64)};
	for (int i = 0; i < 2; i++) {
		u128 carry = 0;
		for (int j = 0; j < 2; j++) {
			carry += (u128)x[i] * y[j] + out.limb[i + j];
			out.limb[i + j] = (uint64_t)carry;
			carry >>= 64;
		}
		out.limb[i + 2] = (uint64_t)carry;
	}
	return out;
}

static inline int wide_compare(wide a, wide b) {
	for (int i = 3; i >= 0; i--) {
		if (a.limb[i] != b.limb[i]) {
			return a.limb[i] < b.limb[i] ? -1 : 1;
		}
	}
	return 0;
}

static inline wide wide_subtract(wide a, wide b) {
	u128 borrow = 0;
	for (int i = 0; i < 4; i++) {
		u128 d = (u128)a.limb[i] - b.limb[i] - borrow;
		a.limb[i] = (uint64_t)d;
		borrow = d >> 64 & 1;
	}
	return a;
}

// wide_add adds; false: the sum has more than 256 bits.
static inline bool wide_add(wide *a, wide b) {
	u128 carry = 0;
	for (int i = 0; i < 4; i++) {
		carry += (u128)a->limb[i] + b.limb[i];
		a->limb[i] = (uint64_t)carry;
		carry >>= 64;
	}
	return !carry;
}

static inline wide wide_double(wide n, uint64_t low) {
	for (int i = 3; i > 0; i--) {
		n.limb[i] = n.limb[i] << 1 | n.limb[i - 1] >> 63;
	}
	n.limb[0] = n.limb[0] << 1 | low;
	return n;
}

// wide_divide gives the quotient and leaves the rest. Neither number has its highest bit.
static inline wide wide_divide(wide n, wide by, wide *rest) {
	wide quotient = {{0, 0, 0, 0}};
	*rest = quotient;
	if (!by.limb[1] && wide_narrow(by)) {
		u128 r = 0;
		for (int i = 3; i >= 0; i--) {
			r = r << 64 | n.limb[i];
			quotient.limb[i] = (uint64_t)(r / by.limb[0]);
			r %= by.limb[0];
		}
		rest->limb[0] = (uint64_t)r;
		return quotient;
	}
	for (int bit = 255; bit >= 0; bit--) {
		*rest = wide_double(*rest, n.limb[bit / 64] >> bit % 64 & 1);
		if (wide_compare(*rest, by) >= 0) {
			*rest = wide_subtract(*rest, by);
			quotient.limb[bit / 64] |= UINT64_C(1) << bit % 64;
		}
	}
	return quotient;
}

// wide_scale multiplies by a power of ten; false: the product has 255 bits or more.
static inline bool wide_scale(wide *n, int digits) {
	for (; digits > 0; digits -= 19) {
		uint64_t by = 1;
		for (int i = 0; i < digits && i < 19; i++) {
			by *= 10;
		}
		if (!wide_multiply(n, by)) {
			return false;
		}
	}
	return !(n->limb[3] >> 62);
}

#endif
