/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which calls are under way when a recording ends, where not all returns are reported: a call without one may have
 * returned. A BPF iterator hands out the kernel stacks of threads that do not run. It is opened while that is allowed; the
 * recorder has no right to read /proc/TID/stack.
 */
#ifndef SOURCE_FUNC_INSIDE_H
#define SOURCE_FUNC_INSIDE_H

#include <stdint.h>

struct funcs;
struct kfxt_bpf;

/* Attaches and opens the iterator, where it is needed. 0 or -errno. */
int inside_attach(struct funcs *f, struct kfxt_bpf *skel);
/* More than once is fine. */
void inside_detach(struct funcs *f);
/*
 * For each slot of f->open a bit for each of its calls, the first one's lowest: the function is on the thread's stack, and
 * no call after it was taken to be that one. Once only. To be freed; 0 or -errno.
 */
int inside_read(struct funcs *f, uint64_t **inside);

#endif
