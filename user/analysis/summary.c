// SPDX-License-Identifier: GPL-2.0
/*
 * A trace in a few numbers.
 */
#include "summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"

static const char *const keys[SUMMARY_LOSS_CNT] = {
	[SUMMARY_SWITCHES]	= "switches",
	[SUMMARY_WAKEUPS]	= "wakeups",
	[SUMMARY_NAMES]		= "names",
	[SUMMARY_UNREPORTED]	= "unreported_switches",
	[SUMMARY_PROG_SKIPPED_NAMES] = "prog_skipped_names",
	[SUMMARY_PROG_SKIPPED]	= "prog_skipped",
	[SUMMARY_SHARED]	= "shared_koids",
	[SUMMARY_UNREPORTED_WAKEUPS] = "unreported_wakeups",
	[SUMMARY_CALLS]		= "calls",
	[SUMMARY_MISSED]	= "missed_calls",
	[SUMMARY_RATELIMITED]	= "ratelimited_calls",
	[SUMMARY_LOGS]		= "logs",
	[SUMMARY_EVENTS]	= "events",
	[SUMMARY_SAMPLES]	= "samples",
	[SUMMARY_WRITE_FAILED]	= "write_failed",
	[SUMMARY_PROCSTAT_EXCESS] = "procstat_excess_switches",
};

static void find_duration(struct summary *s, const struct timeline *tl)
{
	const struct timeline_session *session = &tl->session;
	uint64_t to_ns = 0;

	if (tl->events_cnt) {
		s->from_ns = tl->events[0].ts_ns;
		to_ns = tl->events[tl->events_cnt - 1].ts_ns;
	} else {
		s->from_ns = tl->others_from_ns;
		to_ns = tl->others_to_ns;
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
		.losses = session->losses,
		.cpus = num_cpus_count(&tl->cpus), .threads = tl->threads_cnt,
	};
	find_duration(s, tl);
	s->lost[SUMMARY_NAMES] = session->lost_names;
	s->lost[SUMMARY_PROG_SKIPPED_NAMES] = session->losses.names_late;
	s->lost[SUMMARY_PROG_SKIPPED] = session->prog_skipped;
	s->lost[SUMMARY_SHARED] = session->shared_koids;
	s->lost[SUMMARY_CALLS] = session->lost_calls;
	s->lost[SUMMARY_MISSED] = session->missed_calls;
	s->lost[SUMMARY_EVENTS] = session->lost_events;
	s->lost[SUMMARY_WRITE_FAILED] = timeline_write_failed(tl);
	s->lost[SUMMARY_PROCSTAT_EXCESS] = session->procstat_excess;
	for (i = 0; i < session->ledgers_cnt; i++) {
#define X(id, name, one, many) s->lost[SUMMARY_##id] += session->ledgers[i].lost[LOSS_##id];
		EVENT_CLASSES(X)
#undef X
		s->lost[SUMMARY_UNREPORTED] += session->ledgers[i].unreported_switches;
		s->lost[SUMMARY_UNREPORTED_WAKEUPS] += session->ledgers[i].unreported_wakeups;
		s->lost[SUMMARY_RATELIMITED] += session->ledgers[i].ratelimited_calls;
	}
}

bool summary_has_gaps(const struct summary *s)
{
	return s->lost[SUMMARY_SWITCHES] || s->lost[SUMMARY_WAKEUPS] || s->lost[SUMMARY_UNREPORTED] ||
	       s->lost[SUMMARY_WRITE_FAILED];
}

/* Of one that was repaired or has no ledger nobody knows. */
static void print_unknown(const struct summary *s)
{
	printf("lost:             unknown: %s\n",
	       s->repaired ? "the trace was repaired" :
	       s->has_session ? "the ledger is missing" : "not recorded by kfxt");
}

static const char *print_line(const char *label, const char *text)
{
	printf("%-17s %s\n", label, text);
	return "";
}

static void print_lost(const struct summary *s)
{
	const char *label = "lost:";
	char text[LOSSES_TEXT];
	enum loss_reason reason;
	unsigned int i;

	print_line("seen:", losses_sum_text(&s->losses, text));
	for (reason = 0; reason < LOSS_REASON_CNT; reason++)
		if (losses_text(&s->losses, reason, text))
			label = print_line(label, text);
	if (losses_names_text(&s->losses, text))
		label = print_line(label, text);
	if (*label)
		print_line(label, "nothing");
	for (i = 0; losses_note_text(&s->losses, i, text); i++)
		print_line("note:", text);
}

void summary_print_text(const struct summary *s)
{
	char size[NUM_SIZE_TEXT];

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
	printf("size:             %s\n", num_size_text(s->bytes, size));
	if (s->has_ledger)
		print_lost(s);
	else
		print_unknown(s);
}

void summary_print_json(const struct summary *s, struct json *j)
{
	unsigned int i;

	json_key_u64(j, "from_ns", s->from_ns);
	json_key_u64(j, "duration_ns", s->duration_ns);
	json_key_u64(j, "cpus", s->cpus);
	json_key_u64(j, "switches", s->switches);
	json_key_u64(j, "wakeups", s->wakeups);
	json_key_u64(j, "calls", s->calls);
	json_key_u64(j, "logs", s->logs);
	json_key_u64(j, "events", s->events);
	json_key_u64(j, "threads", s->threads);
	json_key_u64(j, "bytes", s->bytes);
	json_key(j, "lost");
	if (!s->has_ledger) {
		json_null(j);
		return;
	}
	json_object(j);
	for (i = 0; i < SUMMARY_LOSS_CNT; i++)
		json_key_u64(j, keys[i], s->lost[i]);
	json_end(j);
}
