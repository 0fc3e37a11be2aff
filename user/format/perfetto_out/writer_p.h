/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the writer share. Private to user/format/perfetto.
 */
#ifndef FORMAT_PERFETTO_OUT_WRITER_P_H
#define FORMAT_PERFETTO_OUT_WRITER_P_H

#include <stdbool.h>

#include "base/pieces.h"
#include "format/perfetto/decode.h"
#include "format/perfetto/encode.h"
#include "fxt/fxt.h"
#include "writer.h"
#include "events.h"
#include "sched.h"
#include "tasks.h"

struct pf_out {
	struct pf_out_cfg cfg;
	struct fxt_reader *reader;
	struct pieces input;		/* what the reader was not given yet */
	bool written;			/* something is in the output for good */
	int err;
	uint64_t left_out[PF_LEFT_CNT];
	bool begun;			/* a record with a time was taken */
	struct out_name provider;	/* its name, as the first record of one says it */
	bool has_system, has_clocks;	/* packets say what the machine is, and what its clocks show */
	struct pb_buf blob;		/* of Perfetto's type: the beginning of a packet */
	struct pb_buf out;		/* packets to be handed on */
	struct out_tasks tasks;
	struct out_cpus sched;
	struct out_events events;
	uint64_t newest_ns;		/* of all records */
};

/* packets.c: takes a BLOB of Perfetto's type: packets as they are, but for those that are made here. 0 or -ENOMEM. */
int out_packets_take(struct pf_out *o, const void *data, size_t len);
/* samples.c: a packet of another sequence than the recorder's own. 0 or -ENOMEM. */
int out_samples_put(struct pf_out *o, struct pf_cursor packet);
/* What must be known before anything else, where no BLOB has it. @first is the first record with a time. */
void out_packets_begin(struct pf_out *o, const struct fxt_record *first, uint64_t ts_ns);

#endif
