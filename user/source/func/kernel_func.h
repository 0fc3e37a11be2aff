/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel function that may be traced, where it is known from, and which are to be chosen.
 */
#ifndef SOURCE_FUNC_KERNEL_FUNC_H
#define SOURCE_FUNC_KERNEL_FUNC_H

#include <stdbool.h>
#include <stdint.h>

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

struct func_set_cfg {
	const char *const *globs;	/* as typed: fnmatch(3) patterns; '!' in front takes out
					 * again, in order */
	unsigned int globs_cnt;
	bool no_excludes;		/* do not apply the default exclude list */
	const char *tracefs;		/* NULL: wherever it is mounted */
};

#endif
