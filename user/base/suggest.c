// SPDX-License-Identifier: GPL-2.0
/*
 * The one measure of how near a name is to a word, for all that is chosen by name.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "suggest.h"

#define INSIDE_MIN	3	/* fewer letters are inside of too many names */
#define ABBREVIATION_MIN 4
#define FAR		1000	/* no resemblance */

struct near_name {
	const char *name;
	unsigned int cost, len;
};

/* The letters of @word that are no pattern; their number. */
static unsigned int plain_letters(const char *word, char plain[SUGGEST_BYTES])
{
	unsigned int len = 0;
	const char *close;

	for (; *word && len < SUGGEST_BYTES - 1; word++) {
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
	unsigned int rows[3][SUGGEST_BYTES], *prev2 = rows[0], *prev = rows[1], *row = rows[2], *old;
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

/* "ctx_switch" of "context_switch": its first letter, and others of it in their order. */
static bool abbreviates(const char *word, unsigned int len, const char *name, unsigned int name_len)
{
	if (len < ABBREVIATION_MIN || 2 * len < name_len || word[0] != name[0])
		return false;
	for (; *word && *name; name++)
		word += *word == *name;
	return !*word;
}

/*
 * What the compiler cut out of a function ("foo.isra.0") is the best there is; then what a
 * typing error explains, what begins with the word, what has it inside, what it is short for,
 * what it begins with.
 */
static unsigned int cost_of(const char *word, unsigned int len, const char *name,
			    unsigned int name_len)
{
	unsigned int more = name_len > len ? name_len - len : 0;
	unsigned int less = len > name_len ? len - name_len : 0;
	unsigned int most = len < 6 ? 1 : len / 3, cost = FAR, distance;

	if (!strncmp(name, word, len))
		cost = name[len] == '.' ? 1 : 10 + least(more, 100);
	else if (len >= INSIDE_MIN && strstr(name, word))
		cost = 15 + least(more, 100);
	else if (abbreviates(word, len, name, name_len))
		cost = 30 + least(more, 9);
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
static void insert(struct near_name found[SUGGEST_CNT], const struct near_name *new)
{
	unsigned int i, place;

	for (place = 0; place < SUGGEST_CNT; place++) {
		if (found[place].name && !strcmp(found[place].name, new->name))
			return;
		if (!found[place].name || is_before(new, &found[place]))
			break;
	}
	if (place == SUGGEST_CNT)
		return;
	for (i = SUGGEST_CNT - 1; i > place; i--)
		found[i] = found[i - 1];
	found[place] = *new;
}

void suggest_names(const char *word, const char *const *names, unsigned int cnt,
		   char near[SUGGEST_CNT][SUGGEST_BYTES])
{
	struct near_name found[SUGGEST_CNT] = { 0 }, new;
	char plain[SUGGEST_BYTES];
	unsigned int len = plain_letters(word, plain), i;

	for (i = 0; i < cnt && len; i++) {
		new.name = names[i];
		new.len = (unsigned int)strnlen(names[i], SUGGEST_BYTES);
		if (new.len == SUGGEST_BYTES)
			continue;
		new.cost = cost_of(plain, len, names[i], new.len);
		if (new.cost < FAR)
			insert(found, &new);
	}
	for (i = 0; i < SUGGEST_CNT; i++) {
		near[i][0] = 0;
		if (found[i].name)
			memcpy(near[i], found[i].name, found[i].len + 1);
	}
}

const char *suggest_text(char text[SUGGEST_TEXT_BYTES], const char *prefix,
			 char near[SUGGEST_CNT][SUGGEST_BYTES])
{
	const size_t size = SUGGEST_TEXT_BYTES;
	size_t len = 0;
	int i;

	text[0] = 0;
	for (i = 0; i < SUGGEST_CNT && near[i][0] && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s%s", i ? ", " : " (did you mean ", prefix, near[i]);
	if (len && len < size)
		snprintf(text + len, size - len, "?)");
	return text;
}
