// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "control_made.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../child.h"
#include "control/place.h"
#include "base/close_later.h"
#include "session/privileges.h"

#define NS_PER_S	1000000000ULL
#define SINCE_NS	(1795442707 * NS_PER_S)	/* 2026-11-23 14:05:07 UTC */

const char *const control_trace = "a trace";
const struct control_ask control_status_ask = {
	.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .kind = CONTROL_STATUS,
};

/* ---- directories ------------------------------------------------------------------------------ */

char control_dir[64];

int control_dir_open(void **state)
{
	(void)state;
	snprintf(control_dir, sizeof(control_dir), "/tmp/kfxt-control-XXXXXX");
	assert_non_null(mkdtemp(control_dir));
	assert_int_equal(chmod(control_dir, 0755), 0);
	assert_int_equal(setenv("RUNTIME_DIRECTORY", control_dir, 1), 0);
	return 0;
}

static void for_each_entry(const char *dir, void (*fn)(void *ctx, int dir, const char *name), void *ctx)
{
	const struct dirent *entry;
	DIR *d = opendir(dir);

	assert_non_null(d);
	while ((entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			fn(ctx, dirfd(d), entry->d_name);
	closedir(d);
}

static void count_entry(void *ctx, int dir, const char *name)
{
	(void)dir, (void)name;
	++*(unsigned int *)ctx;
}

static void remove_entry(void *ctx, int dir, const char *name)
{
	(void)ctx;
	assert_int_equal(unlinkat(dir, name, 0), 0);
}

unsigned int control_dir_entries(const char *dir)
{
	unsigned int cnt = 0;

	for_each_entry(dir, count_entry, &cnt);
	return cnt;
}

int control_dir_close(void **state)
{
	(void)state;
	for_each_entry(control_dir, remove_entry, NULL);
	assert_int_equal(rmdir(control_dir), 0);
	return 0;
}

/* ---- what a recorder says ----------------------------------------------------------------------- */

void control_status_make(struct control_status *s)
{
	static const char *const options[] = { "--keep", "30s,256M", "--trigger", "log~it's", "" };
	static const char *const shed[] = { "functions" };
	static const struct control_status_count counts[] = {
		{ "switches", 5000000, 3, 0, 0, 0 }, { "calls", 100, 0, 20, 4000, 500 },
	};
	static const struct control_status_trigger triggers[] = {
		{ "runq>10ms", 3, 1, SINCE_NS + 3000 * NS_PER_S, "/v/runq.fxt", NULL },
		{ "log~it's", 0, 0, 0, NULL, NULL },
		{ "func:tcp_*>1ms", 0, 0, 0, NULL, "functions are shed" },
	};

	*s = (struct control_status){
		.pid = getpid(), .version = "0.1.0", .now_ns = SINCE_NS + 11520 * NS_PER_S, .since_ns = SINCE_NS,
		.options = options, .options_cnt = 5, .output = "/v/%t.fxt",
		.window = { true, 30 * NS_PER_S, 256U << 20, 29500000000ULL, 44040192, 220200960, 77, false },
		.events_per_s = 52311.44, .bytes_per_s = 1258291.2,
		.counts = counts, .counts_cnt = 2,
		.cost = { 0.21, 0.18, 0.03, true, 1, shed, 1 },
		.memory_bytes = 100U << 20, .triggers = triggers, .triggers_cnt = 3,
		.files = {
			.written = 3, .failed = 1, .deleted = 2, .last = "/v/runq.fxt", .hooks_run = 3, .hooks_failed = 1,
			.hooks_skipped = 2,
		},
	};
}

static char *usual_status(bool json)
{
	struct control_status s;

	control_status_make(&s);
	return json ? control_status_json(&s) : control_status_text(&s);
}

static char *long_status(size_t bytes)
{
	char *text = malloc(bytes + 1);

	memset(text, 'x', bytes);
	text[bytes] = 0;
	return text;
}

/* ---- a recorder --------------------------------------------------------------------------------- */

static void write_snapshot(const struct made_recorder *r, struct control *c, const struct control_request *req)
{
	const int err = req->fd < 0 ? 0 : control_file_check(req->fd);

	if (err) {
		close(req->fd);
		control_answer(c, req->id, err, control_file_why(err));
	} else if (req->fd >= 0) {
		CHECK(write(req->fd, control_trace, strlen(control_trace)) == (ssize_t)strlen(control_trace));
		if (*req->name)
			CHECK(write(req->fd, req->name, strlen(req->name)) == (ssize_t)strlen(req->name));
		close(req->fd);
		control_answer(c, req->id, 0, "");
	} else if (r->path) {
		if (r->note)
			control_note(c, req->id, r->note);
		control_answer(c, req->id, 0, r->path);
	} else {
		control_answer(c, req->id, -ENOTSUP, "has no window (--keep)");
	}
}

static void serve(const struct made_recorder *r, struct control *c, const struct control_request *req)
{
	char *text;

	if (req->is_gone)
		return;
	CHECK(req->id && req->pid > 0);
	if (r->ends)
		_exit(0);
	if (r->silent)
		return;
	if (req->kind == CONTROL_SNAPSHOT) {
		write_snapshot(r, c, req);
		return;
	}
	text = r->status ? strdup(r->status) : r->status_bytes ? long_status(r->status_bytes) : usual_status(req->json);
	CHECK(text);
	control_answer(c, req->id, 0, text);
	free(text);
}

static volatile sig_atomic_t is_ended;

static void end(int number)
{
	(void)number;
	is_ended = 1;
}

static void confine(struct control *c)
{
	struct confined out;

	CHECK(!privileges_confine(&(struct privileges_cfg){ .control_fd = control_listener(c) }, &out));
}

static void __attribute__((noreturn)) run_recorder(const struct made_recorder *r, int ready)
{
	struct control_cfg cfg = { 0 };
	struct control_request req;
	char why[CONTROL_WHY_BYTES];
	struct control *c;
	struct pollfd pfd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* of a test that failed */
	signal(SIGTERM, end);
	signal(SIGPIPE, SIG_IGN);
	CHECK(!close_later_open(&cfg.closer, NULL));
	CHECK(!control_open(&c, &cfg, why, sizeof(why)));
	if (r->confined)
		confine(c);
	CHECK(write(ready, "", 1) == 1);
	pfd = (struct pollfd){ .fd = control_fd(c), .events = POLLIN };
	while (!is_ended) {
		poll(&pfd, 1, 100);
		while (control_next(c, &req))
			serve(r, c, &req);
	}
	if (!r->stays)
		control_close(c);
	_exit(0);
}

pid_t control_recorder_start(const struct made_recorder *r)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		run_recorder(r, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

void control_recorder_stop(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

struct sockaddr_un control_address_of(pid_t pid)
{
	struct sockaddr_un address;

	assert_int_equal(control_address(&address, getenv("RUNTIME_DIRECTORY"), pid, ""), 0);
	return address;
}

int control_connect_raw(pid_t pid)
{
	const struct sockaddr_un address = control_address_of(pid);
	int fd, tries = 0;

	while ((fd = control_connect(&address)) == -EAGAIN && tries++ < 500)
		usleep(10000);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	return fd;
}

/* ---- clients ------------------------------------------------------------------------------------ */

struct control_query control_status_query(void)
{
	return (struct control_query){
		.kind = CONTROL_STATUS, .fd = -1, .begin_ns = 5 * NS_PER_S, .limit_ns = 10 * NS_PER_S,
	};
}

int control_ask_of(pid_t pid, const struct control_query *q, struct control_reply *reply)
{
	const struct sockaddr_un address = control_address_of(pid);

	return control_query(&address, q, reply);
}

void control_assert_answers(pid_t pid)
{
	const struct control_query q = control_status_query();
	struct control_reply reply;

	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_int_equal(reply.err, 0);
	assert_non_null(strstr(reply.text, "PID "));
	free(reply.text);
}
