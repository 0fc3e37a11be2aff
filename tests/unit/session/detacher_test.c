// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the process that detaches: what it keeps open, and for how long.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/detacher.h"

#define LONG_MS	30000

static atomic_int *lets;	/* shared with the process, whose first part waits for it */

static void first(void *ctx)
{
	(void)ctx;
	while (!atomic_load(lets))
		usleep(1000);
}

static int open_one(struct detacher **d, int output)
{
	return detacher_open(d, &(struct detacher_cfg){ .first = first, .output = output });
}

/* Children that have ended, or do so soon: after a test that failed one may go on. */
static void reap_all(void)
{
	unsigned int tries = 0;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 && tries++ < LONG_MS)
		if (!pid)
			usleep(1000);
}

/* Whether the other end of a pipe is closed; waits for that. */
static bool is_closed(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, LONG_MS) > 0 && p.revents & POLLHUP;
}

/* The kinds of what the process @pid has open, once it has closed the rest: how many events, files and pipes. */
static void count_open(pid_t pid, unsigned int *events, unsigned int *files, unsigned int *pipes)
{
	const struct dirent *entry;
	char path[300], target[300];
	ssize_t len;
	DIR *dir;

	*events = *files = *pipes = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.10s", (int)pid, entry->d_name);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = 0;
		*events += !!strstr(target, "[eventfd");
		*files += strstr(target, "detacher_test") || strstr(target, "/stat");
		*pipes += !strncmp(target, "pipe:", 5);
	}
	closedir(dir);
}

static void test_keeps_links_only(void **state)
{
	unsigned int events, files, pipes, tries = 0;
	struct detacher_left left;
	struct detacher *d;
	int event, ends[2], file, stat;

	(void)state;
	atomic_store(lets, 0);
	event = eventfd(0, EFD_CLOEXEC);
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	stat = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(open_one(&d, -1), 0);
	close(ends[1]);
	assert_true(is_closed(ends[0]));
	assert_false(detacher_first(d, 10));
	left = detacher_rest(d, 10, -1, NULL, NULL);
	assert_int_not_equal(left.pid, 0);
	do {
		usleep(1000);
		count_open(left.pid, &events, &files, &pipes);
	} while ((files || pipes != 2) && tries++ < LONG_MS);
	assert_int_equal(files, 0);
	assert_int_equal(pipes, 2);
	assert_int_equal(events, 1);
	close(event);
	close(file);
	close(stat);
	close(ends[0]);
	/* It goes on without us. */
	detacher_close(d);
	atomic_store(lets, 1);
	assert_int_equal(waitpid(left.pid, NULL, 0), left.pid);
}

/* Space beyond the end of the output is the file system's again once the process has ended. */
static void test_untrimmed(void **state)
{
	char path[] = "/tmp/kfxt-detacher.XXXXXX";
	const int file = mkstemp(path);
	struct detacher_left left;
	struct detacher *d;
	struct stat st;

	(void)state;
	assert_true(file >= 0);
	unlink(path);
	atomic_store(lets, 1);
	assert_int_equal(write(file, "x", 1), 1);
	if (fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 1 << 20)) {
		close(file);
		skip();
	}
	assert_int_equal(open_one(&d, file), 0);
	left = detacher_rest(d, LONG_MS, -1, NULL, NULL);
	assert_int_equal(left.pid, 0);
	detacher_close(d);
	assert_int_equal(fstat(file, &st), 0);
	assert_int_equal(st.st_size, 1);
	assert_true(st.st_blocks * 512 < 1 << 18);
	close(file);
}

static bool take(void *ctx, const char *doing, unsigned int done, unsigned int all, const char *what)
{
	unsigned int *most = ctx;

	assert_string_equal(doing, "detaching");
	assert_true(done <= all);
	assert_non_null(what);
	*most = all;
	return true;
}

static void test_first_and_rest(void **state)
{
	struct detacher_left left;
	unsigned int most = 0;
	struct detacher *d;

	(void)state;
	atomic_store(lets, 1);
	assert_int_equal(open_one(&d, -1), 0);
	assert_true(detacher_first(d, LONG_MS));
	assert_true(detacher_first(d, 0));
	left = detacher_rest(d, LONG_MS, -1, take, &most);
	assert_int_equal(left.pid, 0);
	detacher_close(d);
	reap_all();

	/* It is asked for while it is at it. */
	atomic_store(lets, 0);
	assert_int_equal(open_one(&d, -1), 0);
	assert_false(detacher_first(d, 0));
	assert_false(detacher_first(d, 10));
	atomic_store(lets, 1);
	assert_true(detacher_first(d, LONG_MS));
	assert_true(detacher_first(d, LONG_MS));
	left = detacher_rest(d, LONG_MS, -1, NULL, NULL);
	assert_int_equal(left.pid, 0);
	detacher_close(d);

	/* It is not asked for the first part. */
	atomic_store(lets, 0);
	assert_int_equal(open_one(&d, -1), 0);
	left = detacher_rest(d, LONG_MS, -1, NULL, NULL);
	assert_int_equal(left.pid, 0);
	detacher_close(d);
	detacher_close(NULL);
	reap_all();
}

/* A second signal: nobody waits any longer. */
static void test_hurry(void **state)
{
	struct detacher_left left;
	struct detacher *d;
	int hurry = eventfd(1, EFD_CLOEXEC);

	(void)state;
	atomic_store(lets, 0);
	assert_int_equal(open_one(&d, -1), 0);
	assert_false(detacher_first(d, 0));
	left = detacher_rest(d, LONG_MS, hurry, NULL, NULL);
	assert_int_not_equal(left.pid, 0);
	assert_true(detacher_lives(d));
	assert_int_equal(kill(left.pid, SIGKILL), 0);
	assert_int_equal(waitpid(left.pid, NULL, 0), left.pid);
	assert_false(detacher_lives(d));
	assert_false(detacher_lives(NULL));
	/* It was killed. */
	assert_int_equal(detacher_rest(d, LONG_MS, -1, NULL, NULL).pid, 0);
	detacher_close(d);
	close(hurry);
}

/* A standard file that the recorder has closed: its number is the lowest. */
static void test_closed_standard_file(void **state)
{
	const int before = dup(STDOUT_FILENO);
	struct detacher *d;
	bool ended;

	(void)state;
	atomic_store(lets, 0);
	close(STDOUT_FILENO);
	assert_int_equal(open_one(&d, -1), 0);
	ended = detacher_first(d, 100);
	assert_int_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
	close(before);
	assert_false(ended);
	atomic_store(lets, 1);
	assert_int_equal(detacher_rest(d, LONG_MS, -1, NULL, NULL).pid, 0);
	detacher_close(d);
	reap_all();
}

/* Closing the last descriptor of a file in /proc/pressure that was written to takes a grace period. */
static void test_keeps_files_of_proc(void **state)
{
	const int fd = open("/proc/self/comm", O_RDWR | O_CLOEXEC), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct detacher_left left;
	unsigned int tries = 0;
	struct detacher *d;
	char path[64];
	struct stat st;

	(void)state;
	atomic_store(lets, 0);
	assert_int_equal(open_one(&d, -1), 0);
	assert_false(detacher_first(d, 10));
	left = detacher_rest(d, 0, -1, NULL, NULL);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)left.pid, file);
	while (!lstat(path, &st) && tries++ < LONG_MS)
		usleep(1000);
	assert_true(tries < LONG_MS);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)left.pid, fd);
	assert_int_equal(lstat(path, &st), 0);
	close(fd);
	close(file);
	detacher_close(d);
	atomic_store(lets, 1);
	assert_int_equal(waitpid(left.pid, NULL, 0), left.pid);
}

/* ---- what it attaches ------------------------------------------------------------------------- */

/* Shared with the process: what it does, and what it found. */
static struct {
	atomic_int busy, lets, stays, opened, policy_of_count, policy_of_first, given_up;
} *work;

static void attach(void *ctx, int until_fd)
{
	struct pollfd end = { .fd = until_fd };

	(void)ctx;
	atomic_store(&work->opened, eventfd(0, EFD_CLOEXEC));
	while (!atomic_load(&work->lets)) {
		if (poll(&end, 1, 0) > 0) {
			while (atomic_load(&work->stays))
				usleep(1000);
			atomic_store(&work->given_up, 1);
			return;
		}
		if (!atomic_load(&work->busy))
			usleep(1000);
	}
}

/* The 41st word of its line; sched_getscheduler(2) is not for one that is confined. */
static int own_policy(void)
{
	FILE *f = fopen("/proc/thread-self/stat", "re");
	char line[512] = "", *at;
	unsigned int i;

	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	at = strrchr(line, ')');
	for (i = 2; at && i < 41; i++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at) : -1;
}

static void count(void *ctx)
{
	(void)ctx;
	atomic_store(&work->policy_of_count, own_policy());
}

static void first_of_attached(void *ctx)
{
	(void)ctx;
	atomic_store(&work->policy_of_first, own_policy());
}

static struct detacher *open_attaching(void)
{
	struct detacher *d;

	memset(work, 0, sizeof(*work));
	assert_int_equal(detacher_open(&d, &(struct detacher_cfg){
		.attach = attach, .count = count, .first = first_of_attached, .output = -1,
	}), 0);
	return d;
}

/* Only the process has it, at a number that is no standard file's; it counts urgently, where it may, and detaches as others run. */
static void test_attaches(void **state)
{
	/* Of another policy it is by somebody's choice. */
	const int own = own_policy(), urgent = own == SCHED_OTHER && !geteuid() ? SCHED_FIFO : own;
	struct detacher *d = open_attaching();
	struct detacher_left left;

	(void)state;
	assert_false(detacher_attached(d, 10));
	assert_true(detacher_lives(d));
	atomic_store(&work->lets, 1);
	assert_true(detacher_attached(d, LONG_MS));
	assert_true(atomic_load(&work->opened) > STDERR_FILENO);
	assert_true(detacher_first(d, LONG_MS));
	assert_int_equal(atomic_load(&work->policy_of_first), own);
	assert_int_equal(atomic_load(&work->policy_of_count), urgent);
	left = detacher_rest(d, LONG_MS, -1, NULL, NULL);
	assert_int_equal(left.pid, 0);
	detacher_close(d);
	reap_all();
	assert_int_equal(atomic_load(&work->given_up), 0);
}

/* The recorder ends before: the kernel has it wait at first, then it gives up. */
static void test_gives_up(void **state)
{
	struct detacher *d = open_attaching();
	struct detacher_left left;
	char text[DETACHER_LEFT_TEXT];

	(void)state;
	atomic_store(&work->stays, 1);
	assert_false(detacher_first(d, 10));
	left = detacher_rest(d, 0, -1, NULL, NULL);
	assert_true(left.pid > 0);
	assert_true(left.attaches);
	assert_non_null(strstr(detacher_left_text(&left, text), "has to attach"));
	assert_non_null(strstr(text, "(kfxt-attach)"));
	atomic_store(&work->stays, 0);
	left = detacher_rest(d, LONG_MS, -1, NULL, NULL);
	assert_int_equal(left.pid, 0);
	detacher_close(d);
	reap_all();
	assert_int_equal(atomic_load(&work->given_up), 1);
}

static bool gets_on(const struct detacher *d, unsigned int ms)
{
	const uint64_t before = detacher_look(d).ran_ns;
	unsigned int tries = 0;

	while (detacher_look(d).ran_ns < before + ms * 1000000ULL && tries++ < LONG_MS)
		usleep(1000);
	return tries < LONG_MS;
}

static void test_is_looked_at(void **state)
{
	struct detacher *d = open_attaching();
	unsigned int tries = 0;

	(void)state;
	atomic_store(&work->busy, 1);
	while (!atomic_load(&work->opened))
		usleep(1000);
	assert_true(gets_on(d, 5));
	assert_int_equal(detacher_look(d).state, 'R');
	atomic_store(&work->busy, 0);
	while (detacher_look(d).state != 'S' && tries++ < LONG_MS)
		usleep(1000);
	assert_true(tries < LONG_MS);
	atomic_store(&work->lets, 1);
	assert_true(detacher_attached(d, LONG_MS));
	detacher_close(d);
	reap_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_links_only), cmocka_unit_test(test_first_and_rest), cmocka_unit_test(test_hurry),
		cmocka_unit_test(test_closed_standard_file), cmocka_unit_test(test_keeps_files_of_proc),
		cmocka_unit_test(test_untrimmed), cmocka_unit_test(test_attaches), cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_is_looked_at),
	};

	signal(SIGPIPE, SIG_IGN);
	lets = mmap(NULL, sizeof(*lets), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return lets == MAP_FAILED || (void *)work == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL);
}
