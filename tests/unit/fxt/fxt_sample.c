/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes one of everything; see fxt_sample.h. */
#include "fxt_sample.h"

#include <string.h>

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))
#define INLINE(text)	fxt_str_inline(text, sizeof(text) - 1)
#define SECOND		1000000000ULL

static const struct fxt_thread indexed = { .process = 100, .thread = 101 };
static const struct fxt_thread inlined = { .process = 200, .thread = 201, .inlined = true };
static const unsigned char bytes[] = { 0, 1, 2, 0xfe, 0xff, 'x', 'y', 'z', 0x80 };

/* One argument of each type, the name indexed and inlined, and their bounds. */
static unsigned int all_args(struct fxt_arg *args, bool inline_names)
{
	const struct fxt_arg all[] = {
		fxt_arg_null("null"),
		fxt_arg_i32("i32", -2147483647 - 1),
		fxt_arg_u32("u32", 4294967295U),
		fxt_arg_i64("i64", -9223372036854775807LL - 1),
		fxt_arg_u64("u64", 18446744073709551615ULL),
		fxt_arg_f64("f64", -0.1),
		fxt_arg_str("string", fxt_str("an indexed value")),
		fxt_arg_str("inline string", INLINE("an inline value")),
		fxt_arg_str("empty string", fxt_str("")),
		fxt_arg_ptr("pointer", 0xffff888000000000ULL),
		fxt_arg_koid("koid", 4194304),
		fxt_arg_bool("true", true),
		fxt_arg_bool("false", false),
		fxt_arg_blob("blob", bytes, sizeof(bytes)),
		fxt_arg_blob("empty blob", NULL, 0),
	};
	unsigned int i;

	for (i = 0; i < ENTRIES(all); i++) {
		args[i] = all[i];
		args[i].name.inlined = inline_names;
	}
	return ENTRIES(all);
}

static int write_providers(struct fxt_writer *w)
{
	int err;

	err = fxt_write_magic(w);
	err = err ? err : fxt_write_string(w, 7, fxt_str("fixed"));
	err = err ? err : fxt_write_thread(w, 9, (struct fxt_thread){ .process = 1, .thread = 1 });
	err = err ? err : fxt_write_provider_info(w, 1, fxt_str("first provider"));
	err = err ? err : fxt_write_initialization(w, SECOND);
	err = err ? err : fxt_write_provider_info(w, 4294967295U, fxt_str("\xc3\xa9t\xc3\xa9"));
	err = err ? err : fxt_write_initialization(w, 24000000);
	err = err ? err : fxt_write_provider_event(w, 4294967295U, FXT_PROVIDER_EVENT_BUFFER_FULL);
	err = err ? err : fxt_write_provider_info(w, 3, fxt_str(""));
	return err ? err : fxt_write_provider_section(w, 1);
}

/* Every event type: all indexed; all inlined with all arguments; empty strings. */
static int write_events(struct fxt_writer *w)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_event e = { .ts = SECOND };
	int type, err = 0;

	for (type = FXT_INSTANT; type <= FXT_FLOW_END && !err; type++) {
		e.type = type;
		e.ts++;
		e.id = type == FXT_DURATION_COMPLETE ? e.ts + 500 : 0x1000ULL + type;
		e.thread = indexed;
		e.category = fxt_str("category");
		e.name = fxt_str(fxt_event_type_name(type));
		err = fxt_write_event(w, &e, args, all_args(args, false));
		e.thread = inlined;
		e.category.inlined = true;
		e.name.inlined = true;
		err = err ? err : fxt_write_event(w, &e, args, all_args(args, true));
		e.category = fxt_str("");
		e.name = fxt_str("");
		err = err ? err : fxt_write_event(w, &e, NULL, 0);
	}
	return err;
}

static int write_scheduling(struct fxt_writer *w)
{
	struct fxt_arg weights[] = {
		fxt_arg_i32("incoming_weight", FXT_WEIGHT_IDLE),
		fxt_arg_i32("outgoing_weight", 120),
	};
	struct fxt_arg wake[] = { fxt_arg_i32("weight", 120), fxt_arg_koid("waker", 101) };
	struct fxt_legacy_switch legacy = { .ts = 2 * SECOND, .cpu = 255, .out = indexed,
		.in = inlined, .out_priority = 1, .in_priority = 254 };
	struct fxt_switch s = { .ts = 2 * SECOND, .cpu = 65535, .out = 101, .in = 0 };
	struct fxt_wakeup wakeup = { .ts = 2 * SECOND + 20, .cpu = 3, .thread = 101 };
	int state, err = 0;

	for (state = FXT_STATE_NEW; state <= FXT_STATE_DEAD && !err; state++) {
		s.state = state;
		s.ts++;
		err = fxt_write_switch(w, &s, weights, state % 3);
		legacy.state = state;
		if (state != FXT_STATE_RUNNING)
			err = err ? err : fxt_write_legacy_switch(w, &legacy);
	}
	legacy.out = inlined;
	legacy.in = indexed;
	err = err ? err : fxt_write_legacy_switch(w, &legacy);
	legacy.out = indexed;
	err = err ? err : fxt_write_legacy_switch(w, &legacy);
	err = err ? err : fxt_write_wakeup(w, &wakeup, wake, 2);
	return err ? err : fxt_write_wakeup(w, &wakeup, NULL, 0);
}

static int write_objects(struct fxt_writer *w)
{
	struct fxt_object user = { .id = 0xffff888000000000ULL, .name = fxt_str("an object"),
		.process = indexed };
	struct fxt_object kernel = { .id = 101, .name = fxt_str("a thread"),
		.kind = FXT_KOBJ_THREAD };
	struct fxt_arg process = fxt_arg_koid("process", 100);
	int err;

	err = fxt_write_userspace_object(w, &user, &process, 1);
	user.process = inlined;
	user.name = INLINE("an inline object");
	err = err ? err : fxt_write_userspace_object(w, &user, NULL, 0);
	err = err ? err : fxt_write_kernel_object(w, &kernel, &process, 1);
	kernel.kind = FXT_KOBJ_PROCESS;
	kernel.id = 100;
	kernel.name = INLINE("a process");
	return err ? err : fxt_write_kernel_object(w, &kernel, NULL, 0);
}

static int write_blobs(struct fxt_writer *w)
{
	int err;

	err = fxt_write_blob(w, FXT_BLOB_DATA, fxt_str("blob"), bytes, sizeof(bytes));
	err = err ? err : fxt_write_blob(w, FXT_BLOB_LAST_BRANCH, INLINE("inline"), bytes, 8);
	/* One empty and one whole Perfetto packet: trusted_uid 0. */
	err = err ? err : fxt_write_blob(w, FXT_BLOB_PERFETTO, fxt_str(""), "", 0);
	return err ? err : fxt_write_blob(w, FXT_BLOB_PERFETTO, fxt_str(""), "\n\002\030", 4);
}

static int write_logs(struct fxt_writer *w)
{
	int err;

	err = fxt_write_log(w, 3 * SECOND, indexed, fxt_str("a line \xe2\x82\xac"));
	err = err ? err : fxt_write_log(w, 3 * SECOND, inlined, fxt_str("8 bytes!"));
	return err ? err : fxt_write_log(w, 3 * SECOND, inlined, fxt_str(""));
}

static int write_profiler(struct fxt_writer *w, struct fxt_thread t)
{
	static const uint64_t frames[] = { 0x401000, 0x402000, 0x7fffffffffff };
	struct fxt_module module = { .ts = 4 * SECOND, .thread = t, .id = 65535,
		.name = fxt_str("libc.so.6"), .build_id = bytes, .build_id_len = sizeof(bytes) };
	struct fxt_mmap mmap = { .ts = 4 * SECOND + 1, .thread = t, .module = 65535, .flags = 7,
		.start = 0x400000, .range = 0x10000, .vaddr = 0x1000 };
	struct fxt_backtrace backtrace = { .ts = 4 * SECOND + 2, .thread = t,
		.frames = frames, .frames_cnt = ENTRIES(frames) };
	int err;

	err = fxt_write_module(w, &module);
	err = err ? err : fxt_write_mmap(w, &mmap);
	return err ? err : fxt_write_backtrace(w, &backtrace);
}

static int write_large_blobs(struct fxt_writer *w, const void *data, size_t len)
{
	struct fxt_large_blob b = { .format = FXT_LARGE_WITH_METADATA, .ts = 5 * SECOND,
		.category = fxt_str("category"), .name = INLINE("with metadata"),
		.thread = indexed, .data = data, .len = len };
	struct fxt_arg args[FXT_ARGS_MAX];
	int err;

	err = fxt_write_large_blob(w, &b, args, all_args(args, false));
	b.thread = inlined;
	b.category.inlined = true;
	b.name.inlined = false;
	err = err ? err : fxt_write_large_blob(w, &b, args, 1);
	b.format = FXT_LARGE_NO_METADATA;
	b.name = fxt_str("without");
	return err ? err : fxt_write_large_blob(w, &b, NULL, 0);
}

static int write_longest(struct fxt_writer *w)
{
	static char text[FXT_STRING_BYTES_MAX], data[100003];
	struct fxt_event e = { .ts = 6 * SECOND, .thread = indexed,
		.category = fxt_str_n(text, sizeof(text)), .name = fxt_str("short") };
	size_t i;
	int err;

	memset(text, 'l', sizeof(text));
	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 251;
	err = fxt_write_event(w, &e, NULL, 0);
	e.category.inlined = true;
	err = err ? err : fxt_write_event(w, &e, NULL, 0);
	err = err ? err : fxt_write_log(w, 6 * SECOND, inlined, fxt_str_n(text, sizeof(text)));
	err = err ? err : fxt_write_blob(w, FXT_BLOB_DATA, fxt_str("split"), data, sizeof(data));
	return err ? err : write_large_blobs(w, data, sizeof(data));
}

int fxt_sample_write(struct fxt_writer *w, bool large)
{
	int err;

	err = write_providers(w);
	err = err ? err : write_events(w);
	err = err ? err : write_scheduling(w);
	err = err ? err : write_objects(w);
	err = err ? err : write_blobs(w);
	err = err ? err : write_logs(w);
	err = err ? err : write_profiler(w, indexed);
	err = err ? err : write_profiler(w, inlined);
	err = err ? err : write_large_blobs(w, bytes, sizeof(bytes));
	err = err ? err : write_large_blobs(w, NULL, 0);
	if (large)
		err = err ? err : write_longest(w);
	err = err ? err : fxt_write_provider_section(w, 4294967295U);
	return err ? err : write_scheduling(w);
}
