/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of one recording after one another, as `cat` joins them. What a file has only because it is one of several would
 * be there twice: events with an argument `continues` at its end, which a later file has as a whole, and wakeups with an
 * argument `carried` at its beginning, which the file before has. Both are left out where the files follow each other
 * without a gap: a CPU begins at the time at which it ended in the file before. Elsewhere they may be all there is, and stay.
 *
 * So what comes after the first such event is kept until the next file shows what it is.
 */
#ifndef FORMAT_FXT_JOINT_H
#define FORMAT_FXT_JOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fxt/fxt.h"

#define FXT_JOINT_BYTES_MAX	(64U << 20)	/* kept at most: the end of a file and the beginning of the next one */

struct fxt_joint_part {
	size_t at, len;
};

struct fxt_joint_stop {
	uint64_t ts;
	uint16_t cpu;
};

/* All zero is one that has seen nothing. */
struct fxt_joint {
	char *kept;				/* whole records */
	size_t len, cap;
	struct fxt_joint_part *parts;		/* of these, what has `continues` */
	size_t parts_cnt, parts_cap;
	struct fxt_joint_stop *stops;		/* of each CPU: its end in the file that ended last */
	size_t stops_cnt, stops_cap;
	bool keeps;				/* from now on records are kept */
	bool file_ended;			/* the end of @stops, and another one has begun */
	bool follows;				/* the current file, without a gap */
	uint64_t left_out;			/* events and wakeups */
};

/* What is to be done with a record. */
enum fxt_joint_how {
	FXT_JOINT_PASS,				/* it is handed on */
	FXT_JOINT_KEEP,				/* its bytes are added by fxt_joint_keep() */
	FXT_JOINT_LEAVE_OUT,
};

/*
 * Looks at the next record. *@release: before it, what is kept is to be handed on, by fxt_joint_hand_over(). An enum
 * fxt_joint_how, or -ENOMEM.
 */
int fxt_joint_take(struct fxt_joint *j, const struct fxt_record *rec, bool *release);
/* The current record, as it is read by fxt_reader_raw(); 0 or -errno of it or -ENOMEM. One that ends early is kept as far as it goes. */
int fxt_joint_keep(struct fxt_joint *j, const struct fxt_record *rec, struct fxt_reader *reader);
/* Whole records, to @record: what is kept and not left out. Nothing is kept then. 0 or the first error of @record. */
int fxt_joint_hand_over(struct fxt_joint *j, int (*record)(void *ctx, const void *data, size_t len), void *ctx);
/* The same at the end of the input: nothing is left out, as there is no next file. */
int fxt_joint_end(struct fxt_joint *j, int (*record)(void *ctx, const void *data, size_t len), void *ctx);
void fxt_joint_free(struct fxt_joint *j);

#endif
