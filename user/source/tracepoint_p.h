/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the choice of tracepoints and their programs.
 */
#ifndef SOURCE_TRACEPOINT_P_H
#define SOURCE_TRACEPOINT_P_H

#include "bpf/abi/tracepoint.h"
#include "fxt/fxt.h"
#include "tracepoint.h"

struct bpf_link;
struct kernel_symbols;
struct printk_formats;
struct tracefs_event;

/* What a trigger needs of a tracepoint. */
struct need {
	const char *word;		/* borrowed */
	char *filter;			/* NULL: all records */
	struct tracepoint_info info;	/* its tests */
};

struct tracepoint {
	char *name;			/* "sched:sched_switch"; what follows the colon is the event */
	struct fxt_str system, event;
	struct tracepoint_format *format;
	struct tracepoint_info info;	/* for the kernel side */
	struct bpf_link *link;
	int count_fd;			/* the program that only counts; 0: none */
	bool by_glob;
	bool by_user, is_out;		/* the last word of the user selects it, or takes it out */
	char *filter;			/* of that word; NULL: all records */
	struct need *needs;
	unsigned int needs_cnt, needs_cap;
};

struct tracepoints {
	bool presets;
	struct tracepoint *all;
	unsigned int cnt, cap;
	struct tracefs_event *offered;	/* NULL: not read yet */
	size_t offered_cnt;
	struct kernel_symbols *symbols;	/* NULL: nothing needs them, or they cannot be had */
	struct printk_formats *literals;
	struct tracepoint_info *infos;	/* shared with the kernel side */
	size_t infos_bytes;
	unsigned int refused;
	const char *first_refused;
	bool is_busy;			/* none could be chosen, since tracefs cannot be read */
};

/* Frees one that is not attached. */
void tracepoint_drop(struct tracepoint *tp);

#endif
