// SPDX-License-Identifier: GPL-2.0
/*
 * Each clock has anchors, one a snapshot; a time is converted by the last anchor that is not later.
 */
#include "clock.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

struct reading {
	uint64_t key, value, multiplier_ns;
	bool is_incremental, is_own;	/* @is_own: of a sequence */
};

static struct pf_clock_row *clock_find(const struct pf_clocks *c, uint64_t key)
{
	uint32_t i = map_get(&c->by_key, key);

	return i == MAP_NONE ? NULL : &c->all[i];
}

static struct pf_clock_row *clock_get(struct pf_clocks *c, uint64_t key)
{
	struct pf_clock_row *clock = clock_find(c, key);

	if (clock)
		return clock;
	if (array_reserve(c->all, c->cnt, c->cap, 1) || map_add(&c->by_key, key, c->cnt))
		return NULL;
	c->all[c->cnt] = (struct pf_clock_row){ .multiplier_ns = 1 };
	return &c->all[c->cnt++];
}

/* ---- snapshots ------------------------------------------------------------- */

static int read_clock(struct pf_cursor m, uint32_t sequence, struct reading *r)
{
	uint32_t id = 0;
	struct pf_field f;
	int got;

	*r = (struct reading){ .multiplier_ns = 1 };
	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_CLOCK_ID, PF_VARINT))
			id = (uint32_t)f.value;
		else if (pf_is(&f, PF_CLOCK_TIMESTAMP, PF_VARINT))
			r->value = f.value;
		else if (pf_is(&f, PF_CLOCK_IS_INCREMENTAL, PF_VARINT))
			r->is_incremental = f.value;
		else if (pf_is(&f, PF_CLOCK_MULTIPLIER_NS, PF_VARINT) && f.value)
			r->multiplier_ns = f.value;
	}
	r->key = pf_clock_key(id, sequence);
	r->is_own = id >= PF_CLOCK_SEQUENCE_FIRST && id <= PF_CLOCK_SEQUENCE_LAST;
	return got;
}

static uint64_t reading_ns(const struct reading *r)
{
	return r->value > UINT64_MAX / r->multiplier_ns ? UINT64_MAX : r->value * r->multiplier_ns;
}

static const struct reading *find_reading(const struct reading *all, unsigned int cnt, uint64_t key)
{
	unsigned int i;

	for (i = 0; i < cnt; i++)
		if (all[i].key == key)
			return &all[i];
	return NULL;
}

/* The first that all share and that goes on by itself: what is sorted by has no deltas. NULL: there is none. */
static const struct reading *first_shared(const struct reading *all, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < cnt; i++)
		if (!all[i].is_incremental && !all[i].is_own)
			return &all[i];
	return NULL;
}

/* Which clock of a snapshot is the trace's; NULL: it does not say. */
static const struct reading *trace_reading(const struct reading *all, unsigned int cnt, uint64_t primary)
{
	const struct reading *own = find_reading(all, cnt, primary);

	return own ? own : find_reading(all, cnt, PF_CLOCK_BOOTTIME);
}

/*
 * The time that is sorted by at the snapshot: from its clock, or from one that was related to it before. As long as no
 * snapshot has that clock, it is taken for the first one that they have.
 */
static bool sort_time(struct pf_clocks *c, const struct reading *all, unsigned int cnt, uint64_t *ns)
{
	const struct reading *own = find_reading(all, cnt, c->sort_key);
	unsigned int i;

	if (!own && cnt && !clock_find(c, c->sort_key))
		own = first_shared(all, cnt) ?: &all[0];
	if (own) {
		*ns = reading_ns(own);
		return true;
	}
	for (i = 0; i < cnt; i++) {
		*ns = reading_ns(&all[i]);
		if (pf_clocks_convert(c, all[i].key, ns) == PF_CONVERTED)
			return true;
	}
	return false;
}

/* A clock that went back is read anew from here on. */
static int add_anchor(struct pf_clocks *c, const struct reading *r, uint64_t sort_ns)
{
	struct pf_clock_row *clock = clock_get(c, r->key);
	struct pf_anchor anchor = { reading_ns(r), sort_ns };

	if (!clock || array_reserve(clock->anchors, clock->cnt, clock->cap, 1))
		return -ENOMEM;
	clock->multiplier_ns = r->multiplier_ns;
	clock->is_incremental = r->is_incremental;
	clock->now = r->value;
	if (clock->cnt && clock->anchors[clock->cnt - 1].clock_ns > anchor.clock_ns) {
		c->steps++;
		clock->cnt = 0;
	}
	clock->anchors[clock->cnt++] = anchor;
	clock->last = clock->cnt - 1;
	return 0;
}

static int take_readings(struct pf_clocks *c, const struct reading *all, unsigned int cnt, const struct reading *trace)
{
	const struct reading *best = trace ? trace : first_shared(all, cnt);
	const struct pf_clock_row *own;
	uint64_t sort_ns;
	unsigned int i;
	int err = 0;

	if (!c->sort_key && cnt)
		c->sort_key = c->is_used || !best ? PF_CLOCK_BOOTTIME : best->key;
	own = clock_find(c, c->sort_key);
	if (!sort_time(c, all, cnt, &sort_ns) || (own && own->cnt && own->anchors[own->cnt - 1].clock_ns > sort_ns)) {
		c->refused++;
		return 0;
	}
	if (!c->trace_key && trace)
		c->trace_key = trace->key;
	for (i = 0; i < cnt && !err; i++)
		err = add_anchor(c, &all[i], sort_ns);
	return err;
}

int pf_clocks_snapshot(struct pf_clocks *c, struct pf_cursor message, uint32_t sequence)
{
	struct reading all[PF_CLOCKS_A_SNAPSHOT];
	unsigned int cnt = 0;
	uint64_t primary = 0;
	struct pf_field f;
	int got, err = 0;

	while ((got = pf_next(&message, &f)) > 0 && !err) {
		if (pf_is(&f, PF_SNAPSHOT_PRIMARY, PF_VARINT))
			primary = f.value;
		else if (pf_is(&f, PF_SNAPSHOT_CLOCKS, PF_BYTES) && cnt < PF_CLOCKS_A_SNAPSHOT)
			err = read_clock(pf_inner(&f), sequence, &all[cnt++]);
	}
	if (err || got < 0)
		return -EBADMSG;
	c->snapshots++;
	return take_readings(c, all, cnt, trace_reading(all, cnt, primary));
}

/* ---- conversion ------------------------------------------------------------ */

/* The last anchor that is not later than @ns, of the clock or of what is sorted by; else the first. */
static uint32_t find_anchor(const struct pf_clock_row *clock, uint64_t ns, bool is_sorted)
{
	uint32_t low = 0, high = clock->cnt;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;
		const struct pf_anchor *a = &clock->anchors[mid];

		if ((is_sorted ? a->sort_ns : a->clock_ns) <= ns)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Of times that do not say their clock; before any snapshot it is taken to be BOOTTIME. */
static uint64_t key_of(const struct pf_clocks *c, uint64_t key)
{
	if (key == PF_CLOCK_OF_TRACE)
		key = c->trace_key;
	return key || c->sort_key ? key : PF_CLOCK_BOOTTIME;
}

static bool is_sorted_by(const struct pf_clocks *c, uint64_t key)
{
	return key == (c->sort_key ? c->sort_key : PF_CLOCK_BOOTTIME);
}

enum pf_convert pf_clocks_convert(struct pf_clocks *c, uint64_t key, uint64_t *ns)
{
	struct pf_clock_row *clock;
	const struct pf_anchor *a;
	__int128 sum;

	key = key_of(c, key);
	if (is_sorted_by(c, key))
		return PF_CONVERTED;
	clock = clock_find(c, key);
	if (!clock || !clock->cnt)
		return PF_CLOCK_UNKNOWN;
	if (clock->last >= clock->cnt || clock->anchors[clock->last].clock_ns > *ns ||
	    (clock->last + 1 < clock->cnt && clock->anchors[clock->last + 1].clock_ns <= *ns))
		clock->last = find_anchor(clock, *ns, false);
	a = &clock->anchors[clock->last];
	sum = (__int128)*ns - a->clock_ns + a->sort_ns;
	if (sum < 0 || sum > UINT64_MAX)
		return PF_CLOCK_BAD;
	*ns = (uint64_t)sum;
	return PF_CONVERTED;
}

enum pf_convert pf_clocks_time(struct pf_clocks *c, uint64_t key, uint64_t value, uint64_t *ns)
{
	struct pf_clock_row *clock;

	*ns = value;
	key = key_of(c, key);
	if (is_sorted_by(c, key))
		return PF_CONVERTED;
	clock = clock_find(c, key);
	if (!clock)
		return (key & UINT32_MAX) >= PF_CLOCK_SEQUENCE_FIRST && (key & UINT32_MAX) <= PF_CLOCK_SEQUENCE_LAST ?
			PF_CLOCK_BAD : PF_CLOCK_UNKNOWN;
	if (clock->is_incremental) {
		clock->now += value;
		*ns = clock->now;
	}
	if (*ns > UINT64_MAX / clock->multiplier_ns)
		return PF_CLOCK_BAD;
	*ns *= clock->multiplier_ns;
	return pf_clocks_convert(c, key, ns);
}

void pf_clocks_end(struct pf_clocks *c)
{
	if (!c->trace_key)
		c->trace_key = c->sort_key;
}

uint64_t pf_clocks_shown(struct pf_clocks *c, uint64_t ns)
{
	const struct pf_clock_row *clock;
	const struct pf_anchor *a;
	__int128 sum;

	if (c->trace_key == c->sort_key)
		return ns;
	clock = clock_find(c, c->trace_key);
	if (!clock || !clock->cnt)
		return ns;
	a = &clock->anchors[find_anchor(clock, ns, true)];
	sum = (__int128)ns - a->sort_ns + a->clock_ns;
	return sum < 0 ? 0 : sum > INT64_MAX ? INT64_MAX : (uint64_t)sum;
}

void pf_clocks_fini(struct pf_clocks *c)
{
	uint32_t i;

	for (i = 0; i < c->cnt; i++)
		free(c->all[i].anchors);
	free(c->all);
	map_fini(&c->by_key);
}
