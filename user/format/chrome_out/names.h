/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of processes and threads, which may be anywhere in a trace: kept until it ends. Memory
 * grows with their number.
 */
#ifndef FORMAT_CHROME_OUT_NAMES_H
#define FORMAT_CHROME_OUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "fxt/fxt.h"
#include "buf.h"

/* A process or a thread; one table each. */
struct write_name {
	uint64_t koid;
	uint64_t process;		/* of a thread */
	bool has_process, from_object;	/* it is known; by the thread's own record, not by an event */
	bool named, has_events, has_order;
	int64_t order;			/* among those viewers show */
	char *name;			/* bytes of the trace */
	size_t len;
	char *args;			/* what else its record says: members of a JSON object */
	size_t args_len;
};

struct write_names {
	struct map by_koid;
	struct write_name *names;
	size_t cnt, cap;
};

/* All zero is an empty table. */
void write_names_fini(struct write_names *n);
/* The place of @koid in names[], added if it is new; *@at is set. 0 or -ENOMEM. */
int write_names_get(struct write_names *n, uint64_t koid, size_t *at);
/* What a kernel object record says; the last one of a koid counts. 0 or -ENOMEM. */
int write_names_object(struct write_names *n, const struct fxt_record *rec);
/* An event is on @t: its process is that of the thread, if the thread's own record does not say so. 0 or -ENOMEM. */
int write_names_thread(struct write_names *n, struct fxt_thread t);
/*
 * Whether viewers have a use for the idle threads (koid 0 of @threads), or for the process of the kernel (koid 0 of
 * processes): something is on them. Importers name them in each trace.
 */
bool write_names_has_idle(const struct write_names *threads);
bool write_names_has_kernel(const struct write_names *threads);
/* The metadata events of one, with ",\n" between; nothing if it has neither name, arguments nor order. */
void write_names_put(struct write_buf *b, const struct write_name *name, bool is_process);

#endif
