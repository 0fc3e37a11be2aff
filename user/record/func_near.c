// SPDX-License-Identifier: GPL-2.0
/*
 * What a name that does not exist may have been meant to be.
 */
#include <string.h>

#include "func_set.h"

#define NEAR_CNT	3
#define NAME_BYTES	128
#define FAR		1000	/* no resemblance */

struct near_name {
	const char *name;
	unsigned int cost, len;
};

/* The letters of @word that stand for themselves; their number. */
static unsigned int plain_letters(const char *word, char plain[NAME_BYTES])
{
	unsigned int len = 0;
	const char *close;

	for (; *word && len < NAME_BYTES - 1; word++) {
		close = *word == '[' && word[1] ? strchr(word + 2, ']') : NULL;
		if (close)
			word = close;
		else if (!strchr("*?\\![]", *word))
			plain[len++] = *word;
	}
	plain[len] = 0;
	return len;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * How many letters must be put in, left out, changed or swapped with their neighbour to make
 * one word of the other; more than @most if that is so. Only the last three rows are kept.
 */
static unsigned int edit_distance(const char *a, unsigned int la, const char *b, unsigned int lb,
				  unsigned int most)
{
	unsigned int rows[3][NAME_BYTES], *prev2 = rows[0], *prev = rows[1], *row = rows[2], *old;
	unsigned int i, j, low;

	for (j = 0; j <= lb; j++)
		prev[j] = j;
	for (i = 1; i <= la; i++) {
		low = row[0] = i;
		for (j = 1; j <= lb; j++) {
			row[j] = least(prev[j - 1] + (a[i - 1] != b[j - 1]),
				       least(prev[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], prev2[j - 2] + 1);
			low = least(low, row[j]);
		}
		if (low > most)
			return low;
		old = prev2;
		prev2 = prev;
		prev = row;
		row = old;
	}
	return prev[lb];
}

/*
 * What the compiler cut out of a function ("foo.isra.0") is the best there is; then what a
 * typing error explains, what begins with the word, what has it inside, what it begins with.
 */
static unsigned int cost_of(const char *word, unsigned int len, const char *name,
			    unsigned int name_len)
{
	unsigned int more = name_len > len ? name_len - len : 0;
	unsigned int less = len > name_len ? len - name_len : 0;
	unsigned int most = len < 6 ? 1 : len / 3, cost = FAR, distance;

	if (!strncmp(name, word, len))
		cost = name[len] == '.' ? 1 : 10 + least(more, 100);
	else if (strstr(name, word))
		cost = 15 + least(more, 100);
	else if (less && name_len >= 4 && less <= name_len && !strncmp(name, word, name_len))
		cost = 40 + less;
	if (more > most || less > most)
		return cost;
	distance = edit_distance(word, len, name, name_len, most);
	return distance <= most ? least(cost, 10 * distance) : cost;
}

static bool is_before(const struct near_name *a, const struct near_name *b)
{
	if (a->cost != b->cost)
		return a->cost < b->cost;
	if (a->len != b->len)
		return a->len < b->len;
	return strcmp(a->name, b->name) < 0;
}

/* Keeps @found sorted. A name that several functions have is there once. */
static void insert(struct near_name found[NEAR_CNT], const struct near_name *new)
{
	unsigned int i, place;

	for (place = 0; place < NEAR_CNT; place++) {
		if (found[place].name && !strcmp(found[place].name, new->name))
			return;
		if (!found[place].name || is_before(new, &found[place]))
			break;
	}
	if (place == NEAR_CNT)
		return;
	for (i = NEAR_CNT - 1; i > place; i--)
		found[i] = found[i - 1];
	found[place] = *new;
}

void func_names_near(const char *word, const char *const *names, unsigned int cnt,
		     char near[3][128])
{
	struct near_name found[NEAR_CNT] = { 0 }, new;
	char plain[NAME_BYTES];
	unsigned int len = plain_letters(word, plain), i;

	for (i = 0; i < cnt && len; i++) {
		new.name = names[i];
		new.len = (unsigned int)strnlen(names[i], NAME_BYTES);
		if (new.len == NAME_BYTES)
			continue;
		new.cost = cost_of(plain, len, names[i], new.len);
		if (new.cost < FAR)
			insert(found, &new);
	}
	for (i = 0; i < NEAR_CNT; i++) {
		near[i][0] = 0;
		if (found[i].name)
			memcpy(near[i], found[i].name, found[i].len + 1);
	}
}
