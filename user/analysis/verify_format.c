// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of single records against the specification and against what readers
 * need of them (docs/design.md), in file order.
 */
#include "findings.h"

#include <inttypes.h>
#include <string.h>

/* The article in front of a kind's name. */
static const char *a_or_an(enum fxt_kind kind)
{
	return kind == FXT_KIND_UNKNOWN || strchr("aeio", fxt_kind_name(kind)[0]) ? "an" : "a";
}

static const char *plural_s(uint64_t cnt)
{
	return cnt == 1 ? "" : "s";
}

/* libfxt reports a missing magic number as damage of no length. */
static void check_begin(struct verify *v, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_DAMAGED)
		verify_found(v, VERIFY_NO_MAGIC, rec->offset, "%s", rec->damage.reason);
	else if (rec->kind != FXT_KIND_MAGIC)
		verify_found(v, VERIFY_NO_MAGIC, rec->offset, "the first record is %s %s",
			     a_or_an(rec->kind), fxt_kind_name(rec->kind));
}

static void check_kind(struct verify *v, const struct fxt_record *rec)
{
	if (!v->begun)
		check_begin(v, rec);
	else if (rec->kind == FXT_KIND_DAMAGED)
		verify_found(v, VERIFY_DAMAGE, rec->offset, "%" PRIu64 " byte%s: %s", rec->len,
			     plural_s(rec->len), rec->damage.reason);
	v->begun = true;
	if (rec->kind == FXT_KIND_UNKNOWN)
		verify_found(v, VERIFY_UNKNOWN_RECORD, rec->offset, "%" PRIu64 " bytes", rec->len);
	if (rec->unresolved)
		verify_found(v, VERIFY_UNRESOLVED, rec->offset, "%s %s with %u of them",
			     a_or_an(rec->kind), fxt_kind_name(rec->kind), rec->unresolved);
}

static bool is_initialized(const struct verify *v, uint32_t provider)
{
	unsigned int i;

	for (i = 0; i < v->initialized_cnt; i++)
		if (v->initialized[i] == provider)
			return true;
	return false;
}

/* Reported once for each provider: after the first time it counts as initialized. */
static void check_initialization(struct verify *v, const struct fxt_record *rec)
{
	if (rec->kind != FXT_KIND_INITIALIZATION && !rec->has_ts)
		return;
	if (v->initialized_cnt == VERIFY_PROVIDERS_MAX || is_initialized(v, rec->provider_id))
		return;
	v->initialized[v->initialized_cnt++] = rec->provider_id;
	if (rec->kind != FXT_KIND_INITIALIZATION)
		verify_found(v, VERIFY_NO_INITIALIZATION, rec->offset,
			     "%s %s of provider %" PRIu32, a_or_an(rec->kind),
			     fxt_kind_name(rec->kind), rec->provider_id);
}

static void check_weight(struct verify *v, const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	if (!arg)
		verify_found(v, VERIFY_BAD_ARGUMENT, rec->offset, "%s is missing", name);
	else if (arg->type != FXT_ARG_INT32)
		verify_found(v, VERIFY_BAD_ARGUMENT, rec->offset, "%s is not an Int32", name);
}

/* Idle is known by its weight to Perfetto and by its koid to people. */
static void check_idle(struct verify *v, const struct fxt_record *rec, const char *name,
		       uint64_t koid)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	if (!arg || arg->type != FXT_ARG_INT32)
		return;
	if ((arg->i32 == FXT_WEIGHT_IDLE) != (koid == 0))
		verify_found(v, VERIFY_IDLE_KOID, rec->offset,
			     "%s is %" PRId32 " and the thread %" PRIu64, name, arg->i32, koid);
}

static void check_cpu(struct verify *v, const struct fxt_record *rec, uint16_t cpu)
{
	if (cpu >= TIMELINE_CPUS_MAX)
		verify_found(v, VERIFY_BAD_CPU, rec->offset, "CPU %u", (unsigned int)cpu);
}

static void check_state(struct verify *v, const struct fxt_record *rec, unsigned int state)
{
	if (state > FXT_STATE_DEAD)
		verify_found(v, VERIFY_BAD_STATE, rec->offset, "state %u", state);
}

/* Records of one CPU come from one ring; wakeups do not say which, switches do. */
static void check_order(struct verify *v, const struct fxt_record *rec, uint16_t cpu,
			uint64_t ts_ns)
{
	if (cpu >= TIMELINE_CPUS_MAX)
		return;
	if (ts_ns < v->last_ns[cpu])
		verify_found(v, VERIFY_TIME_BACK, rec->offset,
			     "CPU %u: %" PRIu64 " ns after %" PRIu64 " ns", (unsigned int)cpu,
			     ts_ns, v->last_ns[cpu]);
	else
		v->last_ns[cpu] = ts_ns;
}

static void check_switch(struct verify *v, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_switch *s = &rec->context_switch;

	check_cpu(v, rec, s->cpu);
	check_state(v, rec, (unsigned int)s->state);
	check_weight(v, rec, "outgoing_weight");
	check_weight(v, rec, "incoming_weight");
	check_idle(v, rec, "outgoing_weight", s->out);
	check_idle(v, rec, "incoming_weight", s->in);
	check_order(v, rec, s->cpu, ts_ns);
}

static void check_wakeup(struct verify *v, const struct fxt_record *rec)
{
	const struct fxt_arg *waker = fxt_record_arg(rec, "waker");

	check_cpu(v, rec, rec->wakeup.cpu);
	check_weight(v, rec, "weight");
	check_idle(v, rec, "weight", rec->wakeup.thread);
	if (waker && waker->type != FXT_ARG_KOID)
		verify_found(v, VERIFY_BAD_ARGUMENT, rec->offset, "waker is not a Koid");
}

int verify_format_record(struct verify *v, const struct fxt_record *rec, uint64_t ticks_per_second)
{
	uint64_t ts_ns = 0;
	int err;

	check_kind(v, rec);
	check_initialization(v, rec);
	if (rec->has_ts && !timeline_ns(rec->ts, ticks_per_second, &ts_ns)) {
		verify_found(v, VERIFY_BAD_TIME, rec->offset, "%" PRIu64 " tick%s, %" PRIu64
			     " per second", rec->ts, plural_s(rec->ts), ticks_per_second);
		return 0;
	}
	if (rec->kind == FXT_KIND_SWITCH) {
		check_switch(v, rec, ts_ns);
	} else if (rec->kind == FXT_KIND_LEGACY_SWITCH) {
		check_state(v, rec, (unsigned int)rec->legacy_switch.state);
		check_order(v, rec, rec->legacy_switch.cpu, ts_ns);
	} else if (rec->kind == FXT_KIND_WAKEUP) {
		check_wakeup(v, rec);
	}
	err = verify_samples_record(v->samples, v, rec);
	return err ? err : timeline_add(v->tl, rec, ticks_per_second);
}
