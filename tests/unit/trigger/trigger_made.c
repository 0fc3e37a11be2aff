// SPDX-License-Identifier: GPL-2.0
/* See trigger_made.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trigger_made.h"

#define WEIGHT	120

static void take(struct stream *m)
{
	assert_int_equal(fxt_writer_flush(m->w), 0);
	assert_int_equal(triggers_take(m->t, m->mem.data, m->mem.len), 0);
	m->mem.len = 0;
}

void stream_open(struct stream *m, const char *const *words)
{
	char why[TRIGGER_WHY_BYTES];

	*m = (struct stream){ .t = NULL };
	assert_int_equal(triggers_open(&m->t), 0);
	for (; *words; words++)
		assert_int_equal(triggers_add(m->t, *words, why, sizeof(why)), 0);
	assert_int_equal(fxt_writer_open(&m->w, fxt_mem_write, &m->mem), 0);
	assert_int_equal(fxt_write_magic(m->w), 0);
	assert_int_equal(fxt_write_provider_info(m->w, 1, fxt_str("kfxt")), 0);
	assert_int_equal(fxt_write_initialization(m->w, 1000000000), 0);
	take(m);
}

void stream_close(struct stream *m)
{
	assert_int_equal(fxt_writer_close(m->w), 0);
	fxt_mem_free(&m->mem);
	triggers_close(m->t);
}

void stream_start(struct stream *m, const char *cpus, const char *online, const char *filter)
{
	const struct fxt_event start = {
		.type = FXT_INSTANT, .thread = { 1, 1, false }, .category = fxt_str("kfxt"), .name = fxt_str("start"),
	};
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str_inline(cpus, __builtin_strlen(cpus))),
		fxt_arg_str("online", fxt_str_inline(online, __builtin_strlen(online))),
		fxt_arg_str("filter", fxt_str(filter)),
	};

	assert_int_equal(fxt_write_event(m->w, &start, args, filter ? 3 : 2), 0);
	take(m);
}

void stream_thread(struct stream *m, uint64_t koid, uint64_t process, const char *comm)
{
	const struct fxt_object object = { .id = koid, .kind = FXT_KOBJ_THREAD, .name = fxt_str(comm) };
	const struct fxt_arg arg = fxt_arg_koid("process", process);

	assert_int_equal(fxt_write_kernel_object(m->w, &object, &arg, 1), 0);
	take(m);
}

static void write_process(struct stream *m, uint64_t koid, struct fxt_arg arg)
{
	const struct fxt_object object = { .id = koid, .kind = FXT_KOBJ_PROCESS, .name = fxt_str("process") };

	assert_int_equal(fxt_write_kernel_object(m->w, &object, &arg, 1), 0);
	take(m);
}

void stream_process(struct stream *m, uint64_t koid, const char *cgroup)
{
	write_process(m, koid, fxt_arg_str("cgroup", fxt_str(cgroup)));
}

void stream_exit(struct stream *m, uint64_t koid, const char *how, int value)
{
	write_process(m, koid, fxt_arg_i32(how, value));
}

static void write_switch(struct stream *m, const struct fxt_switch *s, const char *mark, const char *state)
{
	struct fxt_arg args[4] = {
		fxt_arg_i32("outgoing_weight", s->out ? WEIGHT : FXT_WEIGHT_IDLE),
		fxt_arg_i32("incoming_weight", s->in ? WEIGHT : FXT_WEIGHT_IDLE),
	};
	unsigned int n = 2;

	if (state)
		args[n++] = fxt_arg_str("linux_state", fxt_str(state));
	if (mark)
		args[n++] = fxt_arg_str("mark", fxt_str(mark));
	assert_int_equal(fxt_write_switch(m->w, s, args, n), 0);
	take(m);
}

static enum fxt_thread_state state_of(char state)
{
	return state == 'R' ? FXT_STATE_RUNNING : state == 'Z' ? FXT_STATE_DYING : FXT_STATE_BLOCKED;
}

void stream_switch(struct stream *m, uint16_t cpu, uint64_t ms, uint64_t out, char state, uint64_t in)
{
	const struct fxt_switch s = {
		.ts = ms * STREAM_MS, .cpu = cpu, .state = state_of(state), .out = out, .in = in,
	};

	write_switch(m, &s, NULL, state == 'D' ? "D" : state == 'Z' ? "Z" : NULL);
}

void stream_mark(struct stream *m, uint16_t cpu, uint64_t ms, uint64_t out, uint64_t in, const char *mark)
{
	const struct fxt_switch s = {
		.ts = ms * STREAM_MS, .cpu = cpu, .state = FXT_STATE_RUNNING, .out = out, .in = in,
	};

	write_switch(m, &s, mark, NULL);
}

void stream_state(struct stream *m, uint16_t cpu, uint64_t ms, uint64_t out, char state)
{
	const struct fxt_switch s = { .ts = ms * STREAM_MS, .cpu = cpu, .state = state_of(state), .out = out };

	write_switch(m, &s, "state", state == 'D' ? "D" : NULL);
}

void stream_wakeup(struct stream *m, uint64_t ms, uint64_t thread, const char *mark)
{
	const struct fxt_wakeup s = { .ts = ms * STREAM_MS, .thread = thread };
	const struct fxt_arg args[] = {
		fxt_arg_i32("weight", WEIGHT), fxt_arg_koid("waker", 0), fxt_arg_str("mark", fxt_str(mark)),
	};

	assert_int_equal(fxt_write_wakeup(m->w, &s, args, mark ? 3 : 2), 0);
	take(m);
}

static void write_slice(struct stream *m, uint64_t thread, const char *category, const char *name, uint64_t from, uint64_t to,
			bool unfinished)
{
	const struct fxt_arg arg = fxt_arg_bool("unfinished", true);
	const struct fxt_event e = {
		.type = FXT_DURATION_COMPLETE, .ts = from * STREAM_MS, .id = to * STREAM_MS, .thread = { thread, thread, true },
		.category = fxt_str(category), .name = fxt_str(name),
	};

	assert_int_equal(fxt_write_event(m->w, &e, &arg, unfinished), 0);
	take(m);
}

void stream_slice(struct stream *m, uint64_t thread, const char *category, const char *name, uint64_t from, uint64_t to)
{
	write_slice(m, thread, category, name, from, to, false);
}

void stream_unfinished(struct stream *m, uint64_t thread, const char *category, const char *name, uint64_t from, uint64_t to)
{
	write_slice(m, thread, category, name, from, to, true);
}

void stream_instant(struct stream *m, const char *category, const char *name, const char *text, uint64_t ms)
{
	const struct fxt_event e = {
		.type = FXT_INSTANT, .ts = ms * STREAM_MS, .thread = { 9, 9, false }, .category = fxt_str(category),
		.name = fxt_str(name),
	};
	const struct fxt_arg arg = fxt_arg_str("text", fxt_str_inline(text, text ? __builtin_strlen(text) : 0));

	assert_int_equal(fxt_write_event(m->w, &e, &arg, text != NULL), 0);
	take(m);
}

void stream_late(struct stream *m, const char *source, const char *why)
{
	const struct fxt_event e = {
		.type = FXT_INSTANT, .ts = STREAM_MS, .thread = { 9, 9, false }, .category = fxt_str("kfxt"), .name = fxt_str("late"),
	};
	const struct fxt_arg args[] = {
		fxt_arg_str("source", fxt_str(source)), why ? fxt_arg_str("why", fxt_str(why)) : fxt_arg_u64("after_ns", 7),
	};

	assert_int_equal(fxt_write_event(m->w, &e, args, 2), 0);
	take(m);
}

void stream_round(struct stream *m, uint64_t ms)
{
	assert_int_equal(triggers_round(m->t, ms * STREAM_MS + TRIGGER_SETTLE_NS), 0);
}

const struct trigger_fired *stream_fired(struct stream *m, const char *word, uint64_t ms)
{
	const struct trigger_fired *f = triggers_next(m->t);

	assert_non_null(f);
	assert_string_equal(f->word, word);
	assert_int_equal(f->value, ms * STREAM_MS);
	return f;
}

void stream_none(struct stream *m)
{
	const struct trigger_fired *f = triggers_next(m->t);

	if (f)
		fail_msg("%s fired: %llu ms, %llu to %llu ms, thread %llu", f->word, (unsigned long long)(f->value / STREAM_MS),
			 (unsigned long long)(f->from_ns / STREAM_MS), (unsigned long long)(f->to_ns / STREAM_MS),
			 (unsigned long long)f->thread);
}
