// SPDX-License-Identifier: GPL-2.0
/*
 * A line each: 0xffffffff82a5b1d0 : "text", with newline and quotation mark escaped as in C
 * (kernel/trace/trace_printk.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "printk_formats.h"
#include "tracefs.h"

struct literal {
	uint64_t addr;
	const char *text;
};

struct printk_formats {
	char *file;		/* what the texts are in, undone in place */
	struct literal *all;
	size_t cnt;
};

static int compare_formats(const void *pa, const void *pb)
{
	const struct literal *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Undoes \n, \\ and \" up to the closing mark. */
static char *unescape(char *text)
{
	char *to = text;

	for (; *text && *text != '"'; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			*to++ = *text == 'n' ? '\n' : *text == 't' ? '\t' : *text;
		} else {
			*to++ = *text;
		}
	}
	*to = 0;
	return text;
}

static void take_line(struct printk_formats *l, char *line)
{
	char *end, *mark;
	const uint64_t addr = strtoull(line, &end, 16);

	mark = strchr(end, '"');
	if (end == line || !addr || !mark)
		return;
	unescape(mark + 1);
	l->all[l->cnt++] = (struct literal){ addr, mark + 1 };
}

int printk_formats_open(struct printk_formats **out)
{
	struct printk_formats *l = calloc(1, sizeof(*l));
	size_t len = 0, lines = 1, i;
	char *line, *rest;
	int err = l ? tracefs_read("printk_formats", &l->file, &len) : -ENOMEM;

	*out = NULL;
	for (i = 0; !err && i < len; i++)
		lines += l->file[i] == '\n';
	if (!err)
		l->all = calloc(lines, sizeof(*l->all));
	if (err || !l->all) {
		printk_formats_close(l);
		return err ?: -ENOMEM;
	}
	for (line = strtok_r(l->file, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		take_line(l, line);
	qsort(l->all, l->cnt, sizeof(*l->all), compare_formats);
	*out = l;
	return 0;
}

const char *printk_formats_find(const struct printk_formats *l, uint64_t addr)
{
	const struct literal key = { .addr = addr };
	const struct literal *found = bsearch(&key, l->all, l->cnt, sizeof(key), compare_formats);

	return found ? found->text : NULL;
}

void printk_formats_close(struct printk_formats *l)
{
	if (!l)
		return;
	free(l->file);
	free(l->all);
	free(l);
}
