/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of ftrace in packets: which event has which number, and its fields as the kernel prints them.
 */
#ifndef FORMAT_PERFETTO_IN_FTRACE_H
#define FORMAT_PERFETTO_IN_FTRACE_H

#include "reader_p.h"

/* Events of which more is known than their text. */
enum pf_ftrace_number {
	PF_FTRACE_PRINT = 3, PF_FTRACE_SCHED_SWITCH = 4, PF_FTRACE_SCHED_WAKEUP = 17, PF_FTRACE_SCHED_WAKING = 20,
	PF_FTRACE_SCHED_WAKEUP_NEW = 114, PF_FTRACE_NEWTASK = 235, PF_FTRACE_PROCESS_EXIT = 238,
	PF_FTRACE_PROCESS_FORK = 239, PF_FTRACE_PROCESS_FREE = 240, PF_FTRACE_GENERIC = 327, PF_FTRACE_SYS_ENTER = 329,
	PF_FTRACE_SYS_EXIT = 330, PF_FTRACE_FUNCGRAPH_ENTRY = 437, PF_FTRACE_FUNCGRAPH_EXIT = 438, PF_FTRACE_KPROBE = 542, PF_FTRACE_FIRST_DESCRIBED = 65536
};

/* SchedSwitch, and the wakeups. */
enum pf_sched_switch {
	PF_SWITCH_PREV_COMM = 1, PF_SWITCH_PREV_PID = 2, PF_SWITCH_PREV_PRIO = 3, PF_SWITCH_PREV_STATE = 4,
	PF_SWITCH_NEXT_COMM = 5, PF_SWITCH_NEXT_PID = 6, PF_SWITCH_NEXT_PRIO = 7
};
enum pf_newtask { PF_NEWTASK_PID = 1 };
enum pf_process_exit { PF_EXIT_PID = 2 };	/* also of SchedProcessFree */
enum pf_process_fork { PF_FORK_CHILD_PID = 4 };
enum pf_sched_wakeup { PF_WAKEUP_COMM = 1, PF_WAKEUP_PID = 2, PF_WAKEUP_PRIO = 3, PF_WAKEUP_CPU = 5 };

/* An event: the format of its fields is that of ftrace_text.c, NULL if their names are not known. */
struct pf_ftrace_row {
	uint32_t number;
	const char *system, *name, *format;
};

/* ftrace_rows.c: events whose text means no more than its fields, ascending by number. */
extern const struct pf_ftrace_row pf_more_ftrace_rows[];
extern const size_t pf_more_ftrace_cnt;

/* An event that a driver writes as a marker, as such in r->text; false: it is none. */
bool pf_driver_mark(struct pf_reader *r, uint32_t number, struct pf_cursor message);

/*
 * The fields of event @number as text in r->text; *@name and *@system are set, empty if they are not known.
 * False: nothing is known of events of that number, its fields are f1, f2 and so on.
 */
bool pf_ftrace_text(struct pf_reader *r, const struct pf_sequence *q, uint32_t number, struct pf_cursor message,
		    struct fxt_str *name, struct fxt_str *system);

/* described.c */

/* Keeps what a bundle says of a number. 0 or -ENOMEM. */
int pf_describe(struct pf_reader *r, struct pf_cursor message);
/* As pf_ftrace_text(), of an event that is described; false: it is not, nothing is done. */
bool pf_described_text(struct pf_reader *r, uint32_t number, struct pf_cursor message, struct fxt_str *name,
		       struct fxt_str *system);

#endif
