// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that globs mean, with the addresses of those that have only names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "list.h"
#include "set.h"

#define ENTRY_OFFSET_MAX	64	/* from a symbol to where ftrace calls from */

/* The kernel's symbols of code by name. */
struct code {
	const struct kernel_symbols *symbols;	/* may be NULL */
	const struct kernel_symbol *all;
	const char **names;
	uint32_t *places;	/* in .all */
	struct name_index index;
	struct func_ranges ranges;
};

struct builder {
	struct func_set *set;
	struct func_list list;
	struct code code;
	uint8_t *marks;
	unsigned int cap;
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static int code_init(struct code *code, const struct kernel_symbols *symbols)
{
	unsigned int all_cnt = 0, cnt = 0, i;

	code->symbols = symbols;
	if (symbols)
		code->all = kernel_symbols_all(symbols, &all_cnt);
	func_ranges_init(&code->ranges, code->all, all_cnt);
	code->names = malloc((all_cnt + 1) * sizeof(*code->names));
	code->places = malloc((all_cnt + 1) * sizeof(*code->places));
	if (!code->names || !code->places)
		return -ENOMEM;
	for (i = 0; i < all_cnt; i++) {
		if (!kernel_symbol_is_code(&code->all[i]))
			continue;
		code->names[cnt] = code->all[i].name;
		code->places[cnt++] = i;
	}
	return name_index_init(&code->index, code->names, cnt);
}

static void code_fini(struct code *code)
{
	name_index_fini(&code->index);
	free(code->names);
	free(code->places);
}

/* ---- names that several have -------------------------------------------------- */

/* The symbols of one name, from place @i of the index on, that are at another address. */
static uint32_t next_symbol(const struct code *code, uint32_t i)
{
	uint64_t addr = code->all[code->places[i]].addr;

	do
		i = name_index_next(&code->index, i);
	while (i != NAME_INDEX_NONE && addr && code->all[code->places[i]].addr == addr);
	return i;
}

static bool is_ambiguous(const struct builder *b, const char *name)
{
	uint32_t i = name_index_first(&b->list.index, name);

	if (name_index_next(&b->list.index, i) != NAME_INDEX_NONE)
		return true;
	i = name_index_first(&b->code.index, name);
	return i != NAME_INDEX_NONE && next_symbol(&b->code, i) != NAME_INDEX_NONE;
}

/* How many in the list have the name and module of @n, and how many of these come before it. */
static unsigned int count_listed(const struct func_list *list, unsigned int n, unsigned int *before)
{
	unsigned int cnt = 0;
	uint32_t i;

	*before = 0;
	for (i = name_index_first(&list->index, list->names[n]); i != NAME_INDEX_NONE;
	     i = name_index_next(&list->index, i)) {
		if (!same_text(list->funcs[i].module, list->funcs[n].module))
			continue;
		cnt++;
		*before += i < n;
	}
	return cnt;
}

/* The symbols @func may be: number @n of them goes to *@addr, and how many there are. */
static unsigned int count_symbols(const struct code *code, const struct kernel_func *func,
				  unsigned int n, uint64_t *addr)
{
	const struct kernel_symbol *symbol;
	unsigned int cnt = 0;
	uint32_t i;

	for (i = name_index_first(&code->index, func->name); i != NAME_INDEX_NONE;
	     i = next_symbol(code, i)) {
		symbol = &code->all[code->places[i]];
		if (!same_text(symbol->module, func->module) ||
		    func_ranges_have(&code->ranges, symbol->addr))
			continue;
		if (cnt++ == n)
			*addr = symbol->addr;
	}
	return cnt;
}

/* ---- the chosen ones ---------------------------------------------------------- */

static int add_kernel_func(struct builder *b, const struct kernel_func *func)
{
	if (array_reserve(b->set->funcs, b->set->cnt, b->cap, 1))
		return -ENOMEM;
	b->set->funcs[b->set->cnt++] = *func;
	return 0;
}

/* An entry address is a few bytes after its symbol's where functions begin with endbr64. */
static int add_by_entry(struct builder *b, struct kernel_func *func)
{
	const struct kernel_symbol *symbol = NULL;

	if (b->code.symbols)
		symbol = kernel_symbols_find(b->code.symbols, func->entry);
	if (symbol && func->entry - symbol->addr <= ENTRY_OFFSET_MAX)
		func->addr = symbol->addr;
	return add_kernel_func(b, func);
}

/*
 * The list and the symbols are both in the order of addresses. If one has more of a name than
 * the other, it is not known which is which; the first one in the list then stands for all.
 */
static int add_by_name(struct builder *b, unsigned int n, struct kernel_func *func)
{
	unsigned int before, listed = count_listed(&b->list, n, &before), i;
	unsigned int cnt = count_symbols(&b->code, func, before, &func->addr);
	int err = 0;

	if (cnt == listed) {
		func->entry = func->addr;
		return add_kernel_func(b, func);
	}
	if (before)
		return 0;
	if (!cnt)
		return add_kernel_func(b, func);
	for (i = 0; i < cnt && !err; i++) {
		count_symbols(&b->code, func, i, &func->addr);
		func->entry = func->addr;
		err = add_kernel_func(b, func);
	}
	return err;
}

/* Of several names at one address the first is the kernel's own. */
static int add_symbol(struct builder *b, const struct kernel_func *func)
{
	const struct func_set *set = b->set;

	if (func->addr && set->cnt && set->funcs[set->cnt - 1].addr == func->addr)
		return 0;
	return add_kernel_func(b, func);
}

static int add_chosen(struct builder *b)
{
	struct kernel_func func;
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->list.cnt && !err; i++) {
		if (!(b->marks[i] & FUNC_TAKEN)) {
			b->set->excluded += !!(b->marks[i] & FUNC_LEFT);
			continue;
		}
		func = b->list.funcs[i];
		func.ambiguous = is_ambiguous(b, func.name);
		if (b->list.source == FUNC_SOURCE_ADDRS)
			err = add_by_entry(b, &func);
		else if (b->list.source == FUNC_SOURCE_NAMES)
			err = add_by_name(b, i, &func);
		else
			err = add_symbol(b, &func);
	}
	return err;
}

static int compare_kernel_funcs(const void *a, const void *b)
{
	const struct kernel_func *x = a, *y = b;
	int order;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->module ?: "", y->module ?: "");
}

static void sort(struct func_set *set)
{
	struct kernel_func *last = set->funcs;
	unsigned int i;

	qsort(set->funcs, set->cnt, sizeof(*set->funcs), compare_kernel_funcs);
	for (i = 1; i < set->cnt; i++) {
		if (set->funcs[i].entry ? set->funcs[i].entry != last->entry :
					  compare_kernel_funcs(&set->funcs[i], last) != 0)
			*++last = set->funcs[i];
	}
	set->cnt = (unsigned int)(last - set->funcs) + 1;
}

/* Names into memory of the set's own: the list they come from goes. */
static int keep_names(struct func_set *set)
{
	struct kernel_func *func, *end = set->funcs + set->cnt;
	size_t bytes = 1;
	char *p;

	for (func = set->funcs; func < end; func++)
		bytes += strlen(func->name) + 1 + (func->module ? strlen(func->module) + 1 : 0);
	p = set->names = malloc(bytes);
	if (!p)
		return -ENOMEM;
	for (func = set->funcs; func < end; func++) {
		bytes = strlen(func->name) + 1;
		func->name = memcpy(p, func->name, bytes);
		p += bytes;
		if (!func->module)
			continue;
		bytes = strlen(func->module) + 1;
		func->module = memcpy(p, func->module, bytes);
		p += bytes;
	}
	return 0;
}

/* ---- the whole ---------------------------------------------------------------- */

static int choose(struct builder *b, const struct func_set_cfg *cfg)
{
	struct func_set *set = b->set;
	unsigned int i;

	set->source = b->list.source;
	for (i = 0; i < cfg->globs_cnt; i++)
		set->wide |= cfg->globs[i][0] != '!' && glob_has_wildcard(cfg->globs[i]);
	b->marks = calloc(b->list.cnt, sizeof(*b->marks));
	if (!b->marks)
		return -ENOMEM;
	set->unmatched = func_list_choose(&b->list, cfg, b->marks);
	if (set->unmatched) {
		suggest_names(set->unmatched, b->list.names, b->list.cnt, set->near);
		return -ENOENT;
	}
	return 0;
}

static int fill_set(struct builder *b, const struct func_set_cfg *cfg)
{
	int err = choose(b, cfg);

	if (err)
		return err;
	err = code_init(&b->code, b->code.symbols);
	if (err)
		return err;
	err = add_chosen(b);
	if (err)
		return err;
	if (!b->set->cnt)
		return -ENOENT;
	sort(b->set);
	return keep_names(b->set);
}

int func_set_open(struct func_set **out, const struct func_set_cfg *cfg,
		  const struct kernel_symbols *symbols)
{
	struct builder b = { .set = calloc(1, sizeof(*b.set)), .code.symbols = symbols };
	int err;

	if (!b.set)
		return -ENOMEM;
	err = func_list_open(&b.list, cfg->tracefs, symbols);
	if (err) {
		free(b.set);
		return err;
	}
	err = fill_set(&b, cfg);
	free(b.marks);
	code_fini(&b.code);
	func_list_close(&b.list);
	if (err && err != -ENOENT)
		func_set_close(b.set);
	else
		*out = b.set;
	return err;
}

void func_set_close(struct func_set *set)
{
	if (!set)
		return;
	free(set->funcs);
	free(set->names);
	free(set);
}
