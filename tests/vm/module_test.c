// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt's kernel module on the running kernel, without anything else of kfxt.
 *
 *	module_test KFXT.KO [SECONDS]
 *
 * Loads it, uses it in every way and unloads it; SECONDS (10) is how long the
 * disorderly part takes. Prints TAP. For a machine that may be lost: root, tracefs,
 * and no kfxt.ko loaded. No library: cc -static -pthread module_*.c.
 *
 * What the tracepoints hand over is counted by BPF programs in machine code, by
 * the module and, once, by tracefs. Traced is getppid(2), which nobody else calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "module_probe.h"
#include "module_use.h"

#define TRACING		"/sys/kernel/tracing"
#define INSTANCE	TRACING "/instances/kfxt_module_test"
#define FTRACE_ENABLED	"/proc/sys/kernel/ftrace_enabled"
#define CALLS		1000
#define GETPPID		"__*_sys_getppid"
#define RELOADS		50
#define REPLACEMENTS	20

static const char *module_path;
static int cpus;

/* How many it counts of CALLS calls. */
static uint64_t hits_of_calls(const struct probe *probe)
{
	const uint64_t before = probe_hits(probe);

	call(CALLS);
	return probe_hits(probe) - before;
}

/* ---- tracefs ------------------------------------------------------------------------- */

static int put(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const ssize_t ret = fd < 0 ? -1 : write(fd, text, strlen(text));
	const int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return ret < 0 ? -1 : 0;
}

static long count_lines(const char *path, const char *with)
{
	FILE *file = fopen(path, "re");
	char line[1024];
	long count = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		count += strstr(line, with) != NULL;
	fclose(file);
	return count;
}

/* ---- tests --------------------------------------------------------------------------- */

/* In a child of its own: what opening fails with for a user with @caps and no others, or 0. */
static int open_as_user(uint64_t caps)
{
	int status;
	const pid_t pid = fork();

	if (!pid) {
		struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
		struct __user_cap_data_struct data[2] = {
			{ .effective = (uint32_t)caps, .permitted = (uint32_t)caps },
			{ .effective = caps >> 32, .permitted = caps >> 32 },
		};

		if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(65534, 65534, 65534) ||
		    syscall(SYS_capset, &head, data))
			_exit(255);
		_exit(open_device() < 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_device(void)
{
	__u32 version = 0;
	int fd;

	equals(open_as_user(0), EPERM, "a user without capabilities may not open it");
	equals(open_as_user(1ULL << CAP_PERFMON), 0, "a user with CAP_PERFMON may");
	equals(open_as_user(1ULL << CAP_SYS_ADMIN), 0, "a user with CAP_SYS_ADMIN may");
	fd = must_open();
	equals(ioctl(fd, KFXT_IOC_VERSION, &version), 0, "it tells its version");
	equals(version, KFXT_ABI_VERSION, "which is that of the header");
	fails(open_device(), EBUSY, "a second opener");
	fails(unload(), EAGAIN, "unloading while it is open");
	close(fd);
	fd = open_device();
	ok(fd >= 0, "the next opener, once it is closed");
	close(fd);
}

static void test_refusals(const struct probe *probe)
{
	static char large[KFXT_FILTER_BYTES_MAX + 1];
	struct kfxt_filter filter = { .text = (uintptr_t)"x", .bytes = 2, .reserved = 1 };
	struct kfxt_counts counts = { .cpu = 1U << 30 };
	const int fd = must_open();

	fails(start(fd, "kfxt_no_such_function"), EINVAL, "a glob that matches nothing");
	fails(start(fd, "["), EINVAL, "a glob that is none");
	fails(start(fd, "!" GETPPID), EINVAL, "an exclusion in front");
	fails(start(fd, "kfxt_no_such_function\0!" GETPPID), EINVAL, "an exclusion and no match");
	fails(start(fd, ""), EINVAL, "an empty glob");
	fails(start(fd, GETPPID "\0!"), EINVAL, "an empty exclusion");
	fails(start(fd, "1"), EINVAL, "a number");
	fails(start_bytes(fd, GETPPID, strlen(GETPPID)), EINVAL, "a glob without its NUL");
	fails(start_bytes(fd, GETPPID, 0), EINVAL, "no glob");
	fails(ioctl(fd, KFXT_IOC_FUNC_START, &filter), EINVAL, "a reserved word that is not 0");
	fails(start_bytes(fd, large, sizeof(large)), E2BIG, "a filter that is too long");
	fails(start_bytes(fd, NULL, 8), EFAULT, "a filter that cannot be read");
	fails(ioctl(fd, KFXT_IOC_FUNC_START, NULL), EFAULT, "no argument");
	fails(ioctl(fd, KFXT_IOC_COUNTS, &counts), EINVAL, "counts of a CPU that is none");
	counts = (struct kfxt_counts){ .reserved = 1 };
	fails(ioctl(fd, KFXT_IOC_COUNTS, &counts), EINVAL, "counts with a reserved word");
	fails(ioctl(fd, _IO('k', 0x7f), 0), ENOTTY, "a call that is none");
	equals(ioctl(fd, KFXT_IOC_FUNC_STOP), 0, "stopping what never started");
	equals(hits_of_calls(probe), 0, "after all of these nothing is traced");
	close(fd);
}

static void test_counts(const struct probe *probe)
{
	const int fd = must_open();
	struct kfxt_counts counts;

	equals(start(fd, GETPPID), 0, "one function");
	equals(hits_of_calls(probe), CALLS, "each of its calls is seen once");
	counts = sum_counts(fd);
	equals(counts.fired, CALLS, "as many are counted by the module");
	equals(counts.recursion + counts.unwatched, 0, "and none is lost");
	fails(start(fd, "kfxt_no_such_function"), EINVAL, "replacing by a glob that matches nothing");
	equals(hits_of_calls(probe), CALLS, "leaves the old filter as it was");
	equals(start(fd, "__*_sys_getp*\0!" GETPPID), 0, "its neighbours without itself");
	equals(hits_of_calls(probe), 0, "and it is not seen");
	equals(start(fd, "kfxt_no_such_function\0" GETPPID), 0, "one glob of two that matches");
	equals(hits_of_calls(probe), CALLS, "is enough");
	equals(start(fd, GETPPID "\0!*"), 0, "all taken out again");
	counts = sum_counts(fd);
	equals(hits_of_calls(probe), 0, "is nothing and not everything");
	equals(sum_counts(fd).fired, counts.fired, "by the module's count too");
	equals(start(fd, GETPPID), 0, "again");
	equals(ioctl(fd, KFXT_IOC_FUNC_STOP), 0, "stop");
	equals(hits_of_calls(probe), 0, "nothing is seen after stopping");
	equals(start(fd, GETPPID), 0, "and again");
	close(fd);
	equals(hits_of_calls(probe), 0, "nothing is seen after closing");
}

/* ftrace's own switch may not silence a recording. Newer kernels have it on for good. */
static void test_switch(const struct probe *probe)
{
	const int fd = must_open();

	if (put(FTRACE_ENABLED, "0") && errno == EOPNOTSUPP) {
		ok(true, "ftrace can be switched off # SKIP not on this kernel");
		close(fd);
		return;
	}
	fails(start(fd, GETPPID), EBUSY, "starting while ftrace is switched off");
	put(FTRACE_ENABLED, "1");
	equals(start(fd, GETPPID), 0, "starting once it is on again");
	fails(put(FTRACE_ENABLED, "0"), EBUSY, "switching it off while functions are traced");
	equals(hits_of_calls(probe), CALLS, "they still are");
	close(fd);
}

static void test_tracefs(void)
{
	const int fd = must_open();

	mkdir(INSTANCE, 0700);
	ok(!put(INSTANCE "/events/kfxt/kfxt_func_entry/enable", "1"), "tracefs knows the event");
	start(fd, GETPPID);
	call(CALLS);
	close(fd);
	equals(count_lines(INSTANCE "/trace", "sys_getppid <- "), CALLS, "and has each call, by name");
	put(INSTANCE "/events/kfxt/enable", "0");
	rmdir(INSTANCE);
}

/* An opener that is killed in the middle. */
static void test_killed(const struct probe *probe)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		give_up("pipe");
	pid = fork();
	if (!pid) {
		const int fd = must_open();

		start(fd, GETPPID);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		give_up("child");
	equals(hits_of_calls(probe), CALLS, "a child traces");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	equals(hits_of_calls(probe), 0, "killed, it traces no more");
	equals(count_lines(TRACING "/enabled_functions", "getppid"), 0, "and ftrace has let go of it");
	close(must_open());
	close(ready[0]);
	close(ready[1]);
}

/* Threads that keep the machine busy until asked to stop. */
struct load {
	pthread_t threads[4];
	int count;
	atomic_bool stop;
	atomic_ullong calls;
};

static void *call_until_stopped(void *arg)
{
	struct load *load = arg;
	unsigned long long calls = 0;

	while (!atomic_load(&load->stop)) {
		call(100);
		calls += 100;
	}
	atomic_fetch_add(&load->calls, calls);
	return NULL;
}

/* The children share the table of files, or they would keep open what is closed here. */
static void *fork_until_stopped(void *arg)
{
	struct load *load = arg;

	while (!atomic_load(&load->stop)) {
		const pid_t pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

static void load_begin(struct load *load, int count, void *(*work)(void *))
{
	load->count = count;
	atomic_init(&load->stop, false);
	atomic_init(&load->calls, 0);
	for (int i = 0; i < count; i++) {
		if (pthread_create(&load->threads[i], NULL, work, load))
			give_up("pthread_create");
	}
}

static void load_end(struct load *load)
{
	atomic_store(&load->stop, true);
	for (int i = 0; i < load->count; i++)
		pthread_join(load->threads[i], NULL);
}

/* Both filters have the function: whatever the moment, each call belongs to one of them. */
static void test_replaced(const struct probe *probe)
{
	const int fd = must_open();
	const uint64_t before = probe_hits(probe);
	struct load load;
	int bad = 0;
	double begin;

	bad |= start(fd, GETPPID);
	load_begin(&load, cpus, call_until_stopped);
	begin = now_s();
	for (int i = 0; i < REPLACEMENTS / 2; i++) {
		bad |= start(fd, GETPPID "\0__*_sys_getpgid");
		bad |= start(fd, GETPPID);
	}
	printf("# replacing a filter takes %.0f ms\n", (now_s() - begin) / REPLACEMENTS * 1e3);
	load_end(&load);
	equals(bad, 0, "the filter is replaced under load");
	equals(probe_hits(probe) - before, atomic_load(&load.calls), "and no call is seen twice or never");
	equals(sum_counts(fd).fired, atomic_load(&load.calls), "by the module's count too");
	printf("# %llu calls\n", atomic_load(&load.calls));
	close(fd);
}

/* Everything, with the tracer in it. */
static void test_everything(const struct probe *probe)
{
	const uint64_t before = probe_hits(probe), missed = probe_misses(probe);
	const int fd = must_open();
	struct kfxt_counts counts;
	struct load load;
	double begin;

	load_begin(&load, 2, fork_until_stopped);
	begin = now_s();
	equals(start(fd, "*"), 0, "every function there is");
	printf("# starting took %.1f s\n", now_s() - begin);
	usleep(1000000);
	begin = now_s();
	equals(ioctl(fd, KFXT_IOC_FUNC_STOP), 0, "is let go of again");
	printf("# stopping took %.1f s\n", now_s() - begin);
	load_end(&load);
	counts = sum_counts(fd);
	ok(counts.fired > 10000, "events came: %llu, recursion %llu, RCU not watching %llu",
	   counts.fired, counts.recursion, counts.unwatched);
	equals(probe_hits(probe) - before + probe_misses(probe) - missed, counts.fired,
	       "a program accounts for all of them");
	close(fd);
}

/* Of the fastest of some rounds, for the machine does other things as well. */
static double ns_per_call(void)
{
	double best = 1e9;

	for (int round = 0; round < 20; round++) {
		const double begin = now_s();
		double ns;

		call(5000);
		ns = (now_s() - begin) / 5000 * 1e9;
		best = ns < best ? ns : best;
	}
	return best;
}

static void test_cost(void)
{
	const int fd = must_open();
	const double idle = ns_per_call();
	double active, attached, begin;
	struct probe probe;

	start(fd, GETPPID);
	active = ns_per_call();
	probe = probe_attach(KFXT_TP_FUNC_ENTRY);
	attached = ns_per_call();
	printf("# ns per call: %.0f; traced, nobody attached: %+.0f; with a program: %+.0f\n", idle,
	       active - idle, attached - idle);
	probe_detach(&probe);
	ioctl(fd, KFXT_IOC_FUNC_STOP);
	begin = now_s();
	start(fd, "vfs_*");
	printf("# starting vfs_*: %.0f ms\n", (now_s() - begin) * 1e3);
	begin = now_s();
	start(fd, GETPPID);
	printf("# replacing it: %.0f ms\n", (now_s() - begin) * 1e3);
	begin = now_s();
	ioctl(fd, KFXT_IOC_FUNC_STOP);
	printf("# stopping: %.0f ms\n", (now_s() - begin) * 1e3);
	close(fd);
}

/* ---- disorder ------------------------------------------------------------------------ */

static void change_something(int fd, unsigned int *seed)
{
	switch (rand_r(seed) % 6) {
	case 0:
		start(fd, "vfs_*");
		break;
	case 1:
		start(fd, GETPPID);
		break;
	case 2:
		start(fd, "tcp_*\0!tcp_v4*");
		break;
	case 3:
		start(fd, "[");
		break;
	case 4:
		ioctl(fd, KFXT_IOC_FUNC_STOP);
		break;
	default:
		sum_counts(fd);
	}
}

/* A process that opens, changes, closes, over and over; threads of it share the file. */
static void *change_until_stopped(void *arg)
{
	struct load *load = arg;
	unsigned int seed = (uintptr_t)pthread_self() >> 12;

	while (!atomic_load(&load->stop)) {
		const int fd = open_device();

		for (int i = rand_r(&seed) % 4; fd >= 0 && i >= 0; i--)
			change_something(fd, &seed);
		atomic_fetch_add(&load->calls, fd >= 0);
		if (fd >= 0)
			close(fd);
		else
			usleep(1000);
	}
	return NULL;
}

static void *attach_until_stopped(void *arg)
{
	struct load *load = arg;

	while (!atomic_load(&load->stop)) {
		struct probe func = probe_attach(KFXT_TP_FUNC_ENTRY);

		usleep(10000);
		probe_detach(&func);
	}
	return NULL;
}

static void test_disorder(const struct probe *probe, int seconds)
{
	struct load changes, attaching, forks, calls;

	load_begin(&forks, 2, fork_until_stopped);
	load_begin(&calls, 1, call_until_stopped);
	load_begin(&attaching, 1, attach_until_stopped);
	load_begin(&changes, 3, change_until_stopped);
	sleep(seconds);
	load_end(&changes);
	load_end(&attaching);
	load_end(&calls);
	load_end(&forks);
	ok(atomic_load(&changes.calls) > 0, "%d s of disorder, opened %llu times", seconds,
	   atomic_load(&changes.calls));
	equals(hits_of_calls(probe), 0, "nothing is traced after it");
}

static void test_reloads(void)
{
	struct load forks;
	int bad = 0;

	load_begin(&forks, 1, fork_until_stopped);
	for (int i = 0; i < RELOADS && !bad; i++) {
		int fd;

		bad |= load(module_path);
		fd = open_device();
		bad |= fd < 0 || start(fd, GETPPID "\0vfs_*");
		bad |= close(fd);
		bad |= unload();
	}
	load_end(&forks);
	equals(bad, 0, "it is loaded, used and unloaded again and again under load");
}

static void test_log(void)
{
	static const char *const complaints[] = {
		"WARNING: ", "BUG: ", "Oops", "general protection", "rcu: INFO", "lockup", "kfxt: self-test: k",
		"refcount_t", "Failed to ", "suspicious RCU", "perf buffer not large",
	};
	static char log[1 << 20];
	const int bytes = klogctl(3 /* read all */, log, sizeof(log) - 1);
	const char *from = strstr(log, "kfxt: loading out-of-tree");
	int bad = 0;

	for (size_t i = 0; bytes > 0 && i < sizeof(complaints) / sizeof(*complaints); i++) {
		const char *found = strstr(from ? from : log, complaints[i]);

		if (found)
			printf("# %.200s\n", found);
		bad += found != NULL;
	}
	ok(bytes > 0 && !bad, "the kernel has nothing to complain of");
}

int main(int argc, char **argv)
{
	struct probe probe;

	if (argc < 2) {
		fprintf(stderr, "usage: module_test KFXT.KO [SECONDS]\n");
		return 2;
	}
	module_path = argv[1];
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (load(module_path))
		give_up(module_path);
	test_device();
	probe = probe_attach(KFXT_TP_FUNC_ENTRY);
	fails(unload(), EAGAIN, "unloading while a program is attached");
	test_refusals(&probe);
	test_counts(&probe);
	test_switch(&probe);
	test_tracefs();
	test_killed(&probe);
	test_replaced(&probe);
	test_everything(&probe);
	test_disorder(&probe, argc > 2 ? atoi(argv[2]) : 10);
	probe_detach(&probe);
	test_cost();
	equals(unload(), 0, "it can be unloaded");
	fails(unload(), ENOENT, "and is gone");
	test_reloads();
	test_log();
	return finish();
}
