/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records on their way to a thread that takes its time: blocks of whole records, a
 * bounded number of them. Each stays until it has been written, so that what was not
 * can be reported record by record.
 */
#ifndef IO_SINK_QUEUE_H
#define IO_SINK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_hooks.h"
#include "output_time.h"
#include "records.h"

#define SINK_BLOCK_BYTES	(1U << 20)

struct sink_queue;

struct sink_queue_cfg {
	int (*write)(void *ctx, const void *data, size_t len);	/* one block: 0 or -errno */
	void *ctx;
	struct thread_hooks thread;	/* an error of its begin() is that of every block */
	bool any_bytes;			/* not FXT: blocks may end anywhere */
};

/*
 * Starts the thread, which calls write() for one block after the other, as long as that
 * returns 0. It takes no signals. 0 or -errno.
 */
int sink_queue_open(struct sink_queue **out, const struct sink_queue_cfg *cfg);
/*
 * Adds @len bytes of whole records; waits while there is no space. 0 with all of them added,
 * or the error @write returned, for whichever records: *@added bytes were.
 */
int sink_queue_add(struct sink_queue *q, const void *data, size_t len, size_t *added);
/* Hands over a block that is not full if its first record has waited for some time. 0 or @write's error. */
int sink_queue_flush(struct sink_queue *q);
/* Waits until all is written and the thread has ended; nothing can be added then. 0 or @write's error. */
int sink_queue_finish(struct sink_queue *q);
/* After sink_queue_finish() has failed: the records that were added but not written, in order. */
void sink_queue_left(const struct sink_queue *q, records_lost_fn lost, void *ctx);
/* How long its feeder has waited for space. */
struct output_time sink_queue_waited(const struct sink_queue *q);
/* NULL is fine. */
void sink_queue_close(struct sink_queue *q);

#endif
