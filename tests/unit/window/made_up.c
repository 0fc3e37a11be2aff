// SPDX-License-Identifier: GPL-2.0
/* See made_up.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fxt/format.h"
#include "made_up.h"

#define PROCESS		500000ULL
#define RECORDER	499999ULL	/* its thread, which stays */
#define FIRST_BORN	1000000ULL
#define PRIO		120

static void write_names(struct fxt_writer *w, uint32_t threads)
{
	const struct fxt_arg process = fxt_arg_koid("process", PROCESS);
	struct fxt_object object = { .id = PROCESS, .name = fxt_str("made-up"), .kind = FXT_KOBJ_PROCESS };
	char name[32];
	uint32_t i;

	assert_int_equal(fxt_write_kernel_object(w, &object, NULL, 0), 0);
	object.kind = FXT_KOBJ_THREAD;
	object.id = RECORDER;
	assert_int_equal(fxt_write_kernel_object(w, &object, &process, 1), 0);
	for (i = 1; i <= threads; i++) {
		snprintf(name, sizeof(name), "thread-%u", i);
		object.id = i;
		object.name = fxt_str_inline(name, strlen(name));
		assert_int_equal(fxt_write_kernel_object(w, &object, &process, 1), 0);
	}
}

static void write_start(struct fxt_writer *w, const struct made_up *m)
{
	const struct fxt_event start = {
		.type = FXT_INSTANT, .ts = m->now_ns, .thread = { .process = PROCESS, .thread = RECORDER }, .category = fxt_str("kfxt"),
		.name = fxt_str("start"),
	};
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str("0-3")), fxt_arg_str("online", fxt_str("0-3")),
		fxt_arg_u64("realtime_ns", 1000000000000000000ULL),
	};
	unsigned int cpu;

	assert_int_equal(fxt_write_event(w, &start, args, 3), 0);
	for (cpu = 0; cpu < MADE_UP_CPUS; cpu++) {
		const struct fxt_switch s = {
			.ts = m->now_ns, .cpu = (uint16_t)cpu, .state = FXT_STATE_RUNNING, .in = 1 + cpu * m->threads,
		};
		const struct fxt_arg marks[] = {
			fxt_arg_i32("outgoing_weight", FXT_WEIGHT_IDLE), fxt_arg_i32("incoming_weight", PRIO),
			fxt_arg_str("mark", fxt_str("start")),
		};

		assert_int_equal(fxt_write_switch(w, &s, marks, 3), 0);
	}
}

/* Words of records whose strings are registered before them. */
static void make_words(struct fxt_writer *w, struct made_up *m, struct fxt_mem *begin)
{
	const struct fxt_switch s = { .ts = 1, .state = FXT_STATE_BLOCKED, .out = 1, .in = 1 };
	const struct fxt_wakeup wakeup = { .ts = 1, .thread = 1 };
	const struct fxt_arg weights[] = {
		fxt_arg_i32("outgoing_weight", PRIO), fxt_arg_i32("incoming_weight", PRIO),
	};
	const struct fxt_arg waker[] = { fxt_arg_i32("weight", PRIO), fxt_arg_koid("waker", 1) };
	size_t end;
	int i;

	/* Twice: the second ones have no strings before them. */
	for (i = 0; i < 2; i++) {
		assert_int_equal(fxt_writer_flush(w), 0);
		end = begin->len;
		assert_int_equal(fxt_write_switch(w, &s, weights, 2), 0);
		assert_int_equal(fxt_write_wakeup(w, &wakeup, waker, 2), 0);
		assert_int_equal(fxt_writer_flush(w), 0);
	}
	assert_int_equal(begin->len - end, MADE_UP_BYTES);
	memcpy(m->out_word, begin->data + end, 48);
	memcpy(m->wake_word, begin->data + end + 48, 48);
}

/* Only the records that define strings are to stay of what make_words() wrote. */
static void drop_words(struct fxt_mem *begin, size_t from)
{
	size_t at, len, kept = from;
	uint64_t head;

	for (at = from; at < begin->len; at += len) {
		memcpy(&head, begin->data + at, sizeof(head));
		len = FXT_GET(head, FXT_F_SIZE) * 8;
		if (FXT_GET(head, FXT_F_TYPE) == FXT_SCHEDULING)
			continue;
		memmove(begin->data + kept, begin->data + at, len);
		kept += len;
	}
	begin->len = kept;
}

void made_up_open(struct made_up *m, uint32_t threads, struct fxt_mem *begin)
{
	size_t from;

	*m = (struct made_up){ .now_ns = 1000000000000ULL, .threads = threads / MADE_UP_CPUS };
	assert_int_equal(fxt_writer_open(&m->w, fxt_mem_write, &m->names), 0);
	assert_int_equal(fxt_write_magic(m->w), 0);
	assert_int_equal(fxt_write_provider_info(m->w, 1, fxt_str("kfxt")), 0);
	assert_int_equal(fxt_write_initialization(m->w, 1000000000), 0);
	assert_int_equal(fxt_writer_flush(m->w), 0);
	from = m->names.len;
	make_words(m->w, m, &m->names);
	drop_words(&m->names, from);
	write_names(m->w, m->threads * MADE_UP_CPUS);
	write_start(m->w, m);
	assert_int_equal(fxt_writer_flush(m->w), 0);
	*begin = m->names;
	m->names = (struct fxt_mem){ 0 };
}

void made_up_turn_over(struct made_up *m)
{
	const uint32_t cnt = m->threads * MADE_UP_CPUS;
	uint32_t i;

	m->koids = malloc(cnt * sizeof(*m->koids));
	assert_non_null(m->koids);
	for (i = 0; i < cnt; i++)
		m->koids[i] = 1 + i;
	m->next = FIRST_BORN;
}

void made_up_close(struct made_up *m)
{
	assert_int_equal(fxt_writer_close(m->w), 0);
	fxt_mem_free(&m->names);
	free(m->koids);
}

static uint64_t koid_at(const struct made_up *m, unsigned int cpu, uint32_t at)
{
	return m->koids ? m->koids[cpu * m->threads + at] : 1 + cpu * m->threads + at;
}

void made_up_names(struct made_up *m)
{
	const struct fxt_arg args[] = { fxt_arg_koid("process", PROCESS), fxt_arg_bool("exited", true) };
	struct fxt_object object = { .kind = FXT_KOBJ_THREAD };
	unsigned int cpu;
	char name[32];

	m->names.len = 0;
	for (cpu = 0; cpu < MADE_UP_CPUS; cpu++) {
		object.id = koid_at(m, cpu, m->at[cpu]);
		object.name = fxt_str_inline("exits", 5);
		assert_int_equal(fxt_write_kernel_object(m->w, &object, args, 2), 0);
		m->born[cpu] = m->next++;
		snprintf(name, sizeof(name), "born-%u", (unsigned int)(m->born[cpu] % 1000));
		object.id = m->born[cpu];
		object.name = fxt_str_inline(name, strlen(name));
		assert_int_equal(fxt_write_kernel_object(m->w, &object, args, 1), 0);
	}
	assert_int_equal(fxt_writer_flush(m->w), 0);
}

/* Who has switched out has exited. */
static void replace(struct made_up *m, unsigned int cpu, uint32_t at, uint64_t *out)
{
	*out ^= FXT_PUT(FXT_STATE_BLOCKED ^ FXT_STATE_DEAD, FXT_F_SCHED_STATE);
	m->koids[cpu * m->threads + at] = m->born[cpu];
	m->born[cpu] = 0;
}

void made_up_round(struct made_up *m, uint64_t *to, uint32_t pairs, uint64_t step_ns)
{
	uint64_t running, next;
	unsigned int cpu;
	uint32_t at;

	for (; pairs; pairs--, to += MADE_UP_BYTES / 8) {
		cpu = pairs % MADE_UP_CPUS;
		at = m->at[cpu];
		running = koid_at(m, cpu, at);
		m->at[cpu] = (at + 1) % m->threads;
		next = koid_at(m, cpu, m->at[cpu]);
		memcpy(to, m->wake_word, 48);
		to[0] |= FXT_PUT(cpu, FXT_F_SCHED_CPU);
		to[1] = m->now_ns + step_ns / 2;
		to[2] = next;
		to[5] = running;
		m->now_ns += step_ns;
		memcpy(to + 6, m->out_word, 48);
		to[6] |= FXT_PUT(cpu, FXT_F_SCHED_CPU);
		to[7] = m->now_ns;
		to[8] = running;
		to[9] = next;
		if (m->born[cpu])
			replace(m, cpu, at, &to[6]);
		m->events += 2;
	}
}
