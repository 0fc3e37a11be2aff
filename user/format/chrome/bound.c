// SPDX-License-Identifier: GPL-2.0
/*
 * Arrows of slices: bind_id, from the one with flow_out to any number of those with flow_in. Of one time the
 * longer slice is played first, whichever the arrow is from: so one to a slice waits for one of its time that begins it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader_p.h"

/* An arrow to a slice, with the name and, after it, the category of that. */
struct bound_step {
	uint64_t id, ts_ns;
	uint32_t track;
	uint32_t name_len, category_len;
	char text[];
};

/* Also a number that is not 0. */
static bool is_true(const struct chrome_event *e, enum chrome_key key)
{
	const struct chrome_field *f = chrome_field(e, key);
	uint32_t i = 0;

	if (!f || f->type != CHROME_NUMBER)
		return f && f->type == CHROME_TRUE;
	while (i < f->value.len && strchr("-.0", chrome_text(e, f->value)[i]))
		i++;
	return i < f->value.len && (chrome_text(e, f->value)[i] | 0x20) != 'e';
}

bool reader_is_bound(const struct chrome_event *e)
{
	const struct chrome_field *f = chrome_field(e, CHROME_BIND_ID);
	char phase = reader_phase(e);

	return f && f->type != CHROME_NULL && (phase == 'X' || phase == 'B') &&
	       (is_true(e, CHROME_FLOW_IN) || is_true(e, CHROME_FLOW_OUT));
}

static int hold(struct chrome_reader *r, const struct model_event *ev)
{
	struct bound_step *step = malloc(sizeof(*step) + ev->name.len + ev->category.len);

	if (!step)
		return -ENOMEM;
	*step = (struct bound_step){
		.id = ev->id, .ts_ns = ev->ts_ns, .track = ev->track,
		.name_len = (uint32_t)ev->name.len, .category_len = (uint32_t)ev->category.len,
	};
	if (ev->name.len)
		memcpy(step->text, ev->name.data, ev->name.len);
	if (ev->category.len)
		memcpy(step->text + ev->name.len, ev->category.data, ev->category.len);
	r->bound[r->bound_cnt++] = step;
	return 0;
}

static int play_step(struct chrome_reader *r, const struct bound_step *step)
{
	return reader_add(r, &(struct model_event){
		.kind = MODEL_FLOW_STEP, .track = step->track, .ts_ns = step->ts_ns, .id = step->id,
		.name = fxt_str_n(step->text, step->name_len),
		.category = fxt_str_n(step->text + step->name_len, step->category_len),
	});
}

/* Those that wait for @id, or all. */
static int release(struct chrome_reader *r, bool all, uint64_t id)
{
	unsigned int i, kept = 0;
	int err = 0;

	for (i = 0; i < r->bound_cnt; i++) {
		if (err || (!all && r->bound[i]->id != id)) {
			r->bound[kept++] = r->bound[i];
			continue;
		}
		err = play_step(r, r->bound[i]);
		free(r->bound[i]);
	}
	r->bound_cnt = kept;
	return err;
}

int reader_end_bound(struct chrome_reader *r)
{
	return release(r, true, 0);
}

void reader_free_bound(struct chrome_reader *r)
{
	while (r->bound_cnt)
		free(r->bound[--r->bound_cnt]);
}

/* One producer, any number of consumers, so that none of them is the last. */
int reader_play_bound(struct chrome_reader *r, const struct chrome_event *e, const struct model_event *slice)
{
	struct model_event ev = {
		.kind = is_true(e, CHROME_FLOW_IN) ? MODEL_FLOW_STEP : MODEL_FLOW_BEGIN, .track = slice->track,
		.ts_ns = slice->ts_ns, .name = slice->name, .category = slice->category,
		.id = reader_bind_id(e, chrome_field(e, CHROME_BIND_ID)),
	};
	int err = r->bound_cnt && r->bound[0]->ts_ns != ev.ts_ns ? reader_end_bound(r) : 0;

	if (err)
		return err;
	if (ev.kind == MODEL_FLOW_STEP && r->bound_cnt < BOUND_MAX && !builder_has_flow(r->builder, ev.id))
		return hold(r, &ev);
	err = reader_add(r, &ev);
	return err || ev.kind == MODEL_FLOW_STEP ? err : release(r, false, ev.id);
}
