// SPDX-License-Identifier: GPL-2.0
/*
 * Runs commands with their output caught, and makes traces in memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../user/cli/log.h"

/* ---- running a command ----------------------------------------------------- */

static char *slurp(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)len + 1);

	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)len, 0), len);
	return text;
}

static int temp_fd(void)
{
	char path[] = "/tmp/kfxt-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

struct run run_command(int (*cmd)(int, char **), ...)
{
	int saved_out = dup(1), saved_err = dup(2), out = temp_fd(), err = temp_fd(), argc = 0;
	char *argv[16];
	struct run r;
	va_list ap;

	va_start(ap, cmd);
	while (argc < 15 && (argv[argc] = va_arg(ap, char *)))
		argc++;
	argv[argc] = NULL;
	va_end(ap);
	fflush(stdout);
	fflush(stderr);
	dup2(out, 1);
	dup2(err, 2);
	r.code = cmd(argc, argv);
	fflush(stdout);
	fflush(stderr);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	r.out = slurp(out);
	r.err = slurp(err);
	close(out);
	close(err);
	close(saved_out);
	close(saved_err);
	log_set_level(LOG_LEVEL_INFO);
	return r;
}

void run_free(struct run *r)
{
	free(r->out);
	free(r->err);
}

void assert_has(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	fprintf(stderr, "%s", text);
	fail_msg("'%s' is not in the text above", part);
}

/* ---- traces made in memory ------------------------------------------------- */

int made_write(void *ctx, const void *data, size_t len)
{
	struct made *m = ctx;

	m->data = realloc(m->data, m->len + len);
	assert_non_null(m->data);
	memcpy(m->data + m->len, data, len);
	m->len += len;
	return 0;
}

long made_read(void *ctx, void *buf, size_t len)
{
	struct made *m = ctx;

	if (len > m->len - m->at)
		len = m->len - m->at;
	memcpy(buf, m->data + m->at, len);
	m->at += len;
	return (long)len;
}

void made_open(struct made *m)
{
	*m = (struct made){ 0 };
	assert_int_equal(fxt_writer_open(&m->w, made_write, m), 0);
}

void put_head(struct made *m)
{
	assert_int_equal(fxt_write_magic(m->w), 0);
	assert_int_equal(fxt_write_provider_info(m->w, 1, fxt_str("kfxt")), 0);
	assert_int_equal(fxt_write_initialization(m->w, 1000000000), 0);
}

void made_close(struct made *m)
{
	assert_int_equal(fxt_writer_close(m->w), 0);
	m->w = NULL;
}

void made_free(struct made *m)
{
	free(m->data);
}

int32_t weight_of(uint64_t koid)
{
	return koid ? 120 : FXT_WEIGHT_IDLE;
}

void put_switch(struct made *m, uint64_t ts, uint16_t cpu, uint64_t out, int state,
		uint64_t in, const char *mark)
{
	struct fxt_switch s = {
		.ts = ts, .cpu = cpu, .out = out, .in = in, .state = (enum fxt_thread_state)state,
	};
	struct fxt_arg args[3] = {
		fxt_arg_i32("outgoing_weight", weight_of(out)),
		fxt_arg_i32("incoming_weight", weight_of(in)),
		fxt_arg_str("mark", fxt_str(mark)),
	};

	assert_int_equal(fxt_write_switch(m->w, &s, args, mark ? 3 : 2), 0);
}

void put_wakeup(struct made *m, uint64_t ts, uint16_t cpu, uint64_t thread, uint64_t waker)
{
	struct fxt_wakeup s = { .ts = ts, .cpu = cpu, .thread = thread };
	struct fxt_arg args[2] = {
		fxt_arg_i32("weight", 120),
		fxt_arg_koid("waker", waker),
	};

	assert_int_equal(fxt_write_wakeup(m->w, &s, args, 2), 0);
}

void put_process(struct made *m, uint64_t koid, const char *name)
{
	struct fxt_object o = { .id = koid, .name = fxt_str(name), .kind = FXT_KOBJ_PROCESS };

	assert_int_equal(fxt_write_kernel_object(m->w, &o, NULL, 0), 0);
}

void put_thread(struct made *m, uint64_t koid, uint64_t process, const char *name)
{
	struct fxt_object o = { .id = koid, .name = fxt_str(name), .kind = FXT_KOBJ_THREAD };
	struct fxt_arg arg = fxt_arg_koid("process", process);

	assert_int_equal(fxt_write_kernel_object(m->w, &o, &arg, 1), 0);
}

void put_session(struct made *m, uint64_t ts, const char *name, const struct fxt_arg *args,
		 unsigned int nargs)
{
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = ts, .thread = { .process = 10, .thread = 10 },
		.category = fxt_str("kfxt"), .name = fxt_str(name),
	};

	assert_int_equal(fxt_write_event(m->w, &e, args, nargs), 0);
}

void put_start(struct made *m, uint64_t ts, const char *cpus, const char *online)
{
	struct fxt_arg args[2] = {
		fxt_arg_str("cpus", fxt_str(cpus)),
		fxt_arg_str("online", fxt_str(online)),
	};

	put_session(m, ts, "start", args, 2);
}

void put_ledger(struct made *m, uint64_t ts, uint32_t cpu, uint64_t switches,
		uint64_t wakeups, uint64_t lost_switches)
{
	struct fxt_arg args[5] = {
		fxt_arg_u32("cpu", cpu),
		fxt_arg_u64("switches", switches),
		fxt_arg_u64("wakeups", wakeups),
		fxt_arg_u64("lost_switches", lost_switches),
		fxt_arg_u64("lost_wakeups", 0),
	};

	put_session(m, ts, "ledger", args, 5);
}

void put_names(struct made *m)
{
	put_process(m, 0, "kernel");
	put_process(m, 10, "app");
	put_thread(m, 10, 10, "app");
	put_thread(m, 11, 10, "worker");
	put_thread(m, 12, 10, "helper");
	put_thread(m, 20, 0, "kworker/0:1");
}

void put_clean(struct made *m)
{
	put_head(m);
	put_start(m, 1000, "0-1", "0-1");
	put_switch(m, 1010, 0, IDLE, 1, 11, "start");
	put_switch(m, 1010, 1, IDLE, 1, 12, "start");
	put_switch(m, 1100, 0, 11, 3, IDLE, NULL);
	put_wakeup(m, 1100, 0, 11, 12);
	put_switch(m, 1200, 1, 12, 3, 11, NULL);
	put_switch(m, 1300, 1, 11, 1, 20, NULL);
	put_switch(m, 1400, 0, IDLE, 1, 11, NULL);
	put_wakeup(m, 1500, 1, 12, 0);
	put_switch(m, 1600, 1, 20, 3, 12, NULL);
	put_switch(m, 1900, 0, 11, 1, IDLE, "stop");
	put_switch(m, 1900, 1, 12, 1, IDLE, "stop");
	put_session(m, 2000, "stop", NULL, 0);
	put_names(m);
}

void put_clean_ledgers(struct made *m)
{
	struct fxt_arg names[2] = { fxt_arg_u64("names", 4), fxt_arg_u64("lost_names", 0) };

	put_ledger(m, 2000, 0, 2, 1, 0);
	put_ledger(m, 2000, 1, 3, 1, 0);
	put_session(m, 2000, "ledger", names, 2);
}

void made_begin(struct made *m)
{
	made_open(m);
	put_head(m);
	put_names(m);
}

const char *made_path(const struct made *m)
{
	static char path[64];
	int fd;

	strcpy(path, "/tmp/kfxt-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, m->data, m->len), m->len);
	close(fd);
	return path;
}

void append_words(struct made *m, const uint64_t *words, size_t cnt)
{
	assert_int_equal(fxt_writer_flush(m->w), 0);
	made_write(m, words, cnt * 8);
}
