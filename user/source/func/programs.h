/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions' BPF programs: which are loaded, what they know, where they are
 * attached. Called by source.c in this order.
 */
#ifndef SOURCE_FUNC_PROGRAMS_H
#define SOURCE_FUNC_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"

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
void func_probes_stop(struct funcs *f);
/*
 * Detaches all; what was under way has ended when it returns. With @only_closes nothing waits: another process has
 * the same descriptors, and does it.
 */
void func_probes_detach(struct funcs *f, bool only_closes, progress_fn progress, void *ctx);

#endif
