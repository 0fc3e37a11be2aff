/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One trigger as it is given on the command line: "runq>5ms:comm=db*".
 */
#ifndef TRIGGER_WORD_H
#define TRIGGER_WORD_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trigger_kind {
	TRIGGER_RUNQ,		/* waits for a CPU: from the wakeup or preemption on */
	TRIGGER_OFFCPU,		/* does not run, for whatever reason */
	TRIGGER_BLOCKED,	/* in uninterruptible sleep (D) */
	TRIGGER_SLICE,		/* runs without a break */
	TRIGGER_BUSY,		/* share of a window in which a CPU is not idle */
	TRIGGER_IDLE,		/* share of a window in which it is */
	TRIGGER_IRQ,		/* interrupts and softirqs */
	TRIGGER_SYSCALL,
	TRIGGER_FUNC,
	TRIGGER_LOG,		/* lines of the kernel's log */
	TRIGGER_MARK,		/* markers of programs */
	TRIGGER_EVENT,		/* a tracepoint, with a filter on its fields or without */
	TRIGGER_EXIT,		/* a process exits: the last of its threads does */
	TRIGGER_PSI,		/* pressure, of which the kernel has triggers itself */
	TRIGGER_KIND_CNT,
	TRIGGER_SCHEDULING = TRIGGER_IDLE,	/* up to this one: evaluated once nothing is missing before */
};

/* How the process of an exit trigger ends. */
enum trigger_exit {
	TRIGGER_EXIT_ANY,
	TRIGGER_EXIT_SIGNAL,
	TRIGGER_EXIT_CODE,
};

struct trigger_word {
	enum trigger_kind kind;
	const char *name;	/* of the kind */
	char *word;		/* as given */
	uint64_t threshold;	/* ns, or millionths of the window */
	uint64_t window_ns;	/* busy, idle, psi */
	char *text;		/* glob of names of calls or texts of markers, regular expression of lines, tracepoint, resource */
	bool is_full;		/* psi */
	regex_t *regex;		/* log */
	enum trigger_exit exit;	/* exit */
	int exit_value;		/* the signal or code; -1: any signal, any code but 0 */
	char *source;		/* what must be recorded, as triggers_sources() returns it; NULL: scheduling */
	/* Selectors, all of which must hold; NULL or false: any thread. */
	char *comm;		/* glob */
	char *cgroup;		/* directory, without a slash at its end; "" is the root */
	char *container;	/* begin of its id */
	char *unit;		/* glob */
	bool has_pid;
	uint64_t pid;
};

/* 0, -ENOMEM, or -EINVAL with one line in @why. Owns copies: trigger_word_fini() in the first case. */
int trigger_word_parse(struct trigger_word *out, const char *word, char *why, size_t size);
void trigger_word_fini(struct trigger_word *w);
/* Does it select by the cgroup of a process? And if it does, those of the cgroup @path? */
bool trigger_word_selects_cgroup(const struct trigger_word *w);
bool trigger_word_has_cgroup(const struct trigger_word *w, const char *path);

#endif
