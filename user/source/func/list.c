// SPDX-License-Identifier: GPL-2.0
/*
 * All functions that may be traced: from tracefs, or from the kernel's symbols.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "base/file.h"
#include "kernel/tracefs.h"

#define LIST_BYTES_MAX	(32U << 20)
#define MOUNTS_BYTES_MAX (4U << 20)
#define DIR_BYTES	4096
#define NAME_LEN_MAX	511
/* How the kernel lists the place of weak functions that another one has replaced. */
#define DEAD_WEAK	"__ftrace_invalid_address___"

/* ---- symbols ------------------------------------------------------------------ */

/* ftrace knows nothing of what the compiler and macros of tracepoints and static calls make. */
static bool is_name_traceable(const char *name)
{
	static const char *const begins[] = {
		"__pfx_", "__cfi_", "__SCT__", "__x86_indirect_", "__x86_return_",
		"__bpf_trace_", "perf_trace_", "trace_event_raw_event_", "trace_raw_output_",
	};
	const char *cold;
	size_t i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return false;
	cold = strstr(name, ".cold");
	return !cold || (cold[5] && cold[5] != '.');
}

void func_ranges_init(struct func_ranges *r, const struct kernel_symbol *all, unsigned int cnt)
{
	static const char *const marks[][2] = {
		{ "__init_begin", "__init_end" },	/* gone once the kernel runs */
		{ "__noinstr_text_start", "__noinstr_text_end" },
		{ "__entry_text_start", "__entry_text_end" },
		{ "__static_call_text_start", "__static_call_text_end" },
	};
	unsigned int i, j;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < cnt; i++) {
		if (all[i].module || strncmp(all[i].name, "__", 2))
			continue;
		for (j = 0; j < sizeof(marks) / sizeof(marks[0]); j++) {
			if (!strcmp(all[i].name, marks[j][0]))
				r->ranges[j].begin = all[i].addr;
			else if (!strcmp(all[i].name, marks[j][1]))
				r->ranges[j].end = all[i].addr;
		}
	}
}

bool func_ranges_have(const struct func_ranges *r, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < sizeof(r->ranges) / sizeof(r->ranges[0]); i++)
		if (addr >= r->ranges[i].begin && addr < r->ranges[i].end)
			return true;
	return false;
}

/* Is it of the kernel or a module, and not a program or a trampoline made at run time? */
static bool is_built(const struct kernel_symbol *symbol)
{
	return !symbol->module || (strcmp(symbol->module, "bpf") &&
				   strncmp(symbol->module, "__builtin__", 11));
}

static int take_symbols(struct func_list *list, const struct kernel_symbols *symbols)
{
	const struct kernel_symbol *all;
	struct func_ranges ranges;
	struct kernel_func *func;
	unsigned int cnt, i;

	if (!symbols)
		return -EACCES;
	all = kernel_symbols_all(symbols, &cnt);
	func_ranges_init(&ranges, all, cnt);
	list->funcs = calloc(cnt ? cnt : 1, sizeof(*list->funcs));
	if (!list->funcs)
		return -ENOMEM;
	for (i = 0; i < cnt; i++) {
		if (!kernel_symbol_is_code(&all[i]) || !is_built(&all[i]) ||
		    func_ranges_have(&ranges, all[i].addr) || !is_name_traceable(all[i].name))
			continue;
		func = &list->funcs[list->cnt++];
		func->entry = func->addr = all[i].addr;
		func->name = all[i].name;
		func->module = all[i].module;
	}
	list->source = FUNC_SOURCE_SYMBOLS;
	return list->cnt ? 0 : -EACCES;
}

/* ---- tracefs ------------------------------------------------------------------ */

/* Ends the word at @*p with a NUL and moves on to the next one; NULL if it is not one. */
static char *cut_word(char **p)
{
	char *word = *p, *end = word;

	while (*end > ' ' && *end != 0x7f)
		end++;
	if (end == word || end - word > NAME_LEN_MAX || (*end && *end != ' ' && *end != '\t'))
		return NULL;
	*p = *end ? end + 1 : end;
	*end = 0;
	return word;
}

/* "name", "name [module]", with an address in front if the source has them. */
static bool parse_line(char *line, enum func_source source, struct kernel_func *out)
{
	char *p = line, *end;

	out->entry = 0;
	out->module = NULL;
	if (source == FUNC_SOURCE_ADDRS) {
		out->entry = strtoull(line, &p, 16);
		if (p == line || *p++ != ' ')
			return false;
	}
	out->name = cut_word(&p);
	if (!out->name || !strncmp(out->name, DEAD_WEAK, strlen(DEAD_WEAK)))
		return false;
	if (!*p)
		return true;
	end = strchr(p, ']');
	if (*p != '[' || !end || end == p + 1)
		return false;
	*end = 0;
	out->module = p + 1;
	return true;
}

static size_t count_lines(const char *text)
{
	size_t cnt = 1;

	while ((text = strchr(text, '\n'))) {
		cnt++;
		text++;
	}
	return cnt;
}

/* A file without a single function is as good as none. */
static int parse_list(struct func_list *list, char *text, enum func_source source)
{
	char *line, *end;

	list->funcs = calloc(count_lines(text), sizeof(*list->funcs));
	if (!list->funcs)
		return -ENOMEM;
	for (line = text; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		if (parse_line(line, source, &list->funcs[list->cnt]))
			list->cnt++;
	}
	list->source = source;
	if (list->cnt)
		return 0;
	free(list->funcs);
	list->funcs = NULL;
	return -ENODATA;
}

/* The best list in the directory @tracefs: 0, -ENOMEM, or another -errno if there is none. */
static int take_tracefs(struct func_list *list, const char *tracefs)
{
	static const char *const files[] = {
		[FUNC_SOURCE_ADDRS] = "available_filter_functions_addrs",
		[FUNC_SOURCE_NAMES] = "available_filter_functions",
	};
	char path[DIR_BYTES + 64], *text;
	size_t len;
	int source, err = -ENOENT;

	for (source = FUNC_SOURCE_ADDRS; source <= FUNC_SOURCE_NAMES; source++) {
		snprintf(path, sizeof(path), "%s/%s", tracefs, files[source]);
		err = text_file_read(path, LIST_BYTES_MAX, &text, &len);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		err = parse_list(list, text, (enum func_source)source);
		if (!err) {
			list->text = text;
			return 0;
		}
		free(text);
		if (err == -ENOMEM)
			return err;
	}
	return err;
}

static int take_anywhere(struct func_list *list)
{
	char dir[DIR_BYTES];

	if (!tracefs_find(dir, sizeof(dir), "available_filter_functions"))
		return -ENOENT;
	*strrchr(dir, '/') = 0;
	return take_tracefs(list, dir);
}

int func_list_open(struct func_list *list, const char *tracefs,
		   const struct kernel_symbols *symbols)
{
	unsigned int i;
	int err;

	memset(list, 0, sizeof(*list));
	list->symbols = symbols;
	err = tracefs ? take_tracefs(list, tracefs) : take_anywhere(list);
	if (err && err != -ENOMEM)
		err = take_symbols(list, symbols);
	if (err)
		goto close;
	err = -ENOMEM;
	list->names = malloc(list->cnt * sizeof(*list->names));
	if (!list->names)
		goto close;
	for (i = 0; i < list->cnt; i++)
		list->names[i] = list->funcs[i].name;
	err = name_index_init(&list->index, list->names, list->cnt);
	if (!err)
		return 0;
close:
	func_list_close(list);
	return err;
}

void func_list_close(struct func_list *list)
{
	name_index_fini(&list->index);
	free(list->names);
	free(list->funcs);
	free(list->text);
}
