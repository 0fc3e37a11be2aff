// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduling as the kernel's tracer prints it, with nanoseconds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sched.h"

#define NS_PER_SECOND	1000000000ULL
#define SEARCH_MAX	1024U		/* of these a waker's is found */
#define COLUMN_BYTES	16U

struct sched_text_cpu {
	bool runs;		/* @thread does; else it is not known what does */
	bool in_gap;
	bool has_loss;		/* @lost events, 0 for any number, are to be reported */
	uint64_t thread, lost, lost_ns;	/* ... which began at @lost_ns */
};

void sched_text_fini(struct sched_text *t)
{
	free(t->cpus);
	*t = (struct sched_text){ 0 };
}

/* Makes cpus[@cpu] exist. */
static int add_cpu(struct sched_text *t, unsigned int cpu)
{
	unsigned int cap = t->cpus_cnt;

	if (cpu < t->cpus_cnt)
		return 0;
	if (array_reserve(t->cpus, t->cpus_cnt, cap, cpu + 1 - t->cpus_cnt))
		return -ENOMEM;
	memset(t->cpus + t->cpus_cnt, 0, (cap - t->cpus_cnt) * sizeof(*t->cpus));
	t->cpus_cnt = cap;
	return 0;
}

static const struct write_name *find(const struct write_names *threads, uint64_t koid)
{
	uint32_t at = map_get(&threads->by_koid, koid);

	return at == MAP_NONE ? NULL : &threads->names[at];
}

/*
 * A name on one line: control characters become question marks. Readers want one, and the kernel writes <...>
 * for none.
 */
static void put_comm(struct write_buf *b, const struct write_name *name)
{
	size_t i;

	if (!name || !name->len)
		write_buf_text(b, "<...>");
	for (i = 0; name && i < name->len; i++)
		write_buf_char(b, (unsigned char)name->name[i] < ' ' || name->name[i] == 0x7f ? '?' : name->name[i]);
}

static void put_field_comm(struct write_buf *b, const struct write_names *threads, uint64_t koid, unsigned int cpu)
{
	if (koid)
		put_comm(b, find(threads, koid));
	else
		write_buf_printf(b, "swapper/%u", cpu);
}

/* "            bash-977     (    977) [002] d... 1234.000003624: " */
static void put_head(struct write_buf *b, const struct write_names *threads, const struct sched_item *item,
		     uint64_t koid, unsigned int cpu, const char *flags)
{
	const struct write_name *name = find(threads, koid);
	size_t start = b->len, len;

	if (!koid)
		write_buf_text(b, "<idle>");
	else
		put_comm(b, name);
	len = b->len - start;
	if (len < COLUMN_BYTES && !b->failed) {
		write_buf_printf(b, "%*s", (int)(COLUMN_BYTES - len), "");
		memmove(b->data + start + COLUMN_BYTES - len, b->data + start, len);
		memset(b->data + start, ' ', COLUMN_BYTES - len);
	}
	write_buf_printf(b, "-%-7llu ", (unsigned long long)koid);
	if (koid && name && name->has_process && name->process)
		write_buf_printf(b, "(%7llu)", (unsigned long long)name->process);
	else
		write_buf_text(b, "(-------)");
	write_buf_printf(b, " [%03u] %s %5llu.%09llu: ", cpu, flags, (unsigned long long)(item->ts_ns / NS_PER_SECOND),
			 (unsigned long long)(item->ts_ns % NS_PER_SECOND));
}

/* A trace of one clock and one that is joined to it by nothing are refused together: this joins them. */
static void put_clock_sync(struct write_buf *b, const struct sched_item *item)
{
	write_buf_text(b, "# tracer: nop\n#\n");
	write_buf_printf(b, "%16s-%-7u (-------) [000] d... %5llu.%09llu: ", "<...>", 0U,
			 (unsigned long long)(item->ts_ns / NS_PER_SECOND), (unsigned long long)(item->ts_ns % NS_PER_SECOND));
	write_buf_printf(b, "tracing_mark_write: trace_event_clock_sync: parent_ts=%llu.%09llu\n",
			 (unsigned long long)(item->ts_ns / NS_PER_SECOND), (unsigned long long)(item->ts_ns % NS_PER_SECOND));
}

static void put_loss(struct write_buf *b, struct sched_text_cpu *c, unsigned int cpu)
{
	if (c->lost)
		write_buf_printf(b, "CPU:%u [LOST %llu EVENTS]\n", cpu, (unsigned long long)c->lost);
	else
		write_buf_printf(b, "CPU:%u [LOST EVENTS]\n", cpu);
	c->has_loss = false;
	c->lost = 0;
}

static void note_loss(struct sched_text *t, const struct sched_item *item)
{
	struct sched_text_cpu *c = &t->cpus[item->cpu];

	c->has_loss = true;
	c->lost += item->lost;
	c->lost_ns = item->ts_ns;
}

static void put_switch_line(struct write_buf *b, const struct write_names *threads, const struct sched_item *item)
{
	put_head(b, threads, item, item->out, item->cpu, "d...");
	write_buf_text(b, "sched_switch: prev_comm=");
	put_field_comm(b, threads, item->out, item->cpu);
	write_buf_printf(b, " prev_pid=%llu prev_prio=%d prev_state=%s ==> next_comm=", (unsigned long long)item->out,
			 item->out_prio, item->state);
	put_field_comm(b, threads, item->in, item->cpu);
	write_buf_printf(b, " next_pid=%llu next_prio=%d\n", (unsigned long long)item->in, item->in_prio);
}

/* A gap begins with a switch to the idle thread and ends with one from it: between them records are missing. */
static void put_switch(struct sched_text *t, struct write_buf *b, const struct write_names *threads,
		       const struct sched_item *item)
{
	struct sched_text_cpu *c = &t->cpus[item->cpu];

	/* The thread has not been switched out: what does not run is no part of this text. */
	if (item->mark == SCHED_MARK_STATE)
		return;
	c->in_gap = item->mark == SCHED_MARK_GAP && !c->in_gap;
	if (c->has_loss && !c->in_gap && item->ts_ns > c->lost_ns)
		put_loss(b, c, item->cpu);
	if (item->out || item->in)
		put_switch_line(b, threads, item);
	if (c->in_gap)
		put_loss(b, c, item->cpu);
	c->runs = true;
	c->thread = item->in;
}

/* @cpu, or another if its records are missing: what is recorded then did not happen there. */
static unsigned int cpu_with_records(const struct sched_text *t, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; t->cpus[cpu].in_gap && i < t->cpus_cnt && i < SEARCH_MAX; i++)
		if (t->cpus[i].runs && !t->cpus[i].in_gap)
			return i;
	return cpu;
}

/* The CPU on which @koid runs; if it runs nowhere, or is 0 as an interrupt is, @cpu or another. */
static unsigned int cpu_of(const struct sched_text *t, uint64_t koid, unsigned int cpu)
{
	unsigned int i;

	if (koid && t->cpus[cpu].runs && t->cpus[cpu].thread == koid)
		return cpu;
	for (i = 0; koid && i < t->cpus_cnt && i < SEARCH_MAX; i++)
		if (t->cpus[i].runs && t->cpus[i].thread == koid)
			return i;
	return cpu_with_records(t, cpu);
}

/* By an interrupt: the idle thread with the flag of one. What is implied is so for every reader. */
static void put_wakeup(const struct sched_text *t, struct write_buf *b, const struct write_names *threads,
		       const struct sched_item *item)
{
	if (item->mark == SCHED_MARK_IMPLIED)
		return;
	put_head(b, threads, item, item->out, cpu_of(t, item->out, item->cpu), item->out ? "d..." : "d.h.");
	write_buf_text(b, "sched_waking: comm=");
	put_field_comm(b, threads, item->in, item->cpu);
	write_buf_printf(b, " pid=%llu prio=%d target_cpu=%03u\n", (unsigned long long)item->in, item->in_prio,
			 item->cpu);
}

int sched_text_put(struct sched_text *t, struct write_buf *b, const struct write_names *threads,
		   const struct sched_item *item)
{
	if (add_cpu(t, item->cpu))
		return -ENOMEM;
	if (!t->begun)
		put_clock_sync(b, item);
	t->begun = true;
	if (item->kind == SCHED_ITEM_SWITCH)
		put_switch(t, b, threads, item);
	else if (item->kind == SCHED_ITEM_WAKEUP)
		put_wakeup(t, b, threads, item);
	else
		note_loss(t, item);
	return b->failed ? -ENOMEM : 0;
}
