// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for what programs leave to the recorder to be completed: raw records of any
 * kind with any words. Whatever they are, the writers read no word beyond the record, and what
 * they write is records that libfxt reads without damage.
 *
 * The input: the first byte of a piece is its kind, the next one how many words it has, its
 * words follow; what is missing of the last one is cut off.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/presets.h"
#include "../../user/record/events_p.h"
#include "../../user/record/funcs_p.h"
#include "../../user/record/logs.h"
#include "../../user/record/markers.h"
#include "../../user/record/names.h"
#include "../../user/record/presets.h"
#include "../../user/record/syscalls.h"
#include "../../user/record/tracepoints.h"
#include "fxt_mem.h"
#include "fxt_walk.h"

#define KIND_FUNC	RAW_KIND_CNT	/* behind those of raw records */

struct marker_copy;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_marker_copy_open(struct marker_copy **out);
uint64_t __wrap_names_drained_ns(const struct names *n);
bool __wrap_names_find(const struct names *n, uint32_t tid, struct fxt_thread *at);
const char *__lsan_default_suppressions(void);

/* The library forgets some of what it cannot make sense of. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

/* The kernel's own copies of markers are none of this test's. */
int __wrap_marker_copy_open(struct marker_copy **out)
{
	(void)out;
	return -ENOTSUP;
}

/* Names: of a few threads, and always up to date. */
uint64_t __wrap_names_drained_ns(const struct names *n)
{
	(void)n;
	return UINT64_MAX;
}

bool __wrap_names_find(const struct names *n, uint32_t tid, struct fxt_thread *at)
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
static void open_events(struct events *e)
{
	const bool none[SOURCE_CNT] = { false };
	char why[512];

	*e = (struct events){ 0 };
	must(!tracepoints_open(&e->tracepoints));
	must(!presets_open(&e->presets, none, why, sizeof(why)));
	must(!markers_open(&e->markers));
	must(!markers_begin(e->markers, &(struct markers_cfg){ 0 }));
}

/* These read tracefs, where they can; once. */
static void open_choices(struct events *e)
{
	static struct syscalls *calls;
	static struct tracepoints *points;
	char why[512];

	if (!points) {
		must(!tracepoints_open(&points));
		tracepoints_choose(points, "signal:signal_generate", false, why, sizeof(why));
		tracepoints_choose(points, "sched:sched_process_exec", false, why, sizeof(why));
		if (syscalls_choose(&calls, "syscalls", false, why, sizeof(why))) {
			syscalls_close(calls);
			calls = NULL;
		}
	}
	tracepoints_close(e->tracepoints);
	e->tracepoints = points;
	e->syscalls = calls;
}

static void close_events(struct events *e)
{
	markers_close(e->markers);
	presets_close(e->presets);
}

/* In memory of its own, for the sanitizer to know its end. Returns what was used of @data. */
static size_t take(struct events *e, struct logs *logs, struct fxt_writer *w, const uint8_t *data, size_t size)
{
	const unsigned int kind = data[0] % (KIND_FUNC + 1);
	size_t words = 1 + (size > 1 ? data[1] : 0), bytes = size > 2 ? size - 2 : 0;
	uint64_t *rec = calloc(words, sizeof(*rec));
	unsigned int written;

	must(rec);
	if (bytes > (words - 1) * 8)
		bytes = (words - 1) * 8;
	if (bytes)
		memcpy(rec + 1, data + 2, bytes);
	if (kind == KIND_FUNC) {
		rec[0] = FXT_HEADER(FXT_EVENT, words) |
			 FXT_PUT(words > 1 ? rec[1] & 0xf : 0, FXT_F_EVENT_TYPE);
		must(funcs_is_raw(rec));
		funcs_write_raw(&funcs, w, rec);
	} else {
		rec[0] = RAW_RECORD(kind, words);
		if (kind == RAW_LOG)
			logs_take(logs, rec);
		else
			events_write_raw(e, w, rec, &written);
	}
	free(rec);
	return 2 + bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fxt_mem mem = { 0 };
	struct fxt_writer *w;
	struct fxt_walk walk;
	struct logs *logs;
	struct events e;
	size_t at;

	open_events(&e);
	open_choices(&e);
	must(!fxt_writer_open(&w, fxt_mem_write, &mem));
	must(!logs_open(&logs, w, NULL, "/dev/null"));
	must(!fxt_write_magic(w));
	for (at = 0; at < size;)
		at += take(&e, logs, w, data + at, size - at);
	logs_write(logs, UINT64_MAX);
	markers_write(e.markers, w, UINT64_MAX, true);
	must(!fxt_writer_close(w));
	walk = fxt_walk(mem.data, mem.len, (struct fxt_walk_options){ 0 });
	must(!walk.broken && !walk.kinds[FXT_KIND_DAMAGED] && !walk.kinds[FXT_KIND_UNKNOWN]);
	logs_close(logs);
	close_events(&e);
	fxt_mem_free(&mem);
	return 0;
}
