/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which kernel functions globs mean: chosen from what ftrace can trace, or, where
 * tracefs cannot be read, from the symbols of the kernel.
 */
#ifndef RECORD_FUNC_SET_H
#define RECORD_FUNC_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_symbols.h"

struct kernel_func {
	uint64_t entry;		/* where ftrace calls from, as available_filter_functions_addrs
				 * has it; where there is no such file the symbol's; 0: unknown */
	uint64_t addr;		/* of its symbol: the same, or a few bytes before; 0: unknown */
	const char *name;
	const char *module;	/* NULL: the kernel itself */
	bool ambiguous;		/* others of this name exist, traceable or not */
};

/* Where the list of functions came from, best first. */
enum func_source {
	FUNC_SOURCE_ADDRS,	/* tracefs available_filter_functions_addrs (6.5) */
	FUNC_SOURCE_NAMES,	/* tracefs available_filter_functions, addresses from the symbols */
	FUNC_SOURCE_SYMBOLS,	/* the symbols alone: some may turn out not to be traceable */
};

struct func_set {
	struct kernel_func *funcs;	/* by entry address, then name; each entry address
					 * once, and each name and module that has none */
	unsigned int cnt;
	enum func_source source;
	unsigned int excluded;		/* matched, but the default exclude list kept them out */
	bool wide;			/* some glob without '!' had a wildcard */
	const char *unmatched;		/* the first glob without '!' that matched nothing (the
					 * caller's string), or NULL */
	char near[3][128];		/* names like it, nearest first; "" if there are fewer */
	char *names;			/* memory of the names */
};

struct func_set_cfg {
	const char *const *globs;	/* as typed: fnmatch(3) patterns; '!' in front takes out
					 * again, in order */
	unsigned int globs_cnt;
	bool no_excludes;		/* do not apply the default exclude list */
	const char *tracefs;		/* NULL: wherever it is mounted */
};

/*
 * Chooses. The default exclude list (func_set_excludes(), and what is in the module kfxt)
 * applies to what a glob with wildcards matched; a function that is named in full is taken
 * whatever the list says. If all a glob matches is on the list, it is taken too: it is what
 * the user means. A '!' glob takes out what the ones before it have brought in, and need
 * not match anything.
 *
 * Of functions that share a name FUNC_SOURCE_NAMES knows the addresses if the symbols have
 * as many; else all symbols of that name are in the set. Globs match names, not modules. Of
 * several names at one address the kernel lists one, and globs match that one; any other
 * of them may be given in full and stands for it.
 *
 * 0 or -errno: -ENOENT if a glob matches nothing (then *@out is there, for .unmatched and
 * .near, with cnt 0) or nothing is left (the same, .unmatched is NULL), -EACCES if neither
 * tracefs nor symbols can be read. The set does not refer to @symbols, which may be NULL.
 */
int func_set_open(struct func_set **out, const struct func_set_cfg *cfg,
		  const struct kernel_symbols *symbols);
/* NULL is fine. */
void func_set_close(struct func_set *set);
/* The default exclude list, globs that end with NULL: what kfxt's own programs call. */
const char *const *func_set_excludes(void);
/*
 * The same choice from the same symbols as text for the module (kmod/kfxt.h struct kfxt_filter): NUL-terminated
 * globs to be applied in order; the first is without '!', and each matches something. After
 * the globs come names in full, of functions that the kernel's globs cannot tell apart:
 * "!name" first, then "name". malloc'ed, *@bytes long, which may be more than the module
 * takes; 0 bytes: func_set_open() would fail. NULL: no memory.
 */
char *func_set_filter_text(const struct func_set_cfg *cfg, const struct kernel_symbols *symbols,
			   size_t *bytes);
/* Does @name match the fnmatch(3) pattern @glob? A '!' in front has no meaning here. */
bool func_glob_match(const char *glob, const char *name);
/* Does it have a wildcard? */
bool func_glob_is_wide(const char *glob);
/*
 * Up to three of @names that @word, a name or a glob, may have been meant to be, nearest
 * first, into @near; the same for kernel and for user functions.
 */
void func_names_near(const char *word, const char *const *names, unsigned int cnt,
		     char near[3][128]);

#endif
