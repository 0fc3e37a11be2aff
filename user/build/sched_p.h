/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between sched.c and wake.c.
 */
#ifndef BUILD_SCHED_P_H
#define BUILD_SCHED_P_H

#include "build_p.h"

#define MAYBE_MAX_NS	1000000U	/* between a waking and the switch-out it raced with */

/* Arguments of scheduling records: fixed strings only, so no table has to be asked. */
uint64_t sched_arg_i32(enum fixed name, int32_t v);
uint64_t sched_arg_ref(enum fixed name, enum fixed v);
/* The stacks that follow the record in the text. */
void sched_put_stacks(struct builder *b, unsigned int *words, unsigned int *nargs);

void sched_set_state(struct builder *b, struct thread *t, enum sched_state state, uint64_t ts);
/* What is known of the thread at that time. */
enum sched_state sched_state_at(const struct builder *b, const struct thread *t, uint64_t ns);
/* Whether a record of this time comes after all there are of the thread. */
bool sched_in_order(const struct builder *b, const struct thread *t, uint64_t ns);
/* Before @t is switched in on @c. */
int sched_ensure_woken(struct builder *b, struct cpu *c, struct thread *t, uint64_t ts);

#endif
