/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's mechanisms for probing functions: what each can do, and whether it
 * is to be had here, which is found out by trying it on one function.
 */
#ifndef SOURCE_FUNC_MECHANISM_H
#define SOURCE_FUNC_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/features.h"

/* Best first, for kernel functions and then for those of programs. */
enum func_via_id {
	FUNC_VIA_SESSION,
	FUNC_VIA_MULTI,
	FUNC_VIA_MODULE,
	FUNC_VIA_FENTRY,
	FUNC_VIA_KPROBE,
	FUNC_VIA_UPROBE_MULTI,
	FUNC_VIA_UPROBE,
	FUNC_VIA_CNT
};

struct func_via {
	bool user;		/* functions of programs */
	bool entry;		/* can be used without returns */
	bool sees_return;
	bool sees_parent;
	bool no_globs;		/* cannot match names of threads: helpers that call back need BTF */
	bool by_address;	/* kernel functions must have addresses that are known */
	unsigned int max;	/* functions; 0: any number */
	/* Tries it; if it is missing @why says what came back. */
	bool (*have)(char *why, size_t size);
};

/* By enum func_via_id: names as in --func-via ("kprobe.multi"), what for, remedies; and one without a name. */
extern const struct feature func_features[FUNC_VIA_CNT + 1];
/* By enum func_via_id, FUNC_VIA_CNT of them. */
extern const struct func_via func_vias[];

/* What a mechanism must be able to do. */
struct func_want {
	bool user;
	bool returns, parents;
	bool comms;			/* of threads by name */
	bool addresses;			/* they are known */
	unsigned int cnt;		/* functions */
	bool wide;			/* by globs: the module comes first for many */
	const char *const *forced;	/* names the user gave; others of the same kind are out */
	unsigned int forced_cnt;
};

/*
 * The best there is for @want, or FUNC_VIA_CNT, with the reason for each that is not
 * to be had in @why, a line each.
 */
enum func_via_id func_via_choose(const struct func_want *want, char *why, size_t size);
/* A mechanism by its name, or FUNC_VIA_CNT. */
enum func_via_id func_via_by_name(const char *name);

#endif
