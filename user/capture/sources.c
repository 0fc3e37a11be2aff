// SPDX-License-Identifier: GPL-2.0
/*
 * The sources of a recording: which are selected, and what is asked of each in turn.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bpf/abi/raw.h"
#include "fxt/fxt.h"
#include "kfxt.skel.h"
#include "sources_p.h"
#include "tracks.h"

/* Those that are selected and have @op. */
#define FOR_EACH_WITH(s, i, op) \
	for ((i) = 0; (i) < RAW_KIND_CNT; (i)++) \
		if ((s)->has[i] && (s)->table[i]->op)

/* ---- the choice ------------------------------------------------------------------------ */

static bool takes(const struct source_ops *ops, const char *word)
{
	if (ops->takes)
		return ops->takes(word);
	return ops->name ? !strcmp(ops->name, word) : ops->select != NULL;
}

/* A source without a name takes what no other does. */
static unsigned int find_source(const struct sources *s, const char *word)
{
	unsigned int i, any = RAW_KIND_CNT;

	for (i = 0; i < RAW_KIND_CNT; i++) {
		if (!takes(s->table[i], word))
			continue;
		if (s->table[i]->name)
			return i;
		any = i;
	}
	return any;
}

/* How many a source says are selected now, or an error. */
static int set_selected(struct sources *s, unsigned int i, int selected)
{
	if (selected < 0)
		return selected;
	s->has[i] = selected;
	return 0;
}

static int select_word(struct sources *s, unsigned int i, const char *word, bool out, char *why, size_t size)
{
	return set_selected(s, i, s->table[i]->select(&s->state[i], word, out, why, size));
}

/* A source that is a shorter word for some events. */
static int choose_its_events(struct sources *s, const struct source_ops *ops, bool out, char *why, size_t size)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < SOURCE_PARTS_MAX && ops->events[i]; i++)
		err = select_word(s, find_source(s, ops->events[i]), ops->events[i], out, why, size);
	return err;
}

/* In order, the last word on a source counts. */
static int choose(struct sources *s, const char *word, char *why, size_t size)
{
	const bool out = word[0] == '!';
	const unsigned int i = find_source(s, word + out);
	const struct source_ops *ops = s->table[i];
	const char *lacks = out ? NULL : source_lacks(ops);

	if (lacks) {
		snprintf(why, size, "%s: this kernel has no %s%s", word, lacks[0] == '/' ? "" : "tracepoint ", lacks);
		return -ENOTSUP;
	}
	s->named[i] = true;
	if (ops->select)
		return select_word(s, i, word + out, out, why, size);
	s->has[i] = !out;
	return choose_its_events(s, ops, out, why, size);
}

static int open_source(struct sources *s, unsigned int i, char *why, size_t why_size)
{
	int how;

	s->ctx.by_name = s->named[i];
	how = s->table[i]->open(&s->state[i], &s->ctx, why, why_size);
	s->bare[i] = how == SOURCE_BARE;
	s->has[i] = how != SOURCE_OUT;
	return how < 0 ? how : 0;
}

int sources_open_selected(struct sources *s, const char *root, char *why, size_t why_size)
{
	unsigned int i;
	int err;

	s->ctx.root = root;
	err = tracks_open(&s->ctx.tracks);
	FOR_EACH_WITH(s, i, open)
		err = err ?: open_source(s, i, why, why_size);
	return err;
}

void sources_close_selected(struct sources *s)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (s->state[i] && s->table[i]->close)
			s->table[i]->close(s->state[i]);
	tracks_close(s->ctx.tracks);
}

int sources_open(struct sources **out, const struct source_ops *const *table)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->table = table;
	/* Markers have ids of their own, from 1 on. */
	s->ctx.async_ids = 1ULL << 32;
	*out = s;
	return 0;
}

const struct source_ops *const *sources_table(const struct sources *s)
{
	return s->table;
}

int sources_need(struct sources *s, const char *word, char *why, size_t why_size)
{
	const unsigned int i = find_source(s, word);

	s->needed[i] = true;
	if (!s->table[i]->need)
		return choose(s, word, why, why_size);
	return set_selected(s, i, s->table[i]->need(&s->state[i], word, why, why_size));
}

bool sources_have_needed(const struct sources *s, const char *word)
{
	const unsigned int i = find_source(s, word);

	return s->has[i] && (!s->table[i]->has || s->table[i]->has(s->state[i], word));
}

int sources_choose(struct sources *s, const char *const *words, unsigned int cnt, char *why, size_t why_size)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < RAW_KIND_CNT; i++)
		s->has[i] |= s->table[i]->by_default && !source_lacks(s->table[i]);
	for (i = 0; !err && i < cnt; i++)
		err = choose(s, words[i], why, why_size);
	return err ?: sources_open_selected(s, "", why, why_size);
}

void sources_add(struct sources *s, unsigned int kind, void *state)
{
	s->state[kind] = state;
	s->has[kind] = state;
}

const struct source_ops *sources_missing(const struct sources *s)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (s->table[i]->by_default && !s->has[i] && !s->named[i] && source_lacks(s->table[i]))
			return s->table[i];
	return NULL;
}

static bool has_programs(const struct sources *s, unsigned int i)
{
	return s->has[i] && !s->bare[i];
}

bool sources_have(const struct sources *s, enum ledger_source class)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (has_programs(s, i) && s->table[i]->class == class)
			return true;
	return false;
}

bool sources_any(const struct sources *s, bool many)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (has_programs(s, i) && !s->table[i]->ring && !(many && s->table[i]->few_records))
			return true;
	return false;
}

struct source_ctx *sources_ctx(struct sources *s)
{
	return &s->ctx;
}

/* ---- the programs ---------------------------------------------------------------------- */

int sources_prepare(struct sources *s, struct kfxt_bpf *skel)
{
	unsigned int i;
	int err = 0;

	s->ctx.skel = skel;
	s->ctx.obj = skel->obj;
	for (i = 0; i < RAW_KIND_CNT; i++)
		source_prepare(s->table[i], skel->obj, has_programs(s, i));
	FOR_EACH_WITH(s, i, prepare) {
		s->ctx.of_all = s->needed[i];
		err = err ?: s->table[i]->prepare(s->state[i], &s->ctx);
	}
	return err;
}

int sources_fill(struct sources *s)
{
	unsigned int i;
	int err = 0;

	FOR_EACH_WITH(s, i, loaded)
		err = err ?: s->table[i]->loaded(s->state[i], &s->ctx);
	return err;
}

int sources_attach(struct sources *s, const char **which)
{
	unsigned int i;
	int err = 0;

	FOR_EACH_WITH(s, i, attach)
		err = err ?: s->table[i]->attach(s->state[i], &s->ctx, which);
	return err;
}

void sources_detach(struct sources *s)
{
	unsigned int i;

	FOR_EACH_WITH(s, i, detach)
		s->table[i]->detach(s->state[i], &s->ctx);
}

const struct source_ops *sources_of_program(const struct sources *s, const char *program)
{
	unsigned int i, k;

	for (i = 0; i < RAW_KIND_CNT; i++)
		for (k = 0; k < SOURCE_PARTS_MAX && s->table[i]->programs[k]; k++)
			if (!strcmp(s->table[i]->programs[k], program))
				return s->table[i];
	return NULL;
}

unsigned int sources_kind_of_program(const struct sources *s, const char *program)
{
	const size_t on = strlen("on_");
	unsigned int i, k;

	for (i = 0; i < RAW_KIND_CNT; i++) {
		for (k = 0; k < SOURCE_PARTS_MAX && s->table[i]->programs[k]; k++)
			if (!strcmp(s->table[i]->programs[k], program))
				return i;
		for (k = 0; k < SOURCE_PARTS_MAX && s->table[i]->optional[k]; k++)
			if (!strncmp(program, "on_", on) && !strcmp(s->table[i]->optional[k], program + on))
				return i;
	}
	return RAW_KIND_CNT;
}

/* ---- the recording --------------------------------------------------------------------- */

int sources_write_header(struct sources *s, struct fxt_writer *w)
{
	unsigned int i;
	int err = 0;

	FOR_EACH_WITH(s, i, header)
		err = err ?: s->table[i]->header(s->state[i], w);
	return err;
}

int sources_start(struct sources *s)
{
	unsigned int i;
	int err = 0;

	FOR_EACH_WITH(s, i, start) {
		s->ctx.of_all = s->needed[i];
		err = err ?: s->table[i]->start(&s->state[i], &s->ctx);
	}
	return err;
}

bool sources_late(const struct sources *s, unsigned int *kind, struct source_late *late)
{
	unsigned int i;

	for (i = *kind; i < RAW_KIND_CNT; i++) {
		*late = (struct source_late){ .name = s->table[i]->name };
		*kind = i + 1;
		if (sources_aside_late(s, i, late))
			return true;
		if (s->has[i] && s->table[i]->late && s->table[i]->late(s->state[i], late))
			return true;
	}
	return false;
}

uint64_t sources_capabilities(const struct sources *s)
{
	uint64_t bits = 0;
	unsigned int i;

	FOR_EACH_WITH(s, i, capabilities)
		bits |= s->table[i]->capabilities(s->state[i]);
	return bits;
}

const struct source_call *sources_call(const struct sources *s, unsigned int i)
{
	const struct source_call *call;
	unsigned int k;

	FOR_EACH_WITH(s, k, calls)
		for (call = s->table[k]->calls; call->call != SOURCE_LAST_CALL; call++)
			if (!i--)
				return call;
	return NULL;
}

unsigned int sources_fds(const struct sources *s, struct pollfd fds[RAW_KIND_CNT])
{
	unsigned int i, n = 0;

	FOR_EACH_WITH(s, i, fd)
		fds[n++] = (struct pollfd){ .fd = s->table[i]->fd(s->state[i]), .events = POLLIN };
	return n;
}

int sources_before_look(struct sources *s, uint64_t now_ns)
{
	unsigned int i;
	int err = 0;

	FOR_EACH_WITH(s, i, before_look)
		err = s->table[i]->before_look(s->state[i], now_ns) ?: err;
	return err;
}

int sources_after_look(struct sources *s)
{
	unsigned int i;
	int err = 0;

	FOR_EACH_WITH(s, i, after_look)
		err = s->table[i]->after_look(s->state[i]) ?: err;
	return err;
}

enum ledger_source sources_class(const struct sources *s, const uint64_t *rec)
{
	const unsigned int kind = FXT_GET(rec[RAW_HEADER], RAW_F_KIND);

	return kind < RAW_KIND_CNT ? s->table[kind]->class : LEDGER_EVENTS;
}

int sources_decode(struct sources *s, const uint64_t *rec, unsigned int *written)
{
	const unsigned int kind = FXT_GET(rec[RAW_HEADER], RAW_F_KIND);

	*written = 0;
	if (kind >= RAW_KIND_CNT || !s->has[kind] || !s->table[kind]->decode)
		return -EINVAL;
	s->decoded[kind]++;
	return source_decode(s->table[kind], s->state[kind], &s->ctx, rec, written);
}

uint64_t sources_decoded(const struct sources *s, unsigned int kind)
{
	return s->decoded[kind];
}

bool sources_selected(const struct sources *s, unsigned int kind, enum ledger_source *class)
{
	*class = s->table[kind]->class;
	return s->has[kind];
}

struct event_ring *sources_ring(const struct sources *s, unsigned int *kind, unsigned int i)
{
	unsigned int k;

	for (k = *kind; k < RAW_KIND_CNT; k++) {
		*kind = k + 1;
		if (s->has[k] && s->table[k]->ring)
			return s->table[k]->ring(s->state[k], i);
	}
	return NULL;
}

void sources_row(const struct sources *s, enum ledger_source class, unsigned int i, struct ledger_row *row)
{
	unsigned int k;

	FOR_EACH_WITH(s, k, row)
		if (s->table[k]->class == class)
			s->table[k]->row(s->state[k], i, row);
}

uint64_t sources_overwritten(const struct sources *s, enum ledger_source class, unsigned int cpu)
{
	uint64_t cnt = 0;
	unsigned int i;

	FOR_EACH_WITH(s, i, overwritten)
		if (s->table[i]->class == class)
			cnt += s->table[i]->overwritten(s->state[i], cpu);
	return cnt;
}

int sources_gap(struct sources *s, bool overwritten, uint64_t from_ns, uint64_t to_ns)
{
	unsigned int i;
	int err = 0;

	FOR_EACH_WITH(s, i, gap)
		err = err ?: s->table[i]->gap(s->state[i], overwritten, from_ns, to_ns);
	return err;
}

void sources_stop(struct sources *s)
{
	unsigned int i;

	FOR_EACH_WITH(s, i, stop)
		s->table[i]->stop(s->state[i], &s->ctx);
}

int sources_poll(struct sources *s, uint64_t now_ns, bool final)
{
	unsigned int i;
	int err = 0, failed;

	if (s->aside)
		sources_aside_take(s);
	FOR_EACH_WITH(s, i, poll) {
		failed = s->ended[i] ? 0 : s->table[i]->poll(s->state[i], &s->ctx, now_ns, final);
		err = err ?: failed;
	}
	return err;
}

/* With tracks of its own: their objects are to be in that file, too, and are not known in the next one for that. */
void sources_write_open(struct sources *s, struct fxt_writer *w, uint64_t *events)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	struct source_ctx c = s->ctx;
	uint64_t calls = 0;
	unsigned int i;

	if (tracks_open(&c.tracks))
		return;
	c.w = w;
	FOR_EACH_WITH(s, i, write_open)
		if (!s->ended[i])
			s->table[i]->write_open(s->state[i], &c, now_ns, s->table[i]->class == LEDGER_CALLS ? &calls : events);
	tracks_close(c.tracks);
	s->ctx.async_ids = c.async_ids;
}

void sources_counts(const struct sources *s, enum ledger_source class, struct source_counts *counts)
{
	unsigned int i;

	*counts = (struct source_counts){ 0 };
	if (class == LEDGER_EVENTS) {
		counts->taken = counts->records = s->ctx.events;
		counts->lost = s->ctx.lost;
	}
	FOR_EACH_WITH(s, i, count)
		if (s->table[i]->class == class)
			s->table[i]->count(s->state[i], &s->ctx, counts);
}

void *sources_state(const struct sources *s, unsigned int kind)
{
	return s->has[kind] ? s->state[kind] : NULL;
}

void sources_close(struct sources *s)
{
	if (!s)
		return;
	sources_close_selected(s);
	sources_aside_close(s);
	free(s);
}
