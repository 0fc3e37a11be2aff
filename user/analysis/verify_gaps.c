// SPDX-License-Identifier: GPL-2.0
/*
 * Where a recording lost something there is a slice: for each gap in the scheduling of a CPU one
 * of the same times, and all together count as much as the ledger does.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"

/* The gaps of the context switches, as timeline_gap, and where each CPU stops. */
struct gaps {
	struct timeline_gap *list;
	size_t cnt;
	bool open[TIMELINE_CPUS_MAX];	/* its gap has begun */
	uint64_t stop_ns[TIMELINE_CPUS_MAX];
	uint64_t begin_ns[TIMELINE_CPUS_MAX], offset[TIMELINE_CPUS_MAX];
	struct timeline_gap sum[TIMELINE_CPUS_MAX];	/* of the slices; only counts */
};

static int compare_gaps(const void *pa, const void *pb)
{
	const struct timeline_gap *a = pa, *b = pb;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return a->to_ns < b->to_ns ? -1 : a->to_ns > b->to_ns;
}

/* The events are in order of time, and the marks of a CPU's gaps come in pairs. */
static void find_gaps(const struct timeline *tl, struct gaps *g)
{
	const struct timeline_event *ev;

	for (ev = tl->events; ev < tl->events + tl->events_cnt; ev++) {
		if (ev->kind == TIMELINE_SWITCH && ev->mark == TIMELINE_MARK_STOP)
			g->stop_ns[ev->cpu] = ev->ts_ns;
		if (ev->kind != TIMELINE_SWITCH || ev->mark != TIMELINE_MARK_GAP)
			continue;
		if (g->open[ev->cpu])
			g->list[g->cnt++] = (struct timeline_gap){
				.from_ns = g->begin_ns[ev->cpu], .to_ns = ev->ts_ns,
				.offset = g->offset[ev->cpu], .cpu = ev->cpu,
			};
		g->open[ev->cpu] = !g->open[ev->cpu];
		g->begin_ns[ev->cpu] = ev->ts_ns;
		g->offset[ev->cpu] = ev->offset;
	}
}

/* A gap that the CPU's end is in has no marks: its slice goes on from there to the end of all. */
static bool is_open(const struct verify *v, const struct gaps *g, const struct timeline_gap *slice)
{
	return slice->from_ns == g->stop_ns[slice->cpu] && slice->to_ns == v->tl->session.stop_ns;
}

static void found_no_slice(struct verify *v, const struct timeline_gap *gap)
{
	verify_found(v, VERIFY_GAP, gap->offset, "CPU %u: no slice from %" PRIu64 " to %" PRIu64 " ns", gap->cpu,
		     gap->from_ns, gap->to_ns);
}

static void compare_slices(struct verify *v, const struct gaps *g)
{
	const struct timeline_session *s = &v->tl->session;
	size_t at = 0, i;
	int order = -1;

	for (i = 0; i < s->gaps_cnt; i++) {
		const struct timeline_gap *slice = &s->gaps[i];

		if (slice->of_events)
			continue;
		while (at < g->cnt && (order = compare_gaps(&g->list[at], slice)) < 0)
			found_no_slice(v, &g->list[at++]);
		if (at < g->cnt && !order)
			at++;
		else if (!is_open(v, g, slice))
			verify_found(v, VERIFY_GAP, slice->offset, "CPU %u: no gap from %" PRIu64 " to %" PRIu64 " ns",
				     slice->cpu, slice->from_ns, slice->to_ns);
	}
	while (at < g->cnt)
		found_no_slice(v, &g->list[at++]);
}

static void check_count(struct verify *v, const struct timeline_ledger *l, const char *what, uint64_t drawn,
			uint64_t counted)
{
	if (drawn != counted)
		verify_found(v, VERIFY_GAP, l->offset, "CPU %u: slices of %" PRIu64 " lost %s, %" PRIu64 " counted",
			     l->cpu, drawn, what, counted);
}

static void add_slices(const struct timeline *tl, struct gaps *g)
{
	const struct timeline_gap *slice;
	struct timeline_gap *sum;
	enum loss_kind kind;
	size_t i;

	for (i = 0; i < tl->session.gaps_cnt; i++) {
		slice = &tl->session.gaps[i];
		sum = &g->sum[slice->cpu];
		for (kind = 0; kind < LOSS_KIND_CNT; kind++)
			sum->lost[kind] += slice->lost[kind];
		sum->unreported += slice->unreported;
	}
}

static void compare_ledger(struct verify *v, const struct timeline_ledger *l, const struct timeline_gap *sum)
{
#define X(id, name, one, many) check_count(v, l, many, sum->lost[LOSS_##id], l->lost[LOSS_##id]);
	GAP_CLASSES(X)
#undef X
	check_count(v, l, "unreported switches", sum->unreported, l->unreported_switches);
}

int verify_gaps_run(struct verify *v)
{
	const struct timeline *tl = v->tl;
	struct gaps *g;
	size_t i;

	/* What was cut off is unknown, and importers have gaps of another kind. */
	if (!tl->session.has_start || tl->session.repaired || timeline_is_cut(tl))
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->list = calloc(tl->marks + 1, sizeof(*g->list));
	if (!g->list) {
		free(g);
		return -ENOMEM;
	}
	find_gaps(tl, g);
	qsort(g->list, g->cnt, sizeof(*g->list), compare_gaps);
	if (tl->session.gaps_cnt)
		qsort(tl->session.gaps, tl->session.gaps_cnt, sizeof(*tl->session.gaps), compare_gaps);
	compare_slices(v, g);
	add_slices(tl, g);
	for (i = 0; i < tl->session.ledgers_cnt && !timeline_write_failed(tl); i++)
		compare_ledger(v, &tl->session.ledgers[i], &g->sum[tl->session.ledgers[i].cpu]);
	free(g->list);
	free(g);
	return 0;
}
