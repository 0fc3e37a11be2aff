/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions about the running kernel that its BTF answers.
 */
#ifndef RECORD_KERNEL_BTF_H
#define RECORD_KERNEL_BTF_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From a CPU's run queue to its preempt_count, both per-CPU variables, in bytes;
 * 0 if the kernel's BTF does not tell.
 */
int64_t kernel_btf_preempt_count_from_rq(void);
/* Can programs find preempt_count, there or in the task? */
bool kernel_btf_has_preempt_count(void);
/* Does the kernel have this tracepoint, with at least that many arguments? */
bool kernel_btf_has_tracepoint(const char *name, unsigned int nargs);

/* Does the kernel have a function of this name? */
bool kernel_btf_has_function(const char *name);
/* Its id in the kernel's BTF, or -ENOENT. */
int kernel_btf_function(const char *name);

struct func;
/*
 * Sets .return_type of kernel functions, sorted by name, to what each returns as an
 * enum fxt_arg_type; it stays as it is where the BTF does not tell, or nothing is returned.
 */
void kernel_btf_return_types(struct func *const *funcs, unsigned int cnt);

#endif
