// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt on a kernel without the tracepoint sched_exit_tp: sleeps are sampled by a kprobe then or, where there are none
 * either, in the switch.
 */
#include <stdbool.h>
#include <string.h>

#include "kernel/btf.h"

bool __real_kernel_btf_has_tracepoint(const char *name, unsigned int nargs);
bool __wrap_kernel_btf_has_tracepoint(const char *name, unsigned int nargs);

bool __wrap_kernel_btf_has_tracepoint(const char *name, unsigned int nargs)
{
	return strcmp(name, "sched_exit_tp") && __real_kernel_btf_has_tracepoint(name, nargs);
}
