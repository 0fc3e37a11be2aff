// SPDX-License-Identifier: GPL-2.0
/*
 * A byte through a pipe asks for the first part, the pipe's end for the rest, which also comes from a recorder that was killed. A
 * byte through the other one says that there is news in the memory that both share.
 */
#include "detacher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "awake.h"
#include "base/affinity.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/poll_until.h"
#include "base/side_process.h"
#include "idle_cpu.h"
#include "io/sink.h"
#include "kernel/grace.h"
#include "kernel/task_state.h"
#include "privileges.h"

#define NS_PER_MS	1000000ULL
#define SHOW_MS		50
#define AWAKE_MS	1000
#define STAT_BYTES_MAX	4096
#define MISSES_MAX	4096	/* descriptors that were closed, one after the other */

/* Between both. */
struct shared {
	atomic_uint all, left;
	atomic_bool attached, first_done;
};

struct detacher {
	pid_t pid;
	int go, done;		/* our ends of the two pipes */
	bool has_asked;		/* for the first part */
	struct shared *shared;
};

/* ---- the process ---------------------------------------------------------------------------- */

struct detacher_process {
	const struct detacher_cfg *cfg;
	int go, done;
	struct shared *shared;
};

/*
 * Links, perf events, programs and maps are of no file system; what /proc/pressure watches is a file there, for writing.
 *
 * Those that are read are the recorder's own, of its threads. They are closed while the recorder has them, too: whoever
 * waits for its end, a shell, goes round in the kernel, and cannot be killed, until all files of its directory in /proc
 * are closed (shrink_dcache_parent()), and he who closes the last one may have to wait for a CPU in the middle.
 */
static bool is_kept(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (S_ISREG(st.st_mode))
		return (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY && !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
	return !(st.st_mode & S_IFMT) || S_ISCHR(st.st_mode);
}

static void call_for(const struct detacher_process *p, int fd, void (*fn)(const struct detacher_process *p, int fd))
{
	if (fd > STDERR_FILENO && fd != p->go && fd != p->done && fd != p->cfg->output)
		fn(p, fd);
}

/*
 * Calls @fn for each descriptor but those of standard files and of both pipes. The directory is not for one who got
 * capabilities with the program's file; then it is tried which there are, the lowest being given first.
 */
static void for_each_fd(const struct detacher_process *p, void (*fn)(const struct detacher_process *p, int fd))
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int fd, misses = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			call_for(p, atoi(entry->d_name), fn);
	if (dir)
		closedir(dir);
	for (fd = 0; !dir && misses < MISSES_MAX; fd++) {
		misses = fcntl(fd, F_GETFD) < 0 ? misses + 1 : 0;
		if (!misses)
			call_for(p, fd, fn);
	}
}

/* Of files, pipes and sockets others may wait for the end. */
static void close_other(const struct detacher_process *p, int fd)
{
	(void)p;
	if (!is_kept(fd))
		close(fd);
}

/* What takes the kernel its time, not what waits for events; where that cannot be seen, all. */
static bool counts(int fd)
{
	char path[40], target[40];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, target, sizeof(target) - 1);
	target[len > 0 ? len : 0] = 0;
	return len < 0 || strstr(target, ":bpf") || strstr(target, "perf_event") || !strncmp(target, "/proc/", strlen("/proc/"));
}

static void count_kept(const struct detacher_process *p, int fd)
{
	atomic_fetch_add(&p->shared->left, counts(fd));
}

static void close_kept(const struct detacher_process *p, int fd)
{
	const bool counted = counts(fd);

	close(fd);
	atomic_fetch_sub(&p->shared->left, counted);
}

/*
 * Whoever attaches the first program of a tracepoint waits for the grace period in which another one's last was detached (any
 * tracepoint's: tp_rcu_cond_sync() of the kernel). Where grace periods do not end, that is the next recorder, which would not
 * begin; so nothing is detached before one has ended.
 */
static void wait_for_grace_period(void)
{
	/* Where there is nothing to wait for, it is detached at once. */
	(void)grace_wait();
}

/*
 * The kernel begins grace periods after programs were detached by a worker of the CPU where that was, or on which a timer
 * of that one expires; if the worker does not run, they never end. So all is closed on a CPU that was idle while one grace
 * period ended, or else since @begin. Where another one was not idle at all, it stays awake until one more has ended.
 */
static void close_all_kept(const struct detacher_process *p, const struct idle_times *begin)
{
	struct idle_times *from = idle_times_read();
	struct awake *awake = NULL;
	struct affinity before;

	wait_for_grace_period();
	if (idle_cpu_move(begin, from, &before))
		awake = awake_begin(AWAKE_MS);
	affinity_free(&before);
	free(from);
	for_each_fd(p, close_kept);
	if (awake)
		wait_for_grace_period();
	awake_end(awake);
}

static bool is_asked(const struct detacher_process *p)
{
	char c;

	return read(p->go, &c, 1) == 1;
}

/* Their numbers are not for what it opens later. */
static void close_standard_files(const struct detacher_process *p, bool but_stderr)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fd != STDERR_FILENO || !but_stderr)
			dup2(null < 0 ? p->go : null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

/* Others may wait for the end of what it closes, so it does that before anything else. By then nobody waits for it. */
static void close_others(const struct detacher_process *p)
{
	/* What the terminal sends is not for it. Signals that end a recording are blocked. */
	setsid();
	signal(SIGQUIT, SIG_IGN);
	close_standard_files(p, p->cfg->says);
	for_each_fd(p, close_other);
	side_process_settled();
}

static void say_news(const struct detacher_process *p)
{
	(void)!write(p->done, "", 1);
}

/*
 * For the grace period in which another recorder's last program was detached the kernel waits by a worker of the CPU it is
 * called on, which may not run on all.
 */
static void attach(const struct detacher_process *p)
{
	const struct detacher_cfg *cfg = p->cfg;
	struct affinity before;

	if (cfg->attach) {
		prctl(PR_SET_NAME, "kfxt-attach");
		idle_cpu_move(NULL, cfg->begin, &before);
		cfg->attach(cfg->ctx, p->go);
		affinity_set(&before);
		affinity_free(&before);
	}
	if (cfg->says)
		close_standard_files(p, false);
	/* The recorder may have lent it. */
	side_process_settled();
	prctl(PR_SET_NAME, "kfxt-detach");
	atomic_store(&p->shared->attached, true);
	say_news(p);
}

/* From here on it has all the time that the kernel takes, and no more rights than it needs. */
static void confine(const struct detacher_process *p)
{
	struct confined confined;

	privileges_confine(&(struct privileges_cfg){ .sources = p->cfg->sources }, &confined);
	/* Of these some sources need others to record. This one it has kept where nothing can be counted without (before 5.19). */
	if (p->cfg->count)
		privileges_keep_one(CAP_BPF);
	else
		privileges_drop_all();
}

/* Without a right, and no call but this. */
static void calm_down(void)
{
	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &(struct sched_param){ 0 });
}

static void run_detacher(const struct detacher_process *p)
{
	const struct detacher_cfg *cfg = p->cfg;
	struct idle_times *begin;
	bool is_urgent;

	close_others(p);
	attach(p);
	begin = idle_times_read();
	/* It sleeps until the recorder ends, which does not wait long for what is counted then. */
	is_urgent = cfg->count && side_process_hurry(0);
	confine(p);
	if (is_asked(p)) {
		if (cfg->count)
			cfg->count(cfg->ctx);
		if (is_urgent)
			calm_down();
		is_urgent = false;
		privileges_drop_all();
		if (cfg->first)
			cfg->first(cfg->ctx);
		atomic_store(&p->shared->first_done, true);
		say_news(p);
		while (is_asked(p))
			;
	}
	if (is_urgent)
		calm_down();
	if (cfg->output >= 0)
		sink_trim(cfg->output);
	for_each_fd(p, count_kept);
	atomic_store(&p->shared->all, atomic_load(&p->shared->left));
	close_all_kept(p, begin);
	_exit(0);
}

/* ---- the recorder's end --------------------------------------------------------------------- */

/* Above the standard files, one of which may be closed: the process closes all that have their numbers. */
static int make_pipe(int ends[2])
{
	int low[2], err;

	if (pipe2(low, O_CLOEXEC))
		return -errno;
	ends[0] = fcntl(low[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	ends[1] = ends[0] < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	err = ends[1] < 0 ? -errno : 0;
	if (err && ends[0] >= 0)
		close(ends[0]);
	close(low[0]);
	close(low[1]);
	return err;
}

static int make_pipes(int go[2], int done[2])
{
	int err = make_pipe(go);

	if (err)
		return err;
	err = make_pipe(done);
	if (err) {
		close(go[0]);
		close(go[1]);
	}
	return err;
}

static struct shared *share(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return s == MAP_FAILED ? NULL : s;
}

static void release(struct detacher *d)
{
	if (d->shared)
		munmap(d->shared, sizeof(*d->shared));
	free(d);
}

int detacher_open(struct detacher **out, const struct detacher_cfg *cfg)
{
	struct detacher *d = calloc(1, sizeof(*d));
	int go[2], done[2], err;

	if (!d)
		return -ENOMEM;
	d->shared = share();
	err = d->shared ? make_pipes(go, done) : -ENOMEM;
	if (err) {
		release(d);
		return err;
	}
	atomic_store(&d->shared->attached, false);
	d->pid = side_process_fork();
	if (!d->pid) {
		close(go[1]);
		close(done[0]);
		run_detacher(&(struct detacher_process){ cfg, go[0], done[1], d->shared });
	}
	err = d->pid < 0 ? -errno : 0;
	close(go[0]);
	close(done[1]);
	if (err) {
		close(go[1]);
		close(done[0]);
		release(d);
		return err;
	}
	d->go = go[1];
	d->done = done[0];
	*out = d;
	return 0;
}

bool detacher_lives(const struct detacher *d)
{
	struct pollfd p = { .fd = d ? d->done : -1, .events = POLLIN };

	return d && poll(&p, 1, 0) >= 0 && !(p.revents & POLLHUP);
}

/* Whether the process has written something or ended by then; not if @hurry_fd is readable before. */
static bool wait_for_it(const struct detacher *d, uint64_t end_ns, int hurry_fd)
{
	struct pollfd fds[] = { { .fd = d->done, .events = POLLIN }, { .fd = hurry_fd, .events = POLLIN } };

	return poll_until(fds, 2, end_ns) > 0 && fds[0].revents;
}

/* Until @word is set or the process has ended; whether one of these. */
static bool wait_for_word(const struct detacher *d, const atomic_bool *word, unsigned int wait_ms)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + wait_ms * NS_PER_MS;
	char c;

	while (!atomic_load(word)) {
		if (!wait_for_it(d, end_ns, -1))
			return false;
		if (read(d->done, &c, 1) <= 0)
			return true;
	}
	return true;
}

bool detacher_attached(struct detacher *d, unsigned int wait_ms)
{
	wait_for_word(d, &d->shared->attached, wait_ms);
	return atomic_load(&d->shared->attached);
}

bool detacher_first(struct detacher *d, unsigned int wait_ms)
{
	/* If it was killed nothing is attached but by us. SIGPIPE is ignored. */
	if (!d->has_asked && write(d->go, "", 1) != 1)
		return true;
	d->has_asked = true;
	return wait_for_word(d, &d->shared->first_done, wait_ms);
}

struct detacher_look detacher_look(const struct detacher *d)
{
	struct detacher_look look = { .state = '?' };
	char path[40], *text;
	clockid_t clock;
	size_t len;

	if (!clock_getcpuclockid(d->pid, &clock))
		look.ran_ns = clock_ns(clock);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)d->pid);
	if (!text_file_read(path, STAT_BYTES_MAX, &text, &len)) {
		look.state = task_state_parse(text);
		free(text);
	}
	task_waits_in(d->pid, d->pid, look.where, sizeof(look.where));
	return look;
}

void detacher_hurry(const struct detacher *d)
{
	side_process_hurry(d->pid);
}

static void let_go(struct detacher *d)
{
	if (d->go >= 0)
		close(d->go);
	d->go = -1;
}

/* There may be a late answer of the first part. */
static bool has_ended(struct detacher *d, uint64_t end_ns, int hurry_fd)
{
	char c;

	while (wait_for_it(d, end_ns, hurry_fd))
		if (read(d->done, &c, 1) <= 0)
			return true;
	return false;
}

struct detacher_left detacher_rest(struct detacher *d, unsigned int wait_ms, int hurry_fd, progress_fn progress, void *ctx)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + wait_ms * NS_PER_MS;
	struct pollfd hurry = { .fd = hurry_fd, .events = POLLIN };
	unsigned int all;
	uint64_t now_ns;
	bool ended;

	let_go(d);
	while (true) {
		now_ns = clock_ns(CLOCK_MONOTONIC);
		ended = has_ended(d, now_ns + SHOW_MS * NS_PER_MS, hurry_fd);
		if (ended || now_ns > end_ns || poll(&hurry, 1, 0) > 0)
			break;
		all = atomic_load(&d->shared->all);
		if (progress && all)
			progress(ctx, "detaching", all - atomic_load(&d->shared->left), all, "links and programs");
	}
	if (ended)
		return (struct detacher_left){ 0 };
	return (struct detacher_left){ d->pid, atomic_load(&d->shared->left), !atomic_load(&d->shared->attached) };
}

const char *detacher_left_text(const struct detacher_left *left, char buf[DETACHER_LEFT_TEXT])
{
	char what[48] = "detaches what was attached";

	if (left->attaches)
		snprintf(what, sizeof(what), "has to attach what it is to detach");
	else if (left->cnt)
		snprintf(what, sizeof(what), "detaches %u links and programs", left->cnt);
	snprintf(buf, DETACHER_LEFT_TEXT, "the kernel still %s: process %d (%s) waits for it", what, (int)left->pid,
		 left->attaches ? "kfxt-attach" : "kfxt-detach");
	return buf;
}

void detacher_close(struct detacher *d)
{
	int status;

	if (!d)
		return;
	let_go(d);
	waitpid(d->pid, &status, WNOHANG);
	close(d->done);
	release(d);
}
