// SPDX-License-Identifier: GPL-2.0
#include "record_control.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/broker.h"
#include "base/clock.h"
#include "base/close_later.h"
#include "base/file.h"
#include "base/log.h"
#include "base/num.h"
#include "cli/version.h"
#include "control/control.h"
#include "control/status.h"
#include "record_summary.h"
#include "record_window.h"
#include "session/budget.h"
#include "session/privileges.h"
#include "session/session.h"
#include "trigger/trigger.h"

#define OPTIONS_MAX	256U
#define OPTIONS_BYTES	65536U
#define RATE_NS		1000000000ULL
#define AGE_SLACK_NS	500000000ULL	/* a window ends with its last switch */
#define BLIND_NS	2000000000ULL	/* for so long it is not said that a trigger is blind */
#define REQUESTS_MAX	CONTROL_CLIENTS_MAX	/* in one round of the drain */

/* When a trigger fired last, and its last file. */
struct last {
	uint64_t ns;			/* time of day; 0: never */
	char file[PATH_MAX];		/* "": none */
	uint64_t blind_ns;		/* since when it is blind, CLOCK_BOOTTIME; 0: it is not */
	bool is_said_blind;
};

struct record_control {
	const struct recorder_cfg *cfg;
	const struct record_summary *summary;
	struct control *control;
	struct close_later *closer;	/* of descriptors of clients */
	char *options_text;		/* /proc/self/cmdline */
	const char *options[OPTIONS_MAX];
	unsigned int options_cnt;
	uint64_t since_ns;		/* time of day */
	struct last triggers[TRIGGERS_MAX];
	uint64_t failed;		/* files */
	char file[PATH_MAX];		/* the last one that is complete */
	uint64_t looked_ns;		/* for rates: what there was then, CLOCK_BOOTTIME */
	uint64_t events, bytes;
	double events_per_s, bytes_per_s;
};

/* What follows `kfxt record`. */
static void read_options(struct record_control *c)
{
	unsigned int skip = 2;
	size_t len, at;

	if (text_file_read("/proc/self/cmdline", OPTIONS_BYTES, &c->options_text, &len))
		return;
	for (at = 0; at < len && c->options_cnt < OPTIONS_MAX; at += strlen(c->options_text + at) + 1) {
		if (skip)
			skip--;
		else
			c->options[c->options_cnt++] = c->options_text + at;
	}
}

void record_control_open(struct record_control **out, const char *command, const struct recorder_cfg *cfg,
			 const struct record_summary *summary)
{
	struct record_control *c = calloc(1, sizeof(*c));
	char why[CONTROL_WHY_BYTES];

	*out = NULL;
	if (!c)
		return;
	snprintf(why, sizeof(why), "no thread for their files");
	if (close_later_open(&c->closer, privileges_drop_all) ||
	    control_open(&c->control, &(struct control_cfg){ .closer = c->closer }, why, sizeof(why))) {
		log_warn("%s: kfxt status and kfxt snapshot do not reach this recording: %s", command, why);
		close_later_close(c->closer);
		free(c);
		return;
	}
	c->cfg = cfg;
	c->summary = summary;
	c->since_ns = clock_ns(CLOCK_BOOTTIME);
	c->events_per_s = c->bytes_per_s = NAN;
	read_options(c);
	*out = c;
}

int record_control_listener(const struct record_control *c)
{
	return c ? control_listener(c->control) : 0;
}

int record_control_fd(const struct record_control *c)
{
	return control_fd(c->control);
}

/* ---- status ------------------------------------------------------------------------------- */

/* Of a time by CLOCK_BOOTTIME, by the clock as it is set now; 0 of 0. */
static uint64_t time_of_day(uint64_t ns)
{
	return ns ? clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_BOOTTIME) - ns) : 0;
}

static uint64_t all_records(const struct recorder_totals *t)
{
	enum ledger_source s;
	uint64_t sum = 0;

	for (s = 0; s < LEDGER_NAMES; s++)
		sum += t->of[s].records;
	return sum;
}

static bool keeps(const struct record_control *c)
{
	return c->cfg->keep.age_ns || c->cfg->keep.bytes;
}

/* How small what is kept becomes: it is counted as it is added, since blocks, of seconds or more, are compressed later. */
static double packing(const struct record_control *c, const struct window_totals *w)
{
	if (!keeps(c))
		return 1;
	return w->packed_from_bytes ? (double)w->packed_bytes / w->packed_from_bytes : NAN;
}

static void look_at_rates(struct record_control *c)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	struct recorder_totals t;
	double seconds = (now_ns - c->looked_ns) / 1e9;
	uint64_t bytes;

	if (now_ns - c->looked_ns < RATE_NS)
		return;
	recorder_totals(c->summary->recorder, &t);
	bytes = keeps(c) ? t.window.added_bytes : t.bytes;
	if (c->looked_ns) {
		c->events_per_s = num_growth(c->events, all_records(&t)) / seconds;
		c->bytes_per_s = num_growth(c->bytes, bytes) * packing(c, &t.window) / seconds;
	}
	c->looked_ns = now_ns;
	c->events = all_records(&t);
	c->bytes = bytes;
}

static void fill_window(struct control_status_window *w, const struct recorder_cfg *cfg, const struct recorder_totals *t)
{
	const struct piece_sums *o = &t->window.overwritten;

	*w = (struct control_status_window){
		.there = cfg->keep.age_ns || cfg->keep.bytes, .keep_ns = cfg->keep.age_ns, .keep_bytes = cfg->keep.bytes,
		.held_ns = t->window.held_ns, .held_bytes = t->window.bytes, .raw_bytes = t->window.raw_bytes,
		.overwritten = o->switches + o->wakeups + o->calls + o->logs + o->events, .dumping = t->dumping,
	};
}

static unsigned int fill_counts(struct control_status_count *counts, const struct recorder_totals *t)
{
	enum ledger_source s;
	unsigned int cnt = 0;

	for (s = 0; s < LEDGER_NAMES; s++)
		if (t->of[s].seen || t->of[s].records)
			counts[cnt++] = (struct control_status_count){
				.name = ledger_source_names[s], .recorded = t->of[s].records,
				.lost = ledger_lost_by_now(&t->of[s]), .filtered = t->of[s].filtered,
				.shed = t->of[s].over_budget, .ratelimited = t->of[s].ratelimited,
			};
	return cnt;
}

static void fill_cost(struct control_status_cost *out, const char *shed[SHED_CNT], const struct budget *b)
{
	struct cost_shares s;
	enum shed_class class;

	*out = (struct control_status_cost){ .total = NAN, .kernel = NAN, .recorder = NAN, .budget = NAN, .shed = shed };
	if (!b)
		return;
	if (budget_cost(b, true, &s)) {
		out->kernel = s.kernel * 100;
		out->recorder = (s.drain + s.output) * 100;
		out->total = out->kernel + out->recorder;
	}
	out->measured = budget_is_measured(b);
	if (budget_limit(b) > 0)
		out->budget = budget_limit(b) * 100;
	for (class = 0; class < SHED_CNT; class++)
		if (budget_shed(b) & 1U << class)
			shed[out->shed_cnt++] = budget_class_name(class);
}

static const char *blind_why(const struct trigger_counts *t, uint32_t shed)
{
	const enum shed_class class = record_window_class(t->word);

	if (t->blind)
		return t->blind;
	return class != SHED_CNT && shed & 1U << class ? "what it is about is shed, for the budget" : NULL;
}

static unsigned int fill_triggers(struct control_status_trigger *out, const struct record_control *c, uint32_t shed)
{
	struct trigger_counts t;
	unsigned int i;

	for (i = 0; c->cfg->keep.triggers && i < TRIGGERS_MAX && triggers_counts(c->cfg->keep.triggers, i, &t); i++)
		out[i] = (struct control_status_trigger){
			.word = t.word, .fired = t.fired, .suppressed = t.suppressed, .last_ns = time_of_day(c->triggers[i].ns),
			.file = *c->triggers[i].file ? c->triggers[i].file : NULL, .blind = blind_why(&t, shed),
		};
	return i;
}

static const char *paused_why(int err)
{
	switch (err) {
	case 0:
		return NULL;
	case -ENOSPC:
		return "no space left on device";
	case -EDQUOT:
		return "disk quota exceeded";
	case -EROFS:
		return "read-only file system";
	case -EPIPE:
		return "the process that makes files has ended";
	default:
		return "input/output error";
	}
}

static void fill_files(struct control_status_files *out, const struct record_control *c, const struct recorder_totals *t)
{
	struct broker_counts b = { 0 };

	if (c->cfg->broker)
		broker_get_counts(c->cfg->broker, &b);
	*out = (struct control_status_files){
		.written = t->files - t->files_unnamed, .failed = c->failed + t->files_failed, .deleted = b.deleted,
		.last = *c->file ? c->file : t->last_file && *t->last_file ? t->last_file : NULL, .paused = paused_why(t->paused_err),
		.hooks_run = b.hooks.run, .hooks_failed = b.hooks.failed, .hooks_running = b.hooks.running, .hooks_skipped = b.hooks.skipped,
	};
}

static void answer_status(struct record_control *c, const struct control_request *req)
{
	const struct budget *budget = recorder_budget(c->summary->recorder);
	struct control_status_trigger triggers[TRIGGERS_MAX];
	struct control_status_count counts[LEDGER_SOURCE_CNT];
	const char *shed[SHED_CNT];
	struct recorder_totals t;
	struct control_status s;
	char *text;

	recorder_totals(c->summary->recorder, &t);
	s = (struct control_status){
		.pid = getpid(), .version = KFXT_VERSION, .now_ns = clock_ns(CLOCK_REALTIME), .since_ns = time_of_day(t.start_ns ?: c->since_ns),
		.options = c->options, .options_cnt = c->options_cnt, .output = c->summary->output,
		.events_per_s = c->events_per_s, .bytes_per_s = c->bytes_per_s, .counts = counts,
		.memory_bytes = t.memory_bytes + budget_own_bytes(), .triggers = triggers,
	};
	fill_window(&s.window, c->cfg, &t);
	s.counts_cnt = fill_counts(counts, &t);
	fill_cost(&s.cost, shed, budget);
	s.triggers_cnt = fill_triggers(triggers, c, budget ? budget_shed(budget) : 0);
	fill_files(&s.files, c, &t);
	text = req->json ? control_status_json(&s) : control_status_text(&s);
	control_answer(c->control, req->id, text ? 0 : -ENOMEM, text ?: "out of memory");
	free(text);
}

/* ---- snapshots ---------------------------------------------------------------------------- */

static void take_snapshot(struct record_control *c, struct recorder *r, const struct control_request *req)
{
	const struct recorder_request file = {
		.name = *req->name ? req->name : "snapshot", .last_ns = req->last_ns, .fd = req->fd, .check = control_file_check,
		.by = RECORDER_BY_CLIENT, .id = req->id, .pid = req->pid, .uid = req->uid,
	};
	int err = recorder_request_file(r, &file);

	if (!err)
		return;
	control_answer(c->control, req->id, err,
		       err == -EBUSY ? "too many files are to be written already" : "it keeps nothing in memory (kfxt record --keep)");
	if (req->fd >= 0)
		close_later(c->closer, req->fd);
}

/* ---- triggers that are blind -------------------------------------------------------------- */

static void look_at_blind(struct last *l, const struct trigger_counts *t, const char *why, uint64_t now_ns)
{
	if (!why) {
		if (l->is_said_blind)
			log_info("trigger %s: not blind any more", t->word);
		l->is_said_blind = false;
		l->blind_ns = 0;
		return;
	}
	l->blind_ns = l->blind_ns ?: now_ns;
	if (l->is_said_blind || now_ns - l->blind_ns < BLIND_NS)
		return;
	log_warn("trigger %s: blind: %s", t->word, why);
	l->is_said_blind = true;
}

/* A service's log has it, without anybody who asks. */
static void say_blind(struct record_control *c)
{
	const struct budget *budget = recorder_budget(c->summary->recorder);
	const uint32_t shed = budget ? budget_shed(budget) : 0;
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	struct trigger_counts t;
	unsigned int i;

	for (i = 0; c->cfg->keep.triggers && i < TRIGGERS_MAX && triggers_counts(c->cfg->keep.triggers, i, &t); i++)
		look_at_blind(&c->triggers[i], &t, blind_why(&t, shed), now_ns);
}

void record_control_tick(struct record_control *c, struct recorder *r)
{
	struct control_request req;
	unsigned int i;

	if (!c)
		return;
	look_at_rates(c);
	say_blind(c);
	for (i = 0; i < REQUESTS_MAX && control_next(c->control, &req); i++)
		if (req.is_gone)
			recorder_cancel_request(r, req.id);
		else if (req.kind == CONTROL_STATUS)
			answer_status(c, &req);
		else
			take_snapshot(c, r, &req);
}

void record_control_fired(struct record_control *c, const struct trigger_fired *fired)
{
	struct trigger_counts t;
	unsigned int i;

	for (i = 0; c && i < TRIGGERS_MAX && triggers_counts(c->cfg->keep.triggers, i, &t); i++)
		if (t.word == fired->word)
			c->triggers[i].ns = clock_ns(CLOCK_BOOTTIME);
}

/* There may be less than was asked for. */
static void note_age(struct record_control *c, const struct recorder_file *file)
{
	const uint64_t has_ns = file->to_ns - file->from_ns;
	char text[CONTROL_WHY_BYTES];

	if (file->err || has_ns + AGE_SLACK_NS >= file->last_ns)
		return;
	snprintf(text, sizeof(text), "the last %.1f s: what was before is older than the window", has_ns / 1e9);
	control_note(c->control, file->id, text);
}

void record_control_done(struct record_control *c, const struct recorder_file *file)
{
	char why[CONTROL_WHY_BYTES];
	uint32_t triggers;

	if (!c)
		return;
	if (file->fd >= 0)
		close_later(c->closer, file->fd);
	c->failed += file->err && file->err != -ECANCELED && !file->is_unnamed;
	if (!file->err && *file->path)
		snprintf(c->file, sizeof(c->file), "%s", file->path);
	for (triggers = file->err ? 0 : file->triggers; triggers; triggers &= triggers - 1)
		snprintf(c->triggers[__builtin_ctz(triggers)].file, PATH_MAX, "%s", file->path);
	if (file->by != RECORDER_BY_CLIENT)
		return;
	note_age(c, file);
	if (!*file->path && (file->err == -EINVAL || file->err == -ENOTEMPTY))
		snprintf(why, sizeof(why), "%s", control_file_why(file->err));
	else
		snprintf(why, sizeof(why), "%s%s%s", strerror(-file->err), *file->why ? ": " : "", file->why);
	control_answer(c->control, file->id, file->err, file->err ? why : file->path);
}

void record_control_close(struct record_control *c)
{
	if (!c)
		return;
	control_close(c->control);
	close_later_close(c->closer);
	free(c->options_text);
	free(c);
}
