// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions a recording traces: globs and paths become a table whose index
 * is the function's id, here and in the kernel.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/glob.h"
#include "bpf/abi/func.h"
#include "fxt/fxt.h"
#include "set.h"
#include "func_p.h"
#include "kernel/btf.h"
#include "kernel/symbols.h"
#include "elf/user_symbols.h"

static int complain(int err, char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return err;
}

static int add_func(struct funcs *f, const struct func *func)
{
	if (array_reserve(f->funcs, f->cnt, f->cap, 1))
		return -ENOMEM;
	f->funcs[f->cnt++] = *func;
	return 0;
}

/* ---- kernel functions ---------------------------------------------------------- */

static int add_kernel_set(struct funcs *f)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < f->set->cnt; i++) {
		const struct kernel_func *k = &f->set->funcs[i];
		const struct func func = {
			.kind = FUNC_KERNEL, .name = k->name, .where = k->module,
			.addr = k->addr, .entry = k->entry, .ambiguous = k->ambiguous,
		};

		err = add_func(f, &func);
	}
	f->counts.kernel = f->cnt;
	f->counts.excluded = f->set->excluded;
	return err;
}

static int choose_kernel(struct funcs *f, char *why, size_t size)
{
	const struct func_set_cfg cfg = {
		.globs = f->cfg.globs, .globs_cnt = f->cfg.globs_cnt, .no_excludes = f->cfg.no_excludes,
	};
	char near[SUGGEST_TEXT_BYTES];
	int err;

	if (!cfg.globs_cnt)
		return 0;
	err = kernel_symbols_open(&f->symbols, NULL);
	if (err && err != -EPERM)
		return complain(-ENOTSUP, why, size, "/proc/kallsyms: %s", strerror(-err));
	err = func_set_open(&f->set, &cfg, f->symbols);
	if (err == -ENOENT && f->set && f->set->unmatched)
		return complain(-EINVAL, why, size, "-f %s: no such kernel function%s", f->set->unmatched,
				suggest_text(near, "", f->set->near));
	if (err == -EACCES)
		return complain(-ENOTSUP, why, size,
				"-f: neither tracefs nor /proc/kallsyms lists the kernel's functions (run as root)");
	if (err)
		return complain(err, why, size, "-f: %s", strerror(-err));
	if (f->set->cnt > FUNC_ID_MAX / 2)
		return complain(-EINVAL, why, size, "-f: more than %u functions", FUNC_ID_MAX / 2);
	return add_kernel_set(f);
}

static int by_name(const void *a, const void *b)
{
	const struct func *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* What the kernel's BTF says each returns; nothing of those whose name is not theirs alone. */
static int find_return_types(struct funcs *f)
{
	const unsigned int max = f->counts.kernel + 1;
	struct func **sorted = calloc(max, sizeof(*sorted));
	const char **names = calloc(max, sizeof(*names));
	uint8_t *types = calloc(max, sizeof(*types));
	unsigned int i, n = 0;
	int err = sorted && names && types ? 0 : -ENOMEM;

	if (err)
		goto out;
	for (i = 0; i < f->counts.kernel; i++)
		if (!f->funcs[i].ambiguous && !f->funcs[i].where)
			sorted[n++] = &f->funcs[i];
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (i = 0; i < n; i++)
		names[i] = sorted[i]->name;
	kernel_btf_return_types(names, n, types);
	for (i = 0; i < n; i++)
		sorted[i]->return_type = types[i];
out:
	free(sorted);
	free(names);
	free(types);
	return err;
}

/* ---- functions of programs -------------------------------------------------------- */

/* Opens @word's file once, however often it is named. */
static int open_file(struct funcs *f, const char *word, struct user_file **out, char *why, size_t size)
{
	char path[ELF_PATH_BYTES];
	const char *reason = NULL;
	struct user_file *file;
	unsigned int i;
	int err = elf_path_find(word, path);

	if (err)
		return complain(-EINVAL, why, size, "-u %s: %s", word,
				err == -ENOENT ? "no such program or library" : strerror(-err));
	for (i = 0; i < f->files_cnt; i++)
		if (!strcmp(f->files[i].path, path)) {
			*out = &f->files[i];
			return 0;
		}
	if (f->files_cnt == FUNCS_FILES_MAX)
		return complain(-EINVAL, why, size, "-u: more than %u files", FUNCS_FILES_MAX);
	file = &f->files[f->files_cnt];
	err = elf_file_open(&file->elf, path, &reason);
	if (err)
		return complain(-EINVAL, why, size, "-u %s: %s: %s", word, path, reason ?: strerror(-err));
	file->path = strdup(path);
	if (!file->path) {
		elf_file_close(file->elf);
		return -ENOMEM;
	}
	f->files_cnt++;
	*out = file;
	return 0;
}

/* A name of ours, freed with @f. */
static const char *keep_name(struct funcs *f, const char *fmt, ...)
{
	struct kept_name *kept = malloc(sizeof(*kept));
	va_list ap;
	int n;

	if (!kept)
		return NULL;
	va_start(ap, fmt);
	n = vasprintf(&kept->text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		free(kept);
		return NULL;
	}
	kept->next = f->kept;
	f->kept = kept;
	return kept->text;
}

/* "0x1139": where there is no symbol; named after its file. */
static int add_user_offset(struct funcs *f, const struct user_file *file, const char *text, char *why,
			   size_t size)
{
	const char *base = strrchr(file->path, '/');
	struct func func = { .kind = FUNC_USER, .where = file->path };
	char *end;

	errno = 0;
	func.addr = strtoull(text, &end, 16);
	if (*end || errno)
		return complain(-EINVAL, why, size, "-u %s: %s: not an offset", file->path, text);
	func.name = keep_name(f, "%s+0x%llx", base ? base + 1 : file->path, (unsigned long long)func.addr);
	return func.name ? add_func(f, &func) : -ENOMEM;
}

static int no_match(const struct user_file *file, const char *glob, char *why, size_t size)
{
	unsigned int cnt, i;
	const struct elf_func *funcs = elf_file_functions(file->elf, &cnt);
	const char **names = calloc(cnt + 1, sizeof(*names));
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];

	if (!names)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		names[i] = funcs[i].name;
	suggest_names(glob, names, cnt, near);
	free(names);
	return complain(-EINVAL, why, size, "-u %s:%s: no such function in it%s%s", file->path, glob,
			suggest_text(text, "", near),
			elf_file_is_stripped(file->elf) ?
			": it is stripped (its debug symbols help, or PATH:0xOFFSET)" : "");
}

static int choose_user_functions(struct funcs *f, const char *word, char *why, size_t size)
{
	const char *colon = strrchr(word, ':');
	char path[ELF_PATH_BYTES];
	struct user_file *file;
	const struct elf_func *funcs;
	unsigned int cnt, i;
	bool any = false;
	int err;

	if (!colon || colon == word || !colon[1])
		return complain(-EINVAL, why, size, "-u %s: is not PATH:FUNCTION, such as libc:malloc", word);
	snprintf(path, sizeof(path), "%.*s", (int)(colon - word), word);
	err = open_file(f, path, &file, why, size);
	if (err)
		return err;
	if (!strncmp(colon + 1, "0x", 2))
		return add_user_offset(f, file, colon + 1, why, size);
	funcs = elf_file_functions(file->elf, &cnt);
	for (i = 0; !err && i < cnt; i++) {
		const struct func func = {
			.kind = FUNC_USER, .name = funcs[i].name, .where = file->path, .addr = funcs[i].offset,
		};

		if (!glob_match(colon + 1, funcs[i].name))
			continue;
		any = true;
		err = add_func(f, &func);
	}
	return err ?: any ? 0 : no_match(file, colon + 1, why, size);
}

/* "usdt:PATH:PROVIDER:NAME" without its first word. */
static int choose_usdts(struct funcs *f, const char *word, char *why, size_t size)
{
	char text[ELF_PATH_BYTES + 256], *provider, *name;
	struct user_file *file;
	const struct elf_usdt *usdts;
	unsigned int cnt, i;
	bool any = false;
	int err;

	snprintf(text, sizeof(text), "%s", word);
	name = strrchr(text, ':');
	if (name)
		*name++ = 0;
	provider = name ? strrchr(text, ':') : NULL;
	if (!provider || provider == text || !provider[1] || !name[0])
		return complain(-EINVAL, why, size, "-u usdt:%s: is not usdt:PATH:PROVIDER:NAME", word);
	*provider++ = 0;
	err = open_file(f, text, &file, why, size);
	if (err)
		return err;
	usdts = elf_file_usdts(file->elf, &cnt);
	for (i = 0; !err && i < cnt; i++) {
		struct func func = {
			.kind = FUNC_USDT, .where = file->path, .addr = usdts[i].offset, .usdt = &usdts[i],
		};

		if (!glob_match(provider, usdts[i].provider) || !glob_match(name, usdts[i].name))
			continue;
		any = true;
		func.name = keep_name(f, "%s:%s", usdts[i].provider, usdts[i].name);
		err = func.name ? add_func(f, &func) : -ENOMEM;
	}
	if (err || any)
		return err;
	return complain(-EINVAL, why, size, "-u usdt:%s: the file has %s", word,
			cnt ? "no such USDT probe (kfxt list shows those it has)" : "no USDT probes");
}

/* By file and place; USDT probes by file and name. */
static int by_place(const void *a, const void *b)
{
	const struct func *x = a, *y = b;
	int order = x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->where, y->where);

	if (order)
		return order;
	if (x->kind == FUNC_USER && x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool is_same(const struct func *x, const struct func *y)
{
	if (x->kind != y->kind || x->where != y->where)
		return false;
	return x->kind == FUNC_USDT ? !strcmp(x->name, y->name) : x->addr == y->addr;
}

/* One probe to a place, whatever its aliases; a USDT probe's places are attached as one. */
static void sort_user(struct funcs *f)
{
	unsigned int from = f->counts.kernel, i, n = from;

	qsort(f->funcs + from, f->cnt - from, sizeof(*f->funcs), by_place);
	for (i = from; i < f->cnt; i++) {
		const struct func func = f->funcs[i];

		if (n == from || !is_same(&func, &f->funcs[n - 1]))
			f->funcs[n++] = func;
	}
	f->cnt = n;
}

static int choose_user(struct funcs *f, char *why, size_t size)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < f->cfg.user_cnt; i++) {
		const char *word = f->cfg.user[i];

		err = strncmp(word, "usdt:", 5) ? choose_user_functions(f, word, why, size)
						: choose_usdts(f, word + 5, why, size);
	}
	if (!err && f->cnt > FUNC_ID_MAX)
		return complain(-EINVAL, why, size, "-u: more than %u functions", FUNC_ID_MAX / 2);
	if (!err)
		sort_user(f);
	for (i = f->counts.kernel; i < f->cnt; i++) {
		f->counts.user += f->funcs[i].kind == FUNC_USER;
		f->counts.usdt += f->funcs[i].kind == FUNC_USDT;
	}
	return err;
}

/* ---- mechanisms ----------------------------------------------------------------- */

static int check_forced(const struct funcs *f, char *why, size_t size)
{
	char names[256] = "";
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < f->cfg.via_cnt; i++)
		if (func_via_by_name(f->cfg.via[i]) == FUNC_VIA_CNT)
			break;
	if (i == f->cfg.via_cnt)
		return 0;
	for (unsigned int id = 0; id < FUNC_VIA_CNT; id++)
		len += snprintf(names + len, sizeof(names) - len, " %s", func_features[id].name);
	return complain(-EINVAL, why, size, "--func-via: %s: no such mechanism (there are%s)", f->cfg.via[i],
			names);
}

static int choose_via(struct funcs *f, bool user, char *why, size_t size)
{
	const struct func_want want = {
		.user = user, .returns = f->cfg.returns, .parents = f->cfg.parents, .comms = f->cfg.comms,
		/* By address: where the last has none, none has. */
		.addresses = !user && f->set && f->set->cnt && f->set->funcs[f->set->cnt - 1].entry,
		.cnt = user ? f->counts.user : f->counts.kernel,
		.wide = !user && f->set && f->set->wide,
		.forced = f->cfg.via, .forced_cnt = f->cfg.via_cnt,
	};
	char *reason = f->via_reason[user];

	if (!want.cnt)
		return 0;
	f->via[user] = func_via_choose(&want, reason, sizeof(f->via_reason[user]));
	if (f->via[user] != FUNC_VIA_CNT)
		reason[0] = 0;
	else if (!f->cfg.only_list)
		return complain(-ENOTSUP, why, size, "%s: no way to trace %u functions here: %s",
				user ? "-u" : "-f", want.cnt, reason);
	return 0;
}

/* ---- names ------------------------------------------------------------------------ */

/* Functions of one name share its index. */
static int number_names(struct funcs *f)
{
	struct func **sorted = calloc(f->cnt + 1, sizeof(*sorted));
	unsigned int i, index = f->cfg.strings_from, end = index + FUNCS_STRINGS_MAX;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < f->cnt; i++)
		sorted[i] = &f->funcs[i];
	qsort(sorted, f->cnt, sizeof(*sorted), by_name);
	for (i = 0; i < f->cnt; i++) {
		if (i && !strcmp(sorted[i]->name, sorted[i - 1]->name))
			sorted[i]->string = sorted[i - 1]->string;
		else if (index < end)
			sorted[i]->string = index++;
	}
	free(sorted);
	return 0;
}

int funcs_write_strings(const struct funcs *f, struct fxt_writer *w)
{
	uint8_t *written = calloc(1 << 15, 1);
	unsigned int i;
	int err = written ? 0 : -ENOMEM;

	for (i = 0; !err && i < f->cnt; i++) {
		uint16_t index = f->funcs[i].string;

		if (index && !written[index])
			err = fxt_write_string(w, index, fxt_str(f->funcs[i].name));
		written[index] = 1;
	}
	free(written);
	return err;
}

/* ---- life ---------------------------------------------------------------------------- */

int funcs_open(struct funcs **out, const struct funcs_cfg *cfg, char *why, size_t size)
{
	struct funcs *f = calloc(1, sizeof(*f));
	int err;

	snprintf(why, size, "%s", strerror(ENOMEM));
	if (!f)
		return -ENOMEM;
	f->cfg = *cfg;
	f->device = f->inside_fd = -1;
	f->via[0] = f->via[1] = FUNC_VIA_CNT;
	err = check_forced(f, why, size);
	err = err ?: choose_kernel(f, why, size);
	err = err ?: choose_user(f, why, size);
	err = err ?: choose_via(f, false, why, size);
	err = err ?: choose_via(f, true, why, size);
	err = err ?: number_names(f);
	if (!err && cfg->returns)
		err = find_return_types(f);
	if (!err && cfg->parents && f->counts.user && !cfg->only_list)
		err = user_symbols_open(&f->user_symbols);
	if (err) {
		funcs_close(f);
		return err;
	}
	*out = f;
	return 0;
}

void funcs_close(struct funcs *f)
{
	struct kept_name *kept;
	unsigned int i;

	if (!f)
		return;
	for (i = 0; i < f->files_cnt; i++) {
		elf_file_close(f->files[i].elf);
		free(f->files[i].path);
	}
	while ((kept = f->kept)) {
		f->kept = kept->next;
		free(kept->text);
		free(kept);
	}
	if (f->open)
		munmap((void *)f->open, OPEN_SLOTS * sizeof(*f->open));
	if (f->rates)
		munmap((void *)f->rates, (size_t)f->cnt * f->cpus * sizeof(*f->rates));
	func_set_close(f->set);
	kernel_symbols_close(f->symbols);
	user_symbols_close(f->user_symbols);
	free(f->funcs);
	free(f);
}

const struct func *funcs_all(const struct funcs *f, unsigned int *cnt)
{
	*cnt = f->cnt;
	return f->funcs;
}

enum func_via_id funcs_via(const struct funcs *f, bool user)
{
	return f->via[user];
}

const char *funcs_via_reason(const struct funcs *f, bool user)
{
	return f->via_reason[user];
}

bool funcs_are_slices(const struct funcs *f)
{
	return f && f->cfg.returns;
}

int funcs_begin(struct funcs *f)
{
	return funcs_have_user_parents(f) ? user_symbols_begin(f->user_symbols) : 0;
}

int funcs_read_maps(struct funcs *f)
{
	return funcs_have_user_parents(f) ? user_symbols_read(f->user_symbols) : 0;
}

bool funcs_have_user_parents(const struct funcs *f)
{
	return f && f->user_symbols;
}

void funcs_user_parents(const struct funcs *f, struct user_symbols_counts *counts)
{
	*counts = (struct user_symbols_counts){ 0 };
	if (funcs_have_user_parents(f))
		user_symbols_counts(f->user_symbols, counts);
}

void funcs_counts(const struct funcs *f, struct funcs_counts *counts)
{
	*counts = f ? f->counts : (struct funcs_counts){ 0 };
}
