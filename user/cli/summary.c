// SPDX-License-Identifier: GPL-2.0
/*
 * A trace in a few numbers.
 */
#include "summary.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *key, *one, *many;	/* in JSON, and in a sentence */
} losses[SUMMARY_LOSS_CNT] = {
	[SUMMARY_SWITCHES]	= { "switches", "switch", "switches" },
	[SUMMARY_WAKEUPS]	= { "wakeups", "wakeup", "wakeups" },
	[SUMMARY_NAMES]		= { "names", "name", "names" },
	[SUMMARY_UNSEEN]	= { "unseen_switches", "switch unseen", "switches unseen" },
	[SUMMARY_SKIPPED]	= { "skipped", "event of unknown kind", "events of unknown kind" },
	[SUMMARY_SHARED]	= { "shared_koids", "thread that shares a koid",
				    "threads that share a koid" },
	[SUMMARY_UNSEEN_WAKEUPS] = { "unseen_wakeups", "wakeup unseen", "wakeups unseen" },
	[SUMMARY_CALLS]		= { "calls", "call", "calls" },
	[SUMMARY_MISSED]	= { "missed_calls", "call inside of a probe", "calls inside of probes" },
	[SUMMARY_SHED]		= { "shed_calls", "call beyond the rate", "calls beyond the rate" },
	[SUMMARY_LOGS]		= { "logs", "line of the log", "lines of the log" },
	[SUMMARY_EVENTS]	= { "events", "event", "events" },
	[SUMMARY_UNWRITTEN]	= { "unwritten", "event not written", "events not written" },
	[SUMMARY_UNTOLD]	= { "untold_switches", "switch the kernel counted and did not tell",
				    "switches the kernel counted and did not tell" },
};

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
	const struct timeline_session *session = &tl->session;
	size_t i;

	*s = (struct summary){
		.switches = tl->switches, .wakeups = tl->wakeups, .calls = tl->calls, .logs = tl->logs,
		.events = tl->others, .bytes = stats->bytes,
		.has_session = session->has_start, .has_ledger = session->has_totals && !session->repaired,
		.repaired = session->repaired,
		.cpus = num_cpus_count(&tl->cpus), .threads = tl->threads_cnt,
	};
	find_duration(s, tl);
	s->lost[SUMMARY_NAMES] = session->lost_names;
	s->lost[SUMMARY_SKIPPED] = session->skipped;
	s->lost[SUMMARY_SHARED] = session->shared_koids;
	s->lost[SUMMARY_CALLS] = session->lost_calls;
	s->lost[SUMMARY_MISSED] = session->missed_calls;
	s->lost[SUMMARY_EVENTS] = session->lost_events;
	s->lost[SUMMARY_UNWRITTEN] = timeline_unwritten(tl);
	s->lost[SUMMARY_UNTOLD] = session->untold_switches;
	for (i = 0; i < session->ledgers_cnt; i++) {
		s->lost[SUMMARY_SWITCHES] += session->ledgers[i].lost_switches;
		s->lost[SUMMARY_WAKEUPS] += session->ledgers[i].lost_wakeups;
		s->lost[SUMMARY_UNSEEN] += session->ledgers[i].unseen_switches;
		s->lost[SUMMARY_UNSEEN_WAKEUPS] += session->ledgers[i].unseen_wakeups;
		s->lost[SUMMARY_CALLS] += session->ledgers[i].lost_calls;
		s->lost[SUMMARY_SHED] += session->ledgers[i].shed_calls;
		s->lost[SUMMARY_LOGS] += session->ledgers[i].lost_logs;
		s->lost[SUMMARY_EVENTS] += session->ledgers[i].lost_events;
	}
}

bool summary_has_gaps(const struct summary *s)
{
	return s->lost[SUMMARY_SWITCHES] || s->lost[SUMMARY_WAKEUPS] || s->lost[SUMMARY_UNSEEN] ||
	       s->lost[SUMMARY_UNWRITTEN];
}

static void print_lost(const struct summary *s)
{
	const char *comma = "";
	unsigned int i;

	printf("lost:             ");
	if (!s->has_ledger) {
		puts(s->repaired ? "unknown: the trace was repaired" :
		     s->has_session ? "unknown: the ledger is missing" :
				      "unknown: the trace does not tell");
		return;
	}
	for (i = 0; i < SUMMARY_LOSS_CNT; i++) {
		if (!s->lost[i])
			continue;
		printf("%s%" PRIu64 " %s", comma, s->lost[i],
		       s->lost[i] == 1 ? losses[i].one : losses[i].many);
		comma = ", ";
	}
	puts(*comma ? "" : "nothing");
}

void summary_print_text(const struct summary *s)
{
	printf("duration:         %" PRIu64 ".%09" PRIu64 " s\n", s->duration_ns / 1000000000,
	       s->duration_ns % 1000000000);
	printf("CPUs:             %u\n", s->cpus);
	printf("context switches: %" PRIu64 "\n", s->switches);
	printf("wakeups:          %" PRIu64 "\n", s->wakeups);
	if (s->calls)
		printf("function calls:   %" PRIu64 "\n", s->calls);
	if (s->logs)
		printf("log lines:        %" PRIu64 "\n", s->logs);
	if (s->events)
		printf("other events:     %" PRIu64 "\n", s->events);
	printf("threads:          %zu\n", s->threads);
	printf("bytes:            %" PRIu64 "\n", s->bytes);
	print_lost(s);
}

void summary_print_json(const struct summary *s)
{
	unsigned int i;

	printf("\"from_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64 ",\"cpus\":%u", s->from_ns,
	       s->duration_ns, s->cpus);
	printf(",\"switches\":%" PRIu64 ",\"wakeups\":%" PRIu64, s->switches, s->wakeups);
	printf(",\"calls\":%" PRIu64 ",\"logs\":%" PRIu64 ",\"events\":%" PRIu64, s->calls, s->logs, s->events);
	printf(",\"threads\":%zu,\"bytes\":%" PRIu64 ",\"lost\":", s->threads, s->bytes);
	if (!s->has_ledger) {
		printf("null");
		return;
	}
	for (i = 0; i < SUMMARY_LOSS_CNT; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "{", losses[i].key, s->lost[i]);
	putchar('}');
}
