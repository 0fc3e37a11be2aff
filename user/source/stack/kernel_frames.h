/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of the kernel, without those that are there because something is traced.
 */
#ifndef SOURCE_STACK_KERNEL_FRAMES_H
#define SOURCE_STACK_KERNEL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/symbol.h"

/*
 * The frames at @pcs, @cnt of them and innermost first, into @out, which has space for as many; returns how many. In a stack
 * that was taken in a tracepoint (@in_tracepoint) those of the tracepoint and of its program are on top; in any, between a
 * function with a BPF program at its entry or its return and its caller, is that of a trampoline.
 */
unsigned int kernel_frames_of(struct symbolizer *s, const uint64_t *pcs, unsigned int cnt, bool in_tracepoint, struct symbol *out);

#endif
