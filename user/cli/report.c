// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt report: a trace in a page: how much happened, who was busy and who had
 * to wait for a CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../read/replay.h"
#include "cmd.h"
#include "exit.h"
#include "json.h"
#include "log.h"
#include "opt.h"
#include "output.h"
#include "summary.h"
#include "trace.h"

struct report_cfg {
	bool json;
	uint64_t top;
};

static const struct opt report_rows[] = {
	{ "top", 'n', OPT_U64, "N", "show the N busiest threads",
	  offsetof(struct report_cfg, top), "10", 0, 1000000 },
	{ "json", 'j', OPT_FLAG, NULL, "print one JSON object",
	  offsetof(struct report_cfg, json), NULL, 0, 0 },
	{ 0 },
};

static const struct opt_command report_command = {
	.name = "report",
	.operands = "FILE",
	.summary = "Summarise a trace: CPUs, rates, busiest threads; FILE may be -, gzip, zstd.",
	.rows = report_rows,
	.examples = "kfxt report trace.fxt\n"
		    "kfxt report -n 3 --json trace.fxt | jq '.busiest[].thread'\n",
	.operands_min = 1,
	.operands_max = 1,
};

/* What one thread did. */
struct usage {
	uint64_t run_ns, slices;
	uint64_t wait_ns;	/* the longest time runnable before it ran */
	uint64_t cut_ns;	/* it began to run, and there its CPU's records end */
	bool is_cut;
	uint32_t thread;	/* index in the timeline */
};

struct report {
	struct timeline *tl;
	struct usage *usage;	/* as timeline.threads until they are ranked */
	struct summary summary;
};

/* ---- counting --------------------------------------------------------------- */

/*
 * Where the records of a CPU are cut off somebody still runs, and nobody knows how
 * long. It counts as running up to the last time seen in the trace or, if earlier,
 * up to where the thread is seen again: a thread that kept its CPU to itself to the
 * end would otherwise not have run at all. It is the most it can have been.
 */
static void end_cut_slice(struct report *r, uint32_t thread, uint64_t ts_ns)
{
	struct usage *u;

	if (thread == TIMELINE_IDLE || !r->usage[thread].is_cut)
		return;
	u = &r->usage[thread];
	u->run_ns += ts_ns - u->cut_ns;
	u->slices++;
	u->is_cut = false;
}

static void begin_cut_slice(struct report *r, uint32_t thread, uint64_t ts_ns)
{
	if (thread == TIMELINE_IDLE)
		return;
	r->usage[thread].cut_ns = ts_ns;
	r->usage[thread].is_cut = true;
}

static void count_switch(struct report *r, const struct replay *rp, const struct timeline_event *ev)
{
	const struct replay_thread *t;

	if (ev->out != TIMELINE_IDLE) {
		t = &rp->threads[ev->out];
		if (t->state == REPLAY_RUNNING && t->cpu == ev->cpu) {
			r->usage[ev->out].run_ns += ev->ts_ns - t->since_ns;
			r->usage[ev->out].slices++;
		}
	}
	if (ev->in != TIMELINE_IDLE && replay_state(rp, ev->in) == REPLAY_RUNNABLE) {
		t = &rp->threads[ev->in];
		if (ev->ts_ns - t->since_ns > r->usage[ev->in].wait_ns)
			r->usage[ev->in].wait_ns = ev->ts_ns - t->since_ns;
	}
}

static int count_event(void *ctx, const struct replay *rp, const struct timeline_event *ev)
{
	struct report *r = ctx;

	end_cut_slice(r, ev->in, ev->ts_ns);
	if (ev->kind != TIMELINE_SWITCH)
		return 0;	/* a waker runs, which does not end its slice */
	end_cut_slice(r, ev->out, ev->ts_ns);
	count_switch(r, rp, ev);
	if (replay_is_last(rp, ev))
		begin_cut_slice(r, ev->in, ev->ts_ns);
	return 0;
}

/* The busiest first; equal ones in the order of the file. */
static int compare_usage(const void *pa, const void *pb)
{
	const struct usage *a = pa, *b = pb;

	if (a->run_ns != b->run_ns)
		return a->run_ns > b->run_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int rank_threads(struct report *r)
{
	const struct timeline *tl = r->tl;
	size_t i;
	int err;

	timeline_sort(r->tl);
	r->usage = calloc(tl->threads_cnt + 1, sizeof(*r->usage));
	if (!r->usage)
		return -ENOMEM;
	for (i = 0; i < tl->threads_cnt; i++)
		r->usage[i].thread = (uint32_t)i;
	err = replay_run(tl, count_event, r);
	for (i = 0; i < tl->threads_cnt && tl->events_cnt; i++)
		end_cut_slice(r, (uint32_t)i, tl->events[tl->events_cnt - 1].ts_ns);
	qsort(r->usage, tl->threads_cnt, sizeof(*r->usage), compare_usage);
	return err;
}

/* Threads that ran, up to as many as were asked for. */
static size_t shown_cnt(const struct report *r, const struct report_cfg *cfg)
{
	size_t i;

	for (i = 0; i < r->tl->threads_cnt && i < cfg->top; i++)
		if (!r->usage[i].slices)
			break;
	return i;
}

/* Of the time of all CPUs together, in percent. */
static double share_of(const struct report *r, const struct usage *u)
{
	double total = (double)r->summary.duration_ns * r->summary.cpus;

	return total > 0 ? 100.0 * (double)u->run_ns / total : 0;
}

/* ---- output ----------------------------------------------------------------- */

static void print_name(const char *name, int width)
{
	char text[64];

	printf("%-*s", width, name ? log_text(text, sizeof(text), name, strlen(name)) : "?");
}

static void print_text_row(const struct report *r, const struct usage *u)
{
	const struct timeline_thread *t = &r->tl->threads[u->thread];
	const struct timeline_process *p;

	p = t->has_process ? timeline_process(r->tl, t->process) : NULL;
	printf("%12.6f %6.2f%% %9" PRIu64 " %12.6f %8" PRIu64 "  ", (double)u->run_ns / 1e9,
	       share_of(r, u), u->slices, (double)u->wait_ns / 1e9, t->koid);
	print_name(t->name, 16);
	putchar(' ');
	print_name(p ? p->name : NULL, 0);
	if (t->has_process && t->process)
		printf(" (%" PRIu64 ")", t->process);
	putchar('\n');
}

/* Letters of states, the most urgent first. */
static const char still_states[] = "RDSITtPZX";

static size_t still_cnt(const struct report *r, char state)
{
	size_t i, cnt = 0;

	for (i = 0; i < r->tl->threads_cnt; i++)
		cnt += r->tl->threads[i].still == state;
	return cnt;
}

/* Since when one that did not run has been ready to; 0: it was not. */
static uint64_t ready_since(const struct timeline_thread *t)
{
	return t->still == 'R' ? t->still_from_ns : t->still ? t->woken_ns : 0;
}

static void print_still_text(const struct report *r, const struct report_cfg *cfg)
{
	const char *state, *before = "did not run:      ";
	const struct timeline_thread *t;
	uint64_t shown = 0;

	for (state = still_states; *state; state++)
		if (still_cnt(r, *state)) {
			printf("%s%zu %c", before, still_cnt(r, *state), *state);
			before = ", ";
		}
	if (*before == ',')
		putchar('\n');
	for (t = r->tl->threads; t < r->tl->threads + r->tl->threads_cnt && shown < cfg->top; t++) {
		if (!ready_since(t) || ready_since(t) > t->still_to_ns)
			continue;
		printf("starved:          %.6f s, tid %" PRIu64 ", ", (double)(t->still_to_ns - ready_since(t)) / 1e9,
		       t->koid);
		print_name(t->name, 0);
		putchar('\n');
		shown++;
	}
}

static void print_text(const struct report *r, const struct report_cfg *cfg)
{
	size_t i, cnt = shown_cnt(r, cfg);

	summary_print_text(&r->summary);
	print_still_text(r, cfg);
	if (!cnt)
		return;
	printf("\n%12s %7s %9s %12s %8s  %-16s %s\n", "run time s", "share", "slices",
	       "max wait s", "tid", "thread", "process");
	for (i = 0; i < cnt; i++)
		print_text_row(r, &r->usage[i]);
}

static void print_json_row(const struct report *r, const struct usage *u)
{
	const struct timeline_thread *t = &r->tl->threads[u->thread];
	const struct timeline_process *p;

	p = t->has_process ? timeline_process(r->tl, t->process) : NULL;
	printf("{\"run_ns\":%" PRIu64 ",\"share_percent\":%.4f,\"slices\":%" PRIu64, u->run_ns,
	       share_of(r, u), u->slices);
	printf(",\"max_wait_ns\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"thread\":", u->wait_ns, t->koid);
	json_print_text(t->name);
	if (t->has_process)
		printf(",\"pid\":%" PRIu64, t->process);
	else
		printf(",\"pid\":null");
	printf(",\"process\":");
	json_print_text(p ? p->name : NULL);
	putchar('}');
}

static void print_still_json(const struct report *r)
{
	const struct timeline_thread *t;
	const char *comma = "";

	printf("],\"did_not_run\":[");
	for (t = r->tl->threads; t < r->tl->threads + r->tl->threads_cnt; t++) {
		if (!t->still)
			continue;
		printf("%s{\"tid\":%" PRIu64 ",\"thread\":", comma, t->koid);
		json_print_text(t->name);
		printf(",\"state\":");
		json_print_text((const char[]){ t->still, 0 });
		printf(",\"starved_ns\":%" PRIu64 "}", ready_since(t) && ready_since(t) < t->still_to_ns ?
							t->still_to_ns - ready_since(t) : 0);
		comma = ",";
	}
}

static void print_json(const struct report *r, const struct report_cfg *cfg)
{
	size_t i, cnt = shown_cnt(r, cfg);

	putchar('{');
	summary_print_json(&r->summary);
	printf(",\"busiest\":[");
	for (i = 0; i < cnt; i++) {
		if (i)
			putchar(',');
		print_json_row(r, &r->usage[i]);
	}
	print_still_json(r);
	printf("]}\n");
}

/* ---- the run ---------------------------------------------------------------- */

/* Returns 0 or -errno, the message is printed; what came before damaged compression is there. */
static int read_trace(struct report *r, struct trace *t)
{
	struct fxt_reader_stats stats;
	struct fxt_record rec;
	int got, err = 0;

	while (!err && (got = trace_next(t, &rec)) > 0)
		err = timeline_add(r->tl, &rec, fxt_reader_ticks_per_second(t->reader));
	if (!err && got < 0 && !input_was_readable(got))
		return got;
	if (!err)
		err = rank_threads(r);
	if (err) {
		log_error("report: %s: %s", input_name(t->in), input_error(err));
		return err;
	}
	fxt_reader_stats(t->reader, &stats);
	summary_init(&r->summary, r->tl, &stats);
	if (stats.by_kind[FXT_KIND_DAMAGED])
		log_warn("report: %s: damaged, what follows is incomplete (see kfxt verify)",
			 input_name(t->in));
	if (timeline_is_cut(r->tl))
		log_warn("report: %s: cut short, its end is missing (see kfxt verify)",
			 input_name(t->in));
	return got;
}

static int report_path(const struct report_cfg *cfg, struct report *r, const char *path)
{
	struct trace t;
	int err;

	err = trace_open(&t, "report", path);
	if (err)
		return trace_exit_code(err);
	err = read_trace(r, &t);
	trace_close(&t);
	if (err && !input_was_readable(err))
		return EXIT_FAILED;
	if (cfg->json)
		print_json(r, cfg);
	else
		print_text(r, cfg);
	return err ? EXIT_FAILED : EXIT_OK;
}

int cmd_report(int argc, char **argv)
{
	struct report_cfg cfg = { 0 };
	int operand = opt_parse(&report_command, &cfg, argc, argv);
	struct report r = { 0 };
	int code = EXIT_FAILED;

	if (operand <= 0)
		return operand ? EXIT_USAGE : EXIT_OK;
	output_begin();
	if (timeline_open(&r.tl))
		log_error("report: out of memory");
	else
		code = report_path(&cfg, &r, argv[operand]);
	free(r.usage);
	timeline_close(r.tl);
	return code;
}
