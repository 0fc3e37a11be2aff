// SPDX-License-Identifier: GPL-2.0
/*
 * Strict number parsing. Signs, blanks, trailing text and overflow are errors,
 * each with its own words.
 */
#include "num.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 }, { "K", 1ULL << 10 }, { "M", 1ULL << 20 }, { "G", 1ULL << 30 }, { NULL, 0 },
};

static const struct unit duration_units[] = {
	{ "", 1000000000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "m", 60000000000 }, { "h", 3600000000000 }, { NULL, 0 },
};

static int fail(const char **why, int err, const char *reason)
{
	if (why)
		*why = reason;
	return err;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits from *@text on and leaves it after them. */
static int take_digits(const char **text, uint64_t *out, const char **why)
{
	const char *s = *text;
	uint64_t value = 0;

	if (!*s)
		return fail(why, -EINVAL, "a number is missing");
	if (*s == '-')
		return fail(why, -EINVAL, "negative numbers are not allowed");
	if (!is_digit(*s))
		return fail(why, -EINVAL, "not a number");
	for (; is_digit(*s); s++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*s - '0'), &value))
			return fail(why, -ERANGE, "number too large");
	*text = s;
	*out = value;
	return 0;
}

/* Reads ".digits" if it is there: *@out / *@scale is the fraction. */
static int take_fraction(const char **text, uint64_t *out, uint64_t *scale, const char **why)
{
	const char *s = *text;

	*out = 0;
	*scale = 1;
	if (*s != '.')
		return 0;
	if (!is_digit(*++s))
		return fail(why, -EINVAL, "digits are missing after the point");
	for (; is_digit(*s); s++) {
		if (*scale >= 1000000000000000ULL)
			return fail(why, -ERANGE, "too many digits after the point");
		*out = *out * 10 + (uint64_t)(*s - '0');
		*scale *= 10;
	}
	*text = s;
	return 0;
}

static uint64_t find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units->factor;
	return 0;
}

int num_parse_u64(const char *text, uint64_t *out, const char **why)
{
	uint64_t value;
	int err;

	err = take_digits(&text, &value, why);
	if (err)
		return err;
	if (*text)
		return fail(why, -EINVAL, "text follows the number");
	*out = value;
	return 0;
}

int num_parse_size(const char *text, uint64_t *out_bytes, const char **why)
{
	uint64_t value, factor;
	int err;

	err = take_digits(&text, &value, why);
	if (err)
		return err;
	factor = find_unit(size_units, text);
	if (!factor)
		return fail(why, -EINVAL, "unknown unit, use K, M or G");
	if (__builtin_mul_overflow(value, factor, &value))
		return fail(why, -ERANGE, "size too large");
	*out_bytes = value;
	return 0;
}

int num_parse_duration(const char *text, uint64_t *out_ns, const char **why)
{
	uint64_t whole = 0, part, scale, factor;
	unsigned __int128 value;
	int err = 0;

	if (text[0] != '.')
		err = take_digits(&text, &whole, why);
	if (!err)
		err = take_fraction(&text, &part, &scale, why);
	if (err)
		return err;
	factor = find_unit(duration_units, text);
	if (!factor)
		return fail(why, -EINVAL, "unknown unit, use ns, us, ms, s, m or h");
	value = (unsigned __int128)part * factor;
	if (value % scale)
		return fail(why, -EINVAL, "finer than a nanosecond");
	value = value / scale + (unsigned __int128)whole * factor;
	if (value > UINT64_MAX)
		return fail(why, -ERANGE, "duration too long");
	*out_ns = (uint64_t)value;
	return 0;
}

/* "7" or "0-3" */
static int take_cpu_range(const char **text, uint64_t *first, uint64_t *last, const char **why)
{
	int err;

	err = take_digits(text, first, why);
	if (err)
		return err;
	*last = *first;
	if (**text == '-') {
		++*text;
		err = take_digits(text, last, why);
	}
	if (!err && *last < *first)
		err = fail(why, -EINVAL, "range runs backwards");
	if (!err && *last >= NUM_CPUS_MAX)
		err = fail(why, -ERANGE, "CPU number above 4095");
	return err;
}

int num_parse_cpus(const char *text, struct num_cpus *out, const char **why)
{
	struct num_cpus cpus = { 0 };
	uint64_t cpu, last;
	int err;

	for (;;) {
		err = take_cpu_range(&text, &cpu, &last, why);
		if (err)
			return err;
		for (; cpu <= last; cpu++)
			num_cpus_add(&cpus, (unsigned int)cpu);
		if (!*text)
			break;
		if (*text++ != ',')
			return fail(why, -EINVAL, "not a list such as 0-3,7");
	}
	*out = cpus;
	return 0;
}

int num_parse_cpus_n(const char *text, size_t len, struct num_cpus *out)
{
	char *copy = strndup(text, len);
	int err = copy ? num_parse_cpus(copy, out, NULL) : -ENOMEM;

	free(copy);
	return err;
}

void num_cpus_add(struct num_cpus *cpus, unsigned int cpu)
{
	if (cpu < NUM_CPUS_MAX)
		cpus->words[cpu / 64] |= 1ULL << (cpu % 64);
}

bool num_cpus_has(const struct num_cpus *cpus, unsigned int cpu)
{
	return cpu < NUM_CPUS_MAX && (cpus->words[cpu / 64] >> (cpu % 64) & 1);
}

unsigned int num_cpus_count(const struct num_cpus *cpus)
{
	unsigned int i, cnt = 0;

	for (i = 0; i < NUM_CPUS_MAX / 64; i++)
		cnt += (unsigned int)__builtin_popcountll(cpus->words[i]);
	return cnt;
}

const char *num_size_text(uint64_t bytes, char buf[NUM_SIZE_TEXT])
{
	/* What would be rounded up to 1024 of a unit is 1.0 of the next. */
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 } };
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (bytes >= units[i].bytes * (1 - 0.05 / 1024)) {
			snprintf(buf, NUM_SIZE_TEXT, "%.1f %s", bytes / units[i].bytes, units[i].unit);
			return buf;
		}
	snprintf(buf, NUM_SIZE_TEXT, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
	return buf;
}

void num_print_cpus(const struct num_cpus *cpus, char *text, size_t size)
{
	unsigned int cpu, last;
	size_t len = 0;

	text[0] = 0;
	for (cpu = 0; cpu < NUM_CPUS_MAX && len < size; cpu = last + 1) {
		last = cpu;
		if (!num_cpus_has(cpus, cpu))
			continue;
		while (last + 1 < NUM_CPUS_MAX && num_cpus_has(cpus, last + 1))
			last++;
		len += snprintf(text + len, size - len, last > cpu ? "%s%u-%u" : "%s%u",
				len ? "," : "", cpu, last);
	}
}
