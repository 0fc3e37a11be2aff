// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for deferred records, which the recorder completes: of any kind, with any
 * words. Whatever they are, the writers read no word beyond the record, and what they write is
 * records that libfxt reads without damage.
 *
 * The input: the first byte of a piece is its kind, the next one how many words it has, its
 * words follow; what is missing of the last one is cut off.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/raw.h"
#include "capture/sources_p.h"
#include "source/func/func_p.h"
#include "capture/tasks.h"
#include "source/stack/frames.h"
#include "source/stack/stack_p.h"
#include "source/syscall.h"
#include "source/table.h"
#include "source/tracepoint.h"
#include "fxt/fxt_mem.h"
#include "fxt/fxt_walk.h"

struct marker_instance;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_marker_instance_open(struct marker_instance **out);
uint64_t __wrap_tasks_drained_ns(const struct tasks *n);
bool __wrap_tasks_find(const struct tasks *n, uint32_t tid, struct fxt_thread *at);
const char *__lsan_default_suppressions(void);

/* The library forgets some of what it cannot make sense of. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

/* The kernel's own copies of markers are none of this test's. */
int __wrap_marker_instance_open(struct marker_instance **out)
{
	(void)out;
	return -ENOTSUP;
}

/* Names: of a few threads, and always up to date. */
uint64_t __wrap_tasks_drained_ns(const struct tasks *n)
{
	(void)n;
	return UINT64_MAX;
}

bool __wrap_tasks_find(const struct tasks *n, uint32_t tid, struct fxt_thread *at)
{
	(void)n;
	*at = (struct fxt_thread){ .process = tid & ~1U, .thread = tid };
	return tid % 8;
}

static const struct elf_usdt usdt = {
	.args_cnt = 3,
	.args = { { .bytes = 8, .is_signed = true }, { .bytes = 4 }, { .is_float = true } },
};

static struct func all_funcs[] = {
	{ .kind = FUNC_KERNEL, .name = "do_nothing", .return_type = FXT_ARG_INT32 },
	{ .kind = FUNC_KERNEL, .name = "do_tell", .return_type = FXT_ARG_BOOL },
	{ .kind = FUNC_USDT, .name = "provider:name", .usdt = &usdt },
};

static struct funcs funcs = { .funcs = all_funcs, .cnt = sizeof(all_funcs) / sizeof(all_funcs[0]), .device = -1 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Made anew for each input, as they remember what they have seen. */
static void open_events(struct sources *e, struct fxt_writer *w)
{
	char why[512];

	*e = (struct sources){ .table = source_table, .ctx = { .w = w } };
	e->has[RAW_IRQ] = e->has[RAW_WORK] = e->has[RAW_POWER] = e->has[RAW_BLOCK] = true;
	e->has[RAW_LOG] = e->has[RAW_MARKER] = e->named[RAW_MARKER] = true;
	must(!sources_open_selected(e, "/dev/null", why, sizeof(why)));	/* no symbols, which take long to read */
	must(!sources_start(e));
}

static int write_nowhere(void *ctx, const void *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
	return 0;
}

/* Reads the kernel's symbols; once. User stacks are for unwind_fuzz. */
static void *open_stacks(void)
{
	static const struct stack_cfg cfg = { .off_cpu = true, .wakers = true, .user = STACK_NO_USER };
	static struct source_ctx ctx;
	static void *stacks;
	char why[512];

	if (!stacks) {
		must(!fxt_writer_open(&ctx.w, write_nowhere, NULL));
		must(!stack_source_open((struct stack_source **)&stacks, &cfg, why, sizeof(why)));
		must(!stack_frames_open(&((struct stack_source *)stacks)->frames, STACK_NO_USER));
		must(!source_stack.start(&stacks, &ctx));
	}
	return stacks;
}

/* These read tracefs, where they can; once. */
static void open_choices(struct sources *e)
{
	static struct syscalls *calls;
	static struct tracepoints *points;
	char why[512];

	if (!points) {
		must(!tracepoints_open(&points, false));
		tracepoints_choose(points, "signal:signal_generate", false, why, sizeof(why));
		tracepoints_choose(points, "sched:sched_process_exec", false, why, sizeof(why));
		if (syscalls_choose(&calls, "syscalls", false, why, sizeof(why))) {
			syscalls_close(calls);
			calls = NULL;
		}
	}
	e->has[RAW_TRACEPOINT] = true;
	e->state[RAW_TRACEPOINT] = points;
	sources_add(e, RAW_FUNC, &funcs);
	e->has[RAW_STACK] = true;
	e->state[RAW_STACK] = open_stacks();
	e->has[RAW_SYSCALL] = calls;
	e->state[RAW_SYSCALL] = calls;
}

static void close_events(struct sources *e)
{
	e->state[RAW_TRACEPOINT] = e->state[RAW_SYSCALL] = e->state[RAW_STACK] = NULL;	/* kept */
	sources_close_selected(e);
}

/* Of those two alone: others would ask their maps what has not ended. */
static void poll_last(struct sources *e)
{
	static const unsigned int kinds[] = { RAW_LOG, RAW_MARKER };
	unsigned int i;

	for (i = 0; i < 2; i++)
		source_table[kinds[i]]->poll(e->state[kinds[i]], &e->ctx, UINT64_MAX, true);
}

/* In memory of its own, for the sanitizer to know its end. Returns what was used of @data. */
static size_t take(struct sources *e, const uint8_t *data, size_t size)
{
	const unsigned int kind = data[0] % RAW_KIND_CNT;
	size_t words = 1 + (size > 1 ? data[1] : 0), bytes = size > 2 ? size - 2 : 0;
	uint64_t *rec = calloc(words, sizeof(*rec));
	unsigned int written;

	must(rec);
	if (bytes > (words - 1) * 8)
		bytes = (words - 1) * 8;
	if (bytes)
		memcpy(rec + 1, data + 2, bytes);
	rec[0] = RAW_RECORD(kind, words);
	sources_decode(e, rec, &written);
	free(rec);
	return 2 + bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fxt_mem mem = { 0 };
	struct fxt_writer *w;
	struct fxt_walk walk;
	struct sources e;
	size_t at;

	must(!fxt_writer_open(&w, fxt_mem_write, &mem));
	open_events(&e, w);
	open_choices(&e);
	must(!fxt_write_magic(w));
	for (at = 0; at < size;)
		at += take(&e, data + at, size - at);
	poll_last(&e);
	must(!fxt_writer_close(w));
	walk = fxt_walk(mem.data, mem.len, (struct fxt_walk_options){ 0 });
	must(!walk.broken && !walk.kinds[FXT_KIND_DAMAGED] && !walk.kinds[FXT_KIND_UNKNOWN]);
	close_events(&e);
	fxt_mem_free(&mem);
	return 0;
}
