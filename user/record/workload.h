/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that is recorded: made before the recording begins, let go when
 * it does, so that its very first instruction is in the trace.
 */
#ifndef RECORD_WORKLOAD_H
#define RECORD_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

struct rlimit;
struct workload;

/*
 * Forks; the child waits. @argv ends with NULL. With @stdout_taken, because the
 * trace goes there, what the command prints goes to stderr. It may have as many
 * open as @files says. 0 or -errno.
 */
int workload_open(struct workload **out, char **argv, bool stdout_taken, const struct rlimit *files);
/* Lets it run @argv; returns once it does. -errno: of execvp(3), or -ESRCH if it died. */
int workload_start(struct workload *w);
pid_t workload_pid(const struct workload *w);
/* Readable when it has ended. */
int workload_fd(const struct workload *w);
/*
 * Ends it with SIGTERM if it still runs, and with SIGKILL if it does not heed
 * that for a few seconds or until @hurry_fd is readable (-1: never). Returns its
 * wait(2) status.
 */
int workload_finish(struct workload *w, int hurry_fd);
/* Also ends and reaps what was not finished. NULL is fine. */
void workload_close(struct workload *w);

#endif
