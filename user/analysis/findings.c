// SPDX-License-Identifier: GPL-2.0
/*
 * Problems of a trace: their names, and how many of each were found where.
 */
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name, *text;
} problems[VERIFY_PROBLEM_CNT] = {
	[VERIFY_DAMAGE]			= { "damage",
		"bytes that are not a record; what they held is lost" },
	[VERIFY_UNKNOWN_RECORD]		= { "unknown_record",
		"record types the specification does not have; readers skip them" },
	[VERIFY_UNRESOLVED]		= { "unresolved_index",
		"string or thread indexes that were never registered; Perfetto drops such records" },
	[VERIFY_NO_MAGIC]		= { "no_magic",
		"the file does not begin with the magic number; Perfetto does not open it" },
	[VERIFY_NO_INITIALIZATION]	= { "no_initialization",
		"times before an initialization record defines the tick rate" },
	[VERIFY_BAD_TIME]		= { "bad_time",
		"times that do not fit 64 bits of nanoseconds" },
	[VERIFY_BAD_STATE]		= { "bad_state",
		"thread states the specification does not have" },
	[VERIFY_BAD_CPU]		= { "bad_cpu",
		"CPU numbers above 4095, on which Perfetto aborts" },
	[VERIFY_BAD_ARGUMENT]		= { "bad_argument",
		"weights are missing, or arguments have a type that Perfetto does not take" },
	[VERIFY_IDLE_KOID]		= { "idle_koid",
		"idle weight on a thread other than 0, or thread 0 without it" },
	[VERIFY_TIME_BACK]		= { "time_back",
		"context switches of one CPU that go back in time in file order" },
	[VERIFY_SAMPLE_UNKNOWN]		= { "sample_unknown",
		"stack samples with stacks, frames or names that are not in the trace" },
	[VERIFY_SAMPLE_UNUSABLE]	= { "sample_unusable",
		"stack samples without a time, a thread or the state they need" },
	[VERIFY_NO_END]			= { "no_end",
		"a recording cut short: its end or its ledger is missing" },
	[VERIFY_OUTSIDE_SESSION]	= { "outside_session",
		"scheduling before the start or after the stop of the recording" },
	[VERIFY_NOT_RUNNING]		= { "not_running",
		"a thread is switched out on a CPU where another was running" },
	[VERIFY_TWO_CPUS]		= { "two_cpus",
		"a thread runs on two CPUs at once" },
	[VERIFY_WOKEN_AWAKE]		= { "woken_awake",
		"wakeups of threads that are running or runnable already" },
	[VERIFY_NOT_WOKEN]		= { "not_woken",
		"threads that went to sleep and run without a wakeup" },
	[VERIFY_DEAD]			= { "dead",
		"threads that are woken or run after their end" },
	[VERIFY_NO_THREAD]		= { "no_thread_object",
		"threads without a kernel object; Perfetto puts them into process 0" },
	[VERIFY_NO_PROCESS]		= { "no_process_object",
		"threads whose process is not recorded or has no kernel object" },
	[VERIFY_RAN]			= { "ran",
		"threads that run though the recorder reported that they did not" },
	[VERIFY_GAP]			= { "gap",
		"slices of lost events that differ from the gaps or from what was counted" },
	[VERIFY_SAMPLE_TIME]		= { "sample_time",
		"stack samples before the start or after the stop of the recording" },
	[VERIFY_SAMPLE_THREAD]		= { "sample_thread",
		"stack samples of threads without a kernel object" },
	[VERIFY_LEDGER_SWITCHES]	= { "ledger_switches",
		"the ledger's counts of context switches differ from the file's" },
	[VERIFY_LEDGER_WAKEUPS]		= { "ledger_wakeups",
		"the ledger's count of wakeups differs from the file's" },
	[VERIFY_LEDGER_CALLS]		= { "ledger_calls",
		"the ledger's count of function calls differs from the file's" },
	[VERIFY_LEDGER_LOGS]		= { "ledger_logs",
		"the ledger's count of kernel log lines differs from the file's" },
	[VERIFY_LEDGER_SUM]		= { "ledger_sum",
		"a ledger does not add up: seen is not the sum of the rest" },
	[VERIFY_JOINT]			= { "joint",
		"a file does not begin where the one before it ends" },
	[VERIFY_LEDGER_EVENTS]		= { "ledger_events",
		"the ledger's count of other events differs from the file's" },
};

const char *verify_problem_name(enum verify_problem problem)
{
	return problems[problem].name;
}

const char *verify_problem_text(enum verify_problem problem)
{
	return problems[problem].text;
}

void verify_found(struct verify *v, enum verify_problem problem, uint64_t offset,
		  const char *fmt, ...)
{
	struct verify_finding *f = &v->findings[problem];
	va_list ap;

	if (f->count < VERIFY_OFFSETS_MAX)
		f->offsets[f->count] = offset;
	if (!f->count++) {
		va_start(ap, fmt);
		vsnprintf(f->first, sizeof(f->first), fmt, ap);
		va_end(ap);
	}
}

uint64_t verify_count(const struct verify *v)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		sum += v->findings[i].count;
	return sum;
}

int verify_init(struct verify *v)
{
	int err;

	*v = (struct verify){ 0 };
	err = timeline_open(&v->tl);
	return err ? err : verify_samples_open(&v->samples);
}

int verify_finish(struct verify *v, const struct fxt_reader *reader)
{
	int err;

	fxt_reader_stats(reader, &v->stats);
	err = verify_sense_run(v);
	if (!err)
		verify_samples_finish(v->samples, v);
	return err;
}

void verify_fini(struct verify *v)
{
	verify_samples_close(v->samples);
	timeline_close(v->tl);
}
