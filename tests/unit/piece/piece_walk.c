// SPDX-License-Identifier: GPL-2.0
/* Recordings cut into pieces; see piece_walk.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "base/map.h"
#include "piece_walk.h"

/* ---- the meaning of a record ------------------------------------------------------------------ */

static uint64_t mix(uint64_t h, const void *data, size_t len)
{
	const unsigned char *at = data;

	for (h ^= len; len; len--)
		h = (h ^ *at++) * 0x100000001b3ULL;
	return h;
}

static uint64_t mix_str(uint64_t h, struct fxt_str s)
{
	return mix(h, s.data, s.len);
}

static uint64_t mix_args(uint64_t h, const struct fxt_record *rec)
{
	unsigned int i;

	for (i = 0; i < rec->nargs; i++) {
		const struct fxt_arg *arg = &rec->args[i];

		h = mix_str(h, arg->name);
		h = mix(h, &arg->type, sizeof(arg->type));
		if (arg->type == FXT_ARG_STRING)
			h = mix_str(h, arg->str);
		else if (arg->type == FXT_ARG_INT32 || arg->type == FXT_ARG_UINT32)
			h = mix(h, &arg->u32, 4);
		else if (arg->type == FXT_ARG_BLOB)
			h = mix(h, arg->blob.data, arg->blob.len);
		else if (arg->type == FXT_ARG_BOOL)
			h = mix(h, &arg->b, sizeof(arg->b));
		else if (arg->type != FXT_ARG_NULL)
			h = mix(h, &arg->u64, 8);
	}
	return h;
}

static uint64_t digest(const struct fxt_record *rec)
{
	uint64_t h = mix(0xcbf29ce484222325ULL, &rec->kind, sizeof(rec->kind));

	assert_int_equal(rec->unresolved, 0);
	assert_int_not_equal(rec->kind, FXT_KIND_DAMAGED);
	if (rec->has_ts)
		h = mix(h, &rec->ts, 8);
	switch (rec->kind) {
	case FXT_KIND_EVENT:
		h = mix(h, &rec->event.type, sizeof(rec->event.type));
		h = mix(h, &rec->event.thread.process, 8);
		h = mix(h, &rec->event.thread.thread, 8);
		if (rec->event.type == FXT_COUNTER || rec->event.type >= FXT_DURATION_COMPLETE)
			h = mix(h, &rec->event.id, 8);
		return mix_args(mix_str(mix_str(h, rec->event.category), rec->event.name), rec);
	case FXT_KIND_SWITCH:
		h = mix(h, &rec->context_switch.cpu, 2);
		h = mix(h, &rec->context_switch.state, sizeof(rec->context_switch.state));
		h = mix(h, &rec->context_switch.out, 8);
		return mix_args(mix(h, &rec->context_switch.in, 8), rec);
	case FXT_KIND_WAKEUP:
		h = mix(h, &rec->wakeup.cpu, 2);
		return mix_args(mix(h, &rec->wakeup.thread, 8), rec);
	case FXT_KIND_KERNEL_OBJECT:
		h = mix(h, &rec->object.id, 8);
		return mix_args(mix_str(h, rec->object.name), rec);
	case FXT_KIND_STRING:
		h = mix(h, &rec->string.index, 2);
		return mix_str(h, rec->string.value);
	case FXT_KIND_LOG:
		h = mix(h, &rec->log.thread.thread, 8);
		return mix_str(h, rec->log.text);
	case FXT_KIND_BLOB:
		return mix(h, rec->blob.data, rec->blob.len);
	default:
		return h;
	}
}

/* Whether a switch or wakeup happened: no recorder made it up, no piece has it from another one. */
static bool is_real(const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_SWITCH)
		return !fxt_record_arg(rec, "mark");
	return rec->kind == FXT_KIND_WAKEUP && !fxt_record_arg(rec, "carried");
}

uint64_t *walk_real(const struct fxt_mem *m, size_t *cnt)
{
	struct fxt_mem_source source = { .data = m->data, .len = m->len };
	uint64_t *list = malloc(m->len + 8);	/* a record has at least 8 bytes */
	struct fxt_reader *reader;
	struct fxt_record rec;

	assert_non_null(list);
	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	for (*cnt = 0; fxt_reader_next(reader, &rec) == 1;)
		if (is_real(&rec))
			list[(*cnt)++] = digest(&rec);
	fxt_reader_close(reader);
	return list;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static bool is_ledger(const struct fxt_record *rec)
{
	return rec->kind == FXT_KIND_EVENT && rec->event.name.len == 6 && !memcmp(rec->event.name.data, "ledger", 6) &&
	       rec->event.category.len == 4 && !memcmp(rec->event.category.data, "kfxt", 4);
}

static uint64_t sched_ts(const struct fxt_record *rec)
{
	const struct fxt_arg *mark = fxt_record_arg(rec, "mark");
	const bool state = mark && mark->str.len == 5 && !memcmp(mark->str.data, "state", 5);

	return (rec->kind != FXT_KIND_SWITCH && rec->kind != FXT_KIND_WAKEUP) || state ? UINT64_MAX : rec->ts;
}

static bool is_start(const struct fxt_record *rec)
{
	const struct fxt_arg *mark = fxt_record_arg(rec, "mark");

	return rec->kind == FXT_KIND_SWITCH && mark && mark->str.len == 5 && !memcmp(mark->str.data, "start", 5);
}

/* Which koids have a name, and which were there without one. */
struct tasks {
	struct map map;			/* koid, of a process with PROCESS, to 0: no name, or 1 */
	bool *named;
	size_t cnt, unnamed_cnt;
};
#define PROCESS		(1ULL << 63)

/* Koid 0, idle, needs no name; process 0 does. */
static void use(struct tasks *n, uint64_t key, bool name)
{
	uint32_t i = map_get(&n->map, key);

	if (!key)
		return;
	if (i == MAP_NONE) {
		i = (uint32_t)n->cnt++;
		assert_int_equal(map_add(&n->map, key, i), 0);
		n->named[i] = false;
		n->unnamed_cnt++;
	}
	n->unnamed_cnt -= name && !n->named[i];
	n->named[i] |= name;
}

static void use_all(struct tasks *n, const struct fxt_record *rec)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, rec->kind == FXT_KIND_WAKEUP ? "waker" : "process");

	if (rec->kind == FXT_KIND_KERNEL_OBJECT && rec->object.kind == FXT_KOBJ_PROCESS) {
		use(n, PROCESS | rec->object.id, true);
	} else if (rec->kind == FXT_KIND_KERNEL_OBJECT) {
		use(n, PROCESS | arg->u64, false);
		use(n, rec->object.id, true);
	} else if (rec->kind == FXT_KIND_SWITCH) {
		use(n, rec->context_switch.out, false);
		use(n, rec->context_switch.in, false);
	} else if (rec->kind == FXT_KIND_WAKEUP) {
		use(n, rec->wakeup.thread, false);
		use(n, arg->u64, false);
	} else if (rec->kind == FXT_KIND_EVENT || rec->kind == FXT_KIND_LOG) {
		use(n, rec->kind == FXT_KIND_EVENT ? rec->event.thread.thread : rec->log.thread.thread, false);
	}
}

void whole_open(struct whole *w, unsigned char *data, size_t len)
{
	struct fxt_mem_source source = { .data = data, .len = len };
	struct tasks names = { .named = malloc(len + 8) };
	struct fxt_reader *reader;
	struct fxt_record rec;
	size_t at = 0, i;

	*w = (struct whole){ .data = data };
	w->at = malloc(len + 8);
	w->digests = malloc(len + 8);
	w->bounds = malloc(len + 16);
	w->named = malloc(len + 8);
	assert_true(w->at && w->digests && w->bounds && w->named && names.named);
	w->named[0] = true;
	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (fxt_reader_next(reader, &rec) == 1) {
		if (!is_ledger(&rec) && rec.kind != FXT_KIND_PROVIDER_EVENT) {
			w->digests[w->records_cnt] = digest(&rec);
			w->bounds[w->records_cnt] = sched_ts(&rec);
			w->at[w->records_cnt++] = w->len;
			if (is_start(&rec))
				w->begun = w->records_cnt;
			use_all(&names, &rec);
			w->named[w->records_cnt] = !names.unnamed_cnt;
			memmove(data + w->len, data + at, rec.len);
			w->len += rec.len;
		}
		at += rec.len;
	}
	fxt_reader_close(reader);
	map_fini(&names.map);
	free(names.named);
	w->at[w->records_cnt] = w->len;
	w->bounds[w->records_cnt] = UINT64_MAX;
	for (i = w->records_cnt; i--;)
		w->bounds[i] = w->bounds[i] < w->bounds[i + 1] ? w->bounds[i] : w->bounds[i + 1];
}

void whole_close(struct whole *w)
{
	free(w->data);
	free(w->at);
	free(w->digests);
	free(w->bounds);
	free(w->named);
}

/* ---- pieces ----------------------------------------------------------------------------------- */

struct piece_cut walk_cut(const struct whole *w, size_t record, bool bound)
{
	return (struct piece_cut){
		.bound_ns = bound && w->bounds[record] != UINT64_MAX ? w->bounds[record] : 0, .number = 1 + record,
	};
}

static struct piece_state *state_at(const void *data, size_t len)
{
	struct piece_state *s;

	assert_int_equal(piece_state_open(&s), 0);
	assert_int_equal(piece_state_add(s, data, len), 0);
	return s;
}

static void write_head(const struct piece_state *s, const struct piece_cut *cut, struct fxt_mem *out)
{
	struct fxt_writer *writer;

	assert_int_equal(fxt_writer_open(&writer, fxt_mem_write, out), 0);
	assert_int_equal(piece_state_write_head(s, writer, cut), 0);
	assert_int_equal(fxt_writer_close(writer), 0);
}

static void write_end(const struct piece_state *s, const struct piece_cut *cut, struct fxt_mem *out)
{
	struct fxt_writer *writer;

	assert_int_equal(fxt_writer_open(&writer, fxt_mem_write, out), 0);
	assert_int_equal(piece_state_write_tail(s, writer, cut), 0);
	assert_int_equal(piece_state_write_ledger(s, writer, cut), 0);
	assert_int_equal(fxt_writer_close(writer), 0);
}

void walk_piece(const struct whole *w, size_t first, size_t end, bool bound, struct fxt_mem *out)
{
	struct piece_cut cut = walk_cut(w, first, bound);
	struct piece_state *s;

	*out = (struct fxt_mem){ 0 };
	if (first) {
		s = state_at(w->data, w->at[first]);
		write_head(s, &cut, out);
		piece_state_close(s);
	}
	fxt_mem_write(out, w->data + w->at[first], w->at[end] - w->at[first]);
	/* What a file needs at its end is known from the file alone. */
	cut = walk_cut(w, end, bound);
	s = state_at(out->data, out->len);
	write_end(s, &cut, out);
	piece_state_close(s);
}

void walk_rotation(const struct whole *w, const size_t *cuts, size_t cnt, struct fxt_mem *out)
{
	struct piece_cut cut = { 0 };
	struct piece_state *s;
	size_t i, first = 0, end;

	assert_int_equal(piece_state_open(&s), 0);
	for (i = 0; i <= cnt; i++, first = end) {
		end = i < cnt ? cuts[i] : w->records_cnt;
		out[i] = (struct fxt_mem){ 0 };
		if (i) {
			write_head(s, &cut, &out[i]);
			assert_int_equal(piece_state_cut(s, &cut), 0);
		}
		assert_int_equal(piece_state_add(s, w->data + w->at[first], w->at[end] - w->at[first]), 0);
		fxt_mem_write(&out[i], w->data + w->at[first], w->at[end] - w->at[first]);
		cut = walk_cut(w, end, true);
		write_end(s, &cut, &out[i]);
	}
	piece_state_close(s);
}

static void write_window_end(const struct piece_state *all, const struct piece_state *before, const struct whole *w,
			     size_t first, size_t end, struct fxt_mem *out)
{
	const struct piece_cut from = walk_cut(w, first, true), to = walk_cut(w, end, true);
	struct piece_counts *counts = piece_counts_take(all, &to);
	struct fxt_writer *writer;

	assert_non_null(counts);
	assert_int_equal(piece_counts_begin(counts, before, &from), 0);
	assert_int_equal(fxt_writer_open(&writer, fxt_mem_write, out), 0);
	assert_int_equal(piece_state_write_tail(all, writer, &to), 0);
	assert_int_equal(piece_counts_write_ledger(counts, writer), 0);
	assert_int_equal(fxt_writer_close(writer), 0);
	piece_counts_free(counts);
}

void walk_window(const struct whole *w, size_t first, size_t end, struct fxt_mem *out)
{
	const struct piece_cut cut = walk_cut(w, first, true);
	struct piece_state *before = state_at(w->data, w->at[first]), *all = state_at(w->data, w->at[end]);

	*out = (struct fxt_mem){ 0 };
	write_head(before, &cut, out);
	fxt_mem_write(out, w->data + w->at[first], w->at[end] - w->at[first]);
	write_window_end(all, before, w, first, end, out);
	piece_state_close(before);
	piece_state_close(all);
}

void walk_verify(const struct fxt_mem *m, const char *what, size_t first, size_t end)
{
	struct fxt_mem_source source = { .data = m->data, .len = m->len };
	struct verify *v = malloc(sizeof(*v));
	struct fxt_reader *reader;
	struct fxt_record rec;
	int i;

	assert_non_null(v);
	assert_int_equal(verify_init(v), 0);
	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (fxt_reader_next(reader, &rec) > 0)
		assert_int_equal(verify_format_record(v, &rec, fxt_reader_ticks_per_second(reader)), 0);
	assert_int_equal(verify_finish(v, reader), 0);
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		if (v->findings[i].count)
			fail_msg("%s, records %zu to %zu: %s at %llu: %s", what, first, end, verify_problem_name(i),
				 (unsigned long long)v->findings[i].offsets[0], v->findings[i].first);
	fxt_reader_close(reader);
	verify_fini(v);
	free(v);
}

size_t walk_compare(const struct whole *w, const struct fxt_mem *m, size_t first, size_t end)
{
	struct fxt_mem_source source = { .data = m->data, .len = m->len };
	size_t at = 0, same = 0, carried = 0, from = m->len;
	struct fxt_reader *reader;
	struct fxt_record rec;
	uint64_t d;

	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (fxt_reader_next(reader, &rec) == 1) {
		carried += rec.kind == FXT_KIND_WAKEUP && fxt_record_arg(&rec, "carried");
		d = digest(&rec);
		/* where the records of the recording begin: their bytes are the recording's */
		if (from == m->len && m->len - at >= w->at[end] - w->at[first] &&
		    !memcmp(m->data + at, w->data + w->at[first], w->at[end] - w->at[first]))
			from = at;
		if (at >= from && same < end - first) {
			if (d != w->digests[first + same])
				fail_msg("records %zu to %zu: record %zu has another meaning", first, end, first + same);
			same++;
		}
		at += rec.len;
	}
	fxt_reader_close(reader);
	assert_int_equal(same, end - first);
	return carried;
}
