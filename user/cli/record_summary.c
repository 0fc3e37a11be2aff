// SPDX-License-Identifier: GPL-2.0
/*
 * What became of what happened, for people and for scripts.
 */
#include "record_summary.h"
#include "self_opts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../record/clock.h"
#include "../record/events.h"
#include "../record/funcs.h"
#include "../record/recorder.h"
#include "func_opts.h"
#include "json.h"
#include "log.h"

#define WHERE	"rings were full"

/* Messages of each loss; NULL: told in another way, or never there. */
static const char *const messages[LEDGER_SOURCE_CNT][LEDGER_LOSS_CNT] = {
	[LEDGER_SWITCHES] = {
		[LEDGER_UNSEEN] = "%llu switches were not reported by the kernel: what ran then is drawn as a gap",
	},
	[LEDGER_CALLS] = {
		[LEDGER_RING_FULL] =
			"lost %llu calls: " WHERE " (use a larger -m, fewer functions or --func-max-rate)",
		[LEDGER_TOO_DEEP] = "lost %llu calls: too deep or too many at once to wait for their returns",
		[LEDGER_UNRETURNED] =
			"lost %llu calls: the kernel did not tell of their returns (too many at once)",
		[LEDGER_UNWRITTEN] = "lost %llu calls: they could not be written",
		[LEDGER_SKIPPED] =
			"%llu calls were not traced: they came while a call was being traced on that CPU",
	},
	[LEDGER_LOGS] = {
		[LEDGER_RING_FULL] = "lost %llu lines of the kernel's log, or parts of lines: " WHERE " (use a larger -m)",
		[LEDGER_UNWRITTEN] = "lost %llu lines of the kernel's log: they could not be written",
	},
	[LEDGER_EVENTS] = {
		[LEDGER_RING_FULL] = "lost %llu events: " WHERE " (use a larger -m, or fewer events)",
		[LEDGER_UNWRITTEN] = "lost %llu events: they could not be written",
	},
	[LEDGER_NAMES] = {
		[LEDGER_RING_FULL] =
			"lost %llu names: too many processes came at once; threads that ended since may lack one",
	},
};

static const char *bytes_text(uint64_t bytes, char *buf, size_t size)
{
	if (bytes < 10 << 10)
		snprintf(buf, size, "%llu bytes", (unsigned long long)bytes);
	else if (bytes < 10 << 20)
		snprintf(buf, size, "%.1f KiB", bytes / 1024.0);
	else
		snprintf(buf, size, "%.1f MiB", bytes / 1048576.0);
	return buf;
}

/* 1204331 as 1 204 331. */
static const char *groups_text(uint64_t number, char *buf, size_t size)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number), i;
	size_t n = 0;

	for (i = 0; i < len && n + 2 < size; i++) {
		if (i && (len - i) % 3 == 0)
			buf[n++] = ' ';
		buf[n++] = digits[i];
	}
	buf[n] = 0;
	return buf;
}

static uint64_t all_lost(const struct ledger_row *row)
{
	return ledger_wanted(row) - ledger_kept(row);
}

static uint64_t skipped(const struct recorder_totals *t)
{
	uint64_t sum = 0;
	enum ledger_source s;

	for (s = 0; s < LEDGER_SOURCE_CNT; s++)
		if (s != LEDGER_CALLS)
			sum += t->of[s].lost[LEDGER_SKIPPED];
	return sum;
}

/* Events that are not in the trace, as far as they are our own loss. */
static uint64_t lost(const struct recorder_totals *t)
{
	uint64_t sum = 0;
	enum ledger_source s;

	for (s = 0; s < LEDGER_NAMES; s++)
		sum += all_lost(&t->of[s]) - t->of[s].lost[LEDGER_UNSEEN];
	return sum - t->of[LEDGER_CALLS].lost[LEDGER_SKIPPED];
}

/* ", 12 calls, 7 events, 3 log lines, 9 filtered": what was asked for, and lines where there are any. */
static const char *events_text(const struct record_summary *s, const struct recorder_totals *t, char *buf, size_t size)
{
	const uint64_t lines = t->of[LEDGER_LOGS].records, events = t->of[LEDGER_EVENTS].records;
	int len = 0;

	buf[0] = 0;
	if (s->funcs)
		len = snprintf(buf, size, ", %" PRIu64 " calls", t->of[LEDGER_CALLS].records);
	if (events_any_but_log(s->events) || events)
		len += snprintf(buf + len, size - len, ", %" PRIu64 " events", events);
	if (lines)
		len += snprintf(buf + len, size - len, ", %" PRIu64 " log line%s", lines, lines == 1 ? "" : "s");
	if (s->filter)
		snprintf(buf + len, size - len, ", %" PRIu64 " filtered",
			 t->of[LEDGER_SWITCHES].filtered + t->of[LEDGER_WAKEUPS].filtered);
	return buf;
}

void record_summary_progress(const struct record_summary *s)
{
	struct recorder_totals t;
	char bytes[32], events[128];

	recorder_totals(s->recorder, &t);
	fprintf(stderr, "\r%.0f s: %" PRIu64 " switches, %" PRIu64 " wakeups%s, %" PRIu64 " lost, %s \033[K",
		(clock_ns(CLOCK_BOOTTIME) - t.start_ns) / 1e9, t.of[LEDGER_SWITCHES].records,
		t.of[LEDGER_WAKEUPS].records, events_text(s, &t, events, sizeof(events)), lost(&t),
		bytes_text(t.bytes, bytes, sizeof(bytes)));
}

/* ---- at the end ----------------------------------------------------------------------- */

static void show_two(const struct recorder_totals *t, enum ledger_loss loss, const char *why)
{
	const uint64_t switches = t->of[LEDGER_SWITCHES].lost[loss], wakeups = t->of[LEDGER_WAKEUPS].lost[loss];

	if (switches || wakeups)
		log_warn("lost %" PRIu64 " switches and %" PRIu64 " wakeups: %s", switches, wakeups, why);
}

static void show_unaccounted(const struct recorder_totals *t)
{
	enum ledger_source s;

	for (s = 0; s < LEDGER_SOURCE_CNT; s++)
		if (t->of[s].lost[LEDGER_UNACCOUNTED])
			log_warn("%" PRIu64 " %s are unaccounted for: seen, and then neither in the trace nor in a count of losses",
				 t->of[s].lost[LEDGER_UNACCOUNTED], ledger_source_names[s]);
}

static void show_losses(const struct recorder_totals *t)
{
	unsigned int source, loss;

	show_two(t, LEDGER_RING_FULL, WHERE " (use a larger -m, or a faster disk)");
	show_two(t, LEDGER_UNWRITTEN, "they could not be written");
	for (source = 0; source < LEDGER_SOURCE_CNT; source++)
		for (loss = 0; loss < LEDGER_LOSS_CNT; loss++)
			if (messages[source][loss])
				log_warn_count(t->of[source].lost[loss], messages[source][loss]);
	log_warn_count(t->untold_switches > t->of[LEDGER_SWITCHES].lost[LEDGER_UNSEEN] ? t->untold_switches : 0,
		       "at least %llu switches are in the kernel's own count (/proc/stat) and were told to nobody");
	log_warn_count(t->of[LEDGER_WAKEUPS].implied,
		       "%llu wakeups were not reported by the kernel: they stand where their threads ran again (mark implied), "
		       "or the sleep before them was not (mark gap)");
	log_warn_count(skipped(t), "lost %llu events: the kernel skipped a program that was running already");
	show_unaccounted(t);
	log_debug("%llu events did not pass their filters", (unsigned long long)t->filtered_events);
	if (t->bare_logs && t->kmsg_err)
		log_warn("log lines have no level: /dev/kmsg: %s (CAP_SYSLOG helps)", strerror(-t->kmsg_err));
	else if (t->bare_logs)
		log_debug("%llu log lines have no level: /dev/kmsg did not have them (any more)",
			  (unsigned long long)t->bare_logs);
	log_warn_count(t->shared_koids,
		       "%llu threads share a koid with an earlier one: their ids were recycled too often");
}

static void show_cpus(const struct record_summary *s)
{
	struct ledger_row switches, wakeups;
	unsigned int i;

	for (i = 0; i < s->cpus_cnt; i++) {
		recorder_cpu(s->recorder, i, LEDGER_SWITCHES, &switches);
		recorder_cpu(s->recorder, i, LEDGER_WAKEUPS, &wakeups);
		log_debug("cpu %u: %" PRIu64 " switches, %" PRIu64 " wakeups, lost %" PRIu64 " and %" PRIu64,
			  s->cpus[i], switches.records, wakeups.records, all_lost(&switches), all_lost(&wakeups));
	}
}

/* What there is, of what there should be. */
static void sum_up(const struct recorder_totals *t, uint64_t *kept, uint64_t *wanted)
{
	const uint64_t unseen = t->of[LEDGER_SWITCHES].lost[LEDGER_UNSEEN];
	enum ledger_source s;

	*kept = 0;
	*wanted = t->untold_switches > unseen ? t->untold_switches - unseen : 0;
	for (s = 0; s < LEDGER_NAMES; s++) {
		*kept += ledger_kept(&t->of[s]);
		*wanted += ledger_wanted(&t->of[s]);
	}
}

void record_summary_print(const struct record_summary *s)
{
	struct recorder_totals t;
	char bytes[32], raw[32], memory[32], events[128], of[2][32];
	uint64_t kept, wanted;

	recorder_totals(s->recorder, &t);
	sum_up(&t, &kept, &wanted);
	show_cpus(s);
	log_debug("memory: %s locked in rings and maps, %s with the recorder's own",
		  bytes_text(t.memory_bytes, memory, sizeof(memory)),
		  bytes_text(t.memory_bytes + self_memory_bytes(), bytes, sizeof(bytes)));
	log_info("%s: %.3f s, %u %s, %" PRIu64 " switches, %" PRIu64 " wakeups%s, %" PRIu64 " lost, %s%s%s", s->output,
		 (t.stop_ns - t.start_ns) / 1e9, s->cpus_cnt, s->cpus_cnt == 1 ? "CPU" : "CPUs",
		 t.of[LEDGER_SWITCHES].records, t.of[LEDGER_WAKEUPS].records,
		 events_text(s, &t, events, sizeof(events)), lost(&t), bytes_text(t.bytes, bytes, sizeof(bytes)),
		 t.raw_bytes == t.bytes ? "" : ", uncompressed ",
		 t.raw_bytes == t.bytes ? "" : bytes_text(t.raw_bytes, raw, sizeof(raw)));
	log_info("kept %s of %s events", groups_text(kept, of[0], sizeof(of[0])),
		 groups_text(wanted, of[1], sizeof(of[1])));
	show_losses(&t);
	if (s->funcs)
		func_opts_show_end(s->funcs, &t.of[LEDGER_CALLS]);
}

enum exit_code record_summary_verdict(const struct record_summary *s)
{
	struct recorder_totals t;
	struct events_counts events;
	struct funcs_counts funcs;
	uint64_t kept, wanted;

	recorder_totals(s->recorder, &t);
	sum_up(&t, &kept, &wanted);
	if (kept != wanted || t.of[LEDGER_WAKEUPS].implied || all_lost(&t.of[LEDGER_NAMES]) || t.shared_koids ||
	    s->cpus_changed)
		return EXIT_PROBLEMS;
	events_counts(s->events, &events);
	funcs_counts(s->funcs, &funcs);
	return events.refused || funcs.refused || s->nameless ? EXIT_INCOMPLETE : EXIT_OK;
}

/* ---- for scripts ---------------------------------------------------------------------- */

static void print_row(const struct ledger_row *row)
{
	unsigned int i;

	printf("{\"seen\": %" PRIu64 ", \"taken\": %" PRIu64 ", \"filtered\": %" PRIu64 ", \"shed\": %" PRIu64
	       ", \"records\": %" PRIu64 ", \"implied\": %" PRIu64,
	       row->seen, row->taken, row->filtered, row->shed, row->records, row->implied);
	for (i = 0; i < LEDGER_LOSS_CNT; i++)
		printf(", \"%s\": %" PRIu64, ledger_loss_names[i], row->lost[i]);
	printf("}");
}

static void print_cpu(const struct record_summary *s, unsigned int i)
{
	enum ledger_source source;
	struct ledger_row row;

	printf("%s\n    {\"cpu\": %u", i ? "," : "", s->cpus[i]);
	for (source = 0; source < LEDGER_NAMES; source++) {
		recorder_cpu(s->recorder, i, source, &row);
		printf(",\n     \"%s\": ", ledger_source_names[source]);
		print_row(&row);
	}
	printf("}");
}

int record_summary_print_json(const struct record_summary *s)
{
	struct recorder_totals t;
	enum ledger_source source;
	uint64_t kept, wanted;
	unsigned int i;

	recorder_totals(s->recorder, &t);
	sum_up(&t, &kept, &wanted);
	printf("{\n  \"output\": ");
	json_print_text(s->output);
	printf(",\n  \"duration_ns\": %" PRIu64 ",\n  \"bytes\": %" PRIu64 ",\n  \"raw_bytes\": %" PRIu64
	       ",\n  \"memory_bytes\": %" PRIu64, t.stop_ns - t.start_ns, t.bytes, t.raw_bytes, t.memory_bytes);
	printf(",\n  \"kept\": %" PRIu64 ",\n  \"of\": %" PRIu64 ",\n  \"complete\": %s", kept, wanted,
	       record_summary_verdict(s) == EXIT_OK ? "true" : "false");
	printf(",\n  \"untold_switches\": %" PRIu64 ",\n  \"shared_koids\": %" PRIu64 ",\n  \"total\": {",
	       t.untold_switches, t.shared_koids);
	for (source = 0; source < LEDGER_SOURCE_CNT; source++) {
		printf("%s\n    \"%s\": ", source ? "," : "", ledger_source_names[source]);
		print_row(&t.of[source]);
	}
	printf("\n  },\n  \"cpus\": [");
	for (i = 0; i < s->cpus_cnt; i++)
		print_cpu(s, i);
	printf("\n  ]\n}\n");
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}
