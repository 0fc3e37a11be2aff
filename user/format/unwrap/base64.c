// SPDX-License-Identifier: GPL-2.0
/*
 * Base64 (RFC 4648) as pages hold it: in one line or many, padded or not, also
 * with the alphabet for URLs, several texts one after the other.
 */
#include "unwrap_p.h"

enum {
	BAD = -1,
	BLANK = -2,
	PADDING = -3,
	TAG = -4,
};

/* One more than the value, so that what is not mentioned is BAD. */
static const signed char values[256] = {
	['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7, ['H'] = 8,
	['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15,
	['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22,
	['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29,
	['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36,
	['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42, ['q'] = 43,
	['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50,
	['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56, ['4'] = 57,
	['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
	['-'] = 63, ['_'] = 64, ['='] = PADDING + 1, ['<'] = TAG + 1, [' '] = BLANK + 1,
	['\t'] = BLANK + 1, ['\r'] = BLANK + 1, ['\n'] = BLANK + 1,
};

static int value_of(unsigned char c)
{
	return values[c] - 1;
}

/* Whole groups of four, which is nearly all; how many. */
static size_t decode_groups(const unsigned char *in, size_t in_len, unsigned char *out,
			    size_t out_len)
{
	size_t cnt = in_len / 4 < out_len / 3 ? in_len / 4 : out_len / 3, i;

	for (i = 0; i < cnt; i++, in += 4, out += 3) {
		int a = value_of(in[0]), b = value_of(in[1]);
		int c = value_of(in[2]), d = value_of(in[3]);

		if ((a | b | c | d) < 0)
			break;
		out[0] = (unsigned char)(a << 2 | b >> 4);
		out[1] = (unsigned char)(b << 4 | c >> 2);
		out[2] = (unsigned char)(c << 6 | d);
	}
	return i;
}

/* Takes one value; true if that made a byte. A byte is made as soon as its bits are there. */
static bool add_value(struct unwrap_base64 *b, int value, unsigned char *out)
{
	b->bits = b->bits << 6 | (uint32_t)value;
	b->chars = (b->chars + 1) % 4;
	if (b->chars == 1)
		return false;
	*out = (unsigned char)(b->bits >> (b->chars ? 8 - 2 * b->chars : 0));
	return true;
}

enum unwrap_base64_end unwrap_base64(struct unwrap_base64 *b, const unsigned char *in, size_t *in_len,
				 unsigned char *out, size_t *out_len)
{
	enum unwrap_base64_end end = UNWRAP_BASE64_GOES_ON;
	size_t at = 0, made = 0, groups;
	int value;

	while (at < *in_len && made < *out_len) {
		groups = b->chars ? 0 : decode_groups(in + at, *in_len - at, out + made,
						      *out_len - made);
		at += 4 * groups;
		made += 3 * groups;
		if (at == *in_len || made == *out_len)
			break;
		value = value_of(in[at]);
		if (value == TAG || value == BAD || (value == PADDING && b->chars == 1)) {
			end = value == TAG && b->chars != 1 ? UNWRAP_BASE64_TAG : UNWRAP_BASE64_BAD;
			break;
		}
		at++;
		if (value == PADDING)
			b->chars = 0;
		else if (value != BLANK)
			made += add_value(b, value, out + made);
	}
	*in_len = at;
	*out_len = made;
	return end;
}
