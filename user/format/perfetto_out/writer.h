/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FXT records become packets of a Perfetto trace.
 *
 * Packets are made as records are taken; only scheduling waits until nothing older is to be expected,
 * since a packet of it says who woke a thread by the CPU the waker runs on. Memory grows with the number
 * of processes, threads, tracks and different strings; at most 65536 scheduling records wait.
 */
#ifndef FORMAT_PERFETTO_OUT_WRITER_H
#define FORMAT_PERFETTO_OUT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_out;

/* Records that packets have no place for. */
enum pf_left_out {
	PF_LEFT_CPU,		/* switches and wakeups on CPUs from 1024 on */
	PF_LEFT_TIME,		/* later than 2^63 ns */
	PF_LEFT_COUNTER,	/* without a number */
	PF_LEFT_EVENT,		/* of an unknown type; async events beyond the number of tracks */
	PF_LEFT_OBJECT,		/* neither process nor thread */
	PF_LEFT_PACKET,		/* of a BLOB: damaged, or cut */
	PF_LEFT_BLOB,		/* not of Perfetto's type */
	PF_LEFT_MODULE,
	PF_LEFT_MAPPING,
	PF_LEFT_BACKTRACE,
	PF_LEFT_UNKNOWN,
	PF_LEFT_DAMAGED,
	PF_LEFT_TEXT,		/* strings that were written without bytes that are not UTF-8 */
	PF_LEFT_CNT
};

struct pf_out_cfg {
	/* Takes whole packets: 0 or -errno. */
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
	bool keep;	/* records that wait, for pf_out_lost() */
};

/* *@out is untouched on failure (-ENOMEM). */
int pf_out_open(struct pf_out **out, const struct pf_out_cfg *cfg);
/* An fxt_write_fn; @writer is the struct pf_out. 0, or the first error there was. */
int pf_out_record(void *writer, const void *records, size_t len);
/* How many so far. */
uint64_t pf_out_left_out(const struct pf_out *o, enum pf_left_out kind);
/* Hands on all but scheduling that waits; or that, too, at the end: 0 or the first error there was. */
int pf_out_flush(struct pf_out *o, bool end);
/* With cfg.keep: what was handed on so far is in the output. */
void pf_out_written(struct pf_out *o);
/*
 * With cfg.keep: what was handed on since pf_out_written() is not in the output. Calls @lost, which may be NULL, with
 * those scheduling records taken before it whose packets are missing, each cut to 9 words; all records taken after
 * it are missing, too. None waits then, and packets that follow refer to nothing that is missing.
 */
void pf_out_lost(struct pf_out *o, void (*lost)(void *ctx, const void *records, size_t len), void *ctx);
/* Writes what waits, and closes: 0 or the first error there was. NULL is fine. */
int pf_out_close(struct pf_out *o);

#endif
