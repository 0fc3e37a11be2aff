// SPDX-License-Identifier: GPL-2.0
/*
 * What was looked up in a file or in the kernel itself is kept, by address. Code that may be replaced by
 * other code (of JIT compilers, of modules and BPF programs) is looked up each time.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "demangle.h"
#include "elf/elf.h"
#include "elf/mapped_file.h"
#include "jit.h"
#include "kept_names.h"
#include "kernel/symbols.h"
#include "symbol.h"
#include "vdso.h"

#define NAMES_BYTES_MAX	(64U << 20)
#define KEPT_MAX	(1U << 19)	/* addresses */
#define OFFSET_BITS	48		/* of a key; the rest is the file */
#define FILE_NAME_MAX	200
#define UNKNOWN		"[unknown]"
#define ANONYMOUS	"//anon"
#define KERNEL		"[kernel]"
#define DELETED		" (deleted)"

/* Symbols by a number of 64 bits. */
struct kept {
	struct map by_key;
	struct symbol *symbols;
	uint32_t cnt, cap;
};

struct symbolizer {
	struct mapped_files *files;
	char root[PATH_MAX];
	struct kept_names *names;
	struct kernel_symbols *kernel;	/* NULL: cannot be read */
	struct jit *jit;
	struct elf_file *vdso;		/* NULL: there is none */
	struct kept in_files, in_kernel;
	uint64_t generation;		/* of @files, whose indexes @in_files goes by */
};

/* ---- what is kept ---------------------------------------------------------------- */

static bool find_kept(const struct kept *k, uint64_t key, struct symbol *out)
{
	const uint32_t i = map_get(&k->by_key, key);

	if (i == MAP_NONE)
		return false;
	*out = k->symbols[i];
	return true;
}

/* Without memory it will be looked up again. */
static void keep(struct kept *k, uint64_t key, const struct symbol *symbol)
{
	if (k->cnt == KEPT_MAX || array_reserve(k->symbols, k->cnt, k->cap, 1) || map_add(&k->by_key, key, k->cnt))
		return;
	k->symbols[k->cnt++] = *symbol;
}

static void forget(struct kept *k)
{
	map_fini(&k->by_key);
	free(k->symbols);
	*k = (struct kept){ 0 };
}

/* What is full is begun anew; what goes by files that have been forgotten is forgotten too. */
void symbolizer_refresh(struct symbolizer *s)
{
	const uint64_t generation = mapped_files_generation(s->files);

	if (kept_names_are_full(s->names)) {
		kept_names_forget(s->names);
		forget(&s->in_files);
		forget(&s->in_kernel);
	}
	if (generation != s->generation || s->in_files.cnt == KEPT_MAX)
		forget(&s->in_files);
	if (s->in_kernel.cnt == KEPT_MAX)
		forget(&s->in_kernel);
	s->generation = generation;
}

static const char *keep_text(struct symbolizer *s, const char *text, size_t len, const char *otherwise)
{
	return len ? kept_names_put(s->names, text, len) ?: otherwise : otherwise;
}

static const char *keep_name(struct symbolizer *s, const char *symbol)
{
	char name[DEMANGLE_BYTES];

	if (symbol_demangle(symbol, name))
		symbol = name;
	return keep_text(s, symbol, strlen(symbol), UNKNOWN);
}

/* ---- files -------------------------------------------------------------------------- */

static const char *name_by_address(struct symbolizer *s, const char *path, uint64_t address)
{
	const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *deleted = strstr(file, DELETED);
	char name[FILE_NAME_MAX + 32];
	int len = (int)(deleted ? deleted - file : (ptrdiff_t)strlen(file));

	if (len > FILE_NAME_MAX)
		len = FILE_NAME_MAX;
	len = snprintf(name, sizeof(name), "%.*s+0x%" PRIx64, len, file, address);
	return keep_text(s, name, len, UNKNOWN);
}

/* @out has the mapping; the rest by what @elf says of @offset. */
static void name_in_elf(struct symbolizer *s, const struct elf_file *elf, uint64_t offset, struct symbol *out)
{
	const struct elf_func *func = elf_file_find(elf, offset);
	uint64_t start, address;
	bool has_start = elf_file_function_start(elf, offset, &start);

	/* A symbol without a size goes on until the next one, though other functions may lie between. */
	if (func && !func->size && has_start && start > func->offset)
		func = NULL;
	if (func) {
		start = func->offset;
		has_start = true;
	}
	out->kind = SYMBOL_NATIVE;
	out->build_id = keep_text(s, elf_file_build_id(elf), strlen(elf_file_build_id(elf)), "");
	out->rel_pc = elf_file_address(elf, offset, &address) ? address : offset;
	out->rel_start = has_start && elf_file_address(elf, start, &address) ? address : 0;
	out->name = func ? keep_name(s, func->name)
			 : name_by_address(s, out->mapping, out->rel_start ?: out->rel_pc);
}

static enum symbol_kind kind_of_code(const struct jit_code *code)
{
	static const char python[] = "py::";

	return code->name_len >= sizeof(python) - 1 && !memcmp(code->name, python, sizeof(python) - 1)
		       ? SYMBOL_INTERPRETED : SYMBOL_JIT;
}

static bool name_jit(struct symbolizer *s, uint64_t process, uint32_t pid, uint64_t pc, struct symbol *out)
{
	struct jit_code code;

	if (!jit_find(s->jit, process, pid, pc, &code))
		return false;
	*out = (struct symbol){
		.name = keep_text(s, code.name, code.name_len, UNKNOWN),
		.mapping = ANONYMOUS,
		.build_id = "",
		.rel_pc = pc,
		.rel_start = code.start,
		.kind = kind_of_code(&code),
	};
	return true;
}

/* Memory that has a path, but no file in any directory. */
static bool is_memory(const char *path)
{
	static const char *const starts[] = { "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage" };
	size_t i;

	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(path, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static const struct elf_file *find_elf(const struct symbolizer *s, uint32_t file, uint32_t pid)
{
	if (mapped_files_is_vdso(s->files, file))
		return s->vdso;
	return mapped_files_elf(s->files, file, pid);
}

static void name_in_file(struct symbolizer *s, uint32_t pid, uint32_t file, uint64_t offset, struct symbol *out)
{
	const uint64_t key = (uint64_t)file << OFFSET_BITS | offset;
	const struct mapped_file *mapped = mapped_files_get(s->files, file);
	const struct elf_file *elf;

	if (offset >> OFFSET_BITS == 0 && find_kept(&s->in_files, key, out))
		return;
	elf = find_elf(s, file, pid);
	out->mapping = keep_text(s, mapped->path, strlen(mapped->path), NULL);
	if (elf) {
		name_in_elf(s, elf, offset, out);
		if (offset >> OFFSET_BITS == 0)
			keep(&s->in_files, key, out);
		return;
	}
	out->build_id = keep_text(s, mapped->build_id, strlen(mapped->build_id), "");
	out->rel_pc = offset;
	out->kind = SYMBOL_NATIVE;
	out->name = name_by_address(s, mapped->path, offset);
}

void symbolizer_user(struct symbolizer *s, uint64_t process, uint32_t pid, uint32_t file, uint64_t offset,
		     uint64_t pc, bool is_call, struct symbol *out)
{
	*out = (struct symbol){ .name = UNKNOWN, .build_id = "", .rel_pc = pc - is_call };
	if (file == MAPPED_FILE_NONE) {
		name_jit(s, process, pid, pc - is_call, out);
		return;
	}
	if (is_memory(mapped_files_path(s->files, file)) && name_jit(s, process, pid, pc - is_call, out))
		return;
	name_in_file(s, pid, file, offset - is_call, out);
}

/* ---- the kernel ------------------------------------------------------------------------ */

static const struct kernel_symbol *find_kernel(const struct symbolizer *s, uint64_t pc)
{
	return s->kernel ? kernel_symbols_find_late(s->kernel, pc) : NULL;
}

static const char *keep_module(struct symbolizer *s, const char *module)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "[%.60s]", module);

	return keep_text(s, text, len, NULL);
}

void symbolizer_kernel(struct symbolizer *s, uint64_t pc, struct symbol *out)
{
	const struct kernel_symbol *symbol;

	if (find_kept(&s->in_kernel, pc, out))
		return;
	*out = (struct symbol){ .name = UNKNOWN, .mapping = KERNEL, .build_id = "", .rel_pc = pc,
				.kind = SYMBOL_KERNEL };
	symbol = find_kernel(s, pc);
	if (!symbol)
		return;
	out->name = keep_name(s, symbol->name);
	out->rel_start = symbol->addr;
	if (symbol->module)
		out->mapping = keep_module(s, symbol->module);
	else
		keep(&s->in_kernel, pc, out);
}

static bool is_one_of(const char *name, const char *const *table)
{
	size_t len;

	for (; *table; table++) {
		len = strlen(*table);
		if ((*table)[len - 1] == '*' ? !strncmp(name, *table, len - 1) : !strcmp(name, *table))
			return true;
	}
	return false;
}

bool symbolizer_is_tracer(struct symbolizer *s, uint64_t pc)
{
	static const char *const modules[] = { "bpf", "__builtin__ftrace", "__builtin__kprobes", NULL };
	static const char *const names[] = {
		"bpf_prog_*", "bpf_trace_run*", "__traceiter_*", "__bpf_trace_*", "bpf_trampoline_*",
		"bpf_dispatcher_*", "__bpf_prog_*", "bpf_get_stack*", "bpf_get_task_stack*", "trace_call_bpf",
		/* kprobes: by ftrace, by a breakpoint, by a jump */
		"ftrace_caller", "ftrace_regs_caller", "ftrace_call", "kprobe_ftrace_handler", "kprobe_dispatcher",
		"kprobe_perf_func", "kprobe_int3_handler", "aggr_pre_handler", "asm_exc_int3", "exc_int3",
		"do_int3", "optimized_callback", NULL
	};
	const struct kernel_symbol *symbol = find_kernel(s, pc);

	return symbol && (is_one_of(symbol->name, names) || (symbol->module && is_one_of(symbol->module, modules)));
}

/* ---- open, close ------------------------------------------------------------------------- */

int symbolizer_open(struct symbolizer **out, struct mapped_files *files, const char *root)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	char path[PATH_MAX + 32];

	if (!s)
		return -ENOMEM;
	s->files = files;
	snprintf(s->root, sizeof(s->root), "%s", root ?: "");
	snprintf(path, sizeof(path), "%s/proc/kallsyms", s->root);
	if (kept_names_open(&s->names, NAMES_BYTES_MAX) || jit_open(&s->jit, s->root) ||
	    kernel_symbols_open(&s->kernel, path) == -ENOMEM) {
		symbolizer_close(s);
		return -ENOMEM;
	}
	s->vdso = vdso_open();
	*out = s;
	return 0;
}

void symbolizer_close(struct symbolizer *s)
{
	if (!s)
		return;
	forget(&s->in_kernel);
	forget(&s->in_files);
	elf_file_close(s->vdso);
	jit_close(s->jit);
	kernel_symbols_close(s->kernel);
	kept_names_close(s->names);
	free(s);
}
