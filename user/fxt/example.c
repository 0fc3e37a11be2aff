/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes example.fxt: a named thread with one slice, and a counter.
 * Build: cc example.c $(pkg-config --cflags --libs libfxt)
 */
#include <errno.h>
#include <stdio.h>
#include <fxt.h>

static int to_file(void *ctx, const void *data, size_t len)
{
	return fwrite(data, 1, len, ctx) == len ? 0 : -EIO;
}

int main(void)
{
	struct fxt_thread thread = { .process = 42, .thread = 43 };
	struct fxt_object app = { .id = 42, .kind = FXT_KOBJ_PROCESS, .name = fxt_str("app") };
	struct fxt_object worker = { .id = 43, .kind = FXT_KOBJ_THREAD, .name = fxt_str("worker") };
	struct fxt_arg process = fxt_arg_koid("process", 42), used = fxt_arg_i64("bytes", 4096);
	struct fxt_event slice = { .type = FXT_DURATION_COMPLETE, .ts = 1000, .id = 5000,
		.thread = thread, .category = fxt_str("demo"), .name = fxt_str("compute") };
	struct fxt_event counter = { .type = FXT_COUNTER, .ts = 2000,
		.thread = thread, .category = fxt_str("demo"), .name = fxt_str("memory") };
	FILE *file = fopen("example.fxt", "wb");
	struct fxt_writer *w;
	int err;

	if (!file || fxt_writer_open(&w, to_file, file))
		return 1;
	fxt_write_magic(w);
	fxt_write_initialization(w, 1000000000);	/* times are nanoseconds */
	fxt_write_kernel_object(w, &app, NULL, 0);
	fxt_write_kernel_object(w, &worker, &process, 1);
	fxt_write_event(w, &slice, NULL, 0);
	fxt_write_event(w, &counter, &used, 1);
	err = fxt_writer_close(w);
	return fclose(file) || err;
}
