// SPDX-License-Identifier: GPL-2.0
/*
 * Lines are sorted when something is looked for. Of several about one address the last one counts.
 * Code may overlap older code that began before: the newest that has the address is the one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "jit_map.h"

#define LINES_MAX	(1U << 20)
#define NAMES_BYTES_MAX	(32U << 20)
#define NAME_LEN_MAX	1023U
#define CODE_BYTES_MAX	(1U << 30)	/* of a function */
#define OVERLAPS_MAX	16		/* older code that begins between a function's start and an address */

struct line {
	uint64_t start;
	uint32_t bytes;
	uint32_t order;			/* newer ones are greater */
	uint32_t name, name_len;	/* in .names */
};

struct jit_map {
	struct line *lines;
	size_t cnt, cap;
	size_t sorted_cnt;	/* all, or those before new ones were added */
	char *names;
	size_t names_len, names_cap;
	uint32_t order;
};

int jit_map_open(struct jit_map **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void jit_map_close(struct jit_map *m)
{
	if (!m)
		return;
	free(m->names);
	free(m->lines);
	free(m);
}

void jit_map_clear(struct jit_map *m)
{
	free(m->names);
	free(m->lines);
	*m = (struct jit_map){ 0 };
}

size_t jit_map_bytes(const struct jit_map *m)
{
	return m->cap * sizeof(*m->lines) + m->names_cap;
}

/* ---- lines --------------------------------------------------------------------- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number at *@p up to a space, which is passed over. */
static bool parse_hex(const char **p, const char *end, uint64_t *value)
{
	const char *s = *p;
	unsigned int digits = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	for (*value = 0; s < end && digit_of(*s) >= 0; s++, digits++)
		*value = *value << 4 | (uint64_t)digit_of(*s);
	if (!digits || digits > 16 || s == end || *s != ' ')
		return false;
	*p = s + 1;
	return true;
}

static int add_line(struct jit_map *m, const char *p, const char *end)
{
	uint64_t start, bytes;
	size_t len;

	if (!parse_hex(&p, end, &start) || !parse_hex(&p, end, &bytes) || p == end)
		return 0;
	if (!bytes || bytes > CODE_BYTES_MAX || start > UINT64_MAX - bytes)
		return 0;
	len = end - p < NAME_LEN_MAX ? end - p : NAME_LEN_MAX;
	if (m->cnt == LINES_MAX || len > NAMES_BYTES_MAX - m->names_len)
		return -EFBIG;
	if (array_reserve(m->lines, m->cnt, m->cap, 1) || array_reserve(m->names, m->names_len, m->names_cap, len))
		return -ENOMEM;
	memcpy(m->names + m->names_len, p, len);
	m->lines[m->cnt++] = (struct line){ start, (uint32_t)bytes, m->order++, (uint32_t)m->names_len, (uint32_t)len };
	m->names_len += len;
	return 0;
}

int jit_map_add(struct jit_map *m, const char *text, size_t len)
{
	const char *end = text + len, *newline;
	int err = 0;

	for (; !err && text < end; text = newline + 1) {
		newline = memchr(text, '\n', end - text) ?: end;
		err = add_line(m, text, newline);
	}
	return err;
}

/* ---- finding ---------------------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* By address; of those at one address the newest. */
static void sort(struct jit_map *m)
{
	size_t i, n = 0;

	qsort(m->lines, m->cnt, sizeof(*m->lines), compare_ranges);
	for (i = 0; i < m->cnt; i++) {
		if (n && m->lines[n - 1].start == m->lines[i].start)
			n--;
		m->lines[n++] = m->lines[i];
	}
	m->cnt = m->sorted_cnt = n;
}

/* How many begin at @pc or before. */
static size_t count_until(const struct jit_map *m, uint64_t pc)
{
	size_t low = 0, high = m->cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (m->lines[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool jit_map_find(struct jit_map *m, uint64_t pc, struct jit_code *out)
{
	const struct line *best = NULL, *line;
	size_t end, i;

	if (m->sorted_cnt != m->cnt)
		sort(m);
	end = count_until(m, pc);
	for (i = end; i > 0 && end - i < OVERLAPS_MAX; i--) {
		line = &m->lines[i - 1];
		if (pc - line->start < line->bytes && (!best || line->order > best->order))
			best = line;
	}
	if (!best)
		return false;
	*out = (struct jit_code){ best->start, best->bytes, m->names + best->name, best->name_len };
	return true;
}
