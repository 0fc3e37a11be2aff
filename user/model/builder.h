/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace builder: gives events meaning and writes them as FXT. Used by every
 * importer. Keeps the current thread of each CPU and the state of each thread, so that
 * the file is free of contradictions (kfxt verify) even where its source is not.
 *
 * Koids are ids as in kfxt(1), recycled ones too. From 4,200,000,000 on they are
 * of what is no thread of Linux: processes +1 "interrupts", +2 "lost events" and
 * +3 "counters"; per CPU the idle thread (+10,000 + cpu; koid 0 is that of all
 * CPUs), what no thread is known of (+20,000), interrupts (+30,000), softirqs
 * (+40,000), preemption and interrupts off (+50,000, +60,000), losses (+70,000);
 * from +1,000,000 on second tracks of threads, for markers inside of traced calls; from
 * +50,000,000 on tracks whose ids in the source Linux could not have given (builder_track()).
 * Process +4 "global" is what belongs to the trace as a whole.
 *
 * A record without a time has the last one of its CPU. In a whole trace without times
 * each CPU begins at 0 and advances by the durations that are printed.
 */
#ifndef MODEL_BUILDER_H
#define MODEL_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "builder_stats.h"
#include "event.h"

struct builder;
struct fxt_writer;

/* Writes the file's head; borrows @w. 0 or -errno. */
int builder_open(struct builder **out, struct fxt_writer *w, const struct builder_cfg *cfg);
/*
 * Before the first event: the source was made of a trace of the provider @name (borrowed), and what follows is that
 * provider's again. Async slices without an end get none.
 */
void builder_set_source(struct builder *b, const char *name);
/*
 * The track of that specification, made if it is new; its number is @*track until
 * builder_close(). 0, or -ENOMEM, -EINVAL if the kind or the CPU (at most 4095) is none.
 */
int builder_track(struct builder *b, const struct model_track *spec, uint32_t *track);
/*
 * Writes one event; later times than INT64_MAX are INT64_MAX. 0 or -errno: -EINVAL if it has
 * no track, one that its kind cannot be on, or an unknown kind, else the writer's.
 */
int builder_add(struct builder *b, const struct model_event *event);
/* Whether an async slice of @id is open then: without one MODEL_ASYNC_INSTANT is an instant, which has no id. */
bool builder_has_async(const struct builder *b, uint64_t id, uint64_t ts_ns);
/* Whether a step of flow @id has a begin to be drawn from. */
bool builder_has_flow(const struct builder *b, uint64_t id);
/*
 * An end of flow @id is to be written later, under the id @to, which nothing else has: what begins under @id
 * until then is another flow. 0 or -ENOMEM.
 */
int builder_move_flow(struct builder *b, uint64_t id, uint64_t to);
/* Ends every CPU, closes slices, writes names. 0 or -errno. */
int builder_end(struct builder *b);
void builder_stats(const struct builder *b, struct builder_stats *stats);
/* NULL is fine. */
void builder_close(struct builder *b);

#endif
