// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's symbols, from /proc/kallsyms. The file has no sizes: what a symbol ends
 * at is worked out from its neighbours and from what kind of memory it lies in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbols.h"
#include "base/file.h"

#define KALLSYMS_PATH	"/proc/kallsyms"
#define FILE_BYTES_MAX	(64U << 20)
#define NAME_LEN_MAX	511		/* KSYM_NAME_LEN is 512 since 6.1, 128 before */
#define LATE_CNT_MAX	(1U << 20)	/* symbols that came later; then it is not read again */
#define PAGE_BYTES	4096		/* the smallest there is */
#define FUNC_BYTES_MAX	(1U << 20)	/* beyond that it is no function any more, */
#define LOADED_BYTES_MAX (64U << 10)	/* in a module or a BPF program */

/* Symbols that a later reading added. */
struct late {
	struct late *next;
	char *names;
	struct kernel_symbol symbols[];
};

struct kernel_symbols {
	char *path;
	char *text;			/* of the first reading: its symbols' names */
	struct kernel_symbol *all;	/* of the first reading */
	unsigned int all_cnt;
	bool hidden;			/* all addresses are 0 */
	/* The last reading: into .all and .late, by address, the kernel's order at the same one. */
	const struct kernel_symbol **view;
	unsigned int view_cnt;
	struct late *late;
	unsigned int late_cnt;
	uint64_t read_ns;		/* when the last one was */
};

struct hit {
	const struct kernel_symbol *symbol;
	bool sure;	/* nothing that has been loaded since could be there */
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* ---- reading ------------------------------------------------------------------ */

/* The digits at @p; the first character that is none, or NULL without any or with too many. */
static char *parse_hex(char *p, uint64_t *value)
{
	unsigned int cnt = 0;

	for (*value = 0; cnt <= 16; p++, cnt++) {
		if (*p >= '0' && *p <= '9')
			*value = *value << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			*value = *value << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	return cnt && cnt <= 16 ? p : NULL;
}

/* Ends the word at @p with a NUL; where it ended, or NULL: it is none. @end: of the line. */
static char *cut_word(char *p, const char *end, char stop)
{
	char *start = p;

	while (p < end && *p > ' ' && *p != stop && *p != 0x7f)
		p++;
	return p > start && p - start <= NAME_LEN_MAX ? p : NULL;
}

/* "ffffffff81000000 T name" or "... name\t[module]"; @end is its newline, or the NUL after it. */
static bool parse_line(char *line, char *end, struct kernel_symbol *out)
{
	char *p = parse_hex(line, &out->addr), *stop;

	if (!p || end - p < 4 || p[0] != ' ' || p[1] <= ' ' || p[2] != ' ')
		return false;
	out->type = p[1];
	out->name = p + 3;
	out->module = NULL;
	stop = cut_word(p + 3, end, 0);
	if (!stop)
		return false;
	if (stop < end) {
		if ((*stop != '\t' && *stop != ' ') || stop[1] != '[')
			return false;
		out->module = stop + 2;
		p = cut_word(stop + 2, end, ']');
		if (!p || *p != ']')
			return false;
		*p = 0;
	}
	*stop = 0;
	return true;
}

static size_t count_lines(const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	size_t cnt = 1;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		cnt++;
		p++;
	}
	return cnt;
}

/* By address; names lie in the order of the file, which is the kernel's own order. */
static int compare_symbols(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void sort_symbols(struct kernel_symbol *all, unsigned int cnt)
{
	unsigned int i;

	for (i = 1; i < cnt; i++) {
		if (all[i].addr < all[i - 1].addr) {
			qsort(all, cnt, sizeof(*all), compare_symbols);
			return;
		}
	}
}

/* The symbols in @text, which is written to and which their names point into. */
static int parse(char *text, size_t len, struct kernel_symbol **out, unsigned int *cnt)
{
	struct kernel_symbol *all = malloc(count_lines(text, len) * sizeof(*all));
	char *p, *end, *text_end = text + len;

	if (!all)
		return -ENOMEM;
	*cnt = 0;
	for (p = text; p < text_end; p = end + 1) {
		end = memchr(p, '\n', (size_t)(text_end - p)) ?: text_end;
		if (parse_line(p, end, &all[*cnt]))
			++*cnt;
	}
	if (!*cnt) {
		free(all);
		return -ENODATA;
	}
	sort_symbols(all, *cnt);
	*out = all;
	return 0;
}

static int read_symbols(struct kernel_symbols *s, char **text, struct kernel_symbol **all,
			unsigned int *cnt)
{
	size_t len;
	int err;

	s->read_ns = clock_ns(CLOCK_MONOTONIC);
	err = text_file_read(s->path, FILE_BYTES_MAX, text, &len);
	if (err)
		return err;
	err = parse(*text, len, all, cnt);
	if (err)
		free(*text);
	return err;
}

int kernel_symbols_open(struct kernel_symbols **out, const char *path)
{
	struct kernel_symbols *s = calloc(1, sizeof(*s));
	unsigned int i;
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->path = strdup(path ?: KALLSYMS_PATH);
	if (!s->path)
		goto close;
	err = read_symbols(s, &s->text, &s->all, &s->all_cnt);
	if (err) {
		s->text = NULL;
		goto close;
	}
	err = -ENOMEM;
	s->view = malloc(s->all_cnt * sizeof(*s->view));
	if (!s->view)
		goto close;
	for (i = 0; i < s->all_cnt; i++)
		s->view[i] = &s->all[i];
	s->view_cnt = s->all_cnt;
	s->hidden = !s->all[s->all_cnt - 1].addr;
	*out = s;
	return s->hidden ? -EPERM : 0;
close:
	kernel_symbols_close(s);
	return err;
}

void kernel_symbols_close(struct kernel_symbols *s)
{
	struct late *late;

	if (!s)
		return;
	while (s->late) {
		late = s->late;
		s->late = late->next;
		free(late->names);
		free(late);
	}
	free(s->view);
	free(s->all);
	free(s->text);
	free(s->path);
	free(s);
}

const struct kernel_symbol *kernel_symbols_all(const struct kernel_symbols *s, unsigned int *cnt)
{
	*cnt = s->all_cnt;
	return s->all;
}

/* ---- reading again ------------------------------------------------------------ */

/* Fills @view with the symbols of @fresh that are known, NULL where one is new; how many are. */
static unsigned int match_known(const struct kernel_symbols *s, const struct kernel_symbol *fresh,
				unsigned int cnt, const struct kernel_symbol **view)
{
	unsigned int i, j, first = 0, new_cnt = 0;

	for (i = 0; i < cnt; i++) {
		while (first < s->view_cnt && s->view[first]->addr < fresh[i].addr)
			first++;
		view[i] = NULL;
		for (j = first; j < s->view_cnt && s->view[j]->addr == fresh[i].addr; j++) {
			if (strcmp(s->view[j]->name, fresh[i].name) ||
			    !same_text(s->view[j]->module, fresh[i].module))
				continue;
			view[i] = s->view[j];
			break;
		}
		new_cnt += !view[i];
	}
	return new_cnt;
}

static size_t text_bytes(const struct kernel_symbol *symbol)
{
	return strlen(symbol->name) + 1 + (symbol->module ? strlen(symbol->module) + 1 : 0);
}

/* Copies of those of @fresh that @view lacks, and puts them there. */
static int add_late(struct kernel_symbols *s, const struct kernel_symbol *fresh, unsigned int cnt,
		    const struct kernel_symbol **view, unsigned int new_cnt)
{
	struct late *late = malloc(sizeof(*late) + new_cnt * sizeof(late->symbols[0]));
	struct kernel_symbol *symbol;
	size_t bytes = 0;
	unsigned int i;
	char *p;

	for (i = 0; i < cnt; i++)
		bytes += view[i] ? 0 : text_bytes(&fresh[i]);
	p = malloc(bytes);
	if (!late || !p) {
		free(late);
		free(p);
		return -ENOMEM;
	}
	late->names = p;
	symbol = late->symbols;
	for (i = 0; i < cnt; i++) {
		if (view[i])
			continue;
		*symbol = fresh[i];
		symbol->name = p;
		p = stpcpy(p, fresh[i].name) + 1;
		if (fresh[i].module) {
			symbol->module = p;
			p = stpcpy(p, fresh[i].module) + 1;
		}
		view[i] = symbol++;
	}
	late->next = s->late;
	s->late = late;
	s->late_cnt += new_cnt;
	return 0;
}

static int take_reading(struct kernel_symbols *s, const struct kernel_symbol *fresh,
			unsigned int cnt)
{
	const struct kernel_symbol **view;
	unsigned int new_cnt;
	int err = 0;

	if (!fresh[cnt - 1].addr)
		return -EPERM;
	view = malloc(cnt * sizeof(*view));
	if (!view)
		return -ENOMEM;
	new_cnt = match_known(s, fresh, cnt, view);
	if (new_cnt > LATE_CNT_MAX - s->late_cnt)
		err = -E2BIG;
	else if (new_cnt)
		err = add_late(s, fresh, cnt, view, new_cnt);
	if (err) {
		free(view);
		return err;
	}
	free(s->view);
	s->view = view;
	s->view_cnt = cnt;
	return 0;
}

/* What it cannot read now it will not know: that is no worse than before. */
static void read_again(struct kernel_symbols *s)
{
	struct kernel_symbol *fresh;
	unsigned int cnt;
	char *text;

	if (read_symbols(s, &text, &fresh, &cnt))
		return;
	if (take_reading(s, fresh, cnt) == -E2BIG)
		s->late_cnt = LATE_CNT_MAX;
	free(fresh);
	free(text);
}

/* ---- finding ------------------------------------------------------------------ */

bool kernel_symbol_is_code(const struct kernel_symbol *symbol)
{
	return symbol->type == 't' || symbol->type == 'T' || symbol->type == 'w' ||
	       symbol->type == 'W';
}

/* How many symbols begin at @addr or before. */
static unsigned int count_until(const struct kernel_symbols *s, uint64_t addr)
{
	unsigned int low = 0, high = s->view_cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (s->view[middle]->addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of the symbols where the last of @cnt lies, the first of code; NULL: data, or where text ends. */
static const struct kernel_symbol *code_of_last(const struct kernel_symbols *s, unsigned int cnt)
{
	const struct kernel_symbol *code = NULL, *symbol;
	uint64_t addr = s->view[cnt - 1]->addr;

	for (; cnt && s->view[cnt - 1]->addr == addr; cnt--) {
		symbol = s->view[cnt - 1];
		if (!strcmp(symbol->name, "_etext") || !strcmp(symbol->name, "_einittext"))
			return NULL;
		if (kernel_symbol_is_code(symbol))
			code = symbol;
	}
	return code;
}

/*
 * A function of the kernel itself ends where any symbol follows. In a module the same holds
 * inside, but after its last one another module may be loaded any time. BPF programs are loaded and
 * unloaded anywhere between others.
 */
static struct hit find_hit(const struct kernel_symbols *s, uint64_t addr)
{
	unsigned int cnt = s->hidden ? 0 : count_until(s, addr);
	const struct kernel_symbol *last, *next;
	struct hit hit = { NULL, false };
	bool inside;

	if (!cnt)
		return hit;
	last = s->view[cnt - 1];
	next = cnt < s->view_cnt ? s->view[cnt] : NULL;
	hit.symbol = code_of_last(s, cnt);
	if (!last->module) {
		hit.sure = next && !next->module;
		if (hit.symbol && addr - last->addr >= FUNC_BYTES_MAX)
			hit.symbol = NULL;
		return hit;
	}
	inside = next && same_text(next->module, last->module) &&
		 next->addr - last->addr <= LOADED_BYTES_MAX;
	hit.sure = (inside || addr / PAGE_BYTES == last->addr / PAGE_BYTES) &&
		   strcmp(last->module, "bpf") && strncmp(last->module, "__builtin__", 11);
	if (hit.symbol && addr - last->addr >= LOADED_BYTES_MAX)
		hit.symbol = NULL;
	return hit;
}

const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *s, uint64_t addr)
{
	return find_hit(s, addr).symbol;
}

const struct kernel_symbol *kernel_symbols_find_late(struct kernel_symbols *s, uint64_t addr)
{
	struct hit hit = find_hit(s, addr);

	if (hit.sure || s->hidden || s->late_cnt >= LATE_CNT_MAX ||
	    clock_ns(CLOCK_MONOTONIC) - s->read_ns < 1000000000)
		return hit.symbol;
	read_again(s);
	return find_hit(s, addr).symbol;
}
