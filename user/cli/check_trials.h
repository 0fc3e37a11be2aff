/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this machine has, tried in a process of its own: the kernel lets some trials wait, for a grace period or a
 * worker, and whoever waits there cannot be ended.
 */
#ifndef CLI_CHECK_TRIALS_H
#define CLI_CHECK_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct check_trials;
struct source_ops;

/* Begins to try all features of the recorder and of @sources, in the order of feature_at(). 0 or -errno. */
int check_trials_open(struct check_trials **out, const struct source_ops *const *sources);
/*
 * Whether this machine has the @i'th one; if not @why says why, as also if that trial has not ended @limit_ms after this
 * call. Once one has not, the others are not waited for.
 */
bool check_trials_have(struct check_trials *t, unsigned int i, unsigned int limit_ms, char *why, size_t size);
/* Returns the process if it has not ended, otherwise 0. NULL is fine. */
pid_t check_trials_close(struct check_trials *t);

#endif
