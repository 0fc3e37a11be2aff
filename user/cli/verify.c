// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt verify: runs the checks of verify_format.c and verify_sense.c over a
 * trace and tells what they found.
 */
#include "verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "exit.h"
#include "json.h"
#include "log.h"
#include "opt.h"
#include "output.h"
#include "repair.h"
#include "summary.h"
#include "trace.h"

struct verify_cfg {
	bool quiet, json, repair;
	const char *output;
};

static const struct opt verify_rows[] = {
	{ "quiet", 'q', OPT_FLAG, NULL, "print nothing, only set the exit status",
	  offsetof(struct verify_cfg, quiet), NULL, 0, 0 },
	{ "json", 'j', OPT_FLAG, NULL, "print one JSON object",
	  offsetof(struct verify_cfg, json), NULL, 0, 0 },
	{ "repair", 0, OPT_FLAG, NULL, "write a whole trace of a damaged or cut one",
	  offsetof(struct verify_cfg, repair), NULL, 0, 0 },
	{ "output", 'o', OPT_STRING, "FILE", "where --repair writes it",
	  offsetof(struct verify_cfg, output), NULL, 0, 0 },
	{ 0 },
};

static const struct opt_command verify_command = {
	.name = "verify",
	.operands = "FILE",
	.summary = "Check a trace for damage and contradictions; FILE may be -, gzip, zstd.\n"
		   "Exit status: 0 clean, 3 problems found, 1 not readable.",
	.rows = verify_rows,
	.examples = "kfxt verify trace.fxt\n"
		    "kfxt record -o - -d 10 | kfxt verify -\n"
		    "kfxt verify --repair cut.fxt -o whole.fxt\n",
	.operands_min = 1,
	.operands_max = 1,
};

static const struct {
	const char *name, *text;
} problems[VERIFY_PROBLEM_CNT] = {
	[VERIFY_DAMAGE]			= { "damage",
		"bytes that are not a record; what stood there is lost" },
	[VERIFY_UNKNOWN_RECORD]		= { "unknown_record",
		"record types the specification does not have; readers skip them" },
	[VERIFY_UNRESOLVED]		= { "unresolved_index",
		"string or thread indexes nobody registered; Perfetto drops such records" },
	[VERIFY_NO_MAGIC]		= { "no_magic",
		"the file does not begin with the magic number; Perfetto does not open it" },
	[VERIFY_NO_INITIALIZATION]	= { "no_initialization",
		"times before an initialization record says how long a tick is" },
	[VERIFY_BAD_TIME]		= { "bad_time",
		"times that are no number of nanoseconds below 2^64" },
	[VERIFY_BAD_STATE]		= { "bad_state",
		"thread states the specification does not have" },
	[VERIFY_BAD_CPU]		= { "bad_cpu",
		"CPU numbers above 4095, on which Perfetto aborts" },
	[VERIFY_BAD_ARGUMENT]		= { "bad_argument",
		"weights are missing, or arguments have a type that Perfetto does not take" },
	[VERIFY_IDLE_KOID]		= { "idle_koid",
		"idle weight and thread 0 do not go together" },
	[VERIFY_TIME_BACK]		= { "time_back",
		"context switches of one CPU that go back in time along the file" },
	[VERIFY_NO_END]			= { "no_end",
		"a recording cut short: what is there may be right, its end or ledger is missing" },
	[VERIFY_OUTSIDE_SESSION]	= { "outside_session",
		"scheduling before the start or after the stop of the recording" },
	[VERIFY_NOT_RUNNING]		= { "not_running",
		"a thread leaves a CPU on which another one was running" },
	[VERIFY_TWO_CPUS]		= { "two_cpus",
		"a thread runs on two CPUs at a time" },
	[VERIFY_WOKEN_AWAKE]		= { "woken_awake",
		"wakeups of threads that run or are woken already; they cut a state in two" },
	[VERIFY_NOT_WOKEN]		= { "not_woken",
		"threads that went to sleep and run without a wakeup" },
	[VERIFY_DEAD]			= { "dead",
		"threads that are woken or run after their end" },
	[VERIFY_NO_THREAD]		= { "no_thread_object",
		"threads without a kernel object; Perfetto puts them into process 0" },
	[VERIFY_NO_PROCESS]		= { "no_process_object",
		"threads whose process is not told or has no kernel object" },
	[VERIFY_RAN]			= { "ran",
		"threads that run although the recorder says that they did not" },
	[VERIFY_GAP]			= { "gap",
		"slices of lost events that differ from the gaps or from what was counted" },
	[VERIFY_LEDGER_SWITCHES]	= { "ledger_switches",
		"the kernel side counted other numbers of context switches than there are" },
	[VERIFY_LEDGER_WAKEUPS]		= { "ledger_wakeups",
		"the kernel side counted another number of wakeups than there are" },
	[VERIFY_LEDGER_CALLS]		= { "ledger_calls",
		"another number of function calls was counted than there are" },
	[VERIFY_LEDGER_LOGS]		= { "ledger_logs",
		"another number of lines of the kernel's log was counted than there are" },
	[VERIFY_LEDGER_SUM]		= { "ledger_sum",
		"what programs saw is more or less than what was taken, filtered and lost" },
	[VERIFY_LEDGER_EVENTS]		= { "ledger_events",
		"another number of events of other sources was counted than there are" },
};

/* ---- findings ------------------------------------------------------------------- */

const char *verify_problem_name(enum verify_problem problem)
{
	return problems[problem].name;
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
	*v = (struct verify){ 0 };
	return timeline_open(&v->tl);
}

int verify_finish(struct verify *v, const struct fxt_reader *reader)
{
	fxt_reader_stats(reader, &v->stats);
	return verify_sense_run(v);
}

void verify_fini(struct verify *v)
{
	timeline_close(v->tl);
}

/* ---- output ---------------------------------------------------------------------- */

static unsigned int offsets_cnt(const struct verify_finding *f)
{
	return f->count < VERIFY_OFFSETS_MAX ? (unsigned int)f->count : VERIFY_OFFSETS_MAX;
}

static void print_records(const struct verify *v)
{
	unsigned int kind;

	printf("records:\n");
	for (kind = 0; kind < FXT_KIND_CNT; kind++)
		if (v->stats.by_kind[kind])
			printf("  %-20s %12" PRIu64 "\n", fxt_kind_name((enum fxt_kind)kind),
			       v->stats.by_kind[kind]);
}

static void print_finding(const struct verify *v, enum verify_problem problem)
{
	const struct verify_finding *f = &v->findings[problem];
	unsigned int i;

	if (!f->count)
		return;
	printf("problem: %s: %" PRIu64 "\n  %s\n  at offset", problems[problem].name, f->count,
	       problems[problem].text);
	for (i = 0; i < offsets_cnt(f); i++)
		printf("%s %" PRIu64, i ? "," : "", f->offsets[i]);
	printf("%s\n", f->count > VERIFY_OFFSETS_MAX ? ", ..." : "");
	if (*f->first)
		printf("  the first: %s\n", f->first);
}

static void print_verdict(const struct verify *v)
{
	uint64_t cnt = verify_count(v);

	if (cnt)
		printf("%" PRIu64 " problem%s\n", cnt, cnt == 1 ? "" : "s");
	else
		printf("clean\n");
}

static void print_repaired(const struct timeline_session *s)
{
	if (!s->repaired)
		return;
	printf("note: the trace was repaired: %" PRIu64 " bytes that were damaged are not in it", s->dropped_bytes);
	if (s->damages)
		printf(", the first were at offset %" PRIu64, s->first_damage);
	printf("\n");
}

static void print_text(const struct verify *v)
{
	struct summary s;
	unsigned int i;

	summary_init(&s, v->tl, &v->stats);
	summary_print_text(&s);
	print_records(v);
	if (summary_has_gaps(&s))
		printf("note: events were lost while recording; the gaps are in the trace\n");
	print_repaired(&v->tl->session);
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		print_finding(v, (enum verify_problem)i);
	print_verdict(v);
}

static void print_json_finding(const struct verify *v, enum verify_problem problem)
{
	const struct verify_finding *f = &v->findings[problem];
	unsigned int i;

	printf("{\"kind\":\"%s\",\"count\":%" PRIu64 ",\"offsets\":[", problems[problem].name,
	       f->count);
	for (i = 0; i < offsets_cnt(f); i++)
		printf("%s%" PRIu64, i ? "," : "", f->offsets[i]);
	printf("],\"text\":");
	json_print_text(problems[problem].text);
	printf(",\"first\":");
	json_print_text(f->first);
	putchar('}');
}

static void print_json(const struct verify *v)
{
	const char *comma = "";
	struct summary s;
	unsigned int i;

	summary_init(&s, v->tl, &v->stats);
	putchar('{');
	summary_print_json(&s);
	printf(",\"records\":{");
	for (i = 0; i < FXT_KIND_CNT; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", fxt_kind_name((enum fxt_kind)i),
		       v->stats.by_kind[i]);
	printf("},\"problems\":[");
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++) {
		if (!v->findings[i].count)
			continue;
		fputs(comma, stdout);
		print_json_finding(v, (enum verify_problem)i);
		comma = ",";
	}
	printf("],\"repaired\":%s", v->tl->session.repaired ? "true" : "false");
	printf(",\"clean\":%s}\n", verify_count(v) ? "false" : "true");
}

/* ---- the run --------------------------------------------------------------------- */

/* Returns 0 or -errno, the message is printed; what came before damaged compression is judged. */
static int verify_trace(struct verify *v, struct trace *t)
{
	struct fxt_record rec;
	int got, err = 0;

	while (!err && (got = trace_next(t, &rec)) > 0)
		err = verify_format_record(v, &rec, fxt_reader_ticks_per_second(t->reader));
	if (!err && got < 0 && !input_was_readable(got))
		return got;
	if (!err)
		err = verify_finish(v, t->reader);
	if (err)
		log_error("verify: %s: %s", input_name(t->in), input_error(err));
	return err ?: got;
}

static int verify_path(const struct verify_cfg *cfg, struct verify *v, const char *path)
{
	struct trace t;
	int err;

	err = trace_open(&t, "verify", path);
	if (err)
		return trace_exit_code(err);
	err = verify_trace(v, &t);
	trace_close(&t);
	if (err && !input_was_readable(err))
		return EXIT_FAILED;
	if (cfg->json && !cfg->quiet)
		print_json(v);
	else if (!cfg->quiet)
		print_text(v);
	if (err)
		return EXIT_FAILED;
	return verify_count(v) ? EXIT_PROBLEMS : EXIT_OK;
}

/* Which of the options go together; the message is printed. */
static bool is_wrong(const struct verify_cfg *cfg)
{
	const char *why = !cfg->repair && cfg->output ? "--output: only with --repair" :
			  cfg->repair && !cfg->output ? "--repair: needs a file to write (-o FILE)" :
			  cfg->repair && cfg->json ? "--json: not with --repair" : NULL;

	if (why)
		log_error("verify: %s", why);
	return why;
}

int cmd_verify(int argc, char **argv)
{
	struct verify_cfg cfg = { 0 };
	int operand = opt_parse(&verify_command, &cfg, argc, argv);
	struct verify *v;
	int code = EXIT_FAILED;

	if (operand <= 0)
		return operand ? EXIT_USAGE : EXIT_OK;
	if (is_wrong(&cfg))
		return EXIT_USAGE;
	if (cfg.quiet)
		log_set_level(LOG_LEVEL_ERROR);
	if (cfg.repair)
		return repair_file(argv[operand], cfg.output);
	output_begin();
	v = malloc(sizeof(*v));
	if (!v || verify_init(v)) {
		log_error("verify: out of memory");
	} else {
		code = verify_path(&cfg, v, argv[operand]);
		verify_fini(v);
	}
	free(v);
	return code;
}
