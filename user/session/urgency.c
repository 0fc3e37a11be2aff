// SPDX-License-Identifier: GPL-2.0
/*
 * The watching thread is real-time from the beginning on, and looks a few times a second: for how long another one has
 * waited the kernel only says once it runs again.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "privileges.h"
#include "urgency.h"

#define NS_PER_MS	1000000ULL
#define NS_PER_SECOND	1000000000ULL
#define LOOK_NS		(250 * NS_PER_MS)
#define BRIEF_LOOK_NS	(50 * NS_PER_MS)
#define LATE_NS		(400 * NS_PER_MS)	/* it comes round every 200 ms */
#define RAISED_NS	(10000 * NS_PER_MS)	/* then it is tried without */
#define STACK_BYTES	(64U << 10)

/* One below those of the kernel: stop machine, watchdogs, threaded interrupts are at 99, at 50. */
#define PRIORITY_RAISED	98
#define PRIORITY_BASE	1

struct urgency {
	pthread_t thread;
	bool has_thread;
	bool drops_rights;
	pid_t tid;		/* of the thread that is watched */
	clockid_t cpu_clock;	/* its */
	int stat;		/* its file in /proc */
	int nice, policy;	/* what it had */
	bool is_nicer;
	struct sched_param param;
	struct urgency_state state;	/* the watching thread's */
	atomic_uint_fast64_t beat_ns;
	atomic_uint raised, yielded;
	sem_t end;
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
	} else if (s->brief) {
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

static int set_level(const struct urgency *u, enum urgency_level level)
{
	if (level == URGENCY_RAISED)
		return set_policy(u->tid, SCHED_FIFO, PRIORITY_RAISED);
	if (level == URGENCY_BASE && u->state.realtime)
		return set_policy(u->tid, SCHED_FIFO, PRIORITY_BASE);
	return set_policy(u->tid, u->policy & ~SCHED_RESET_ON_FORK, 0);
}

/* "TID (NAME) STATE ..." */
static bool is_runnable(const struct urgency *u)
{
	char text[128];
	const ssize_t len = pread(u->stat, text, sizeof(text) - 1, 0);
	const char *end;

	text[len > 0 ? len : 0] = 0;
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'R';
}

static struct urgency_look look(struct urgency *u)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME), beat_ns = atomic_load(&u->beat_ns);
	const bool late = now_ns > beat_ns && now_ns - beat_ns > LATE_NS;

	return (struct urgency_look){ now_ns, clock_ns(u->cpu_clock), late && is_runnable(u) };
}

/* Whether that time has passed before the end. */
static bool sleep_until(struct urgency *u, uint64_t ns)
{
	const struct timespec when = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };
	int err;

	do {
		err = sem_clockwait(&u->end, CLOCK_MONOTONIC, &when) ? errno : 0;
	} while (err == EINTR);
	return err;
}

static void *watch(void *ctx)
{
	struct urgency *u = ctx;
	enum urgency_level before, level;
	struct urgency_look now;

	prctl(PR_SET_NAME, "kfxt-watch");
	if (u->drops_rights)
		confine_drop_all();
	while (sleep_until(u, clock_ns(CLOCK_MONOTONIC) + (u->state.brief ? BRIEF_LOOK_NS : LOOK_NS))) {
		now = look(u);
		before = u->state.level;
		level = urgency_decide(&u->state, &now);
		if (level == before)
			continue;
		if (set_level(u, level))
			u->state.level = before;
		else if (level == URGENCY_RAISED)
			atomic_fetch_add(&u->raised, 1);
		else if (level == URGENCY_YIELDED)
			atomic_fetch_add(&u->yielded, 1);
	}
	return NULL;
}

static bool begin_watching(struct urgency *u)
{
	const struct sched_param param = { .sched_priority = PRIORITY_RAISED };
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	err = pthread_create(&u->thread, &attr, watch, u);
	pthread_attr_destroy(&attr);
	return !err;
}

/* The right to raise a thread that has no rights any more. */
static bool allow_realtime(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTPRIO, &limit))
		return false;
	if (limit.rlim_cur >= PRIORITY_RAISED)
		return true;
	limit.rlim_cur = PRIORITY_RAISED;
	if (limit.rlim_max < limit.rlim_cur)
		limit.rlim_max = limit.rlim_cur;
	return !setrlimit(RLIMIT_RTPRIO, &limit);
}

/* It had @policy. Who has given up its rights cannot give up that new threads are fair. */
static void set_back(const struct urgency *u)
{
	if (sched_setscheduler(0, u->policy, &u->param))
		sched_setscheduler(0, u->policy | SCHED_RESET_ON_FORK, &u->param);
}

/* Nobody would keep a real-time thread from taking a CPU for itself without the other one. */
static void begin(struct urgency *u, const struct urgency_cfg *cfg)
{
	u->state.realtime = cfg->realtime && !set_policy(u->tid, SCHED_FIFO, PRIORITY_BASE);
	u->state.before = look(u);
	u->has_thread = begin_watching(u);
	if (u->state.realtime && !u->has_thread)
		set_back(u);
	u->state.realtime &= u->has_thread;
}

struct urgency *urgency_open(const struct urgency_cfg *cfg)
{
	struct urgency *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->tid = gettid();
	u->stat = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);
	u->nice = getpriority(PRIO_PROCESS, 0);
	u->policy = sched_getscheduler(0);
	sched_getparam(0, &u->param);
	sem_init(&u->end, 0, 0);
	u->state.brief = cfg->brief;
	u->drops_rights = !cfg->brief && allow_realtime();
	atomic_store(&u->beat_ns, cfg->brief ? 0 : clock_ns(CLOCK_BOOTTIME));
	u->is_nicer = cfg->nice < u->nice && !setpriority(PRIO_PROCESS, 0, cfg->nice);
	/* Whoever started it as a real-time thread has chosen. */
	if (cfg->nice < 0 && !u->param.sched_priority && u->stat >= 0 && !pthread_getcpuclockid(pthread_self(), &u->cpu_clock))
		begin(u, cfg);
	return u;
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
		u->state.realtime, atomic_load(&u->raised), atomic_load(&u->yielded),
	};
}

void urgency_close(struct urgency *u)
{
	if (!u)
		return;
	sem_post(&u->end);
	if (u->has_thread)
		pthread_join(u->thread, NULL);
	if (u->state.realtime || atomic_load(&u->raised))
		set_back(u);
	if (u->is_nicer)
		setpriority(PRIO_PROCESS, 0, u->nice);
	if (u->stat >= 0)
		close(u->stat);
	sem_destroy(&u->end);
	free(u);
}
