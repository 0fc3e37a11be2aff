// SPDX-License-Identifier: GPL-2.0
/*
 * The watching thread is real-time from the beginning on, and looks a few times a second: for how long another one has
 * waited the kernel only says once it runs again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/side_process.h"
#include "kernel/preempt_rt.h"
#include "kernel/task_state.h"
#include "privileges.h"
#include "urgency.h"

#define NS_PER_MS	1000000ULL
#define NS_PER_SECOND	1000000000ULL
#define LOOK_NS		(250 * NS_PER_MS)
#define WORK_LOOK_NS	(50 * NS_PER_MS)
#define SHORT_NS	(25 * NS_PER_MS)	/* too short to say who takes a CPU */
#define LATE_NS		(400 * NS_PER_MS)	/* it comes round every 200 ms */
#define STUCK_NS	(2000 * NS_PER_MS)
#define RAISED_NS	(10000 * NS_PER_MS)	/* then it is tried without */
#define END_NS		(2000 * NS_PER_MS)
#define STACK_BYTES	(64U << 10)

#define PRIORITY_RAISED	SIDE_PROCESS_PRIORITY
#define PRIORITY_BASE	1

#define OTHERS_MAX	16

/* One that is watched; of the other fields, those of one that works beside the recorder's are not used if @tid is 0. */
struct watched {
	pid_t tid;
	clockid_t cpu_clock;	/* its */
	int stat;		/* its file in /proc */
	struct urgency_state state;	/* the watching thread's */
};

struct urgency {
	pthread_t thread;
	bool has_thread;
	struct watched own;	/* the recorder's */
	struct affinity cpus;	/* that it may run on */
	pthread_mutex_t lock;	/* of @others */
	struct watched others[OTHERS_MAX];
	int policy;		/* what it had */
	atomic_uint_fast64_t beat_ns;
	atomic_uint raised, yielded;
	atomic_bool settled, realtime, refused, ends, end;
	atomic_int stop_fd;	/* or -1 */
	uint64_t works_until_ns;	/* the recording has ended, or ends; 0: not yet */
	_Atomic(struct watched *) leaves;	/* by who has @lock, until the watching thread has let it end */
	sem_t changed;		/* one of these, or @others */
	sem_t left;		/* what @leaves was does */
	sem_t settled_down;	/* the watching thread has no rights any more */
	pthread_t own_thread;	/* the recorder's */
	bool interrupts;	/* its sleep, by SIGURG */
	void (*stuck)(const char *where);	/* NULL: not any more */
	uint64_t stuck_ran_ns, stuck_since_ns;	/* it has waited since then, having run for so long */
};

/* ---- when ------------------------------------------------------------------------------------- */

enum urgency_level urgency_decide(struct urgency_state *s, const struct urgency_look *look)
{
	const uint64_t all = look->now_ns - s->before.now_ns, ran = look->ran_ns - s->before.ran_ns;
	const bool starved = look->waits && s->before.waits && ran < all / 10;
	const bool is_realtime = s->level == URGENCY_RAISED || (s->level == URGENCY_BASE && s->realtime);

	s->before = *look;
	if (starved) {
		s->level = URGENCY_RAISED;
		s->raised_ns = look->now_ns;
	} else if (s->works) {
		return s->level;
	} else if (is_realtime && ran > all / 2) {
		s->level = URGENCY_YIELDED;
	} else if ((s->level == URGENCY_YIELDED && ran < all / 4) ||
		   (s->level == URGENCY_RAISED && look->now_ns - s->raised_ns > RAISED_NS)) {
		s->level = URGENCY_BASE;
	}
	return s->level;
}

/* ---- how -------------------------------------------------------------------------------------- */

static int set_policy(pid_t tid, int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(tid, policy | SCHED_RESET_ON_FORK, &param) ? -errno : 0;
}

static int set_level(const struct urgency *u, const struct watched *w, enum urgency_level level)
{
	if (level == URGENCY_RAISED)
		return set_policy(w->tid, SCHED_FIFO, PRIORITY_RAISED);
	if (level == URGENCY_BASE && w->state.realtime)
		return set_policy(w->tid, SCHED_FIFO, PRIORITY_BASE);
	return set_policy(w->tid, u->policy, 0);
}

/* The calling thread. False: it cannot be watched. */
static bool watch_this(struct watched *w)
{
	*w = (struct watched){ .tid = gettid(), .stat = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC) };
	return w->stat >= 0 && !pthread_getcpuclockid(pthread_self(), &w->cpu_clock);
}

static void forget(struct watched *w)
{
	if (w->stat >= 0)
		close(w->stat);
	w->tid = 0;
	w->stat = -1;
}

static bool is_there(const struct watched *w)
{
	char text;

	return pread(w->stat, &text, 1, 0) == 1;
}

/* "TID (NAME) STATE ..."; '?' if it cannot be read. */
static char state_of(const struct watched *w)
{
	char text[128];
	const ssize_t len = pread(w->stat, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = 0;
	return task_state_parse(text);
}

/* Who works has no time by which it comes round, nor have those beside the recorder's. */
static bool is_late(const struct urgency *u, const struct watched *w, uint64_t now_ns)
{
	const uint64_t beat_ns = w == &u->own && !w->state.works ? atomic_load(&u->beat_ns) : 0;

	return now_ns > beat_ns && now_ns - beat_ns > LATE_NS;
}

static struct urgency_look look(const struct urgency *u, const struct watched *w)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);

	return (struct urgency_look){ now_ns, clock_ns(w->cpu_clock), is_late(u, w, now_ns) && state_of(w) == 'R' };
}

/* Until one of them has changed, or that time has come. */
static void sleep_until(struct urgency *u, uint64_t ns)
{
	const struct timespec when = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };

	while (sem_clockwait(&u->changed, CLOCK_MONOTONIC, &when) && errno == EINTR)
		;
}

/* Whether it waits for a CPU although it is raised. */
static bool look_and_act(struct urgency *u, struct watched *w)
{
	const struct urgency_look now = look(u, w);
	const enum urgency_level before = w->state.level;
	enum urgency_level level;

	/* It is woken for other things, too. */
	if (now.now_ns - w->state.before.now_ns < SHORT_NS)
		return false;
	level = urgency_decide(&w->state, &now);
	if (level == before)
		return level == URGENCY_RAISED && w->state.raised_ns == now.now_ns;
	if (set_level(u, w, level)) {
		w->state.level = before;
		atomic_store(&u->refused, true);
	} else if (level == URGENCY_RAISED) {
		atomic_fetch_add(&u->raised, 1);
	} else if (level == URGENCY_YIELDED) {
		atomic_fetch_add(&u->yielded, 1);
	}
	return false;
}

/*
 * For a while it is on one CPU only, and a more urgent thread may have that: it came there while the kernel left the CPU to fair
 * threads (sched_rt_runtime_us). So it may run again wherever it might when it began.
 */
static void look_at_own_cpus(struct urgency *u)
{
	if (look_and_act(u, &u->own) && u->cpus.set)
		(void)affinity_set_of(u->own.tid, &u->cpus);
}

static bool is_raised_with(const struct urgency *u, const struct watched *w)
{
	return u->own.state.level == URGENCY_RAISED && w->state.level == URGENCY_BASE;
}

static void raise_with(struct urgency *u, struct watched *w)
{
	if (set_level(u, w, URGENCY_RAISED))
		return;
	w->state.level = URGENCY_RAISED;
	w->state.raised_ns = clock_ns(CLOCK_BOOTTIME);
	atomic_fetch_add(&u->raised, 1);
}

/*
 * It may have begun to sleep as a fair thread, whose timer does not expire. Who has kept the timer from that has its CPU, so it is
 * raised first: else it would be runnable and wait until two looks have seen that.
 */
static void interrupt(struct urgency *u)
{
	if (u->own.state.level != URGENCY_RAISED)
		raise_with(u, &u->own);
	pthread_kill(u->own_thread, SIGURG);
}

/* Once it is known whether the recorder's thread is, the others are real-time, too; and raised with it. */
static void look_at_others(struct urgency *u)
{
	struct watched *w;

	/* One that comes or goes may not be urgent: it is not waited for. */
	if (pthread_mutex_trylock(&u->lock))
		return;
	for (w = u->others; w < u->others + OTHERS_MAX; w++) {
		if (!w->tid)
			continue;
		if (w->state.realtime != u->own.state.realtime) {
			w->state.realtime = u->own.state.realtime;
			/* Not permitted yet, if it has rights to give up that this thread has not. */
			if (set_level(u, w, w->state.level))
				w->state.realtime = !w->state.realtime;
		}
		look_and_act(u, w);
		if (is_raised_with(u, w))
			raise_with(u, w);
	}
	pthread_mutex_unlock(&u->lock);
}

/*
 * It has nothing more to do, and nobody raises it any more. As a fair thread it might have to wait for a CPU in the middle of its
 * end, where the kernel takes its files in /proc away; whoever waits for the end of the recorder then goes round in the kernel
 * until it has one (shrink_dcache_parent()), and a real-time one may keep it from just that.
 */
static void let_end(const struct urgency *u, struct watched *w)
{
	if (is_there(w) && set_level(u, w, URGENCY_RAISED))
		set_policy(w->tid, u->policy, 0);
	forget(w);
}

static void let_leave(struct urgency *u)
{
	struct watched *w = atomic_load(&u->leaves);

	if (!w)
		return;
	let_end(u, w);
	atomic_store(&u->leaves, NULL);
	sem_post(&u->left);
}

/* What is left of them does not end by itself. */
static void let_all_end(struct urgency *u)
{
	struct watched *w;

	for (w = u->others; w < u->others + OTHERS_MAX; w++)
		if (w->tid)
			let_end(u, w);
}

static void say_stuck(struct urgency *u)
{
	char where[64];

	task_waits_in(getpid(), u->own.tid, where, sizeof(where));
	u->stuck(where);
	u->stuck = NULL;
}

/* Before the recording. */
static void look_if_stuck(struct urgency *u)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), ran_ns = clock_ns(u->own.cpu_clock);

	if (!u->stuck)
		return;
	if (!u->stuck_since_ns || ran_ns != u->stuck_ran_ns || state_of(&u->own) != 'D') {
		u->stuck_ran_ns = ran_ns;
		u->stuck_since_ns = now_ns;
	} else if (now_ns - u->stuck_since_ns > STUCK_NS) {
		say_stuck(u);
	}
}

/* From work to the recording. */
static void settle(struct urgency *u)
{
	struct urgency_state *s = &u->own.state;
	const bool was_realtime = s->realtime;

	u->stuck = NULL;
	s->works = false;
	s->realtime = atomic_load(&u->realtime);
	s->before = look(u, &u->own);
	if (s->level == URGENCY_BASE && s->realtime != was_realtime && set_level(u, &u->own, URGENCY_BASE)) {
		s->realtime = false;
		atomic_store(&u->realtime, false);
		atomic_store(&u->refused, true);
	}
	privileges_keep_one(CAP_SYS_NICE);
	sem_post(&u->settled_down);
}

static bool is_to_end(const struct urgency *u)
{
	struct pollfd stop = { .fd = atomic_load(&u->stop_fd), .events = POLLIN };

	return atomic_load(&u->ends) || (poll(&stop, 1, 0) > 0 && stop.revents & POLLIN);
}

/* From the recording to work. */
static void begin_end(struct urgency *u)
{
	struct urgency_state *s = &u->own.state;

	u->works_until_ns = clock_ns(CLOCK_MONOTONIC) + END_NS;
	s->works = true;
	if (s->level == URGENCY_YIELDED && u->interrupts)
		interrupt(u);
	else if (s->level == URGENCY_YIELDED && !set_level(u, &u->own, URGENCY_BASE))
		s->level = URGENCY_BASE;
	s->before = look(u, &u->own);
}

static void look_at_own(struct urgency *u)
{
	struct urgency_state *s = &u->own.state;

	if (s->works && u->works_until_ns && clock_ns(CLOCK_MONOTONIC) > u->works_until_ns)
		s->works = false;
	if (s->works && !u->works_until_ns && atomic_load(&u->settled))
		settle(u);
	else if (!s->works && !u->works_until_ns && is_to_end(u))
		begin_end(u);
	else
		look_at_own_cpus(u);
	if (s->works)
		look_if_stuck(u);
	if (u->interrupts && !s->works && is_late(u, &u->own, clock_ns(CLOCK_BOOTTIME)))
		interrupt(u);
}

static void *watch(void *ctx)
{
	struct urgency *u = ctx;

	prctl(PR_SET_NAME, "kfxt-watch");
	/* By this thread: where others have all CPUs, one that is real-time has less of them than a fair one until it is raised. */
	u->own.state.realtime = kernel_is_preempt_rt();
	if (u->own.state.realtime && set_level(u, &u->own, URGENCY_BASE))
		u->own.state.realtime = false;
	while (true) {
		sleep_until(u, clock_ns(CLOCK_MONOTONIC) + (u->own.state.works ? WORK_LOOK_NS : LOOK_NS));
		let_leave(u);
		if (atomic_load(&u->end)) {
			let_all_end(u);
			return NULL;
		}
		look_at_own(u);
		look_at_others(u);
	}
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* What is not a sleep begins anew. A signal that is ignored by default, and is again after execve(2). */
static void prepare_interrupts(struct urgency *u)
{
	const struct sigaction act = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };

	u->own_thread = pthread_self();
	u->interrupts = kernel_is_preempt_rt() && !sigaction(SIGURG, &act, NULL);
}

static bool begin_watching(struct urgency *u)
{
	const struct sched_param param = { .sched_priority = PRIORITY_RAISED };
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	/* Signals are the other one's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&u->thread, &attr, watch, u);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return !err;
}

struct urgency *urgency_open(void (*stuck)(const char *where))
{
	struct urgency *u = calloc(1, sizeof(*u));
	bool can_watch;

	if (!u)
		return NULL;
	can_watch = watch_this(&u->own);
	u->stuck = stuck;
	atomic_store(&u->stop_fd, -1);
	u->policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	pthread_mutex_init(&u->lock, NULL);
	sem_init(&u->changed, 0, 0);
	sem_init(&u->left, 0, 0);
	sem_init(&u->settled_down, 0, 0);
	u->own.state.works = true;
	/* Whoever started it as a real-time thread, or an idle one, has chosen. */
	if (u->policy != SCHED_OTHER || !can_watch)
		return u;
	u->own.state.before = look(u, &u->own);
	(void)affinity_get(&u->cpus);
	prepare_interrupts(u);
	u->has_thread = begin_watching(u);
	atomic_store(&u->refused, !u->has_thread);
	return u;
}

void urgency_settle(struct urgency *u, bool realtime)
{
	if (!u || !u->has_thread)
		return;
	urgency_beat(u, clock_ns(CLOCK_BOOTTIME));
	atomic_store(&u->realtime, realtime);
	atomic_store(&u->settled, true);
	sem_post(&u->changed);
	while (sem_wait(&u->settled_down) && errno == EINTR)
		;
}

void urgency_until(struct urgency *u, int stop_fd)
{
	if (u)
		atomic_store(&u->stop_fd, stop_fd);
}

void urgency_end(struct urgency *u)
{
	if (!u)
		return;
	atomic_store(&u->ends, true);
	atomic_store(&u->stop_fd, -1);
	sem_post(&u->changed);
}

void urgency_join(struct urgency *u)
{
	struct watched new, *w;

	if (!u || !u->has_thread)
		return;
	if (watch_this(&new)) {
		new.state.before = look(u, &new);
		if (sched_getscheduler(0) == SCHED_FIFO) {
			new.state.level = URGENCY_RAISED;
			new.state.raised_ns = new.state.before.now_ns;
		}
		pthread_mutex_lock(&u->lock);
		for (w = u->others; w < u->others + OTHERS_MAX && new.tid; w++)
			if (!w->tid) {
				*w = new;
				new = (struct watched){ .stat = -1 };
			}
		pthread_mutex_unlock(&u->lock);
		sem_post(&u->changed);
	}
	forget(&new);
}

static void leave(struct urgency *u, struct watched *w)
{
	atomic_store(&u->leaves, w);
	sem_post(&u->changed);
	while (sem_wait(&u->left) && errno == EINTR)
		;
}

void urgency_leave(struct urgency *u)
{
	const pid_t tid = gettid();
	struct watched *w;

	if (!u || !u->has_thread)
		return;
	pthread_mutex_lock(&u->lock);
	for (w = u->others; w < u->others + OTHERS_MAX; w++)
		if (w->tid == tid)
			leave(u, w);
	pthread_mutex_unlock(&u->lock);
}

void urgency_lend_thread(const struct urgency *u, pthread_t thread)
{
	const struct sched_param param = { .sched_priority = PRIORITY_RAISED };

	if (u && u->has_thread)
		pthread_setschedparam(thread, SCHED_FIFO, &param);
}

void urgency_beat(struct urgency *u, uint64_t now_ns)
{
	if (u)
		atomic_store_explicit(&u->beat_ns, now_ns, memory_order_relaxed);
}

struct urgency_totals urgency_totals(const struct urgency *u)
{
	if (!u)
		return (struct urgency_totals){ 0 };
	return (struct urgency_totals){
		.realtime = atomic_load(&u->realtime), .refused = atomic_load(&u->refused),
		.raised = atomic_load(&u->raised), .yielded = atomic_load(&u->yielded),
	};
}

uint64_t urgency_cpu_ns(const struct urgency *u)
{
	clockid_t clock;

	return u && u->has_thread && !pthread_getcpuclockid(u->thread, &clock) ? clock_ns(clock) : 0;
}

void urgency_close(struct urgency *u)
{
	if (!u)
		return;
	atomic_store(&u->end, true);
	sem_post(&u->changed);
	if (u->has_thread)
		pthread_join(u->thread, NULL);
	/* Beside a real-time thread that has all CPUs one of a lower priority would never end, a fair one does. */
	if (u->has_thread && u->own.state.level != URGENCY_RAISED)
		set_policy(u->own.tid, u->policy, 0);
	forget(&u->own);
	pthread_mutex_destroy(&u->lock);
	sem_destroy(&u->changed);
	sem_destroy(&u->left);
	sem_destroy(&u->settled_down);
	affinity_free(&u->cpus);
	free(u);
}
