// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that globs mean, as text for the kernel's ftrace_set_filter(): its globs
 * (lib/glob.c) know '*', '?' and brackets, but it has no list of excludes and its brackets
 * are not fnmatch's. The text is tried on the list of functions as it grows; where the globs
 * that can be said choose others than they should, names in full put it right.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "list.h"
#include "set.h"

struct filter {
	const struct func_list *list;
	const uint8_t *marks;	/* what is to be chosen */
	uint8_t *chosen;	/* what the text chooses so far */
	char *text;
	size_t len, cap;
	int err;
};

/*
 * @glob as the kernel would have it, malloc'ed, or NULL if it cannot be said. Its brackets hold
 * letters and ranges alone, without backslashes, and are negated by '!' and not by '^'.
 */
static char *express(const char *glob)
{
	char *text = strdup(glob), *p = text, *close;

	for (; p && *p; p++) {
		if (*p == '\\') {
			if (!*++p)
				goto refuse;
			continue;
		}
		if (*p != '[')
			continue;
		if (*++p == '^')
			*p = '!';
		p += *p == '!';
		close = *p ? strchr(p + 1, ']') : NULL;
		if (!close || memchr(p, '[', (size_t)(close - p)) ||
		    memchr(p, '\\', (size_t)(close - p)))
			goto refuse;
		p = close;
	}
	return text;
refuse:
	free(text);
	return NULL;
}

static void put_glob(struct filter *f, bool out, const char *glob)
{
	size_t bytes = strlen(glob) + 1 + out;
	f->err = f->err ?: array_reserve(f->text, f->len, f->cap, bytes);
	if (f->err)
		return;
	if (out)
		f->text[f->len] = '!';
	memcpy(f->text + f->len + out, glob, bytes - out);
	f->len += bytes;
}

static void put_in(struct filter *f, const char *glob)
{
	char *text = express(glob);
	unsigned int i, cnt = 0;

	for (i = 0; i < f->list->cnt && text; i++) {
		if (!glob_match(glob, f->list->names[i]))
			continue;
		f->chosen[i] = 1;
		cnt++;
	}
	if (cnt)	/* an alias does not */
		put_glob(f, false, text);
	free(text);
}

/* Only if it does more good than harm: each name in full makes the kernel go through all. */
static void put_out(struct filter *f, const char *glob)
{
	char *text = f->len ? express(glob) : NULL;
	unsigned int i, good = 0, harm = 0;

	for (i = 0; i < f->list->cnt && text; i++) {
		if (!f->chosen[i] || !glob_match(glob, f->list->names[i]))
			continue;
		if (f->marks[i] & FUNC_TAKEN)
			harm++;
		else
			good++;
	}
	if (good > harm) {
		for (i = 0; i < f->list->cnt; i++)
			if (f->chosen[i] && glob_match(glob, f->list->names[i]))
				f->chosen[i] = 0;
		put_glob(f, true, text);
	}
	free(text);
}

/* A name in full; it goes for all that share it. */
static void put_name(struct filter *f, bool out, unsigned int n)
{
	uint32_t i;

	put_glob(f, out, f->list->names[n]);
	for (i = name_index_first(&f->list->index, f->list->names[n]); i != NAME_INDEX_NONE;
	     i = name_index_next(&f->list->index, i))
		f->chosen[i] = !out;
}

static void put_all(struct filter *f, const struct func_set_cfg *cfg)
{
	const char *const *exclude;
	unsigned int i;

	for (i = 0; i < cfg->globs_cnt; i++)
		if (cfg->globs[i][0] != '!')
			put_in(f, cfg->globs[i]);
	for (i = 0; i < cfg->globs_cnt; i++)
		if (cfg->globs[i][0] == '!')
			put_out(f, cfg->globs[i] + 1);
	for (exclude = func_set_excludes(); *exclude && !cfg->no_excludes; exclude++)
		put_out(f, *exclude);
	for (i = 0; i < f->list->cnt; i++)
		if (f->chosen[i] && !(f->marks[i] & FUNC_TAKEN))
			put_name(f, true, i);
	for (i = 0; i < f->list->cnt; i++)
		if (!f->chosen[i] && (f->marks[i] & FUNC_TAKEN))
			put_name(f, false, i);
}

static bool is_any_taken(const uint8_t *marks, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < cnt; i++)
		if (marks[i] & FUNC_TAKEN)
			return true;
	return false;
}

/* Into f->text, whose length is 0 if there is nothing to choose. */
static int make_text(struct filter *f, const struct func_list *list, const struct func_set_cfg *cfg)
{
	uint8_t *marks = calloc(2, list->cnt);

	f->text = calloc(1, 1);
	f->cap = 1;
	if (!marks || !f->text) {
		free(marks);
		return -ENOMEM;
	}
	f->list = list;
	f->marks = marks;
	f->chosen = marks + list->cnt;
	if (!func_list_choose(list, cfg, marks) && is_any_taken(marks, list->cnt))
		put_all(f, cfg);
	free(marks);
	return f->err;
}

char *func_set_filter_text(const struct func_set_cfg *cfg, const struct kernel_symbols *symbols,
			   size_t *bytes)
{
	struct filter f = { 0 };
	struct func_list list;
	int err = func_list_open(&list, cfg->tracefs, symbols);

	*bytes = 0;
	if (!err) {
		err = make_text(&f, &list, cfg);
		func_list_close(&list);
	} else if (err != -ENOMEM) {
		f.text = calloc(1, 1);
		err = 0;
	}
	if (err) {
		free(f.text);
		return NULL;
	}
	*bytes = f.len;
	return f.text;
}
