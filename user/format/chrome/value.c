// SPDX-License-Identifier: GPL-2.0
/*
 * Strings and numbers of JSON. Numbers are read digit by digit: a double would lose nanoseconds
 * of times since 1970, and ids above 2^53.
 */
#include "value.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"

#define REPLACEMENT	0xfffdU
#define EXPONENT_MAX	100000	/* anything beyond is out of range, or 0 */

/* ---- strings ------------------------------------------------------------------- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \uXXXX at @p. */
static bool unicode_at(const char *p, const char *end, uint32_t *value)
{
	int i, digit;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return false;
	for (*value = 0, i = 2; i < 6; i++) {
		digit = hex_value(p[i]);
		if (digit < 0)
			return false;
		*value = *value << 4 | (uint32_t)digit;
	}
	return true;
}

static size_t put_utf8(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* One or, of a surrogate pair, two \uXXXX: the bytes taken, 0 if it is none. */
static size_t decode_unicode(const char *p, const char *end, uint32_t *value)
{
	uint32_t low;

	if (!unicode_at(p, end, value))
		return 0;
	if (*value < 0xd800 || *value >= 0xe000)
		return 6;
	if (*value < 0xdc00 && unicode_at(p + 6, end, &low) && low >= 0xdc00 && low < 0xe000) {
		*value = 0x10000 + ((*value & 0x3ff) << 10) + (low & 0x3ff);
		return 12;
	}
	*value = REPLACEMENT;
	return 6;
}

/* The escape at @p: bytes taken, and what they stand for in @out. */
static size_t decode_escape(const char *p, const char *end, char out[4], size_t *out_len, uint64_t *bad)
{
	static const char letters[] = "bfnrt\"\\/", meanings[] = "\b\f\n\r\t\"\\/";
	const char *letter = p + 1 < end && p[1] ? strchr(letters, p[1]) : NULL;
	uint32_t value;
	size_t taken;

	*out_len = 1;
	if (letter) {
		out[0] = meanings[letter - letters];
		return 2;
	}
	taken = decode_unicode(p, end, &value);
	if (taken) {
		*out_len = put_utf8(value, out);
		return taken;
	}
	(*bad)++;
	out[0] = '\\';
	return 1;
}

/* Without a character that was cut at the end of @len bytes, if there is one. */
static size_t whole_characters(const char *out, size_t len)
{
	size_t i = len;

	while (i && len - i < 3 && ((unsigned char)out[i - 1] & 0xc0) == 0x80)
		i--;
	if (i && (unsigned char)out[i - 1] >= 0xc0)
		return i - 1;
	return len;
}

size_t chrome_string_decode(const char *data, size_t len, char *out, size_t size, uint64_t *bad)
{
	const char *p = data, *end = data + len, *next;
	size_t used = 0, n;
	char decoded[4];

	while (p < end && used < size) {
		if (*p == '\\') {
			p += decode_escape(p, end, decoded, &n, bad);
			if (n > size - used)
				return used;
			memcpy(out + used, decoded, n);
			used += n;
			continue;
		}
		next = memchr(p, '\\', (size_t)(end - p));
		n = (size_t)((next ? next : end) - p);
		n = n < size - used ? n : size - used;
		memmove(out + used, p, n);
		p += n;
		used += n;
	}
	return p < end ? whole_characters(out, used) : used;
}

/* ---- numbers ------------------------------------------------------------------- */

/* A decimal number in parts: digits without the point, which is after @point of them. */
struct decimal {
	const char *digits, *end;	/* a point may be among them */
	int64_t point;
	bool negative;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Of e+12: 0 if it is an exponent and the last thing. */
static int parse_exponent(const char *p, const char *end, int64_t *exponent)
{
	bool negative = p < end && *p == '-';
	int64_t value = 0;

	p += p < end && (*p == '-' || *p == '+');
	if (p == end)
		return -EINVAL;
	for (; p < end; p++) {
		if (!is_digit(*p))
			return -EINVAL;
		if (value < EXPONENT_MAX)
			value = value * 10 + (*p - '0');
	}
	*exponent = negative ? -value : value;
	return 0;
}

static int parse_decimal(const char *data, size_t len, struct decimal *d)
{
	const char *p = data, *end = data + len, *point = NULL;
	int64_t exponent = 0;
	int err = 0;

	d->negative = p < end && *p == '-';
	p += d->negative;
	d->digits = p;
	for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++)
		if (*p == '.')
			point = p;
	d->end = p;
	if (p - d->digits == (point != NULL))
		return -EINVAL;
	if (p < end)
		err = (*p | 0x20) == 'e' ? parse_exponent(p + 1, end, &exponent) : -EINVAL;
	d->point = (point ? point : d->end) - d->digits + exponent;
	return err;
}

/*
 * The number times 10^@shift as an integer; *@rest is the first digit after it, 0 to 9, and
 * *@exact whether nothing but zeros follows. -ERANGE: above @max.
 */
static int scale(const struct decimal *d, int shift, uint64_t max, uint64_t *value, int *rest, bool *exact)
{
	int64_t keep = d->point + shift, i = 0;
	const char *p = d->digits;
	uint64_t digit;

	*value = 0;
	*rest = 0;
	*exact = true;
	for (; p < d->end; p++) {
		if (*p == '.')
			continue;
		digit = (uint64_t)(*p - '0');
		if (i == keep)
			*rest = (int)digit;
		if (i++ >= keep) {
			*exact &= !digit;
			continue;
		}
		if (*value > (max - digit) / 10)
			return -ERANGE;
		*value = *value * 10 + digit;
	}
	for (; *value && i < keep; i++) {
		if (*value > max / 10)
			return -ERANGE;
		*value *= 10;
	}
	return 0;
}

/* ---- the common form --------------------------------------------------------------- */

/* Adds the digits from @p on to @value: where they end. */
static const char *take_digits(const char *p, const char *end, uint64_t *value)
{
	uint64_t word;

	for (; end - p >= 8 && chrome_digits_at(p, &word) == 8; p += 8)
		*value = *value * 100000000 + chrome_digits_value(word, 8);
	for (; p < end && is_digit(*p); p++)
		*value = *value * 10 + (uint64_t)(*p - '0');
	return p;
}

#define COMMON_MAX	16	/* digits: with three more it is below 2^64 */

/* An integer without a sign; false: in another form. */
static bool common_int64(const char *data, size_t len, int64_t *value)
{
	uint64_t digits = 0;

	if (len > COMMON_MAX || !len || take_digits(data, data + len, &digits) != data + len)
		return false;
	*value = (int64_t)digits;
	return true;
}

/* The same with up to three decimals. */
static bool common_time(const char *data, size_t len, int64_t *ns)
{
	static const uint64_t units[] = { 1000, 100, 10, 1 };
	const char *end = data + len, *p, *decimals;
	uint64_t digits = 0;

	if (len > COMMON_MAX + 4)
		return false;
	p = decimals = take_digits(data, end, &digits);
	if (p == data || p - data > COMMON_MAX)
		return false;
	if (p < end && *p == '.') {
		decimals = p + 1;
		p = take_digits(decimals, end, &digits);
		if (p == decimals || p - decimals > 3)
			return false;
	}
	digits *= units[p - decimals];
	if (p != end || digits > INT64_MAX)
		return false;
	*ns = (int64_t)digits;
	return true;
}

/* Without a loop, as most times have more than eight digits and end in the next eight. */
const char *chrome_usual_time(const char *p, int64_t *ns)
{
	static const uint64_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
	unsigned int cnt;
	uint64_t word, value;

	cnt = chrome_digits_at(p, &word);
	if (!cnt)
		return NULL;
	value = chrome_digits_value(word, cnt);
	p += cnt;
	if (cnt == 8) {
		cnt = chrome_digits_at(p, &word);
		if (cnt)
			value = value * powers[cnt] + chrome_digits_value(word, cnt);
		p += cnt;
	}
	cnt = 0;
	if (*p == '.') {
		cnt = chrome_digits_at(++p, &word);
		if (!cnt || cnt > 3)
			return NULL;
		value = value * powers[cnt] + chrome_digits_value(word, cnt);
		p += cnt;
	}
	value *= powers[3 - cnt];
	*ns = (int64_t)value;
	return value > INT64_MAX || is_digit(*p) ? NULL : p;
}

/* ---- any form ---------------------------------------------------------------------- */

int chrome_time_ns(const char *data, size_t len, int64_t *ns)
{
	struct decimal d;
	uint64_t value;
	bool exact;
	int rest, err;

	if (common_time(data, len, ns))
		return 0;
	err = parse_decimal(data, len, &d);
	err = err ? err : scale(&d, 3, INT64_MAX, &value, &rest, &exact);
	if (err)
		return err;
	value += rest >= 5;
	if (value > INT64_MAX)
		return -ERANGE;
	*ns = d.negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

int chrome_int64(const char *data, size_t len, int64_t *value)
{
	struct decimal d;
	uint64_t magnitude, max;
	bool exact;
	int rest, err;

	if (common_int64(data, len, value))
		return 0;
	err = parse_decimal(data, len, &d);
	if (err)
		return err;
	max = (uint64_t)INT64_MAX + d.negative;
	err = scale(&d, 0, max, &magnitude, &rest, &exact);
	if (err)
		return err;
	if (!exact)
		return -EINVAL;
	*value = (int64_t)(d.negative ? -magnitude : magnitude);
	return 0;
}
