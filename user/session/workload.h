/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that is recorded: made before the recording begins, let go when
 * it does, so that its very first instruction is in the trace.
 */
#ifndef SESSION_WORKLOAD_H
#define SESSION_WORKLOAD_H

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
bool workload_started(const struct workload *w);
pid_t workload_pid(const struct workload *w);
/* Readable when it has ended. */
int workload_fd(const struct workload *w);
/*
 * Waits until it has ended. If it still runs, it is sent SIGTERM, and, once @hurry_fd is readable
 * (-1: never), SIGKILL: with its process group, which is one of its own unless we are in the
 * foreground of a terminal. @slow (NULL: nothing) is called once, a few seconds after SIGTERM.
 * Returns its wait(2) status.
 */
int workload_finish(struct workload *w, int hurry_fd, void (*slow)(void *ctx), void *ctx);
/* The last signal that workload_finish() sent to end it; 0: it ended by itself. */
int workload_sent(const struct workload *w);
/* Also ends and reaps what was not finished. NULL is fine. */
void workload_close(struct workload *w);

#endif
