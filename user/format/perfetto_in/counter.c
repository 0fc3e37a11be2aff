// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that were records of FXT. Packets have a track for each value of a record; the values of one time that
 * follow each other are one record again.
 */
#include <errno.h>

#include "base/array.h"
#include "reader_p.h"

int pf_counter_describe(struct pf_reader *r, struct pf_track_row *row, struct pf_cursor message)
{
	struct pf_counter_value v = { 0 };
	struct pf_field f;
	int got;

	while ((got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_FXT_CATEGORY, PF_BYTES))
			v.category = pf_string_of(r, &f);
		else if (pf_is(&f, PF_FXT_NAME, PF_BYTES))
			v.name = pf_string_of(r, &f);
		else if (pf_is(&f, PF_FXT_ARGUMENT, PF_BYTES))
			v.argument = pf_string_of(r, &f);
		else if (pf_is(&f, PF_FXT_ID, PF_VARINT))
			v.id = f.value;
	}
	if (got < 0 || !r->is_recorded)
		return got;
	if (r->counters_cnt >= UINT32_MAX || array_reserve(r->counters, r->counters_cnt, r->counters_cap, 1))
		return -ENOMEM;
	r->counters[r->counters_cnt++] = v;
	row->counter = (uint32_t)r->counters_cnt;
	return 0;
}

/* Whether the value is another one of the record that is held. */
static bool is_of_held(const struct pf_held_counter *h, const struct pf_counter_value *v, uint32_t track, uint64_t ts_ns)
{
	unsigned int i;

	if (!h->cnt || h->cnt == FXT_ARGS_MAX || h->track != track || h->ts_ns != ts_ns || h->of.name != v->name ||
	    h->of.category != v->category || h->of.id != v->id)
		return false;
	for (i = 0; i < h->cnt; i++)
		if (h->names[i] == v->argument)
			return false;
	return true;
}

int pf_counter_play(struct pf_reader *r, const struct pf_track_row *row, uint64_t ts_ns, struct fxt_arg value)
{
	const struct pf_counter_value *v = &r->counters[row->counter - 1];
	struct pf_held_counter *h = &r->held_counter;
	int err = 0;

	if (!is_of_held(h, v, row->track, ts_ns)) {
		err = pf_counter_release(r);
		*h = (struct pf_held_counter){ .of = *v, .track = row->track, .ts_ns = ts_ns };
	}
	h->names[h->cnt] = v->argument;
	h->args[h->cnt++] = value;
	return err;
}

int pf_counter_release(struct pf_reader *r)
{
	struct pf_held_counter *h = &r->held_counter;
	struct model_event ev = {
		.kind = MODEL_COUNTER, .ts_ns = h->ts_ns, .track = h->track, .id = h->of.id,
		.name = pf_pool_str(&r->pool, h->of.name), .category = pf_pool_str(&r->pool, h->of.category),
		.args = h->args, .args_cnt = h->cnt,
	};
	unsigned int i;

	if (!h->cnt)
		return 0;
	for (i = 0; i < h->cnt; i++)
		h->args[i].name = pf_pool_str(&r->pool, h->names[i]);
	h->cnt = 0;
	return pf_add(r, &ev);
}
