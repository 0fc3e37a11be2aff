// SPDX-License-Identifier: GPL-2.0
/*
 * The live cost of a recording, and the classes of events that are left out to keep it below a limit.
 */
#include "budget.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "bpf/abi/ctl.h"
#include "capture/programs.h"
#include "capture/sources.h"
#include "capture/sources_aside.h"
#include "capture/tracks.h"
#include "detacher.h"
#include "flight.h"
#include "fxt/fxt.h"
#include "ring/ring.h"
#include "session_p.h"

#define NS_PER_SECOND	1000000000ULL
#define SETTLE_NS	200000000ULL	/* in which names of what runs already are written */
#define MEASURE_NS	2400000000ULL
#define RECORDS_MIN	1000		/* a second: of fewer the time of the drain says nothing */

static const char *const slice_names[SHED_CNT] = {
#define X(id, many) [SHED_##id] = "shed " many,
	SHED_CLASSES(X)
#undef X
};

static const char *const detached_names[SHED_CNT] = {
#define X(id, many) [SHED_##id] = many " detached",
	SHED_CLASSES(X)
#undef X
};

const char *budget_class_name(enum shed_class class)
{
	return slice_names[class] + sizeof("shed ") - 1;
}

/* ---- the decision ---------------------------------------------------------------------------------- */

static void leave_out(struct budget_rule *rule, uint64_t now_ns)
{
	const unsigned int class = rule->level++;
	const uint64_t restored = rule->restored_ns[class];
	uint64_t *hold = &rule->hold_ns[class];

	if (!restored || now_ns - restored > BUDGET_RELAPSE_NS)
		*hold = BUDGET_HOLD_NS;
	else
		*hold = *hold * 2 < BUDGET_HOLD_MAX_NS ? *hold * 2 : BUDGET_HOLD_MAX_NS;
}

/* Classes that are not part of the recording come and go with the one before. */
static void skip_unselected(struct budget_rule *rule)
{
	while (rule->level && !rule->selected[rule->level - 1])
		rule->level--;
}

static bool all_are_left_out(const struct budget_rule *rule)
{
	unsigned int class = rule->level;

	while (class < SHED_CNT && !rule->selected[class])
		class++;
	return class == SHED_CNT;
}

/* What the next second will cost if nothing changes: what was recorded before is a guess, what is left out costs the rest at least. */
static double find_total(const struct budget_rule *rule, const struct budget_costs *costs)
{
	double total = costs->total, least = 0;
	enum shed_class class;

	for (class = 0; class < rule->level; class++) {
		total -= costs->before[class];
		least += costs->rest[class];
	}
	return total > least ? total : least;
}

/*
 * The first class that is left out and exceeds the limit all the same, alone, as most of what does or where nothing else can be
 * left out; SHED_CNT: none.
 */
static enum shed_class find_too_much(const struct budget_rule *rule, const struct budget_costs *costs, double total)
{
	enum shed_class class;

	for (class = 0; class < rule->level; class++) {
		const double rest = costs->rest[class];

		if (rule->selected[class] && rule->detachable[class] && !rule->detached[class] &&
		    (total - rest <= rule->limit || rest > total / 2 || (rest > rule->limit && all_are_left_out(rule))))
			return class;
	}
	return SHED_CNT;
}

/*
 * Detaches such a class: at once if the limit is exceeded by far, else if that is so in two looks in a row. Whether
 * the next look is to tell what else there is to do.
 */
static bool detach(struct budget_rule *rule, const struct budget_costs *costs, double total, uint64_t now_ns)
{
	const enum shed_class class = total > rule->limit ? find_too_much(rule, costs, total) : SHED_CNT;
	const bool was_too_much = rule->too_much;

	rule->too_much = class != SHED_CNT;
	if (rule->too_much && (was_too_much || total > rule->limit * BUDGET_FAR)) {
		rule->detached[class] = true;
		rule->detaching_ns = now_ns;
	}
	return rule->too_much;
}

/* It takes its time, and some of the recorder's. */
static bool is_detaching(const struct budget_rule *rule, uint64_t now_ns)
{
	return rule->detaching_ns && now_ns - rule->detaching_ns < BUDGET_DETACH_NS;
}

void budget_decide(struct budget_rule *rule, const struct budget_costs *costs, uint64_t now_ns)
{
	double total = find_total(rule, costs);
	enum shed_class class;

	if (detach(rule, costs, total, now_ns)) {
		rule->calm_ns = 0;
		return;
	}
	for (class = 0; class < SHED_CNT && is_detaching(rule, now_ns); class++)
		total -= rule->detached[class] ? costs->rest[class] : 0;
	if (total > rule->limit) {
		rule->calm_ns = 0;
		/* What it will cost with more left out is a guess: the next second tells. */
		rule->exceeded |= all_are_left_out(rule) && !is_detaching(rule, now_ns);
		while (rule->level < SHED_CNT && total > rule->limit) {
			total -= costs->less[rule->level];
			leave_out(rule, now_ns);
		}
		skip_unselected(rule);
		return;
	}
	if (!rule->level || rule->detached[rule->level - 1] ||
	    total + costs->more[rule->level - 1] >= rule->limit * BUDGET_CALM) {
		rule->calm_ns = 0;
		return;
	}
	if (!rule->calm_ns)
		rule->calm_ns = now_ns;
	if (now_ns - rule->calm_ns < rule->hold_ns[rule->level - 1])
		return;
	rule->restored_ns[--rule->level] = now_ns;
	rule->calm_ns = 0;
	skip_unselected(rule);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

#define OVER_CNT	3U		/* looks at memory, as blocks that wait to be compressed take more for a while */
#define OWN_BYTES	(8ULL << 20)	/* of the recorder at first: names, buffers, tables */

uint64_t budget_memory_of_maps(uint64_t bytes)
{
	return !bytes ? 0 : bytes > OWN_BYTES ? bytes - OWN_BYTES : 1;
}

uint64_t budget_own_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib << 10;
}

/* ---- of a recording -------------------------------------------------------------------------------- */

struct budget {
	struct recorder *r;
	struct cost *cost;
	struct budget_rule rule;
	struct budget_class classes[SHED_CNT];
	uint64_t since_ns[SHED_CNT];	/* of those that are left out now */
	double event_ns[SHED_CNT];	/* of the programs, for an event that is recorded, when there last were any */
	double record_ns;		/* of the recorder, for a record of any kind */
	bool said_exceeded, said_memory, said_window;
	bool is_detaching;		/* another process is at it */
	unsigned int over_cnt;		/* looks in a row at too much memory */
};

static void find_selected(struct budget *b)
{
	const struct sources *sources = b->r->cfg->sources;
	enum ledger_source ledger;
	enum shed_class class;
	unsigned int kind;

	for (kind = 0; kind < RAW_KIND_CNT; kind++) {
		class = source_shed_class(sources_table(sources)[kind]);
		if (class < SHED_CNT && sources_selected(sources, kind, &ledger))
			b->rule.selected[class] = true;
	}
	for (class = 0; class < SHED_CNT; class++)
		b->rule.detachable[class] = sources_can_detach(sources, class);
}

int budget_open(struct budget **out, struct recorder *r, double limit)
{
	const struct cost_cfg cfg = { .settle_ns = SETTLE_NS, .measure_ns = MEASURE_NS };
	struct budget *b = calloc(1, sizeof(*b));
	int err = b ? cost_open(&b->cost, r, &cfg) : -ENOMEM;

	if (err) {
		budget_close(b);
		return err;
	}
	b->r = r;
	b->rule.limit = limit;
	find_selected(b);
	*out = b;
	return 0;
}

/* ---- what a class costs ---- */

/* Events of a class, and the share of its programs. */
static double add_up(const struct budget *b, const struct cost_shares *s, enum shed_class class, const double per_s[COST_CNT],
		     double *share)
{
	const struct source_ops *const *table = sources_table(b->r->cfg->sources);
	double sum = 0;
	unsigned int i;

	*share = 0;
	for (i = COST_SOURCES; i < COST_CNT; i++)
		if (source_shed_class(table[i - COST_SOURCES]) == class) {
			sum += per_s[i];
			*share += s->item[i];
		}
	return sum;
}

static void learn_record_ns(struct budget *b, const struct cost_shares *s)
{
	const double share = s->drain + s->output;
	double records = 0, ns;
	unsigned int i;

	for (i = 0; i < COST_CNT; i++)
		records += s->recorded_per_s[i];
	if (records < RECORDS_MIN)
		return;
	ns = share * NS_PER_SECOND / records;
	b->record_ns = b->record_ns > 0 ? (b->record_ns + ns) / 2 : ns;
}

static double positive(double value)
{
	return value > 0 ? value : 0;
}

static void find_costs(struct budget *b, const struct cost_shares *s, struct budget_costs *costs)
{
	double share, seen, recorded, ns;
	enum shed_class class;

	*costs = (struct budget_costs){ .total = s->kernel + s->drain + s->output };
	learn_record_ns(b, s);
	for (class = 0; class < SHED_CNT; class++) {
		recorded = add_up(b, s, class, s->recorded_per_s, &share);
		seen = add_up(b, s, class, s->seen_per_s, &share);
		if (seen > COST_EVENTS_MIN)
			b->event_ns[class] = share * NS_PER_SECOND / seen;
		/* What a class that is left out costs is known for all its events together. */
		ns = s->shed_per_s[class] > 0 ? s->shed[class] * NS_PER_SECOND / s->shed_per_s[class] : 0;
		costs->less[class] = positive(share + recorded * b->record_ns / NS_PER_SECOND);
		costs->rest[class] = s->shed[class];
		costs->before[class] = b->since_ns[class] ? costs->less[class] : 0;
		costs->more[class] = s->shed_per_s[class] * positive(b->event_ns[class] + b->record_ns - ns) / NS_PER_SECOND;
	}
}

/* ---- what is left out ---- */

static int write_slice(struct budget *b, enum shed_class class, enum fxt_event_type type, uint64_t ts)
{
	const struct fxt_arg arg = fxt_arg_u64("events", b->classes[class].events);
	struct fxt_event event = { .type = type, .ts = ts, .category = fxt_str("kfxt"), .name = fxt_str(slice_names[class]) };
	int err = tracks_get_shed(sources_ctx(b->r->cfg->sources)->tracks, b->r->w, &event.thread);

	return err ?: fxt_write_event(b->r->w, &event, &arg, type == FXT_DURATION_END);
}

static uint64_t count_events(const struct budget *b, enum shed_class class)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < b->r->cfg->cpus_cnt; i++)
		sum += __atomic_load_n(&programs_ring(b->r->programs, i)->ctl->shed[class], __ATOMIC_RELAXED);
	return sum;
}

static int begin_class(struct budget *b, enum shed_class class, uint64_t now)
{
	struct budget_class *c = &b->classes[class];

	b->since_ns[class] = now;
	if (!c->times++)
		c->first_ns = now - b->r->start_ns;
	log_debug("budget: %s are left out", budget_class_name(class));
	return write_slice(b, class, FXT_DURATION_BEGIN, now);
}

static int end_class(struct budget *b, enum shed_class class, uint64_t now)
{
	struct budget_class *c = &b->classes[class];

	c->ns += now - b->since_ns[class];
	c->last_ns = now - b->r->start_ns;
	c->events = count_events(b, class);
	b->since_ns[class] = 0;
	log_debug("budget: %s are recorded", budget_class_name(class));
	return write_slice(b, class, FXT_DURATION_END, now);
}

/* At @at_ns, or now. The programs first, then the slices: the inner ones, which began last, end first. */
static int apply(struct budget *b, uint64_t at_ns)
{
	const uint32_t before = budget_shed(b);
	uint32_t bits = 0;
	unsigned int i;
	uint64_t now;
	int err = 0;

	for (i = 0; i < SHED_CNT; i++)
		bits |= b->rule.selected[i] && i < b->rule.level ? 1U << i : 0;
	if (bits)
		cost_keep_rates(b->cost);
	/* Perhaps that is not enough, or what exceeds the limit has to be seen once more. */
	if (bits & ~before || b->rule.too_much)
		cost_look_soon(b->cost);
	/* Not when the costs were looked at: it is recorded until the flags are there. */
	now = at_ns ?: clock_ns(CLOCK_BOOTTIME);
	for (i = 0; i < b->r->cfg->cpus_cnt && bits != before; i++)
		__atomic_store_n(&programs_ring(b->r->programs, i)->ctl->shedding, bits, __ATOMIC_RELAXED);
	for (i = SHED_CNT; i--; )
		if (before & ~bits & 1U << i)
			err = end_class(b, i, now) ?: err;
	for (i = 0; i < SHED_CNT; i++)
		if (bits & ~before & 1U << i)
			err = begin_class(b, i, now) ?: err;
	return err;
}

/* ---- what is detached ---- */

static int write_detached(struct budget *b, enum shed_class class, double rest, uint64_t now)
{
	const struct fxt_arg arg = fxt_arg_f64("cost_percent", rest * 100);
	struct fxt_event event = { .type = FXT_INSTANT, .ts = now, .category = fxt_str("kfxt"), .name = fxt_str(detached_names[class]) };
	int err = tracks_get_shed(sources_ctx(b->r->cfg->sources)->tracks, b->r->w, &event.thread);

	return err ?: fxt_write_event(b->r->w, &event, &arg, 1);
}

/* What of it takes the kernel long another process does, or it is left as it is. */
static int detach_class(struct budget *b, enum shed_class class, double rest)
{
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);

	if (!detacher_lives(b->r->detacher)) {
		b->rule.detachable[class] = b->rule.detached[class] = false;
		return 0;
	}
	sources_detach_class(b->r->cfg->sources, class);
	detacher_first(b->r->detacher, 0);
	b->is_detaching = true;
	b->classes[class].detached_ns = now - b->r->start_ns;
	log_warn("%s are not recorded any more: that they are left out still costs %.2f %% of one CPU (--budget %g%%)",
		 budget_class_name(class), rest * 100, b->rule.limit * 100);
	return write_detached(b, class, rest, now);
}

static int detach_new(struct budget *b, const struct budget_costs *costs)
{
	enum shed_class class;
	int err = 0;

	for (class = 0; class < SHED_CNT; class++)
		if (b->rule.detached[class] && !b->classes[class].detached_ns)
			err = err ?: detach_class(b, class, costs->rest[class]);
	return err;
}

/* Calls that were open then did not end before. */
static int end_detached(struct budget *b)
{
	if (!b->is_detaching || !detacher_first(b->r->detacher, 0))
		return 0;
	b->is_detaching = false;
	return sources_end_detached(b->r->cfg->sources, clock_ns(CLOCK_BOOTTIME));
}

static int keep_limit(struct budget *b, const struct cost_shares *s)
{
	struct budget_costs costs;
	int err;

	find_costs(b, s, &costs);
	budget_decide(&b->rule, &costs, s->end_ns);
	err = detach_new(b, &costs);
	if (err)
		return err;
	if (!b->is_detaching)
		b->rule.detaching_ns = 0;
	if (b->rule.exceeded && !b->said_exceeded) {
		b->said_exceeded = true;
		log_warn("the recording costs %.2f %% of one CPU, more than --budget %g%%, with all left out that can be",
			 costs.total * 100, b->rule.limit * 100);
	}
	return apply(b, 0);
}

/* But for what a file that is written needs of what the window has given up: it goes with that. */
static uint64_t all_memory(const struct budget *b)
{
	const uint64_t bytes = budget_own_bytes() + programs_memory(b->r->programs);
	struct recorder_totals t = { 0 };

	recorder_output_totals(b->r, &t);
	return bytes > t.window.given_up_bytes ? bytes - t.window.given_up_bytes : 0;
}

/* Names and symbols grow with what there is to record. What is kept in memory can be less. */
static void check_memory(struct budget *b)
{
	const uint64_t limit = b->r->cfg->memory_bytes;
	uint64_t bytes = limit ? all_memory(b) : 0;
	bool *said = &b->said_memory;

	if (bytes > limit) {
		malloc_trim(0);
		bytes = all_memory(b);
	}
	b->over_cnt = bytes > limit ? b->over_cnt + 1 : 0;
	if (b->over_cnt < OVER_CNT)
		return;
	if (b->r->flight && flight_shrink(b->r->flight, bytes - limit)) {
		said = &b->said_window;
		b->over_cnt = 0;
	}
	if (!*said)
		log_warn("the recording takes %llu KiB of memory, more than --mem-budget: %s", (unsigned long long)bytes >> 10,
			 said == &b->said_window ? "less is kept of the window" : "names and symbols have grown");
	*said = true;
}

int budget_look(struct budget *b)
{
	struct cost_shares shares;
	struct fxt_thread at;
	bool measuring;
	int err;

	if (!b)
		return 0;
	err = end_detached(b);
	if (err)
		return err;
	measuring = cost_is_measuring(b->cost);
	if (!cost_look(b->cost) || cost_is_measuring(b->cost))
		return 0;
	check_memory(b);
	/* The first time, all that was measured. */
	if (!(measuring ? cost_so_far(b->cost, &shares) : cost_lately(b->cost, &shares)))
		return 0;
	err = tracks_get_counters(sources_ctx(b->r->cfg->sources)->tracks, b->r->w, &at);
	err = err ?: cost_write_counter(&shares, shares.end_ns, at, b->r->w);
	return b->rule.limit > 0 && !err ? keep_limit(b, &shares) : err;
}

int budget_end(struct budget *b)
{
	if (!b)
		return 0;
	cost_end(b->cost);
	b->rule.level = 0;
	return apply(b, b->r->stop_ns);
}

/* ---- answers ---- */

bool budget_cost(const struct budget *b, bool lately, struct cost_shares *out)
{
	if (!b)
		return false;
	return lately ? cost_lately(b->cost, out) : cost_so_far(b->cost, out);
}

bool budget_is_measured(const struct budget *b)
{
	return b && !cost_error(b->cost);
}

double budget_limit(const struct budget *b)
{
	return b ? b->rule.limit : 0;
}

bool budget_was_exceeded(const struct budget *b)
{
	return b && b->rule.exceeded;
}

uint32_t budget_shed(const struct budget *b)
{
	uint32_t bits = 0;
	unsigned int i;

	for (i = 0; b && i < SHED_CNT; i++)
		bits |= b->since_ns[i] ? 1U << i : 0;
	return bits;
}

void budget_class(const struct budget *b, enum shed_class class, struct budget_class *out)
{
	*out = (struct budget_class){ 0 };
	if (!b)
		return;
	*out = b->classes[class];
	out->events = count_events(b, class);
}

void budget_close(struct budget *b)
{
	if (!b)
		return;
	cost_close(b->cost);
	free(b);
}
