// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a recording as they go by. Scheduling records are taken from their words; names and what
 * the recording says of itself go through a reader, which gets only those and what they refer to.
 */
#include "trigger.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/pieces.h"
#include "events.h"
#include "firing.h"
#include "fxt/fxt.h"
#include "online.h"
#include "psi.h"
#include "sched.h"
#include "texts.h"
#include "threads.h"

struct triggers {
	struct firing firing;
	struct threads threads;
	struct texts texts;
	struct sched sched;
	struct events events;
	struct psi psi;
	struct online online;
	struct pieces piece;		/* a record for the reader */
	struct fxt_reader *reader;
	bool has_begun;			/* the first record was taken */
	bool has_start;			/* the instant `start` was */
	uint32_t late;			/* triggers on sources that do not record yet, as bits */
	uint64_t lag_ns;		/* of the next round, or the last one */
};

int triggers_open(struct triggers **out)
{
	struct triggers *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->firing.threads = &t->threads;
	t->sched.waits.threads = &t->threads;
	t->sched.waits.blind = &t->sched.blind;
	t->sched.waits.firing = &t->firing;
	t->sched.cpus.asked = &t->sched.waits.asked;
	t->events.firing = &t->firing;
	if (cpus_init(&t->sched.cpus, &t->firing) || fxt_reader_open(&t->reader, pieces_read, &t->piece)) {
		triggers_close(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void triggers_stop(struct triggers *t)
{
	if (t)
		psi_close(&t->psi);
}

void triggers_close(struct triggers *t)
{
	if (!t)
		return;
	triggers_stop(t);
	online_close(&t->online);
	sched_fini(&t->sched);
	threads_free(&t->threads);
	firing_fini(&t->firing);
	fxt_reader_close(t->reader);
	free(t);
}

int triggers_add(struct triggers *t, const char *word, char *why, size_t size)
{
	struct firing *f = &t->firing;
	int err = -EINVAL;

	if (f->cnt == TRIGGERS_MAX || t->has_begun)
		snprintf(why, size, "%.80s: there are %u triggers, no more can be added", word, f->cnt);
	else
		err = trigger_word_parse(&f->list[f->cnt].w, word, why, size);
	if (err)
		return err;
	f->cnt++;
	thread_waits_init(&t->sched.waits);
	cpus_set_triggers(&t->sched.cpus);
	events_set_triggers(&t->events);
	t->sched.exits = firing_mask(f, TRIGGER_EXIT);
	return 0;
}

void triggers_set_cooldown(struct triggers *t, uint64_t cooldown_ns)
{
	t->firing.cooldown_ns = cooldown_ns;
}

bool triggers_source(const struct triggers *t, unsigned int i, struct trigger_source *out)
{
	if (i >= t->firing.cnt)
		return false;
	*out = (struct trigger_source){ t->firing.list[i].w.word, t->firing.list[i].w.source };
	return true;
}

void triggers_found(void *ctx, const char *source, uint64_t ts_ns, uint64_t thread)
{
	struct triggers *t = ctx;

	events_found(&t->events, source, ts_ns, thread);
}

int triggers_watch(struct triggers *t, const char *root, char *why, size_t size)
{
	online_open(&t->online, root);
	return psi_open(&t->psi, &t->firing, why, size);
}

void triggers_ask(struct triggers *t, triggers_ask_fn *ask, void *ctx)
{
	t->sched.waits.asked.ask = ask;
	t->sched.waits.asked.ctx = ctx;
}

void triggers_suspended(struct triggers *t, uint64_t from_ns, uint64_t to_ns)
{
	sched_suspended(&t->sched, from_ns, to_ns);
}

/* ---- records of names and of the recording ------------------------------------------ */

static int take_thread(struct triggers *t, const struct fxt_record *rec)
{
	const struct fxt_arg *process = fxt_record_arg(rec, "process");
	const size_t len = rec->object.name.len < THREAD_COMM_BYTES ? rec->object.name.len : THREAD_COMM_BYTES;
	struct thread *thread = threads_get(&t->threads, rec->object.id);

	if (!thread)
		return -ENOMEM;
	memset(thread->comm, 0, sizeof(thread->comm));
	memcpy(thread->comm, rec->object.name.data, len);
	if (process && process->type == FXT_ARG_KOID)
		thread->process = process->u64;
	thread->is_exiting = false;
	if (fxt_record_arg(rec, "exited"))
		threads_exiting(thread, t->sched.last_ns);
	return 0;
}

/* How it exits, which its last record says. */
static int take_exit(struct triggers *t, const struct fxt_record *rec)
{
	const struct fxt_arg *signal = fxt_record_arg(rec, "exit_signal"), *arg = signal ?: fxt_record_arg(rec, "exit_code");
	struct thread *process;

	if (!arg || arg->type != FXT_ARG_INT32)
		return 0;
	process = threads_get(&t->threads, rec->object.id);
	if (!process)
		return -ENOMEM;
	process->has_exited = true;
	process->by_signal = signal;
	process->exit_value = (uint8_t)arg->i32;
	return sched_exit(&t->sched, process->koid);
}

static int take_process(struct triggers *t, const struct fxt_record *rec)
{
	const struct fxt_arg *cgroup = fxt_record_arg(rec, "cgroup");
	char path[PATH_MAX] = "";
	struct thread *process;
	unsigned int i;

	if (t->sched.exits && take_exit(t, rec))
		return -ENOMEM;
	if (!cgroup || cgroup->type != FXT_ARG_STRING)
		return 0;
	process = threads_get(&t->threads, rec->object.id);
	if (!process)
		return -ENOMEM;
	if (cgroup->str.len < sizeof(path))
		memcpy(path, cgroup->str.data, cgroup->str.len);
	process->cgroups = 0;
	for (i = 0; i < t->firing.cnt; i++)
		if (trigger_word_selects_cgroup(&t->firing.list[i].w) && trigger_word_has_cgroup(&t->firing.list[i].w, path))
			process->cgroups |= 1U << i;
	return 0;
}

static int take_object(struct triggers *t, const struct fxt_record *rec)
{
	if (!rec->object.id)
		return 0;
	if (rec->object.kind == FXT_KOBJ_THREAD)
		return take_thread(t, rec);
	return rec->object.kind == FXT_KOBJ_PROCESS ? take_process(t, rec) : 0;
}

static bool arg_cpus(const struct fxt_record *rec, const char *name, struct num_cpus *cpus)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_STRING && !num_parse_cpus_n(arg->str.data, arg->str.len, cpus);
}

static void take_start(struct triggers *t, const struct fxt_record *rec)
{
	struct num_cpus recorded, online;

	if (!t->has_start && arg_cpus(rec, "cpus", &recorded) && arg_cpus(rec, "online", &online))
		sched_expect(&t->sched, &recorded, &online);
	if (fxt_record_arg(rec, "filter"))
		sched_set_filtered(&t->sched);
	t->has_start = true;
}

/* A source that does not record yet, since the kernel lets it wait, or that does from now on. */
static void take_late(struct triggers *t, const struct fxt_record *rec)
{
	const struct fxt_arg *source = fxt_record_arg(rec, "source");
	unsigned int i;

	for (i = 0; source && source->type == FXT_ARG_STRING && i < t->firing.cnt; i++) {
		const char *needs = t->firing.list[i].w.source;

		if (!needs || !texts_equal(source->str, needs))
			continue;
		t->late &= ~(1U << i);
		if (!fxt_record_arg(rec, "after_ns"))
			t->late |= 1U << i;
	}
}

static int take_read_event(struct triggers *t, const struct fxt_record *rec)
{
	const struct fxt_event *ev = &rec->event;

	if (texts_equal(ev->category, "kfxt") && texts_equal(ev->name, "start"))
		take_start(t, rec);
	if (texts_equal(ev->category, "kfxt") && texts_equal(ev->name, "late"))
		take_late(t, rec);
	return events_take(&t->events, rec);
}

/* A record through the reader. */
static int take_rare(struct triggers *t, const uint64_t *words, size_t bytes)
{
	struct fxt_record rec;
	int err = 0, got;

	t->piece = (struct pieces){ .data = (const char *)words, .len = bytes };
	while ((got = fxt_reader_next(t->reader, &rec)) > 0) {
		if (rec.kind == FXT_KIND_KERNEL_OBJECT)
			err = take_object(t, &rec) ?: err;
		if (rec.kind == FXT_KIND_EVENT)
			err = take_read_event(t, &rec) ?: err;
	}
	return got == -EAGAIN ? err : got;
}

/* ---- all records ------------------------------------------------------------------------- */

static int take_event(struct triggers *t, const uint64_t *rec, size_t words)
{
	const enum text name = texts_of(&t->texts, FXT_GET(rec[0], FXT_F_EVENT_NAME));

	if (texts_of(&t->texts, FXT_GET(rec[0], FXT_F_EVENT_CATEGORY)) == TEXT_KFXT && (name == TEXT_START || name == TEXT_LATE))
		return take_rare(t, rec, words * 8);
	return events_may_fire(&t->events, &t->texts, rec, words) ? take_rare(t, rec, words * 8) : 0;
}

static int take_record(struct triggers *t, const uint64_t *rec, size_t words)
{
	switch (FXT_GET(rec[0], FXT_F_TYPE)) {
	case FXT_SCHEDULING:
		return sched_take(&t->sched, &t->texts, rec, words);
	case FXT_STRING:
		texts_add(&t->texts, rec, words);
		return take_rare(t, rec, words * 8);
	case FXT_METADATA:
		if (FXT_GET(rec[0], FXT_F_META_TYPE) == FXT_META_PROVIDER_INFO)
			memset(&t->texts, 0, sizeof(t->texts));
		return take_rare(t, rec, words * 8);
	case FXT_INITIALIZATION:
	case FXT_THREAD:
	case FXT_KERNEL_OBJECT:
		return take_rare(t, rec, words * 8);
	case FXT_EVENT:
		return take_event(t, rec, words);
	default:
		return 0;
	}
}

/* The words of the record at @rec; 0: there is none that ends before @end. */
static inline size_t words_of(const uint64_t *rec, const uint64_t *end)
{
	const size_t words = FXT_RECORD_WORDS(*rec);

	return words <= (size_t)(end - rec) ? words : 0;
}

int triggers_take(struct triggers *t, const void *records, size_t len)
{
	const uint64_t *rec = records, *end = rec + len / 8;
	int err = 0, failed;
	size_t words;

	t->has_begun |= len > 0;
	for (; rec < end; rec += words) {
		words = words_of(rec, end);
		if (!words)
			return -EINVAL;
		failed = take_record(t, rec, words);
		err = err ? err : failed;
	}
	return len % 8 ? -EINVAL : err;
}

int triggers_round(struct triggers *t, uint64_t now_ns)
{
	struct num_cpus online;
	int err;

	t->firing.round++;
	events_round(&t->events, now_ns + t->lag_ns);
	if (now_ns < TRIGGER_SETTLE_NS)
		return 0;
	if (online_read(&t->online, &online))
		sched_look(&t->sched, &online, now_ns);
	err = sched_round(&t->sched, now_ns - TRIGGER_SETTLE_NS);
	firing_add_deferred(&t->firing);
	psi_look(&t->psi, &t->firing, now_ns + t->lag_ns);
	return err;
}

void triggers_lag(struct triggers *t, uint64_t ns)
{
	t->lag_ns = ns;
}

const struct trigger_fired *triggers_next(struct triggers *t)
{
	return firing_next(&t->firing);
}

/* CPUs that are not recorded may run a thread that waits; threads that are not, a CPU that seems idle. */
static const char *why_blind(const struct triggers *t, unsigned int i)
{
	if (t->late >> i & 1)
		return "what it is about is not recorded yet: the kernel lets its source wait";
	if (t->lag_ns > TRIGGER_LAG_NS && t->firing.list[i].w.kind <= TRIGGER_SCHEDULING)
		return "a CPU has lost events and has had none since, which would end the gap";
	switch (t->firing.list[i].w.kind) {
	case TRIGGER_PSI:
		return t->has_begun && !psi_has(&t->psi, i) ? "the kernel does not watch pressure" : NULL;
	case TRIGGER_LOG:
		return events_skip_lines(&t->events) ? "lines were not looked at: its expression takes long" : NULL;
	case TRIGGER_IDLE:
		return t->sched.cpus.is_filtered ? "threads run that are not recorded" : NULL;
	case TRIGGER_RUNQ:
	case TRIGGER_OFFCPU:
	case TRIGGER_BLOCKED:
		return t->sched.waits.is_blank || t->sched.has_others ? "CPUs are online that are not recorded" : NULL;
	default:
		return NULL;
	}
}

bool triggers_counts(const struct triggers *t, unsigned int i, struct trigger_counts *out)
{
	const struct firing_trigger *trigger = &t->firing.list[i];

	if (i >= t->firing.cnt)
		return false;
	*out = (struct trigger_counts){
		.word = trigger->w.word, .fired = trigger->fired, .suppressed = trigger->suppressed,
		.blind = why_blind(t, i),
	};
	return true;
}
