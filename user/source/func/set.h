/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which kernel functions globs mean: chosen from what ftrace can trace, or, where
 * tracefs cannot be read, from the symbols of the kernel.
 */
#ifndef SOURCE_FUNC_SET_H
#define SOURCE_FUNC_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/suggest.h"
#include "kernel/symbols.h"
#include "kernel_func.h"

struct func_set {
	struct kernel_func *funcs;	/* by entry address, then name; each entry address
					 * once, and each name and module that has none */
	unsigned int cnt;
	enum func_source source;
	unsigned int excluded;		/* matched, but the default exclude list kept them out */
	bool wide;			/* some glob without '!' had a wildcard */
	const char *unmatched;		/* the first glob without '!' that matched nothing (the
					 * caller's string), or NULL */
	char near[SUGGEST_CNT][SUGGEST_BYTES];	/* names like it, nearest first; "" if there are fewer */
	char *names;			/* memory of the names */
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

#endif
