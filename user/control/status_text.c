// SPDX-License-Identifier: GPL-2.0
/*
 * The status for people: one screen. What is not known is "-".
 */
#include "status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/num.h"

#define NS_PER_S	1000000000ULL
#define WORD_COLUMNS	32

/* The time of day in UTC, as report prints it. */
static void print_time(FILE *out, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm tm;
	char text[32];

	if (!ns || !gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		fputs("-", out);
	else
		fputs(text, out);
}

/* The two largest units: "3 h 12 min". */
static void print_span(FILE *out, uint64_t ns)
{
	static const struct {
		uint64_t seconds;
		const char *name, *below;
		uint64_t below_seconds;
	} units[] = { { 86400, "d", "h", 3600 }, { 3600, "h", "min", 60 }, { 60, "min", "s", 1 } };
	const uint64_t s = ns / NS_PER_S;
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (s >= units[i].seconds) {
			fprintf(out, "%" PRIu64 " %s %" PRIu64 " %s", s / units[i].seconds, units[i].name,
				s % units[i].seconds / units[i].below_seconds, units[i].below);
			return;
		}
	fprintf(out, "%" PRIu64 " s", s);
}

static void print_text(FILE *out, const char *text)
{
	if (text)
		log_text_print(out, text, strlen(text));
	else
		fputs("-", out);
}

static void print_size(FILE *out, uint64_t bytes)
{
	char text[NUM_SIZE_TEXT];

	fputs(num_size_text(bytes, text), out);
}

static void print_number(FILE *out, double v, int digits)
{
	if (isfinite(v))
		fprintf(out, "%.*f", digits, v);
	else
		fputs("-", out);
}

static void begin_row(FILE *out, const char *name)
{
	fprintf(out, "%-14s", name);
}

/* An argument as it could be typed. */
static void print_option(FILE *out, const char *text)
{
	const bool plain = *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
						      "-_=+,./:%@")];
	const char *quote;

	fputs(plain ? " " : " '", out);
	while (!plain && (quote = strchr(text, '\''))) {
		log_text_print(out, text, (size_t)(quote - text));
		fputs("'\\''", out);
		text = quote + 1;
	}
	print_text(out, text);
	if (!plain)
		fputs("'", out);
}

static void print_recorder(FILE *out, const struct control_status *s)
{
	unsigned int i;

	begin_row(out, "recorder:");
	fprintf(out, "PID %d, kfxt ", (int)s->pid);
	print_text(out, s->version);
	fputs(", since ", out);
	print_time(out, s->since_ns);
	fputs(" (", out);
	print_span(out, s->now_ns > s->since_ns ? s->now_ns - s->since_ns : 0);
	fputs(")\n", out);
	fprintf(out, "%-13s", "options:");	/* each begins with a space */
	for (i = 0; i < s->options_cnt; i++)
		print_option(out, s->options[i]);
	fputs(s->options_cnt ? "\n" : " -\n", out);
	begin_row(out, "output:");
	print_text(out, s->output);
	fputs("\n", out);
}

static void print_window(FILE *out, const struct control_status_window *w)
{
	begin_row(out, "window:");
	if (!w->there) {
		fputs("none, all is written\n", out);
		return;
	}
	fprintf(out, "%.1f s", (double)w->held_ns / NS_PER_S);
	if (w->keep_ns)
		fprintf(out, " of %.1f s", (double)w->keep_ns / NS_PER_S);
	fputs(", ", out);
	print_size(out, w->held_bytes);
	if (w->keep_bytes) {
		fputs(" of ", out);
		print_size(out, w->keep_bytes);
	}
	if (w->raw_bytes != w->held_bytes) {
		fputs(", uncompressed ", out);
		print_size(out, w->raw_bytes);
	}
	fputs(w->dumping ? "; a file is being written\n" : "\n", out);
}

static void print_rates(FILE *out, const struct control_status *s)
{
	begin_row(out, "rate:");
	print_number(out, s->events_per_s, 1);
	fputs(" events/s, ", out);
	if (isfinite(s->bytes_per_s) && s->bytes_per_s >= 0)
		print_size(out, (uint64_t)s->bytes_per_s);
	else
		fputs("-", out);
	fputs("/s\n", out);
}

static void print_losses(FILE *out, const struct control_status *s)
{
	struct control_status_count all = { 0 };
	const char *before = ": ";
	unsigned int i;

	for (i = 0; i < s->counts_cnt; i++) {
		all.recorded += s->counts[i].recorded;
		all.lost += s->counts[i].lost;
		all.filtered += s->counts[i].filtered;
		all.shed += s->counts[i].shed;
		all.ratelimited += s->counts[i].ratelimited;
	}
	begin_row(out, "events:");
	fprintf(out, "%" PRIu64 " recorded, %" PRIu64 " filtered, %" PRIu64 " shed, ", all.recorded, all.filtered, all.shed);
	if (all.ratelimited)
		fprintf(out, "%" PRIu64 " rate-limited, ", all.ratelimited);
	fprintf(out, "%" PRIu64 " lost", all.lost);
	for (i = 0; i < s->counts_cnt; i++)
		if (s->counts[i].lost) {
			fprintf(out, "%s%" PRIu64 " ", before, s->counts[i].lost);
			print_text(out, s->counts[i].name);
			before = ", ";
		}
	fputs("\n", out);
}

static void print_cost(FILE *out, const struct control_status_cost *c)
{
	unsigned int i;

	begin_row(out, "cost:");
	print_number(out, c->total, 2);
	fputs(" % of one CPU (kernel ", out);
	print_number(out, c->kernel, 2);
	fputs(", recorder ", out);
	print_number(out, c->recorder, 2);
	fputs(c->measured || !isfinite(c->total) ? ")" : ", by typical values)", out);
	if (isfinite(c->budget)) {
		fputs(", budget ", out);
		print_number(out, c->budget, 2);
		fputs(" %", out);
	}
	for (i = 0; i < c->shed_cnt; i++) {
		fputs(i ? ", " : "; not recorded for now: ", out);
		print_text(out, c->shed[i]);
	}
	fputs("\n", out);
}

static void print_files(FILE *out, const struct control_status_files *f)
{
	begin_row(out, "files:");
	fprintf(out, "%" PRIu64 " written, %" PRIu64 " deleted, %" PRIu64 " failed", f->written, f->deleted, f->failed);
	if (f->last) {
		fputs(", last ", out);
		print_text(out, f->last);
	}
	if (f->paused) {
		fputs("; none is written for now: ", out);
		print_text(out, f->paused);
	}
	fputs("\n", out);
	if (!f->hooks_run && !f->hooks_skipped)
		return;
	begin_row(out, "hooks:");
	fprintf(out, "%" PRIu64 " run, %" PRIu64 " failed, %" PRIu64 " running", f->hooks_run, f->hooks_failed, f->hooks_running);
	if (f->hooks_skipped)
		fprintf(out, ", %" PRIu64 " not run", f->hooks_skipped);
	fputs("\n", out);
}

static void print_trigger(FILE *out, const struct control_status_trigger *t, uint64_t now_ns)
{
	const size_t len = strlen(t->word);

	print_text(out, t->word);
	fprintf(out, "%*s %8" PRIu64 " %10" PRIu64 "  ", len < WORD_COLUMNS ? (int)(WORD_COLUMNS - len) : 0, "",
		t->fired, t->suppressed);
	if (t->blind) {
		fputs("blind: ", out);
		print_text(out, t->blind);
		fputs(t->last_ns ? "; last " : "", out);
	}
	if (t->last_ns) {
		print_span(out, now_ns > t->last_ns ? now_ns - t->last_ns : 0);
		fputs(" ago", out);
	} else if (!t->blind) {
		fputs("never", out);
	}
	if (t->file) {
		fputs(", ", out);
		print_text(out, t->file);
	}
	fputs("\n", out);
}

static void print_status(FILE *out, const struct control_status *s)
{
	unsigned int i;

	print_recorder(out, s);
	print_window(out, &s->window);
	print_rates(out, s);
	print_losses(out, s);
	print_cost(out, &s->cost);
	begin_row(out, "memory:");
	print_size(out, s->memory_bytes);
	fputs("\n", out);
	print_files(out, &s->files);
	if (!s->triggers_cnt)
		return;
	fprintf(out, "\n%-*s %8s %10s  last\n", WORD_COLUMNS, "trigger", "fired", "suppressed");
	for (i = 0; i < s->triggers_cnt; i++)
		print_trigger(out, &s->triggers[i], s->now_ns);
}

char *control_status_text(const struct control_status *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	print_status(out, s);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
