// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of how urgently the recorder runs: when that changes, and that all is as before in the end.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/num.h"
#include "kernel/preempt_rt.h"
#include "session/urgency.h"

#define MS	1000000ULL
#define LOOK	(250 * MS)
#define LOOK_MS	10
#define PATIENCE_MS	30000

/* So much it has run, of the time between two looks; and whether it waits at the second one. */
struct step {
	unsigned int ran_ms;
	bool waits;
	enum urgency_level level;
};

static void check_steps(struct urgency_state s, const struct step *steps, size_t cnt)
{
	struct urgency_look look = s.before;
	size_t i;

	for (i = 0; i < cnt; i++) {
		look.now_ns += LOOK;
		look.ran_ns += steps[i].ran_ms * MS;
		look.waits = steps[i].waits;
		assert_int_equal(urgency_decide(&s, &look), steps[i].level);
	}
}

#define CHECK(state, ...) check_steps(state, (const struct step[]){ __VA_ARGS__ }, \
				      sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

static void test_starved(void **state)
{
	const struct urgency_state fair = { .before = { 1000 * MS, 10 * MS, false } }, realtime = { .realtime = true, .before = fair.before };

	(void)state;
	/* Runnable at one look only: it may have been woken a moment before. */
	CHECK(fair, { 0, true, URGENCY_BASE }, { 1, false, URGENCY_BASE }, { 0, true, URGENCY_BASE }, { 0, true, URGENCY_RAISED });
	CHECK(realtime, { 0, true, URGENCY_BASE }, { 0, true, URGENCY_RAISED });
	/* It is late and runs: it has much to do, and is not made real-time for that. */
	CHECK(fair, { 200, true, URGENCY_BASE }, { 200, true, URGENCY_BASE }, { 30, true, URGENCY_BASE });
}

static void test_raised_for_a_while(void **state)
{
	struct urgency_state s = { .before = { 0, 0, true } };
	struct urgency_look look = { LOOK, 0, true };
	unsigned int i;

	(void)state;
	assert_int_equal(urgency_decide(&s, &look), URGENCY_RAISED);
	for (i = 0; i < 40; i++) {
		look.now_ns += LOOK;
		look.waits = false;
		assert_int_equal(urgency_decide(&s, &look), URGENCY_RAISED);
	}
	look.now_ns += LOOK;
	assert_int_equal(urgency_decide(&s, &look), URGENCY_BASE);
	/* Whoever kept it from running is still there. */
	look.waits = true;
	look.now_ns += LOOK;
	assert_int_equal(urgency_decide(&s, &look), URGENCY_BASE);
	look.now_ns += LOOK;
	assert_int_equal(urgency_decide(&s, &look), URGENCY_RAISED);
}

static void test_yields(void **state)
{
	const struct urgency_state fair = { .before = { 0, 0, false } }, realtime = { .realtime = true },
		works = { .works = true, .before = { 0, 0, true } };

	(void)state;
	CHECK(realtime, { 100, false, URGENCY_BASE }, { 200, false, URGENCY_YIELDED }, { 100, false, URGENCY_YIELDED },
	      { 20, false, URGENCY_BASE });
	CHECK(fair, { 200, false, URGENCY_BASE }, { 250, false, URGENCY_BASE });
	/* One that has been raised, too; and again if it is starved as a fair one. */
	CHECK(fair, { 0, true, URGENCY_BASE }, { 0, true, URGENCY_RAISED }, { 240, false, URGENCY_YIELDED }, { 0, true, URGENCY_BASE },
	      { 0, true, URGENCY_RAISED });
	/* What takes a tenth of a second of computing as a whole does not. */
	CHECK(works, { 0, true, URGENCY_RAISED }, { 250, true, URGENCY_RAISED }, { 250, false, URGENCY_RAISED });
}

static int policy_now(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* That @fn returns 0 in a process of its own, as policies and rights stay so. */
static void check_apart(int (*fn)(unsigned int arg), unsigned int arg)
{
	const pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn(arg));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int record_as(unsigned int realtime)
{
	const int before = policy_now();
	struct urgency *u = urgency_open(NULL);
	struct urgency_totals t;
	int status = 0;
	pid_t pid;

	if (!u || (policy_now() == SCHED_FIFO && !kernel_is_preempt_rt()))
		return 1;
	urgency_settle(u, realtime);
	urgency_beat(u, 1);
	t = urgency_totals(u);
	/* Where it is permitted. */
	if (t.raised || t.yielded || (t.realtime && !realtime) || t.realtime != (policy_now() == SCHED_FIFO))
		return 2;
	/* What it begins is a process like any other. */
	pid = fork();
	if (!pid)
		_exit(policy_now() == SCHED_FIFO);
	if (waitpid(pid, &status, 0) != pid || status)
		return 3;
	urgency_close(u);
	return policy_now() == before ? 0 : 4;
}

static void test_settle(void **state)
{
	(void)state;
	check_apart(record_as, false);
	check_apart(record_as, true);
}

/* What may be wrong with a thread beside the recorder's; 2 and its place are the exit status. */
static const char *const wrongs[] = {
	"it inherits a policy", "another policy than the recorder's", "it does not keep its policy", "it is not raised to end",
	"it has run for too long to keep its policy",
};
enum { INHERITS, DIFFERS, CHANGES, STAYS, BUSY };
#define BUSY_MAX	30	/* threads in all */

/* Whether a thread that is watched could be one that keeps a CPU busy, having run for so long: half of the 25 ms that say anything. */
static bool may_be_busy(uint64_t ran_ns)
{
	return ran_ns > 25 * MS / 2;
}

/* Whether the thread gets the policy that the recorder's has, in time, while it is watched. What is wrong is in @wrongs. */
static void *work_beside(void *ctx)
{
	struct urgency *u = ctx;
	const bool realtime = urgency_totals(u).realtime;
	const int before = policy_now();
	uint64_t begin_ns;
	int ms;

	if (before == SCHED_FIFO)
		return (void *)&wrongs[INHERITS];
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	urgency_join(u);
	for (ms = 0; realtime && ms < PATIENCE_MS && policy_now() != SCHED_FIFO; ms += LOOK_MS)
		usleep(LOOK_MS * 1000);
	if (ms >= PATIENCE_MS)
		return (void *)&wrongs[DIFFERS];
	/* It is not taken for one that keeps a CPU busy by what it did before. An emulated machine that has to wait has it run meanwhile. */
	for (ms = 0; realtime && ms < 200; ms += 5 * LOOK_MS) {
		usleep(5 * LOOK_MS * 1000);
		if (policy_now() == SCHED_FIFO)
			continue;
		if (!may_be_busy(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns))
			return (void *)&wrongs[CHANGES];
		urgency_leave(u);
		return (void *)&wrongs[BUSY];
	}
	urgency_leave(u);
	/* Where it is permitted. Else it might wait for a CPU in the middle of its end, and who waits for the process with it. */
	return policy_now() == (realtime ? SCHED_FIFO : before) ? NULL : (void *)&wrongs[STAYS];
}

/* As many as there are files in turn, one after the other. */
static int record_beside(unsigned int arg)
{
	struct urgency *u = urgency_open(NULL);
	void *failed = NULL;
	pthread_t thread;
	int good = 0, busy = 0;

	(void)arg;
	urgency_settle(u, true);
	urgency_beat(u, 1);
	while (good < 10 && !failed) {
		if (pthread_create(&thread, NULL, work_beside, u) || pthread_join(thread, &failed))
			return 1;
		if (failed == &wrongs[BUSY] && ++busy < BUSY_MAX)
			failed = NULL;
		else
			good++;
	}
	if (failed)
		print_error("%s\n", *(const char *const *)failed);
	urgency_close(u);
	return failed ? 2 + (int)((const char *const *)failed - wrongs) : 0;
}

static void test_beside(void **state)
{
	(void)state;
	check_apart(record_beside, 0);
}

struct lent {
	struct urgency *u;
	sem_t raised;
};

static void *work_raised(void *ctx)
{
	struct lent *lent = ctx;

	sem_wait(&lent->raised);
	urgency_join(lent->u);
	/* The watching thread looks at it several times. */
	usleep(500000);
	urgency_leave(lent->u);
	return policy_now() == SCHED_FIFO ? NULL : "it is not raised any more";
}

static int record_with_lent(unsigned int realtime)
{
	struct lent lent = { .u = urgency_open(NULL) };
	void *failed = NULL;
	pthread_t thread;

	sem_init(&lent.raised, 0, 0);
	if (pthread_create(&thread, NULL, work_raised, &lent))
		return 1;
	urgency_lend_thread(lent.u, thread);
	urgency_settle(lent.u, realtime);
	urgency_beat(lent.u, UINT64_MAX);
	sem_post(&lent.raised);
	if (pthread_join(thread, &failed))
		return 1;
	if (failed)
		print_error("%s\n", (const char *)failed);
	urgency_close(lent.u);
	return failed ? 2 : 0;
}

/* Where it is permitted, and nobody has chosen otherwise. */
static bool can_be_raised(void)
{
	return !getuid() && policy_now() == SCHED_OTHER;
}

static void test_lent(void **state)
{
	(void)state;
	if (!can_be_raised())
		return;
	check_apart(record_with_lent, false);
	check_apart(record_with_lent, true);
}

static _Noreturn void spin(unsigned int ms)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + ms * MS;

	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		;
	_exit(0);
}

/* This CPU alone, above a recorder that is not raised, for some seconds: from the first byte of @go on. */
static pid_t begin_hog(int go)
{
	const struct sched_param above = { .sched_priority = 50 };
	const pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	if (sched_setscheduler(0, SCHED_FIFO, &above) || read(go, &byte, 1) != 1)
		_exit(1);
	spin(3000);
}

/* Waits until it only has to be woken, in an emulated machine for long. 0 or -1: it has ended. */
static int wait_for_hog(pid_t hog)
{
	while (sched_getscheduler(hog) != SCHED_FIFO) {
		if (waitpid(hog, NULL, WNOHANG))
			return -1;
		usleep(LOOK_MS * 1000);
	}
	return 0;
}

/* By a descriptor, or else by itself, while a real-time thread has its CPU. */
static int end_beside_hog(unsigned int by_fd)
{
	struct urgency *u = urgency_open(NULL);
	unsigned int raised;
	cpu_set_t cpu;
	int fds[2], go[2];
	pid_t hog;

	CPU_ZERO(&cpu);
	CPU_SET((unsigned int)sched_getcpu(), &cpu);
	if (pipe(fds) || pipe(go) || sched_setaffinity(0, sizeof(cpu), &cpu))
		return 1;
	hog = begin_hog(go[0]);
	if (hog < 0 || wait_for_hog(hog))
		return 1;
	urgency_settle(u, true);
	/* It is never late, so it is not raised before its end. */
	urgency_beat(u, UINT64_MAX);
	if (by_fd) {
		urgency_until(u, fds[0]);
		if (write(fds[1], "x", 1) != 1)
			return 1;
	} else {
		urgency_end(u);
	}
	if (write(go[1], "x", 1) != 1)
		return 1;
	/* Whether it is raised before the hog ends. */
	while (!urgency_totals(u).raised && !waitpid(hog, NULL, WNOHANG))
		;
	raised = urgency_totals(u).raised;
	kill(hog, SIGKILL);
	urgency_close(u);
	return raised ? 0 : 2;
}

static void test_end(void **state)
{
	(void)state;
	if (!can_be_raised())
		return;
	check_apart(end_beside_hog, true);
	check_apart(end_beside_hog, false);
}

static bool set_capabilities(uint32_t caps)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	const struct __user_cap_data_struct data[2] = { { .effective = caps, .permitted = caps } };

	return !syscall(SYS_capset, &head, data);
}

static bool has_line(const char *path, const char *line)
{
	char text[200];
	bool has = false;
	FILE *f = fopen(path, "r");

	while (f && !has && fgets(text, sizeof(text), f))
		has = !strcmp(text, line);
	if (f)
		fclose(f);
	return has;
}

/* What the thread that watches has of capabilities, in hexadecimal. */
static bool watch_has(const char *caps)
{
	struct dirent *entry;
	char path[300], line[60];
	bool has = false;
	DIR *dir = opendir("/proc/self/task");

	snprintf(line, sizeof(line), "CapPrm:\t%s\n", caps);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		if (!has_line(path, "kfxt-watch\n"))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		has |= has_line(path, line);
	}
	if (dir)
		closedir(dir);
	return has;
}

/* A user without rights but @caps, which there must be to be given, and no limit that gives one. */
static int record_with(unsigned int caps)
{
	const struct rlimit none = { 0 };
	struct urgency_totals t;
	struct urgency *u;
	bool good;

	/* The tests themselves may run as others need the CPUs less. */
	if (sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 }))
		return 1;
	if (prctl(PR_SET_KEEPCAPS, 1) || setrlimit(RLIMIT_RTPRIO, &none) || setresuid(65534, 65534, 65534))
		return 1;
	if (!set_capabilities(caps))
		return caps ? 0 : 1;
	u = urgency_open(NULL);
	urgency_settle(u, true);
	t = urgency_totals(u);
	good = caps ? t.realtime && !t.refused && policy_now() == SCHED_FIFO && watch_has("0000000000800000")
		    : !t.realtime && t.refused && policy_now() == SCHED_OTHER;
	urgency_close(u);
	return good ? 0 : 2;
}

static void test_rights(void **state)
{
	(void)state;
	if (getuid())
		return;
	check_apart(record_with, 0);
	check_apart(record_with, 1U << CAP_SYS_NICE);
}

/* Nobody is watched: without the right, or as it is real-time by itself. */
static void test_nobody(void **state)
{
	const int policy = policy_now();
	struct urgency *u;

	(void)state;
	urgency_settle(NULL, true);
	urgency_beat(NULL, 1);
	urgency_until(NULL, 0);
	urgency_end(NULL);
	urgency_join(NULL);
	urgency_leave(NULL);
	urgency_close(NULL);
	assert_int_equal(urgency_totals(NULL).raised, 0);
	u = urgency_open(NULL);
	assert_non_null(u);
	urgency_close(u);
	assert_int_equal(policy_now(), policy);
}

static atomic_uint stuck_cnt;
static char stuck_where[64];

static void note_stuck(const char *where)
{
	snprintf(stuck_where, sizeof(stuck_where), "%s", where);
	atomic_fetch_add(&stuck_cnt, 1);
}

/* As vfork(2) does, until the child ends. How long, in ns. */
static uint64_t wait_in_kernel(unsigned int ms)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	const pid_t pid = vfork();

	if (!pid) {
		poll(NULL, 0, ms);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

static int wait_before_begin(unsigned int arg)
{
	struct urgency *u = urgency_open(note_stuck);
	unsigned int cnt;

	(void)arg;
	if (wait_in_kernel(1000) < 1900 * MS && atomic_load(&stuck_cnt))
		return 1;
	wait_in_kernel(3000);
	cnt = atomic_load(&stuck_cnt);
	wait_in_kernel(3000);
	if (cnt != !urgency_totals(u).refused || atomic_load(&stuck_cnt) != cnt)
		return 2;
	urgency_close(u);
	return cnt && !*stuck_where ? 3 : 0;
}

static void test_stuck(void **state)
{
	(void)state;
	/* Where somebody has chosen, nobody watches. */
	if (policy_now() == SCHED_OTHER)
		check_apart(wait_before_begin, 0);
}

/* ---- beside who is more urgent ------------------------------------------------------------------ */

/* More urgent than whoever is raised; its CPU alone. It writes to @ready, and spins until it is killed, for a minute at most. */
static _Noreturn void be_most_urgent(unsigned int cpu, int ready)
{
	const struct sched_param param = { .sched_priority = 99 };

	if (affinity_pin(cpu) || sched_setscheduler(0, SCHED_FIFO, &param) || write(ready, "", 1) != 1)
		_exit(1);
	spin(60000);
}

/* To the CPU of such a one: a thread that is watched is not there for long. */
static int move_beside(unsigned int cpu)
{
	struct urgency *u = urgency_open(NULL);
	int ready[2], status, failed;
	pid_t hog;
	char c;

	if (pipe(ready))
		return 1;
	hog = fork();
	if (!hog)
		be_most_urgent(cpu, ready[1]);
	close(ready[1]);
	/* Where it is permitted. */
	if (hog < 0 || (read(ready[0], &c, 1) == 1 && affinity_pin(cpu)))
		return 2;
	failed = !urgency_totals(u).refused && waitpid(hog, &status, WNOHANG) == hog && !status ? 3 : 0;
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	urgency_close(u);
	return failed;
}

static void test_pinned(void **state)
{
	struct affinity own;
	int cpu;

	(void)state;
	if (!can_be_raised())
		skip();
	assert_int_equal(affinity_get(&own), 0);
	if (CPU_COUNT_S(own.bytes, own.set) > 1) {
		for (cpu = NUM_CPUS_MAX - 1; !CPU_ISSET_S(cpu, own.bytes, own.set); cpu--)
			;
		check_apart(move_beside, (unsigned int)cpu);
	}
	affinity_free(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starved), cmocka_unit_test(test_raised_for_a_while), cmocka_unit_test(test_yields),
		cmocka_unit_test(test_settle), cmocka_unit_test(test_beside), cmocka_unit_test(test_lent),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_rights), cmocka_unit_test(test_nobody), cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
