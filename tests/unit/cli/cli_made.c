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

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/input.h"
#include "base/log.h"

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

/* With stdout being @out, which is closed. */
static struct run run_argv(int out, int (*cmd)(int, char **), va_list ap)
{
	int saved_out = dup(1), saved_err = dup(2), err = temp_fd(), argc = 0;
	char *argv[16];
	struct run r;

	while (argc < 15 && (argv[argc] = va_arg(ap, char *)))
		argc++;
	argv[argc] = NULL;
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

struct run run_command(int (*cmd)(int, char **), ...)
{
	struct run r;
	va_list ap;

	va_start(ap, cmd);
	r = run_argv(temp_fd(), cmd, ap);
	va_end(ap);
	return r;
}

struct run run_command_full(int (*cmd)(int, char **), ...)
{
	int out = open("/dev/full", O_RDWR | O_CLOEXEC);
	struct run r;
	va_list ap;

	assert_true(out >= 0);
	va_start(ap, cmd);
	r = run_argv(out, cmd, ap);
	va_end(ap);
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

	if (m->len + len > m->cap) {
		m->cap = 2 * (m->len + len);
		m->data = realloc(m->data, m->cap);
		assert_non_null(m->data);
	}
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
	if (!m->len)
		return;
	m->cap = m->len;
	m->data = realloc(m->data, m->cap);
	assert_non_null(m->data);
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

void put_marked_wakeup(struct made *m, uint64_t ts, uint16_t cpu, uint64_t thread, uint64_t waker, const char *mark)
{
	struct fxt_wakeup s = { .ts = ts, .cpu = cpu, .thread = thread };
	struct fxt_arg args[3] = {
		fxt_arg_i32("weight", 120),
		fxt_arg_koid("waker", waker),
		fxt_arg_str("mark", fxt_str(mark ?: "")),
	};

	assert_int_equal(fxt_write_wakeup(m->w, &s, args, mark ? 3 : 2), 0);
}

void put_wakeup(struct made *m, uint64_t ts, uint16_t cpu, uint64_t thread, uint64_t waker)
{
	put_marked_wakeup(m, ts, cpu, thread, waker, NULL);
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

void put_last_thread(struct made *m, uint64_t koid, uint64_t process, const char *name)
{
	struct fxt_object o = { .id = koid, .name = fxt_str(name), .kind = FXT_KOBJ_THREAD };
	struct fxt_arg args[] = { fxt_arg_koid("process", process), fxt_arg_bool("exited", true) };

	assert_int_equal(fxt_write_kernel_object(m->w, &o, args, 2), 0);
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

static void put_slice(struct made *m, uint64_t from, uint64_t to, uint64_t thread, const char *name,
		      const struct fxt_arg *args, unsigned int nargs)
{
	struct fxt_event e = {
		.type = FXT_DURATION_COMPLETE, .ts = from, .id = to, .thread = { .process = 10, .thread = thread },
		.category = fxt_str("kfxt"), .name = fxt_str(name),
	};

	assert_int_equal(fxt_write_event(m->w, &e, args, nargs), 0);
}

void put_gap(struct made *m, uint64_t from, uint64_t to, uint32_t cpu, uint64_t switches, uint64_t wakeups,
	     uint64_t unreported)
{
	struct fxt_arg args[4] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("switches", switches),
		fxt_arg_u64("wakeups", wakeups), fxt_arg_u64("unreported", unreported),
	};

	put_slice(m, from, to, 10, "lost some events", args, 4);
}

void put_event_gap(struct made *m, uint64_t from, uint64_t to, uint32_t cpu, uint64_t calls, uint64_t logs,
		   uint64_t events)
{
	struct fxt_arg args[4] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("calls", calls),
		fxt_arg_u64("logs", logs), fxt_arg_u64("events", events),
	};

	put_slice(m, from, to, 10, "lost some events", args, 4);
}

void put_still(struct made *m, uint64_t from, uint64_t to, uint64_t thread, const char *state)
{
	struct fxt_arg arg = fxt_arg_str("state", fxt_str(state));

	put_slice(m, from, to, thread, "did not run", &arg, 1);
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
	put_ledger(m, 2000, 0, 2, 1, 0);
	put_ledger(m, 2000, 1, 3, 1, 0);
	put_totals(m, 2000);
}

void put_totals(struct made *m, uint64_t ts)
{
	struct fxt_arg args[4] = {
		fxt_arg_u64("names", 4), fxt_arg_u64("lost_names", 0),
		fxt_arg_u64("prog_skipped", 0), fxt_arg_u64("shared_koids", 0),
	};

	put_session(m, ts, "ledger", args, 4);
}

void put_end(struct made *m, uint64_t ts)
{
	put_session(m, ts, "stop", NULL, 0);
	put_totals(m, ts);
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

char *read_recording(size_t *len)
{
	const char *path = "tests/corpus/fxt/recording.fxt.gz";
	char *data = malloc(1 << 20);
	struct input *in;
	long n;

	assert_non_null(data);
	if (input_open(&in, path))
		fail_msg("%s: cannot be read (tests run from the top of the tree)", path);
	for (*len = 0; (n = input_read(in, data + *len, (1 << 20) - *len)) > 0; *len += n)
		;
	assert_int_equal(n, 0);
	input_close(in);
	return data;
}

void append_words(struct made *m, const uint64_t *words, size_t cnt)
{
	assert_int_equal(fxt_writer_flush(m->w), 0);
	made_write(m, words, cnt * 8);
}

/* ---- verifying ------------------------------------------------------------- */

void verify_made(struct verify *v, struct made *m)
{
	struct fxt_reader *r;
	struct fxt_record rec;

	m->at = 0;
	assert_int_equal(verify_init(v), 0);
	assert_int_equal(fxt_reader_open(&r, made_read, m), 0);
	while (fxt_reader_next(r, &rec) > 0)
		assert_int_equal(verify_format_record(v, &rec, fxt_reader_ticks_per_second(r)), 0);
	assert_int_equal(verify_finish(v, r), 0);
	fxt_reader_close(r);
}

void assert_found(const struct made *m, enum verify_problem problem, unsigned int count)
{
	struct verify *v = malloc(sizeof(*v));
	struct made copy = *m;
	unsigned int i;

	assert_non_null(v);
	verify_made(v, &copy);
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		if (v->findings[i].count != (i == problem ? count : 0))
			fail_msg("%s: %u found (%s)", verify_problem_name((enum verify_problem)i),
				 (unsigned int)v->findings[i].count, v->findings[i].first);
	verify_fini(v);
	free(v);
}

void finish_found(struct made *m, enum verify_problem problem, unsigned int count)
{
	made_close(m);
	assert_found(m, problem, count);
	made_free(m);
}
