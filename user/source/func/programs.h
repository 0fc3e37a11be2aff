/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions' BPF programs: which are loaded, what they know, where they are
 * attached. Called by source.c in this order.
 */
#ifndef SOURCE_FUNC_PROGRAMS_H
#define SOURCE_FUNC_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"

struct func_results;
struct funcs;
struct kfxt_bpf;

/* Before loading: programs, constants, sizes of maps. @f NULL: no functions. 0 or -errno. */
int func_probes_prepare(struct funcs *f, struct kfxt_bpf *skel, unsigned int cpus);
/* After loading: what the programs look up. 0 or -errno. */
int func_probes_fill(struct funcs *f, struct kfxt_bpf *skel);
/*
 * 0 or -errno: -ECANCELED if @progress said no, -ENOENT if the kernel took none of
 * the functions. Those that it refuses are marked so and left out.
 */
int func_probes_attach(struct funcs *f, struct kfxt_bpf *skel, progress_fn progress, void *ctx);
/* After the last call that is recorded: counts what the kernel did not hand over. */
void func_probes_count_missed(struct funcs *f);
/* Detaches all; what was under way has ended when it returns. May be called more than once. */
void func_probes_detach(struct funcs *f);
/*
 * What a process that attaches and counts gives to another one, which was the same before: in memory of so many bytes that
 * both share, zeroed at first. Nothing else of the process' @f comes back.
 */
size_t func_results_bytes(const struct funcs *f);
void func_results_give(const struct funcs *f, struct func_results *to);
void func_results_take(struct funcs *f, const struct func_results *from);

#endif
