/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions about the running kernel that its BTF answers.
 */
#ifndef KERNEL_BTF_H
#define KERNEL_BTF_H

#include <stdbool.h>
#include <stdint.h>

/* Can it be read? 0 or -errno. */
int kernel_btf_find(void);
/*
 * From a CPU's run queue to its preempt_count, both per-CPU variables, in bytes;
 * 0 if the kernel's BTF does not have it.
 */
int64_t kernel_btf_preempt_count_from_rq(void);
/* Can programs find preempt_count, there or in the task? */
bool kernel_btf_has_preempt_count(void);
/* Does the kernel have this tracepoint, with at least that many arguments? */
bool kernel_btf_has_tracepoint(const char *name, unsigned int nargs);
/* Sets @has[i] to whether it has the tracepoint @names[i], at one reading of the BTF; NULL: no. */
void kernel_btf_have_tracepoints(const char *const *names, unsigned int cnt, bool *has);

/* Does the kernel count how often it skips programs of type tracepoint, as it does others? */
bool kernel_btf_counts_skipped_tracepoints(void);
/* The id of the kernel's function of this name in its BTF, or -ENOENT. */
int kernel_btf_function(const char *name);

/* The value of an enumerator, of whichever enum. */
bool kernel_btf_enumerator(const char *name, int64_t *value);
/*
 * Sets @types[i] to what the kernel function @names[i] returns, as an enum fxt_arg_type; it is
 * unchanged where the BTF does not say or nothing is returned. @names are sorted, each once.
 */
void kernel_btf_return_types(const char *const *names, unsigned int cnt, uint8_t *types);
/*
 * The BTF, some 10 MB, is read at the first question and kept; this frees it. The next question
 * reads it again.
 */
void kernel_btf_release(void);

#endif
