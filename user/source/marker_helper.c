// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder and its helper have a socket. What the helper begins it reports first, so that the
 * recorder knows what it waits for; that the recorder has closed its end is the request to remove the
 * instance, which also comes from one that was killed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marker_helper.h"
#include "base/affinity.h"
#include "base/clock.h"
#include "base/poll_until.h"
#include "base/fd_pass.h"
#include "base/file.h"
#include "base/side_process.h"
#include "kernel/tracefs.h"

#define PATH_BYTES	512
#define NS_PER_MS	1000000ULL
#define AGAIN_US	100000	/* between attempts to remove an instance that is in use */
#define AGAIN_CNT	600	/* the next recorder removes what is left */
#define CPUS_MAX	16384	/* in one message */
#define FORMAT_BYTES_MAX	65536

enum step { STEP_FORMAT, STEP_MKDIR, STEP_CLOCK, STEP_BUFFER, STEP_FILES, STEP_COPIES, STEP_READY, STEP_ENDED };

/* With STEP_FILES both files of the @cpu'th CPU asked for are sent along. */
struct report {
	uint32_t step, cpu;
	int32_t err;		/* it failed */
	uint64_t ns;
	struct marker_format format;
};

struct request {
	uint64_t bytes;
	uint32_t cpus_cnt;	/* 0: the end */
	uint32_t cpus[];
};

struct marker_helper {
	int socket;
	pid_t pid;
	struct report last;
	struct marker_files *files;	/* by position in the request */
	unsigned int cpus_cnt;
	uint64_t since_ns;
	bool gone;
};

/* ---- the process ------------------------------------------------------------------------- */

struct helper_process {
	const char *tracefs, *dir, *option;
	int socket;
	struct marker_format format;
	int *opened;			/* files in it; nobody else closes them last, which may wait */
	unsigned int opened_cnt;
};

static void send_report(const struct helper_process *p, enum step step, uint32_t cpu, int err)
{
	const struct report r = { step, cpu, err, clock_ns(CLOCK_BOOTTIME), p->format };

	(void)!write(p->socket, &r, sizeof(r));
}

/* Two at once. 0 or -errno. */
static int send_files(const struct helper_process *p, uint32_t cpu, const int fds[2])
{
	const struct report r = { STEP_FILES, cpu, 0, clock_ns(CLOCK_BOOTTIME), p->format };

	return fd_pass_send(p->socket, &r, sizeof(r), fds, 2, 0);
}

static int write_text(const struct helper_process *p, const char *name, const char *text)
{
	const ssize_t len = (ssize_t)strlen(text);
	char path[PATH_BYTES];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		err = -errno;
	close(fd);
	return err;
}

static uint64_t buffer_kib(const struct helper_process *p, uint32_t cpu)
{
	char path[PATH_BYTES];
	unsigned long long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/buffer_size_kb", p->dir, cpu);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu", &kib) != 1)
		kib = 0;
	if (f)
		fclose(f);
	return kib;
}

/*
 * From the CPU itself the kernel resizes a buffer in place. From another one, or for all buffers at
 * once, it waits for a worker of that CPU. Where the CPU is not allowed to this process it has to, too.
 */
static int resize(const struct helper_process *p, const struct request *r)
{
	const uint64_t kib = r->bytes >> 10;
	char name[64], text[32];
	struct affinity before;
	unsigned int i;
	int err = affinity_get(&before);

	snprintf(text, sizeof(text), "%llu", (unsigned long long)kib);
	for (i = 0; !err && i < r->cpus_cnt; i++) {
		if (buffer_kib(p, r->cpus[i]) == kib)
			continue;
		send_report(p, STEP_BUFFER, r->cpus[i], 0);
		affinity_pin(r->cpus[i]);
		snprintf(name, sizeof(name), "per_cpu/cpu%u/buffer_size_kb", r->cpus[i]);
		err = write_text(p, name, text);
		if (err)
			send_report(p, STEP_BUFFER, r->cpus[i], err);
	}
	if (before.set)
		affinity_set(&before);
	affinity_free(&before);
	return err;
}

static int open_file(struct helper_process *p, uint32_t cpu, const char *name, int flags)
{
	char path[PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/%s", p->dir, cpu, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	if (fd >= 0)
		p->opened[p->opened_cnt++] = fd;
	return fd < 0 ? -errno : fd;
}

/* Opening and closing them takes a lock that others hold for as long as the kernel lets them wait. */
static int open_files(struct helper_process *p, const struct request *r)
{
	unsigned int i;
	int fds[2], err = 0;

	free(p->opened);
	p->opened_cnt = 0;
	p->opened = calloc(r->cpus_cnt, sizeof(fds));
	if (!p->opened)
		err = -ENOMEM;
	for (i = 0; !err && i < r->cpus_cnt; i++) {
		fds[0] = open_file(p, r->cpus[i], "trace_pipe_raw", O_NONBLOCK);
		fds[1] = open_file(p, r->cpus[i], "stats", 0);
		err = fds[0] < 0 ? fds[0] : fds[1] < 0 ? fds[1] : send_files(p, i, fds);
	}
	if (err)
		send_report(p, STEP_FILES, i, err);
	return err;
}

static int read_format(struct helper_process *p)
{
	char path[PATH_BYTES], *header = NULL, *print = NULL;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/events/header_page", p->tracefs);
	err = text_file_read(path, FORMAT_BYTES_MAX, &header, &len);
	snprintf(path, sizeof(path), "%s/events/ftrace/print/format", p->tracefs);
	if (!err)
		err = text_file_read(path, FORMAT_BYTES_MAX, &print, &len);
	if (!err && !marker_format_parse(&p->format, header, print))
		err = -ENOTSUP;
	free(header);
	free(print);
	send_report(p, STEP_FORMAT, 0, err);
	return err;
}

/* "kfxt-ID": what follows the id, which is the same for all of one PID namespace. NULL: another name. */
static const char *after_id(const char *name, int *pid)
{
	int len = 0;

	return sscanf(name, "kfxt-%d%n", pid, &len) == 1 ? name + len : NULL;
}

/* Instances of recorders and helpers that were killed; the kernel keeps one of which files are open. */
static void remove_stale(const char *own)
{
	const char *slash = strrchr(own, '/'), *rest;
	const struct dirent *entry;
	char path[PATH_BYTES];
	int own_pid, pid;
	DIR *dir;

	snprintf(path, sizeof(path), "%.*s", (int)(slash - own), own);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		rest = after_id(entry->d_name, &pid);
		if (!rest || strcmp(rest, after_id(slash + 1, &own_pid) ?: "") != 0 || kill(pid, 0) == 0 || errno != ESRCH)
			continue;
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - own), own, entry->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

static bool do_step(const struct helper_process *p, enum step step, const char *name, const char *text)
{
	int err;

	send_report(p, step, 0, 0);
	err = name ? write_text(p, name, text) : mkdir(p->dir, 0700) ? -errno : 0;
	if (!name && err == -EEXIST)	/* of one with our number, that was killed */
		err = rmdir(p->dir) || mkdir(p->dir, 0700) ? -errno : 0;
	if (err)
		send_report(p, step, 0, err);
	return !err;
}

static void serve(struct helper_process *p)
{
	static union {
		struct request r;
		char bytes[sizeof(struct request) + sizeof(uint32_t) * CPUS_MAX];
	} in;
	ssize_t len;

	if (read_format(p) || !do_step(p, STEP_MKDIR, NULL, NULL) || !do_step(p, STEP_CLOCK, "trace_clock", "boot"))
		return;
	while ((len = read(p->socket, &in, sizeof(in))) > 0) {
		if (len < (ssize_t)sizeof(in.r) || (size_t)len != sizeof(in.r) + sizeof(uint32_t) * in.r.cpus_cnt)
			return;
		if (!in.r.cpus_cnt) {
			write_text(p, p->option, "0");
			send_report(p, STEP_ENDED, 0, 0);
		} else if (!resize(p, &in.r) && !open_files(p, &in.r) && do_step(p, STEP_COPIES, p->option, "1")) {
			send_report(p, STEP_READY, 0, 0);
			remove_stale(p->dir);
		}
	}
}

static void run_helper(struct helper_process *p)
{
	char byte;
	int i;

	/* Outside of the session, whose autogroup may be what keeps the workers waiting. */
	if (!side_process_begin("kfxt-markers", false, (int *const[]){ &p->socket }, 1))
		serve(p);
	/* After a failure, too, until the recorder has read of it. */
	while (read(p->socket, &byte, 1) > 0)
		;
	while (p->opened_cnt)
		close(p->opened[--p->opened_cnt]);
	for (i = 0; i < AGAIN_CNT && rmdir(p->dir) && errno == EBUSY; i++)
		usleep(AGAIN_US);
	_exit(0);
}

/* ---- the recorder's end -------------------------------------------------------------------- */

int marker_helper_open(struct marker_helper **out, const char *tracefs, const char *dir, const char *option)
{
	struct marker_helper *h = calloc(1, sizeof(*h));
	int ends[2], err;

	if (!h)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		free(h);
		return err;
	}
	h->pid = side_process_fork();
	if (!h->pid)
		run_helper(&(struct helper_process){ .tracefs = tracefs, .dir = dir, .option = option, .socket = ends[1] });
	err = h->pid < 0 ? -errno : 0;
	close(ends[1]);
	h->socket = ends[0];
	if (err) {
		close(h->socket);
		free(h);
		return err;
	}
	*out = h;
	return 0;
}

int marker_helper_begin(struct marker_helper *h, const uint32_t *cpus, unsigned int cpus_cnt, uint64_t bytes)
{
	const size_t len = sizeof(struct request) + sizeof(*cpus) * cpus_cnt;
	struct request *r = cpus_cnt <= CPUS_MAX ? malloc(len) : NULL;
	int err = 0;

	if (r)
		h->files = malloc(sizeof(*h->files) * cpus_cnt);
	if (!r || !h->files) {
		free(r);
		return -ENOMEM;
	}
	for (h->cpus_cnt = 0; h->cpus_cnt < cpus_cnt; h->cpus_cnt++)
		h->files[h->cpus_cnt] = (struct marker_files){ -1, -1 };
	*r = (struct request){ bytes, cpus_cnt };
	memcpy(r->cpus, cpus, sizeof(*cpus) * cpus_cnt);
	if (write(h->socket, r, len) != (ssize_t)len)
		err = -errno;
	free(r);
	return err;
}

int marker_helper_fd(const struct marker_helper *h)
{
	return h->socket;
}

static enum helper_state state_of(const struct marker_helper *h)
{
	if (h->last.step == STEP_ENDED)
		return HELPER_ENDED;
	if (h->last.step == STEP_READY)
		return HELPER_READY;
	return h->last.err || h->gone ? HELPER_FAILED : HELPER_WORKS;
}

/* A report; files that come with it are kept. */
static bool take_report(struct marker_helper *h, struct report *r)
{
	struct fd_pass passed;

	if (fd_pass_receive(h->socket, r, sizeof(*r), &passed, 2, MSG_DONTWAIT) != sizeof(*r))
		return false;
	if (r->step != STEP_FILES || r->err)
		return true;
	if (passed.cnt == 2 && r->cpu < h->cpus_cnt) {
		h->files[r->cpu] = (struct marker_files){ passed.fds[0], passed.fds[1] };
		return true;
	}
	/* The kernel passes as many as may be open here. */
	if (passed.cnt)
		close(passed.fds[0]);
	r->err = -EMFILE;
	return true;
}

/* Until it is at @step, or cannot get there. */
static void take_reports(struct marker_helper *h, enum step step, unsigned int wait_ms)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + wait_ms * NS_PER_MS;
	struct pollfd pfd = { .fd = h->socket, .events = POLLIN };
	struct report r;

	while (!h->gone && h->last.step < step && !h->last.err) {
		if (poll_until(&pfd, 1, end_ns) <= 0)
			return;
		if (!take_report(h, &r)) {
			h->gone = true;
			return;
		}
		h->last = r;
		if (r.step == STEP_READY)
			h->since_ns = r.ns;
	}
}

enum helper_state marker_helper_look(struct marker_helper *h, unsigned int wait_ms)
{
	take_reports(h, STEP_READY, wait_ms);
	return state_of(h);
}

bool marker_helper_end(struct marker_helper *h, unsigned int wait_ms)
{
	const struct request end = { 0 };

	if (state_of(h) != HELPER_READY || write(h->socket, &end, sizeof(end)) != sizeof(end))
		return false;
	take_reports(h, STEP_ENDED, wait_ms);
	return state_of(h) == HELPER_ENDED;
}

const struct marker_format *marker_helper_format(const struct marker_helper *h)
{
	return &h->last.format;
}

struct marker_files marker_helper_files(const struct marker_helper *h, unsigned int i)
{
	return h->files[i];
}

uint64_t marker_helper_since(const struct marker_helper *h)
{
	return h->since_ns;
}

const char *marker_helper_why(const struct marker_helper *h, char buf[SOURCE_WHY_BYTES])
{
	static const struct {
		const char *waits, *fails;
	} texts[] = {
		[STEP_FORMAT]	= { TRACEFS_BUSY, "the form of its records cannot be read" },
		[STEP_MKDIR]	= { TRACEFS_BUSY, "a tracefs instance cannot be made" },
		[STEP_CLOCK]	= { "the kernel waits for an RCU grace period", "its tracefs instance cannot get the boot clock" },
		[STEP_BUFFER]	= { " does not run its workers", ": its buffer cannot be resized" },
		[STEP_FILES]	= { TRACEFS_BUSY, "its buffers cannot be opened" },
		[STEP_COPIES]	= { TRACEFS_BUSY, "copies cannot be turned on" },
		[STEP_READY]	= { "", "" },
		[STEP_ENDED]	= { "", "" },
	};
	const char *text = h->last.err ? texts[h->last.step].fails : texts[h->last.step].waits;
	char cpu[16] = "";

	if (h->last.step == STEP_BUFFER)
		snprintf(cpu, sizeof(cpu), "CPU %u", h->last.cpu);
	if (h->gone && !h->last.err)
		snprintf(buf, SOURCE_WHY_BYTES, "the process that makes its tracefs instance was ended");
	else
		snprintf(buf, SOURCE_WHY_BYTES, "%s%s%s%s", cpu, text, h->last.err ? ": " : "",
			 h->last.err ? strerror(-h->last.err) : "");
	return buf;
}

bool marker_helper_close(struct marker_helper *h, unsigned int wait_ms)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + wait_ms * NS_PER_MS;
	unsigned int i;
	bool ended;

	if (!h)
		return true;
	for (i = 0; i < h->cpus_cnt; i++)
		if (h->files[i].pipe >= 0) {
			close(h->files[i].pipe);
			close(h->files[i].stats);
		}
	free(h->files);
	close(h->socket);
	while (!(ended = waitpid(h->pid, NULL, WNOHANG) != 0) && clock_ns(CLOCK_MONOTONIC) < end_ns)
		usleep(1000);
	free(h);
	return ended;
}
