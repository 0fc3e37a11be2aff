/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources of events: what each one is, what it needs, its BPF programs and maps, and how the
 * deferred records of these programs become records of the trace.
 */
#ifndef CAPTURE_SOURCE_H
#define CAPTURE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/shed.h"
#include "ledger_row.h"
#include "source_ctx.h"
#include "source_parts.h"

struct bpf_object;
struct event_ring;

enum {
	SOURCE_BARE	= 1,	/* what open() may return: it needs none of its programs */
	SOURCE_OUT	= 2,	/* and: it is not selected after all, and has no state */
};

struct source_ops {
	const char *name;		/* the word for -e; NULL: it is chosen otherwise, and not listed */
	const char *about;		/* one line of kfxt list --presets */
	const char *shows;		/* the next: what it becomes in the trace */
	bool by_default;
	bool counts_skipped;		/* itself: the kernel's counts of its programs are left out */
	bool few_records;		/* if there is no other, smaller rings will do */
	enum ledger_source class;	/* of what it records */
	struct source_tracepoint tracepoints[SOURCE_PARTS_MAX];	/* required */
	const char *file;		/* required, too */
	const struct feature *features;	/* rows of kfxt check, up to one without a name; NULL: none */
	const struct source_option *options;	/* NULL: none */
	const char *programs[SOURCE_PARTS_MAX];	/* loaded only if the source is selected */
	const char *optional[SOURCE_PARTS_MAX];	/* the same, where the kernel has the tracepoint: "on_" before it */
	const char *maps[SOURCE_PARTS_MAX];	/* of these programs alone: created if it is selected */
	const char *events[SOURCE_PARTS_MAX];	/* it is a shorter word for these, "SYSTEM:GLOB" */

	unsigned int raw_words_min;	/* that its deferred records have at least */

	/* What its events cost, for kfxt estimate and --budget: */
	const char *many;		/* what they are called, and it is where it is late; NULL: its name */
	unsigned int typical_ns;	/* of one where that is not measured: its programs, and to call them; 0: of most */
	bool loads_copies;		/* of a program, itself: the runs of these are not counted */
	/*
	 * The class that its programs ask event_shed() about: SHED_CALLS for one of LEDGER_CALLS, another for
	 * LEDGER_EVENTS; and how often programs still run for an event that is left out. 0: none is, ever.
	 */
	enum shed_class shed_class;
	unsigned int shed_runs;

	/* System calls that it makes while it records and that others do not, up to .call SOURCE_LAST_CALL. */
	const struct source_call *calls;

	/*
	 * All below may be NULL, and are called in this order. @s is the source's own state, NULL if
	 * it has none.
	 *
	 * Whether a word of -e, without its "!", is for this source. NULL: only its name is.
	 */
	bool (*takes)(const char *word);
	/*
	 * Selects what @word says or, with @out, takes it out again; allocates its state at the first
	 * word. A source that has this and no name gets all words that are for no other. 1: some of
	 * it is selected now, 0: nothing is, -ENOMEM or, with one line in @why, -EINVAL or -ENOTSUP.
	 */
	int (*select)(void **s, const char *word, bool out, char *why, size_t size);
	/*
	 * The same of a word that a trigger needs, before all others, which may take it out again. NULL: as select(). The word
	 * lives as long as the recording.
	 */
	int (*need)(void **s, const char *word, char *why, size_t size);
	/* Whether something of what such a word means is selected. NULL: if the source is. */
	bool (*has)(const void *s, const char *word);
	/* It is selected: allocates its state. 0, SOURCE_*, -ENOMEM or, with one line in @why, -EINVAL or -ENOTSUP. */
	int (*open)(void **s, const struct source_ctx *c, char *why, size_t size);
	/* Before loading: constants, sizes of maps, which of its programs are loaded. 0 or -errno. */
	int (*prepare)(void *s, struct source_ctx *c);
	/* After loading: fills its maps. 0 or -errno. */
	int (*loaded)(void *s, struct source_ctx *c);
	/*
	 * Attaches the programs that libbpf does not attach by itself, where the kernel waits for no more than interrupts.
	 * 0 or -errno, *@which then being what that failed for.
	 */
	int (*attach)(void *s, struct source_ctx *c, const char **which);
	/*
	 * The others, in a process of its own, with a copy of @s and c->aside, which both have: .aside() says how many bytes
	 * it takes, 0: nothing has to be attached. -ECANCELED if c->progress said no. At the end, or when it is not to record any
	 * more, that process counts what was skipped, then detaches; without detach_aside() when it ends. take_aside() reads c->aside, at any time.
	 */
	size_t (*aside)(const void *s);
	int (*attach_aside)(void *s, struct source_ctx *c, const char **which);
	void (*count_aside)(void *s, struct source_ctx *c);
	void (*detach_aside)(void *s, struct source_ctx *c);
	void (*take_aside)(void *s, const struct source_ctx *c);
	/* After the strings of the recording: its own, if it has any of a fixed index. 0 or the writer's error. */
	int (*header)(void *s, struct fxt_writer *w);
	/* The recording begins: completes or allocates its state. 0 or -errno. */
	int (*start)(void **s, struct source_ctx *c);
	/* Whether it did not record when the recording began, since the kernel let it wait. */
	bool (*late)(const void *s, struct source_late *late);
	/* Readable when the recorder should not wait any longer; -1: nothing to wait for, for now. */
	int (*fd)(const void *s);
	/*
	 * Reads what does not come through the rings: before and after the recorder looks at how much is
	 * in them. What is older than the records of the rings is there with the second one, what is
	 * newer than those of the round before with the first. 0 or -errno.
	 */
	int (*before_look)(void *s, uint64_t now_ns);
	int (*after_look)(void *s);
	/* The ring of the @i'th of c->cpus that its deferred records are in; NULL: the event ring of that CPU. */
	struct event_ring *(*ring)(void *s, unsigned int i);
	/* Where it counts by itself: adds what its programs counted on the @i'th of c->cpus. */
	void (*row)(const void *s, unsigned int i, struct ledger_row *row);
	/* Capabilities that it needs while it records, as bits of their numbers. */
	uint64_t (*capabilities)(const void *s);
	/*
	 * Writes a deferred record of its kind; *@written is how many records it became, also on
	 * failure. 0, -EINVAL: no such record, -ENOMEM, or the writer's error.
	 */
	int (*decode)(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written);
	/*
	 * Called a few times a second and, with @final, at the end, when no program writes any more:
	 * writes what no program reports, and counts it in @c. 0 or the writer's error.
	 */
	int (*poll)(void *s, struct source_ctx *c, uint64_t now_ns, bool final);
	/*
	 * A file ends and the recording goes on: writes to c->w what began before @cut_ns and has not ended, as slices that
	 * end then with arguments `unfinished` and `continues`, since each is written as a whole once it ends. Programs go on
	 * meanwhile. Adds to *@written how many records that were. 0, -errno or the writer's error.
	 */
	int (*write_open)(void *s, struct source_ctx *c, uint64_t cut_ns, uint64_t *written);
	/* Events that the kernel overwrote on the @i'th of c->cpus, as far as has been read. */
	uint64_t (*overwritten)(const void *s, unsigned int i);
	/*
	 * Between these two looks, events of the rings were lost or, if @overwritten, overwritten. What is
	 * older than @from_ns has been taken. 0 or -errno.
	 */
	int (*gap)(void *s, bool overwritten, uint64_t from_ns, uint64_t to_ns);
	/* The recording has ended: what is read once more, and then polled with @final, is the last. Never waits. */
	void (*stop)(void *s, struct source_ctx *c);
	/* Adds to @counts. */
	void (*count)(const void *s, const struct source_ctx *c, struct source_counts *counts);
	/* Undoes attach(), and may wait; more than once is fine. */
	void (*detach)(void *s, struct source_ctx *c);
	void (*close)(void *s);
};

/* The tracepoint or the file (a path) that this kernel lacks and the source needs; NULL: none. */
const char *source_lacks(const struct source_ops *ops);
/* Before loading: which of its programs are loaded, which of its maps created. */
void source_prepare(const struct source_ops *ops, struct bpf_object *obj, bool selected);
/* To which class of what can be left out its events belong; SHED_CNT: to none. */
enum shed_class source_shed_class(const struct source_ops *ops);
/* As decode(), for any record of a deferred record's header. */
int source_decode(const struct source_ops *ops, void *s, struct source_ctx *c, const uint64_t *rec,
		  unsigned int *written);
/*
 * For poll() at the end and, with @continues, for write_open(): decodes what a map of enum open_word records has, which began
 * and did not end before @end_ns. Adds to *@written; what is not written is lost at the end. 0 or the first error.
 */
int source_write_open(const struct source_ops *ops, void *s, struct source_ctx *c, const char *map, uint64_t end_ns,
		      bool continues, uint64_t *written);

#endif
