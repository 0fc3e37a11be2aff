/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls: which are selected, and what their deferred records become.
 */
#ifndef SOURCE_SYSCALL_H
#define SOURCE_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_writer;
struct kfxt_bpf;
struct syscalls;

/* Is it "syscalls" or "syscalls:LIST" with names of calls, not of their tracepoints? */
bool syscalls_are_meant(const char *word);
/*
 * Adds to *@calls, which may be NULL, what @word means, or takes it out of it. 0, -ENOMEM or,
 * with one line in @why, -EINVAL: there is no such call, -ENOTSUP: not here.
 */
int syscalls_choose(struct syscalls **calls, const char *word, bool out, char *why, size_t size);
/* Adds what @word alone means, whatever was chosen before; as above. */
int syscalls_need(struct syscalls **calls, const char *word, char *why, size_t size);
/* Whether any of the calls that @word means is selected. */
bool syscalls_have(const struct syscalls *calls, const char *word);
bool syscalls_any(const struct syscalls *calls);
/* Sets the constants of the programs, before they are loaded. */
void syscalls_prepare(struct syscalls *calls, struct kfxt_bpf *skel);
/*
 * Writes a deferred record of at least SYSCALL_TEXT words; *@written is how many records it became.
 * 0 or the writer's error.
 */
int syscalls_write(struct syscalls *calls, struct fxt_writer *w, const uint64_t *rec, unsigned int *written);
/*
 * Writes the calls that have not returned, up to @end_ns; adds their number to *@written. @continues: programs go on, and each
 * will be written as a whole. 0, -errno or the writer's error.
 */
int syscalls_write_unfinished(struct syscalls *calls, struct fxt_writer *w, uint64_t end_ns, bool continues, uint64_t *written);
/* NULL is fine. */
void syscalls_close(struct syscalls *calls);

#endif
