// SPDX-License-Identifier: GPL-2.0
/*
 * A trace in a few numbers.
 */
#include "summary.h"

#include <inttypes.h>
#include <stdio.h>

static void find_duration(struct summary *s, const struct timeline *tl)
{
	const struct timeline_session *session = &tl->session;
	uint64_t to_ns = 0;

	if (tl->events_cnt) {
		s->from_ns = tl->events[0].ts_ns;
		to_ns = tl->events[tl->events_cnt - 1].ts_ns;
	}
	if (session->has_start)
		s->from_ns = session->start_ns;
	if (session->has_stop)
		to_ns = session->stop_ns;
	s->duration_ns = to_ns > s->from_ns ? to_ns - s->from_ns : 0;
}

void summary_init(struct summary *s, const struct timeline *tl,
		  const struct fxt_reader_stats *stats)
{
	size_t i;

	*s = (struct summary){
		.switches = tl->switches, .wakeups = tl->wakeups, .bytes = stats->bytes,
		.lost_names = tl->session.lost_names, .cpus = num_cpus_count(&tl->cpus),
		.threads = tl->threads_cnt,
	};
	find_duration(s, tl);
	for (i = 0; i < tl->session.ledgers_cnt; i++) {
		s->lost_switches += tl->session.ledgers[i].lost_switches;
		s->lost_wakeups += tl->session.ledgers[i].lost_wakeups;
		s->unseen_switches += tl->session.ledgers[i].unseen_switches;
	}
}

uint64_t summary_lost(const struct summary *s)
{
	return s->lost_switches + s->lost_wakeups + s->lost_names + s->unseen_switches;
}

void summary_print_text(const struct summary *s)
{
	printf("duration:         %" PRIu64 ".%09" PRIu64 " s\n", s->duration_ns / 1000000000,
	       s->duration_ns % 1000000000);
	printf("CPUs:             %u\n", s->cpus);
	printf("context switches: %" PRIu64 "\n", s->switches);
	printf("wakeups:          %" PRIu64 "\n", s->wakeups);
	printf("threads:          %zu\n", s->threads);
	printf("bytes:            %" PRIu64 "\n", s->bytes);
	if (summary_lost(s))
		printf("lost:             %" PRIu64 " switches, %" PRIu64 " wakeups, %" PRIu64
		       " names, %" PRIu64 " switches unseen\n", s->lost_switches, s->lost_wakeups,
		       s->lost_names, s->unseen_switches);
	else
		printf("lost:             nothing\n");
}

void summary_print_json(const struct summary *s)
{
	printf("\"from_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64 ",\"cpus\":%u", s->from_ns,
	       s->duration_ns, s->cpus);
	printf(",\"switches\":%" PRIu64 ",\"wakeups\":%" PRIu64, s->switches, s->wakeups);
	printf(",\"threads\":%zu,\"bytes\":%" PRIu64, s->threads, s->bytes);
	printf(",\"lost\":{\"switches\":%" PRIu64 ",\"wakeups\":%" PRIu64 ",\"names\":%" PRIu64,
	       s->lost_switches, s->lost_wakeups, s->lost_names);
	printf(",\"unseen_switches\":%" PRIu64 "}", s->unseen_switches);
}
