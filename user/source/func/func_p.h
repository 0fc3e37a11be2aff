/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What select.c (choosing), programs.c and attach.c (attaching), decode.c (completing
 * events) and inside.c share. Private to them.
 */
#ifndef SOURCE_FUNC_FUNC_P_H
#define SOURCE_FUNC_FUNC_P_H

#include <stdarg.h>

#include "bpf/abi/func.h"
#include "funcs.h"

#define FUNCS_FILES_MAX	64U

struct bpf_link;
struct func_set;
struct kernel_symbols;
struct user_symbols;

struct user_file {
	char *path;
	struct elf_file *elf;
};

struct kept_name {
	struct kept_name *next;
	char *text;
};

/* Something attached: a link of libbpf's, or a link or program of our own. */
struct attachment {
	struct bpf_link *link;
	int fd;			/* -1: none */
	int prog;		/* of a program that is this one's alone, -1: none */
};

struct funcs {
	struct funcs_cfg cfg;
	struct func *funcs;		/* kernel functions first */
	unsigned int cnt, cap;
	struct func_set *set;
	struct kernel_symbols *symbols;
	struct user_symbols *user_symbols;	/* NULL: callers are not asked for */
	struct user_file files[FUNCS_FILES_MAX];
	unsigned int files_cnt;
	struct kept_name *kept;
	enum func_via_id via[2];	/* [user] */
	char via_reason[2][1024];
	struct funcs_counts counts;

	/* programs.c */
	struct attachment *attached;
	unsigned int attached_cnt, attached_cap;
	int device;			/* the module's, -1: not used */
	unsigned int cpus;		/* recorded */
	bool misses;			/* some returns are not reported */
	struct bpf_link *inside_link;	/* inside.c, then: of an iterator, */
	int inside_fd;			/* which is open, -1: not */
	const struct open_calls *open;	/* OPEN_SLOTS of them, mapped; NULL: returns are not seen */
	const struct func_rate_word *rates;	/* by CPU, then id; NULL: no limit */
};

/* As struct func_rate in bpf/func.bpf.c. */
struct func_rate_word {
	uint32_t window, calls;
	uint64_t ratelimited;
};

#endif
