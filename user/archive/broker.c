// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder's end: each call is a request and its answer, which waits here until it is asked for. Answers that come too
 * late, and notices, are sorted out on the way.
 */
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/poll_until.h"
#include "base/fd_pass.h"
#include "base/side_process.h"
#include "broker_p.h"

#define NS_PER_MS	1000000ULL
#define PATIENCE_NS	(2000 * NS_PER_MS)
#define START_NS	(30000 * NS_PER_MS)
#define NOTICES_MAX	16	/* that wait to be taken */
#define HANGS		10	/* part of the patience, after a call that took too long */
#define LATER		30	/* times the patience, for a call that is not waited for */

/* A call whose result was not asked for so far. */
struct slot {
	uint32_t id;			/* 0: none */
	bool answered;
	int fd;				/* of the answer, -1: none */
	struct broker_answer answer;
};

struct broker {
	int socket;
	pid_t pid;			/* 0: reaped */
	uint32_t last_id;
	uint64_t patience_ns;
	const char *const *purposes;
	unsigned int purposes_cnt;
	bool gone;
	bool has_ended;
	int ended;			/* the result of broker_end() */
	bool hangs;			/* the last call that was waited for took too long */
	struct slot calls[BROKER_CALLS_MAX];
	char *dir;
	char why[BROKER_WHY_BYTES];
	struct broker_counts counts;
	uint64_t notices_lost;		/* here */
	unsigned int notices_cnt;
	struct broker_answer notices[NOTICES_MAX];	/* the first is the oldest */
};

static int fail(struct broker *b, int err, const char *why)
{
	snprintf(b->why, sizeof(b->why), "%s", why);
	return err;
}

/* ---- packets ---------------------------------------------------------------------------- */

/* Its end of the socket is closed before it can be waited for. */
static void reap_killed(struct broker *b)
{
	int status;

	if (!b->pid || waitpid(b->pid, &status, WNOHANG) != b->pid)
		return;
	b->pid = 0;
	if (WIFSIGNALED(status))
		snprintf(b->why, sizeof(b->why), "the process that opens files was ended by signal %d", WTERMSIG(status));
}

/* The broker has closed its end: it was killed, since it does not end before us. */
static int note_gone(struct broker *b)
{
	b->gone = true;
	snprintf(b->why, sizeof(b->why), "the process that opens files has ended");
	reap_killed(b);
	return -EPIPE;
}

static int wait_until(const struct broker *b, short events, uint64_t end_ns)
{
	struct pollfd pfd = { .fd = b->socket, .events = events };
	const int n = poll_until(&pfd, 1, end_ns);

	return n > 0 ? 0 : n ?: -ETIMEDOUT;
}

/* A confined recorder has write(2), not send(2). */
static int send_ask(struct broker *b, struct broker_ask *ask, uint64_t end_ns)
{
	ssize_t n;
	int err;

	ask->id = ++b->last_id;
	while ((n = write(b->socket, ask, sizeof(*ask))) < 0 && (errno == EAGAIN || errno == EINTR)) {
		err = wait_until(b, POLLOUT, end_ns);
		if (err)
			return fail(b, err, "the process that opens files takes no request");
	}
	return n < 0 ? note_gone(b) : 0;
}

/* 0; -EAGAIN: nothing is there; -EPIPE. *@fd is the caller's, -1 if there is none. */
static int receive(struct broker *b, struct broker_answer *answer, int *fd)
{
	struct fd_pass passed;
	const ssize_t n = fd_pass_receive(b->socket, answer, sizeof(*answer), &passed, 1, 0);

	*fd = passed.fds[0];
	if (n == -EAGAIN)
		return -EAGAIN;
	if (n != sizeof(*answer))
		return note_gone(b);
	b->hangs = false;
	b->counts = answer->counts;
	return 0;
}

static void keep_notice(struct broker *b, const struct broker_answer *answer)
{
	if (b->notices_cnt == NOTICES_MAX)
		b->notices_lost++;
	else
		b->notices[b->notices_cnt++] = *answer;
}

/* Not what is waited for: a notice, or the answer to a call that has returned -ETIMEDOUT. */
static void take_other(struct broker *b, struct broker_answer *answer, int fd)
{
	struct broker_ask discard = { .verb = BROKER_DISCARD, .file = answer->id };

	if (!answer->id && answer->event != BROKER_COUNTED)
		keep_notice(b, answer);
	if (fd >= 0) {
		close(fd);
		send_ask(b, &discard, 0);
	} else if (answer->id && answer->verb == BROKER_PUBLISH && !answer->err) {
		answer->event = BROKER_LATE;
		answer->files = 1;
		keep_notice(b, answer);
	}
}

static struct slot *find_slot(struct broker *b, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < BROKER_CALLS_MAX; i++)
		if (b->calls[i].id == id)
			return &b->calls[i];
	return NULL;
}

static void sort_out(struct broker *b, struct broker_answer *answer, int fd)
{
	struct slot *slot = answer->id ? find_slot(b, answer->id) : NULL;

	if (!slot || slot->answered)
		take_other(b, answer, fd);
	else
		*slot = (struct slot){ .id = slot->id, .answered = true, .fd = fd, .answer = *answer };
}

/* ---- calls ---------------------------------------------------------------------------------- */

static uint64_t patience(const struct broker *b)
{
	return b->hangs ? b->patience_ns / HANGS : b->patience_ns;
}

/* @later: it is not waited for, not even to be sent. */
static int begin_call(struct broker *b, struct broker_ask *request, bool later, struct broker_call *call)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = now_ns + (later ? LATER * b->patience_ns : patience(b));
	struct slot *slot = find_slot(b, 0);
	int err;

	if (b->gone)
		return -EPIPE;
	if (!slot)
		return fail(b, -EBUSY, "too many requests are under way");
	err = send_ask(b, request, later ? now_ns : end_ns);
	if (err)
		return err;
	*slot = (struct slot){ .id = request->id, .fd = -1 };
	*call = (struct broker_call){ request->id, end_ns };
	return 0;
}

/* Returns the answer's error, or that of asking; -EAGAIN: there is none so far. */
static int take_answer(struct broker *b, struct broker_call *call, struct broker_answer *answer, int *fd)
{
	struct slot *slot = find_slot(b, call->id);
	struct broker_answer next;
	int err = 0;

	*fd = -1;
	if (!call->id || !slot)
		return fail(b, -EBADF, "there is no such request");
	while (!slot->answered && !b->gone && !(err = receive(b, &next, fd)))
		sort_out(b, &next, *fd);
	*fd = slot->fd;
	if (slot->answered) {
		*answer = slot->answer;
		err = answer->err ? fail(b, answer->err, answer->why) : 0;
	} else if (b->gone) {
		err = -EPIPE;
	} else if (clock_ns(CLOCK_MONOTONIC) >= call->end_ns) {
		err = fail(b, -ETIMEDOUT, "it took too long (does the file system hang?)");
	} else {
		return -EAGAIN;
	}
	slot->id = 0;
	call->id = 0;
	return err;
}

static int await(struct broker *b, struct broker_call *call, struct broker_answer *answer, int *fd)
{
	int err;

	while ((err = take_answer(b, call, answer, fd)) == -EAGAIN)
		wait_until(b, POLLIN, call->end_ns);
	b->hangs |= err == -ETIMEDOUT;
	return err;
}

static int ask(struct broker *b, struct broker_ask *request, struct broker_answer *answer, int *fd)
{
	struct broker_call call;
	int err = begin_call(b, request, false, &call);

	*fd = -1;
	return err ?: await(b, &call, answer, fd);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void make_path(const struct broker *b, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", strcmp(b->dir, "/") ? b->dir : "", name);
}

static uint8_t known_purpose(const struct broker *b, const char *purpose)
{
	unsigned int i;

	for (i = 0; purpose && i < b->purposes_cnt; i++)
		if (!strcmp(b->purposes[i], purpose))
			return (uint8_t)(i + 1);
	return 0;
}

static struct broker_ask open_ask(const struct broker *b, const struct broker_request *request)
{
	struct broker_ask open = {
		.verb = BROKER_OPEN, .keep = request->keep, .when = request->when ?: time(NULL),
		.needs_bytes = request->needs_bytes, .known = known_purpose(b, request->purpose),
	};

	name_clean(request->purpose ?: "", open.purpose);
	return open;
}

static struct broker_ask end_ask(const struct broker_file *file, enum broker_verb verb, unsigned int how)
{
	return (struct broker_ask){ .verb = verb, .file = file->id, .how = (uint8_t)how };
}

/* What is answered to a request, with @err as of that. */
static int end_call(struct broker *b, int err, const struct broker_answer *answer, int fd, struct broker_file *file)
{
	if (!err && answer->verb == BROKER_OPEN && fd < 0)
		err = fail(b, -EMFILE, "too many files are open");
	if (fd >= 0 && (err || answer->verb != BROKER_OPEN))
		close(fd);
	if (err || answer->verb == BROKER_SPACE)
		return err;
	if (answer->verb == BROKER_OPEN) {
		file->id = answer->id;
		file->fd = fd;
	}
	make_path(b, answer->name, file->path);
	return 0;
}

int broker_call_result(struct broker *b, struct broker_call *call, struct broker_file *file)
{
	struct broker_answer answer;
	int fd, err = take_answer(b, call, &answer, &fd);

	return err == -EAGAIN ? err : end_call(b, err, &answer, fd, file);
}

int broker_call_wait(struct broker *b, struct broker_call *call, struct broker_file *file)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + patience(b);
	struct broker_answer answer;
	int fd, err;

	if (end_ns < call->end_ns)
		call->end_ns = end_ns;
	err = await(b, call, &answer, &fd);
	return end_call(b, err, &answer, fd, file);
}

static int call(struct broker *b, struct broker_ask *request, struct broker_file *file)
{
	struct broker_answer answer;
	int fd, err = ask(b, request, &answer, &fd);

	return end_call(b, err, &answer, fd, file);
}

int broker_file_open(struct broker *b, const struct broker_request *request, struct broker_file *file)
{
	struct broker_ask open = open_ask(b, request);

	return call(b, &open, file);
}

int broker_file_publish(struct broker *b, struct broker_file *file, unsigned int how)
{
	struct broker_ask publish = end_ask(file, BROKER_PUBLISH, how);

	return call(b, &publish, file);
}

int broker_file_discard(struct broker *b, struct broker_file *file)
{
	struct broker_ask discard = end_ask(file, BROKER_DISCARD, 0);

	return call(b, &discard, file);
}

int broker_begin_open(struct broker *b, const struct broker_request *request, struct broker_call *call)
{
	struct broker_ask open = open_ask(b, request);

	return begin_call(b, &open, true, call);
}

int broker_begin_publish(struct broker *b, const struct broker_file *file, unsigned int how, struct broker_call *call)
{
	struct broker_ask publish = end_ask(file, BROKER_PUBLISH, how);

	return begin_call(b, &publish, true, call);
}

int broker_begin_space(struct broker *b, uint64_t needs_bytes, struct broker_call *call)
{
	struct broker_ask space = { .verb = BROKER_SPACE, .needs_bytes = needs_bytes };

	return begin_call(b, &space, true, call);
}

/* The answer is none of a call, and is passed over. */
void broker_drop(struct broker *b, const struct broker_file *file)
{
	struct broker_ask discard = end_ask(file, BROKER_DISCARD, 0);

	if (!b->gone)
		send_ask(b, &discard, 0);
}

/* ---- what happened ------------------------------------------------------------------------- */

int broker_fd(const struct broker *b)
{
	return b->socket;
}

const char *broker_dir(const struct broker *b)
{
	return b->dir;
}

const char *broker_why(const struct broker *b)
{
	return b->why;
}

bool broker_next_notice(struct broker *b, struct broker_notice *notice)
{
	struct broker_answer answer;
	int fd;

	if (b->gone)
		reap_killed(b);
	while (!b->gone && b->notices_cnt < NOTICES_MAX && !receive(b, &answer, &fd))
		sort_out(b, &answer, fd);
	if (!b->notices_cnt)
		return false;
	answer = b->notices[0];
	memmove(b->notices, b->notices + 1, --b->notices_cnt * sizeof(*b->notices));
	*notice = (struct broker_notice){ .event = answer.event, .files = answer.files, .bytes = answer.bytes };
	make_path(b, answer.name, notice->path);
	memcpy(notice->why, answer.why, sizeof(notice->why));
	return true;
}

bool broker_has_ended(const struct broker *b)
{
	return b->gone;
}

void broker_get_counts(const struct broker *b, struct broker_counts *counts)
{
	*counts = b->counts;
	counts->notices_lost += b->notices_lost;
}

/* ---- start and end ------------------------------------------------------------------------- */

static int open_dir(const struct name_pattern *names, char **path, char *why, size_t size)
{
	int fd = open(name_pattern_dir(names), O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	*path = fd < 0 ? NULL : realpath(name_pattern_dir(names), NULL);
	err = *path ? 0 : -errno;
	if (*path && strlen(*path) + 1 + NAME_MAX >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (!err)
		return fd;
	snprintf(why, size, "directory %s: %s", name_pattern_dir(names), strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

static int start(struct broker *b, const struct name_pattern *names, int dir, const struct broker_cfg *cfg)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	b->pid = side_process_fork();
	if (!b->pid)
		broker_serve(&(struct broker_process){ pair[1], dir, b->dir, names, cfg });
	close(pair[1]);
	b->socket = pair[0];
	if (b->pid < 0) {
		b->pid = 0;
		return -EAGAIN;
	}
	return fcntl(b->socket, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

static int check_limits(const struct name_pattern *names, const struct broker_cfg *cfg, char *why, size_t size)
{
	if ((!cfg->limits.files && !cfg->limits.bytes) || name_pattern_has_date(names))
		return 0;
	snprintf(why, size, "the oldest files are deleted only if their names have the date (%%Y%%m%%dT%%H%%M%%SZ)");
	return -EINVAL;
}

static int begin(struct broker *b, const struct name_pattern *names, const struct broker_cfg *cfg, char *why,
		 size_t size)
{
	struct broker_call call = { BROKER_FIRST_ID, clock_ns(CLOCK_MONOTONIC) + START_NS };
	struct broker_answer answer;
	int dir = open_dir(names, &b->dir, why, size), err, fd;

	if (dir < 0)
		return dir;
	err = start(b, names, dir, cfg);
	close(dir);
	if (err) {
		snprintf(why, size, "cannot start the process that opens files: %s", strerror(-err));
		return err;
	}
	b->last_id = BROKER_FIRST_ID;
	b->calls[0] = (struct slot){ .id = BROKER_FIRST_ID, .fd = -1 };
	err = await(b, &call, &answer, &fd);
	if (err)
		snprintf(why, size, "%s", b->why);
	return err;
}

static int open_names(struct name_pattern **out, const struct broker_cfg *cfg, char *why, size_t size)
{
	int err;

	snprintf(why, size, "%s", strerror(ENOMEM));
	err = name_pattern_open(out, cfg->pattern, why, size);
	return err ?: check_limits(*out, cfg, why, size);
}

int broker_check(const struct broker_cfg *cfg, char *why, size_t size)
{
	struct name_pattern *names = NULL;
	int err = open_names(&names, cfg, why, size);

	name_pattern_close(names);
	return err;
}

int broker_open(struct broker **out, const struct broker_cfg *cfg, char *why, size_t size)
{
	struct name_pattern *names = NULL;
	struct broker *b;
	int err = open_names(&names, cfg, why, size);

	b = err ? NULL : calloc(1, sizeof(*b));
	if (b) {
		b->socket = -1;
		b->patience_ns = cfg->patience_ns ?: PATIENCE_NS;
		b->purposes = cfg->purposes;
		b->purposes_cnt = cfg->purposes_cnt < BROKER_PURPOSES_MAX ? cfg->purposes_cnt : BROKER_PURPOSES_MAX;
		err = begin(b, names, cfg, why, size);
	} else {
		err = err ?: -ENOMEM;
	}
	name_pattern_close(names);
	if (err) {
		broker_close(b);
		return err;
	}
	*out = b;
	return 0;
}

/* Its end shows as that of the socket, unless hooks keep it. */
static void reap(struct broker *b, bool wait)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + b->patience_ns;
	struct broker_answer answer;
	int fd;

	while (wait && !b->gone && !wait_until(b, POLLIN, end_ns))
		if (!receive(b, &answer, &fd) && fd >= 0)
			close(fd);
	if (b->pid && b->gone)
		waitpid(b->pid, NULL, wait ? 0 : WNOHANG);
}

/* Files that nobody took; the broker removes them. */
static void close_answers(struct broker *b)
{
	unsigned int i;

	for (i = 0; i < BROKER_CALLS_MAX; i++)
		if (b->calls[i].id && b->calls[i].fd >= 0)
			close(b->calls[i].fd);
}

int broker_end(struct broker *b)
{
	struct broker_ask end = { .verb = BROKER_END };
	struct broker_answer answer;
	int fd;

	if (b->has_ended)
		return b->ended;
	b->has_ended = true;
	b->ended = ask(b, &end, &answer, &fd);
	if (!b->ended)
		b->ended = answer.counts.hooks.running + answer.counts.hooks.waiting;
	return b->ended;
}

int broker_close(struct broker *b)
{
	int err = 0;

	if (!b)
		return 0;
	if (b->socket >= 0) {
		err = broker_end(b);
		reap(b, !err || err == -EPIPE);
		close(b->socket);
		close_answers(b);
	}
	free(b->dir);
	free(b);
	return err;
}
