// SPDX-License-Identifier: GPL-2.0
/*
 * A recording from open to close, and the first records of its file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpf/abi/strings.h"
#include "fxt/fxt.h"
#include "base/affinity.h"
#include "base/clock.h"
#include "base/log.h"
#include "capture/sources.h"
#include "capture/sources_aside.h"
#include "capture/thread_filter.h"
#include "budget.h"
#include "flight.h"
#include "gaps.h"
#include "idle_cpu.h"
#include "kernel/btf.h"
#include "ledger.h"
#include "capture/tasks.h"
#include "format/perfetto/packets.h"
#include "capture/programs.h"
#include "session_p.h"
#include "privileges.h"
#include "ring/ring.h"
#include "io/sink.h"
#include "initial_states.h"
#include "trigger/trigger.h"
#include "urgency.h"

#define NS_PER_SECOND	1000000000ULL
#define NS_PER_MS	1000000ULL
#define DETACH_MS	400

const uint32_t recorder_strings_from = STR_CNT;

int recorder_online_cpus(char *text, size_t size)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	int err = 0;

	text[0] = 0;
	if (!f)
		return -errno;
	if (!fgets(text, size, f))
		err = -EIO;
	fclose(f);
	text[strcspn(text, "\n")] = 0;
	return err;
}

int recorder_write_strings(struct fxt_writer *w)
{
	static const char *const strings[STR_CNT] = {
#define X(id, text) [id] = text,
		SESSION_STRINGS(X)
#undef X
	};
	int err = 0, i;

	for (i = 1; !err && i < STR_CNT; i++)
		err = fxt_write_string(w, i, fxt_str(strings[i]));
	return err;
}

static int write_header(struct recorder *r)
{
	int err = fxt_write_magic(r->w);

	err = err ?: fxt_write_provider_info(r->w, LEDGER_PROVIDER, fxt_str("kfxt"));
	err = err ?: fxt_write_initialization(r->w, NS_PER_SECOND);
	err = err ?: recorder_write_strings(r->w);
	err = err ?: sources_write_header(r->cfg->sources, r->w);
	if (!err && sources_any(r->cfg->sources, true))
		err = recorder_write_idle_threads(r);
	if (!err && r->packets)
		err = packets_write_system(r->packets, r->cfg->cpus_cnt);
	if (!err && r->packets)
		err = packets_write_clocks(r->packets);
	return err ?: fxt_writer_flush(r->w);
}

static int write_start(struct recorder *r)
{
	char online[RECORDER_CPUS_TEXT];
	struct utsname uts;

	uname(&uts);
	recorder_online_cpus(online, sizeof(online));
	const char *filter = r->cfg->filter ? filter_text(r->cfg->filter) : "";
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str_inline(r->cfg->cpus_text, strlen(r->cfg->cpus_text))),
		fxt_arg_str("online", fxt_str_inline(online, strlen(online))),
		fxt_arg_u64("ring_bytes", programs_ring_bytes(r->programs)),
		fxt_arg_str("kernel", fxt_str_inline(uts.release, strlen(uts.release))),
		fxt_arg_str("host", fxt_str_inline(uts.nodename, strlen(uts.nodename))),
		fxt_arg_u64("realtime_ns", r->start_ns + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME)),
		fxt_arg_str("filter", fxt_str_inline(filter, strlen(filter))),
	};

	return ledger_write_event(r->w, "start", r->start_ns, args, sizeof(args) / sizeof(args[0]) - !*filter);
}

/*
 * For the grace period in which another recorder's last program was detached the kernel waits by a worker of the CPU it is
 * called on, which may not run on all.
 */
static int attach(struct recorder *r, const struct idle_times *begin, const char **what)
{
	struct affinity before;
	int err;

	idle_cpu_move(NULL, begin, &before);
	err = programs_attach(r->programs, what);
	affinity_set(&before);
	affinity_free(&before);
	return err;
}

/*
 * What comes before takes a tenth of a second of CPU time or more, during which nothing is recorded yet, and may be more urgent
 * than what inherits it later.
 */
static int open_probes(struct recorder *r, const struct programs_cfg *cfg, const struct idle_times *begin, const char **what)
{
	int err = programs_open(&r->programs, cfg, what);

	err = err ?: attach(r, begin, what);
	setpriority(PRIO_PROCESS, 0, r->cfg->nice);
	return err;
}

static int begin_thread(void *ctx)
{
	const int err = privileges_drop_all();

	if (!err)
		urgency_join(ctx);
	return err;
}

/* Of the one that reads command lines. */
static int begin_reading(void *ctx)
{
	const int err = privileges_keep_proc();

	if (!err)
		urgency_join(ctx);
	return err;
}

/* Beside real-time threads a fair one may take a second to begin; by then it is late. */
static void hurry_reading(void *ctx, pthread_t thread)
{
	urgency_lend_thread(ctx, thread);
}

static void end_thread(void *ctx)
{
	urgency_leave(ctx);
}

struct thread_hooks recorder_thread_hooks(const struct recorder *r)
{
	return (struct thread_hooks){ .begin = begin_thread, .end = end_thread, .ctx = r->cfg->urgency };
}

static int open_names(struct recorder *r)
{
	const struct tasks_cfg cfg = {
		.w = r->w, .probes = r->programs, .packets = r->packets, .filter = r->cfg->filter, .hidden = r->cfg->hidden,
		.reader = { begin_reading, end_thread, hurry_reading, r->cfg->urgency },
	};

	return tasks_open(&r->tasks, &cfg);
}

static int open_tables(struct recorder *r)
{
	const struct recorder_cfg *cfg = r->cfg;

	r->pieces = calloc(programs_ring(r->programs, 0)->chunks + 1, sizeof(*r->pieces));
	r->unwritten.cuts = calloc(cfg->cpus_cnt, sizeof(*r->unwritten.cuts));
	r->looks = calloc(cfg->cpus_cnt, sizeof(*r->looks));
	r->cut_bounds = calloc(cfg->cpus[cfg->cpus_cnt - 1] + 1, sizeof(*r->cut_bounds));
	return r->pieces && r->unwritten.cuts && r->looks && r->cut_bounds ? 0 : -ENOMEM;
}

/* The output and what writes to it, up to the first records. */
static int open_trace(struct recorder *r, const char **hint)
{
	const struct recorder_cfg *cfg = r->cfg;
	int err = recorder_open_output(r, hint);

	err = err ?: fxt_writer_open(&r->w, recorder_write, r);
	if (!err && cfg->perfetto_packets)
		err = packets_open(&r->packets, r->w);
	err = err ?: open_names(r);
	err = err ?: gaps_open(&r->gaps, r->w, sources_ctx(cfg->sources)->tracks, cfg->cpus_cnt);
	err = err ?: open_tables(r);
	err = err ?: ledger_open(&r->ledger, &(struct ledger_cfg){
		.probes = r->programs, .cpus = cfg->cpus, .cpus_cnt = cfg->cpus_cnt,
		.sources = cfg->sources,
	});
	r->unwritten.ledger = r->ledger;
	r->unwritten.cpus = cfg->cpus;
	r->unwritten.cpus_cnt = cfg->cpus_cnt;
	err = err ?: write_header(r);
	err = err ?: sources_aside_open(cfg->sources);
	if (!err && cfg->cost)
		err = budget_open(&r->budget, r, cfg->budget);
	return err;
}

int recorder_open(struct recorder **out, const struct recorder_cfg *cfg, const char **what,
		  const char **hint)
{
	const struct programs_cfg programs_cfg = {
		.ring_bytes = cfg->ring_bytes, .cpus = cfg->cpus, .cpus_cnt = cfg->cpus_cnt,
		.sources = cfg->sources, .filter = cfg->filter, .memory_bytes = budget_memory_of_maps(cfg->memory_bytes),
	};
	struct recorder *r = calloc(1, sizeof(*r));
	char text[DETACHER_LEFT_TEXT];
	struct idle_times *begin;
	struct detacher_left left;
	int err = -ENOMEM;

	*what = "allocating memory";
	*hint = NULL;
	if (!r)
		return err;
	r->untrimmed = -1;
	r->cfg = cfg;
	lateness_open(&r->late, FLUSH_MS * NS_PER_MS);
	begin = idle_times_read();
	err = open_probes(r, &programs_cfg, begin, what);
	if (err)
		goto err_close;
	*what = NULL;
	err = open_trace(r, hint);
	if (err)
		goto err_close;
	/* Of what is attached to thousands of functions the output has names, so it is open by then. */
	err = recorder_attach_aside(r, begin, what);
	kernel_btf_release();
	err = err ?: filter_follow(cfg->filter);
	if (err)
		goto err_close;
	free(begin);
	*out = r;
	return 0;
err_close:
	free(begin);
	left = recorder_leave(r, -1);
	if (left.pid)
		log_info("%s", detacher_left_text(&left, text));
	return err;
}

void recorder_mark(struct recorder *r, unsigned int call)
{
	char online[RECORDER_CPUS_TEXT];

	if (!recorder_online_cpus(online, sizeof(online)) && !strcmp(online, r->cfg->cpus_text))
		ledger_mark(r->ledger, call);
}

static int start_sources(struct recorder *r)
{
	struct source_ctx *c = sources_ctx(r->cfg->sources);

	c->w = r->w;
	c->packets = r->packets;
	c->redact = r->cfg->hidden.redact;
	c->names = r->tasks;
	c->filter = r->cfg->filter;
	c->ring_bytes = programs_ring_bytes(r->programs);
	c->ctls = programs_ctls(r->programs);
	c->start_ns = r->start_ns;
	return sources_start(r->cfg->sources);
}

int recorder_begin(struct recorder *r)
{
	int err;

	urgency_settle(r->cfg->urgency, r->cfg->realtime);
	r->start_ns = clock_ns(CLOCK_BOOTTIME);
	sources_aside_begin(r->cfg->sources, r->waits);
	err = write_start(r);
	err = err ?: start_sources(r);
	err = err ?: recorder_write_late(r, r->start_ns, true);
	gaps_begin(r->gaps, r->start_ns);
	recorder_mark(r, 0);
	err = err ?: programs_begin(r->programs);
	recorder_look_for_others(r);	/* before the begin */
	r->others = (struct num_cpus){ 0 };
	r->others_ns = 0;
	recorder_mark(r, 1);
	return err ?: initial_states_write(&r->states, r->w, r->programs, r->cfg->cpus_cnt, r->cfg->cpus[0]);
}

int recorder_publish(struct recorder *r, const char **hint)
{
	/* A file of several gets its name once it is complete. */
	return r->cfg->broker || r->flight ? 0 : sink_publish(r->sink, hint);
}

void recorder_cpu(const struct recorder *r, unsigned int i, enum ledger_source source, struct ledger_row *row)
{
	ledger_row(r->ledger, i, source, row);
}

void recorder_look_for_others(struct recorder *r)
{
	struct num_cpus now;
	unsigned int i;

	if (!programs_take_others(r->programs, &now))
		return;
	r->others_ns = clock_ns(CLOCK_BOOTTIME);
	for (i = 0; i < NUM_CPUS_MAX / 64; i++)
		r->others.words[i] |= now.words[i];
}

int recorder_online_at_stop(struct recorder *r, uint64_t from_ns, char *text, size_t size)
{
	struct num_cpus online;
	int err = recorder_online_cpus(text, size);
	unsigned int i;

	recorder_look_for_others(r);
	if (err || !r->others_ns || r->others_ns < from_ns || num_parse_cpus(text, &online, NULL))
		return err;
	for (i = 0; i < NUM_CPUS_MAX / 64; i++)
		online.words[i] |= r->others.words[i];
	num_print_cpus(&online, text, size);
	return 0;
}

const struct num_cpus *recorder_others(const struct recorder *r)
{
	return &r->others;
}

void recorder_totals(const struct recorder *r, struct recorder_totals *t)
{
	struct programs_counts counts;
	unsigned int i;

	programs_counts(r->programs, &counts);
	*t = (struct recorder_totals){
		.shared_koids = counts.generations_exhausted, 
		.unreported_switches = ledger_unreported_switches(r->ledger),
		.start_ns = r->start_ns, .stop_ns = r->stop_ns,
		.memory_bytes = programs_memory(r->programs),
	};
	recorder_output_totals(r, t);
	ledger_totals(r->ledger, t->of);
	t->late = lateness_longest(&r->late);
	t->urgency = urgency_totals(r->cfg->urgency);
	for (i = 0; i < r->cfg->cpus_cnt; i++)
		if (lateness_lost(programs_ring(r->programs, i)->ctl)) {
			t->full_cpus++;
			t->full_cpu = r->cfg->cpus[i];
		}
}

const struct budget *recorder_budget(const struct recorder *r)
{
	return r->budget;
}

int recorder_write_request(struct recorder *r, const struct recorder_request *req, uint64_t at_ns)
{
	static const char *const names[] = {
		[RECORDER_BY_TRIGGER] = "trigger", [RECORDER_BY_SIGNAL] = "signal", [RECORDER_BY_CLIENT] = "client", [RECORDER_BY_END] = "end",
	};
	const struct fxt_arg args[] = {
		fxt_arg_str("trigger", fxt_str_inline(req->name, strlen(req->name))), fxt_arg_str("by", fxt_str(names[req->by])),
		fxt_arg_u32("uid", req->uid), fxt_arg_u32("pid", (uint32_t)req->pid),
	};

	return ledger_write_event(r->w, "trigger", at_ns, args, req->by == RECORDER_BY_CLIENT ? 4 : 2);
}

int recorder_request_file(struct recorder *r, const struct recorder_request *req)
{
	int err = r->flight ? flight_request(r->flight, req) : -EOPNOTSUPP;

	/* The round that writes the file finds out if the output is gone. */
	if (!err)
		recorder_write_request(r, req, clock_ns(CLOCK_BOOTTIME));
	return err;
}

void recorder_cancel_request(struct recorder *r, uint32_t id)
{
	if (r->flight)
		flight_cancel(r->flight, id);
}

int recorder_close_output(struct recorder *r)
{
	int err;

	tasks_close(r->tasks);
	gaps_close(r->gaps);
	initial_states_close(r->states);
	packets_close(r->packets);
	err = fxt_writer_close(r->w);
	err = recorder_close_file(r) ?: err;
	r->tasks = NULL;
	r->gaps = NULL;
	r->states = NULL;
	r->packets = NULL;
	r->w = NULL;
	return err;
}

static void close_all(struct recorder *r)
{
	recorder_close_output(r);
	if (r->untrimmed >= 0)
		sink_trim(r->untrimmed);
	budget_close(r->budget);
	programs_close(r->programs);
	lateness_close(&r->late);
	free(r->pieces);
	free(r->looks);
	free(r->cut_bounds);
	free(r->unwritten.cuts);
	ledger_close(r->ledger);
	free(r);
}

struct detacher_left recorder_leave(struct recorder *r, int hurry_fd)
{
	const progress_fn progress = r->cfg->progress;
	void *ctx = r->cfg->progress_ctx;
	struct detacher_left left = { 0 };
	struct detacher *d;

	/* It has not begun. */
	if (!r->detacher)
		recorder_open_detacher(r);
	d = r->detacher;
	r->detacher = NULL;
	if (detacher_lives(d) && r->untrimmed >= 0) {
		close(r->untrimmed);
		r->untrimmed = -1;
	}
	triggers_stop(r->cfg->keep.triggers);
	close_all(r);
	if (d)
		left = detacher_rest(d, DETACH_MS, hurry_fd, progress, ctx);
	detacher_close(d);
	return left;
}
