/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How urgently the recorder's thread runs. A fair thread, at nice -20, is urgent among those of its autogroup or cgroup only,
 * and each time it sleeps and wakes it changes the weight that the group has on other CPUs. So where it shares one with
 * what may be recorded it is real-time, at the lowest priority of these; with PREEMPT_RT everywhere and from the beginning on,
 * since a fair thread's timeouts wait for a thread of the kernel.
 *
 * Another thread watches it. One that waits for a CPU all the time, as where real-time threads have all of them, is
 * raised above these for a while; one that is real-time and has a CPU for itself is fair until it needs less.
 */
#ifndef SESSION_URGENCY_H
#define SESSION_URGENCY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum urgency_level {
	URGENCY_BASE,		/* what it is to be */
	URGENCY_RAISED,		/* real-time, above all but the kernel's own threads */
	URGENCY_YIELDED,	/* fair, since it took most of a CPU as a real-time thread */
};

/* What the watching thread sees of the other one. */
struct urgency_look {
	uint64_t now_ns, ran_ns;	/* so long it has been on CPUs */
	bool waits;			/* it is runnable, and has not come round for too long */
};

struct urgency_state {
	bool realtime;			/* at URGENCY_BASE, too */
	bool works;			/* it has work to do: does not yield, and once raised stays so */
	enum urgency_level level;
	uint64_t raised_ns;		/* when it was seen to wait last */
	struct urgency_look before;
};

/* The level from now on, by what has changed since the last look. */
enum urgency_level urgency_decide(struct urgency_state *s, const struct urgency_look *look);

struct urgency_totals {
	bool realtime;			/* it was, or is, at URGENCY_BASE */
	bool refused;			/* it was to be real-time, or watched, and that is not permitted */
	unsigned int raised, yielded;	/* so often, of all that are watched */
};

struct urgency;

/*
 * The calling thread is watched from here on, for now as one that has work to do all the time. What it begins is not, and
 * inherits no policy. If that is not permitted, or the thread has another policy than SCHED_OTHER, nothing is done here or below. NULL: out
 * of memory. @stuck: called by the watching thread if the kernel lets the other one wait for two seconds on end before
 * urgency_settle(), uninterruptibly, with the function that it waits in, or an empty text. It is called once. NULL is fine.
 */
struct urgency *urgency_open(void (*stuck)(const char *where));
/*
 * From here on it comes round by itself several times a second, and is to be real-time if @realtime. It can give up its
 * rights after this; the watching thread does, but for CAP_SYS_NICE: by RLIMIT_RTPRIO alone it may not raise a thread that has
 * a right that it has not (cap_safe_nice() in the kernel). NULL is fine.
 */
void urgency_settle(struct urgency *u, bool realtime);
/*
 * From the moment on in which @stop_fd is readable, or urgency_end() is called, it has work to do again, to end: it is raised after a
 * tenth of a second in which it waits for a CPU, not after one, and does not yield; for two seconds, which is what an end
 * may take. @stop_fd stays the caller's until urgency_end(). NULL is fine.
 */
void urgency_until(struct urgency *u, int stop_fd);
void urgency_end(struct urgency *u);
/*
 * The calling thread is watched, too, until urgency_leave(), and is real-time or raised when the recorder's is: it works for it.
 * From there on it is raised where that is permitted, and has to end. Does nothing where that one is not watched, or several
 * are. Both: NULL is fine.
 */
void urgency_join(struct urgency *u);
void urgency_leave(struct urgency *u);
/*
 * Makes a thread as urgent as one that is raised, which from urgency_join() on it has been. Where nobody is watched, or it is not
 * permitted, it stays as it is. NULL is fine.
 */
void urgency_lend_thread(const struct urgency *u, pthread_t thread);
/*
 * It has come round, at @now_ns of CLOCK_BOOTTIME. With PREEMPT_RT the timer of what it sleeps in may not expire, so it is
 * interrupted, by SIGURG, as long as it has not for too long: poll(2) and others return EINTR. NULL is fine.
 */
void urgency_beat(struct urgency *u, uint64_t now_ns);
/* NULL: all 0. */
struct urgency_totals urgency_totals(const struct urgency *u);
/* CPU time of the watching thread; 0: there is none. */
uint64_t urgency_cpu_ns(const struct urgency *u);
/*
 * Right before the process ends. The calling thread is the one that was watched, and fair from here on if it is not raised:
 * nobody raises it any more. What has joined and not left is raised, to end with the process. NULL is fine.
 */
void urgency_close(struct urgency *u);

#endif
