// SPDX-License-Identifier: GPL-2.0
/* See made_up.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fxt/format.h"
#include "made_up.h"

#define PROCESS		500000ULL
#define PRIO		120

static void write_names(struct fxt_writer *w, uint32_t threads)
{
	const struct fxt_arg process = fxt_arg_koid("process", PROCESS);
	struct fxt_object object = { .id = PROCESS, .name = fxt_str("made-up"), .kind = FXT_KOBJ_PROCESS };
	char name[32];
	uint32_t i;

	assert_int_equal(fxt_write_kernel_object(w, &object, NULL, 0), 0);
	object.kind = FXT_KOBJ_THREAD;
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
		.type = FXT_INSTANT, .ts = m->now_ns, .thread = { .process = PROCESS, .thread = 1 }, .category = fxt_str("kfxt"),
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
	struct fxt_writer *w;
	size_t from;

	*m = (struct made_up){ .now_ns = 1000000000000ULL, .threads = threads / MADE_UP_CPUS };
	*begin = (struct fxt_mem){ 0 };
	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, begin), 0);
	assert_int_equal(fxt_write_magic(w), 0);
	assert_int_equal(fxt_write_provider_info(w, 1, fxt_str("kfxt")), 0);
	assert_int_equal(fxt_write_initialization(w, 1000000000), 0);
	assert_int_equal(fxt_writer_flush(w), 0);
	from = begin->len;
	make_words(w, m, begin);
	drop_words(begin, from);
	write_names(w, m->threads * MADE_UP_CPUS);
	write_start(w, m);
	assert_int_equal(fxt_writer_close(w), 0);
}

void made_up_round(struct made_up *m, uint64_t *to, uint32_t pairs, uint64_t step_ns)
{
	uint64_t running, next;
	unsigned int cpu;

	for (; pairs; pairs--, to += MADE_UP_BYTES / 8) {
		cpu = pairs % MADE_UP_CPUS;
		running = 1 + cpu * m->threads + m->at[cpu];
		m->at[cpu] = (m->at[cpu] + 1) % m->threads;
		next = 1 + cpu * m->threads + m->at[cpu];
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
		m->events += 2;
	}
}
