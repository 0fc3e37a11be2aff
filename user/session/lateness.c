// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder's time, by the kernel's own account of it.
 */
#include "lateness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* "time on a CPU, time waiting for one, timeslices", in ns. */
static uint64_t run_delay_ns(int fd)
{
	char text[96], *delay;
	ssize_t len = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return LATE_NO_DELAY;
	text[len] = 0;
	delay = strchr(text, ' ');
	return delay ? strtoull(delay, NULL, 10) : LATE_NO_DELAY;
}

void lateness_open(struct lateness *l, uint64_t sleep_ns)
{
	*l = (struct lateness){ .fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC), .sleep_ns = sleep_ns };
}

uint64_t lateness_lost(const struct cpu_ctl *ctl)
{
	return __atomic_load_n(&ctl->lost_switches, __ATOMIC_RELAXED) +
	       __atomic_load_n(&ctl->lost_wakeups, __ATOMIC_RELAXED) +
	       __atomic_load_n(&ctl->calls.lost, __ATOMIC_RELAXED) + __atomic_load_n(&ctl->logs.lost, __ATOMIC_RELAXED) +
	       __atomic_load_n(&ctl->raws.lost, __ATOMIC_RELAXED) -
	       __atomic_load_n(&ctl->unpaired_raws, __ATOMIC_RELAXED) -
	       __atomic_load_n(&ctl->calls.contended, __ATOMIC_RELAXED) -
	       __atomic_load_n(&ctl->logs.contended, __ATOMIC_RELAXED) -
	       __atomic_load_n(&ctl->raws.contended, __ATOMIC_RELAXED);
}

struct late_span late_span_of(const struct late_times *from, const struct late_times *to, uint64_t sleep_ns)
{
	const bool has_delay = from->delay_ns != LATE_NO_DELAY && to->delay_ns != LATE_NO_DELAY;
	const uint64_t all = to->now_ns - from->now_ns;
	uint64_t took[LATE_CAUSE_CNT] = {
		[LATE_NOT_SCHEDULED] = has_delay ? to->delay_ns - from->delay_ns : 0,
		[LATE_OUTPUT] = to->output.ns - from->output.ns,
		[LATE_BUSY] = to->cpu_ns - from->cpu_ns,
	};
	const uint64_t known = took[LATE_NOT_SCHEDULED] + took[LATE_OUTPUT] + took[LATE_BUSY] + sleep_ns;
	enum late_cause cause, most = LATE_UNKNOWN;

	/* Else it may have waited for a CPU as well. */
	took[LATE_STOPPED] = has_delay && all > known ? all - known : 0;
	for (cause = LATE_NOT_SCHEDULED; cause < LATE_CAUSE_CNT; cause++)
		if (took[cause] > took[most])
			most = cause;
	if (took[most] <= all / 2)
		return (struct late_span){ .cause = LATE_UNKNOWN };
	return (struct late_span){
		.cause = most, .ns = took[most],
		.at_most = most == LATE_OUTPUT && to->output.unsure_ns > from->output.unsure_ns,
	};
}

const char *late_cause_name(enum late_cause cause)
{
	static const char *const names[LATE_CAUSE_CNT] = {
		[LATE_UNKNOWN] = "", [LATE_NOT_SCHEDULED] = "waited for a CPU", [LATE_OUTPUT] = "output", [LATE_BUSY] = "busy",
		[LATE_STOPPED] = "stopped",
	};

	return names[cause];
}

struct late_span lateness_look(struct lateness *l, struct output_time output, bool lost)
{
	const struct late_times now = {
		clock_ns(CLOCK_BOOTTIME), run_delay_ns(l->fd), clock_ns(CLOCK_THREAD_CPUTIME_ID), output,
	};
	struct late_span span = { .cause = LATE_UNKNOWN };

	if (lost && l->before.now_ns) {
		span = late_span_of(&l->before, &now, l->sleep_ns);
		if (span.ns > l->longest[span.cause].ns)
			l->longest[span.cause] = span;
	}
	l->before = now;
	return span;
}

struct late_span lateness_longest(const struct lateness *l)
{
	struct late_span longest = { .cause = LATE_UNKNOWN };
	enum late_cause cause;

	for (cause = LATE_NOT_SCHEDULED; cause < LATE_CAUSE_CNT; cause++)
		if (l->longest[cause].ns > longest.ns)
			longest = l->longest[cause];
	return longest;
}

void lateness_close(struct lateness *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
