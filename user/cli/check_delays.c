// SPDX-License-Identifier: GPL-2.0
/*
 * A wait of more than SLOW_NS is a row of its own, with the thread that has that CPU.
 */
#include "check_delays.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "kernel/busiest.h"
#include "kernel/delays.h"
#include "record/record_cpus.h"

#define SLOW_NS		100000000ULL
#define LIMIT_MS	2000
#define LOOK_MS		300

struct check_delays {
	struct delays delays;
	struct record_cpus cpus;
	struct busiest *busiest;	/* by position in @cpus.list; NULL: nothing is slow */
	struct utsname uts;
};

static bool is_slow(const struct delay *d)
{
	return d->known && (!d->ended || d->ns > SLOW_NS);
}

/* Only where something is slow are all threads looked at. */
static int find_busiest(struct check_delays *d)
{
	bool slow = is_slow(&d->delays.grace);
	unsigned int i;

	for (i = 0; i < d->cpus.cnt; i++)
		slow |= is_slow(&d->delays.work[i]);
	if (!slow)
		return 0;
	d->busiest = calloc(d->cpus.cnt, sizeof(*d->busiest));
	return d->busiest ? busiest_find(d->busiest, d->cpus.list, d->cpus.cnt, LOOK_MS) : -ENOMEM;
}

struct check_delays *check_delays_open(void)
{
	struct check_delays *d = calloc(1, sizeof(*d));
	const struct num_cpus all = { 0 };
	int err = d ? 0 : -ENOMEM;

	if (d && record_cpus_choose(&d->cpus, &all, "check")) {
		check_delays_close(d);
		return NULL;
	}
	err = err ?: delays_measure(&d->delays, d->cpus.list, d->cpus.cnt, LIMIT_MS);
	err = err ?: find_busiest(d);
	if (!err && !uname(&d->uts))
		return d;
	log_error("check: delays of the kernel: %s", strerror(-err));
	check_delays_close(d);
	return NULL;
}

bool check_delays_stuck(const struct check_delays *d)
{
	bool stuck = d->delays.grace.known && !d->delays.grace.ended;
	unsigned int i;

	for (i = 0; i < d->cpus.cnt; i++)
		stuck |= d->delays.work[i].known && !d->delays.work[i].ended;
	return stuck;
}

/* ---- words ------------------------------------------------------------------------------------ */

const char *check_delays_remedy(const char *release)
{
	unsigned int major = 0, minor = 0, patch = 0;

	if (sscanf(release, "%u.%u.%u", &major, &minor, &patch) < 2 || major != 6)
		return NULL;
	if (minor == 18)
		return patch < 45 ? "kernel 6.18.45 or later (101f3498b4bd fixes its fair scheduler)" : NULL;
	if (minor >= 13 && minor < 18)
		return "a kernel with 101f3498b4bd, which fixes the fair scheduler";
	if (minor == 6 || minor == 12 || minor == 19)
		return "a kernel with 101f3498b4bd, which fixes the fair scheduler, unless this one has it";
	return NULL;
}

static bool is_realtime(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

static const char *policy_name(int policy)
{
	static const char *const names[] = {
		[SCHED_OTHER] = "SCHED_OTHER", [SCHED_FIFO] = "SCHED_FIFO", [SCHED_RR] = "SCHED_RR", [SCHED_BATCH] = "SCHED_BATCH",
		[SCHED_IDLE] = "SCHED_IDLE", [SCHED_DEADLINE] = "SCHED_DEADLINE",
	};

	return policy >= 0 && policy < (int)(sizeof(names) / sizeof(*names)) && names[policy] ? names[policy] : "SCHED_OTHER";
}

static void print_busiest(const struct busiest *b, uint32_t cpu)
{
	char priority[32];

	if (is_realtime(b->policy))
		snprintf(priority, sizeof(priority), "%s %d", policy_name(b->policy), b->priority);
	else
		snprintf(priority, sizeof(priority), "nice %d", b->priority);
	printf("%39s reason: ", "");
	log_text_print(stdout, b->comm, strlen(b->comm));
	printf(" (%" PRIu32 "), %s, has %.0f %% of CPU %" PRIu32 "\n", b->tid, priority, b->share * 100, cpu);
}

static void print_remedy(const struct check_delays *d, const struct busiest *b)
{
	const char *remedy = check_delays_remedy(d->uts.release);
	char stack[80];

	/* A worker that others do not keep from running does so. */
	if (!strncmp(b->comm, "kworker/", strlen("kworker/"))) {
		snprintf(stack, sizeof(stack), "none but the end of its work item, whose functions are in /proc/%" PRIu32 "/stack", b->tid);
		remedy = stack;
	}
	if (is_realtime(b->policy))
		remedy = "a lower real-time priority, or time for others: sched_rt_runtime_us";
	if (remedy)
		printf("%39s remedy: %s\n", "", remedy);
}

static void print_slow(const char *what, const struct delay *d, const char *lets_wait)
{
	printf("slow     %-30s %s %.1f s: %s\n", what, d->ended ? "took" : "not done after", d->ns / 1e9, lets_wait);
}

/* Who may keep a grace period from its end: the busiest of real-time threads. */
static void print_slow_grace(const struct check_delays *d)
{
	unsigned int i;

	print_slow("RCU grace period", &d->delays.grace, "markers may begin late, detaching takes long");
	for (i = 0; i < d->cpus.cnt; i++) {
		if (!d->busiest[i].tid || !is_realtime(d->busiest[i].policy))
			continue;
		print_busiest(&d->busiest[i], d->cpus.list[i]);
		print_remedy(d, &d->busiest[i]);
	}
}

static void print_slow_work(const struct check_delays *d, unsigned int i)
{
	char what[40];

	snprintf(what, sizeof(what), "work item on CPU %" PRIu32, d->cpus.list[i]);
	print_slow(what, &d->delays.work[i], "workers of that CPU do not run");
	if (!d->busiest[i].tid)
		return;
	print_busiest(&d->busiest[i], d->cpus.list[i]);
	print_remedy(d, &d->busiest[i]);
}

static const struct delay *slowest_work(const struct check_delays *d, uint32_t *cpu)
{
	const struct delay *most = NULL;
	unsigned int i;

	for (i = 0; i < d->cpus.cnt; i++)
		if (d->delays.work[i].known && (!most || d->delays.work[i].ns > most->ns)) {
			most = &d->delays.work[i];
			*cpu = d->cpus.list[i];
		}
	return most;
}

/* Where others did not come to an end. */
static void print_unknown_work(const struct check_delays *d)
{
	unsigned int i, cnt = 0;

	for (i = 0; i < d->cpus.cnt; i++)
		if (!d->delays.work[i].known)
			printf(cnt++ ? " %" PRIu32 : "slow     not measured within 2 s: CPUs %" PRIu32, d->cpus.list[i]);
	if (cnt)
		putchar('\n');
}

void check_delays_print(const struct check_delays *d)
{
	const struct delay *grace = &d->delays.grace, *work;
	uint32_t cpu = 0;
	unsigned int i;

	work = slowest_work(d, &cpu);
	printf("delays   RCU grace period: ");
	if (grace->known)
		printf("%s%.1f ms", grace->ended ? "" : "over ", grace->ns / 1e6);
	else
		printf("-");
	printf("; work item: ");
	if (work)
		printf("%s%.1f ms, on CPU %" PRIu32 "%s\n", work->ended ? "" : "over ", work->ns / 1e6, cpu,
		       d->cpus.cnt > 1 ? ", the slowest" : "");
	else
		printf("-\n");
	if (is_slow(grace))
		print_slow_grace(d);
	for (i = 0; i < d->cpus.cnt; i++)
		if (is_slow(&d->delays.work[i]))
			print_slow_work(d, i);
	if (work)
		print_unknown_work(d);
	if (d->delays.behind)
		printf("%39s process %d (kfxt-delays) still waits, to remove its tracefs instances\n", "", (int)d->delays.behind);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void print_delay_members(struct json *j, const struct delay *d)
{
	json_key_u64(j, "ns", d->ns);
	json_key_bool(j, "ended", d->ended);
}

static void print_thread(struct json *j, const struct busiest *b)
{
	json_key(j, "thread");
	if (!b || !b->tid) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key_u64(j, "tid", b->tid);
	json_key_text(j, "comm", b->comm);
	json_key_text(j, "policy", policy_name(b->policy));
	json_key(j, "priority");
	json_i64(j, b->priority);
	json_key(j, "share");
	json_fixed(j, b->share, 3);
	json_end(j);
}

static void print_work(struct json *j, const struct check_delays *d, unsigned int i)
{
	const struct delay *work = &d->delays.work[i];

	if (!work->known)
		return;
	json_line(j, "   ");
	json_object(j);
	json_key_u64(j, "cpu", d->cpus.list[i]);
	print_delay_members(j, work);
	print_thread(j, is_slow(work) ? &d->busiest[i] : NULL);
	json_end(j);
}

void check_delays_print_json(const struct check_delays *d, struct json *j)
{
	unsigned int i;

	json_key(j, "delays");
	if (!d) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key(j, "grace_period");
	if (d->delays.grace.known) {
		json_object(j);
		print_delay_members(j, &d->delays.grace);
		json_end(j);
	} else {
		json_null(j);
	}
	json_key(j, "work_items");
	json_array(j);
	for (i = 0; i < d->cpus.cnt; i++)
		print_work(j, d, i);
	json_end(j);
	json_end(j);
}

void check_delays_close(struct check_delays *d)
{
	if (!d)
		return;
	delays_free(&d->delays);
	free(d->cpus.list);
	free(d->busiest);
	free(d);
}
