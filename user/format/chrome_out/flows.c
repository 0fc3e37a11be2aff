// SPDX-License-Identifier: GPL-2.0
/*
 * Flows. FXT knows the events of one by their id, viewers of JSON by id, category and name together: all
 * of a flow have those of its first event. Sorted by id and then by time, so that they follow each other.
 */
#include <errno.h>

#include "writer_p.h"

/* The flow at hand. */
struct flow {
	uint64_t id;
	bool is_open;
	struct write_buf category, name;
};

int chrome_flows_add(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct event_sort_key key = { .group = EARLY_FLOW, .ts = rec->event.id, .rank = ts_ns };

	return chrome_early_add(w, key, rec, ts_ns);
}

/* One that begins again, or goes on after its end, is another flow. */
static int begin_flow(struct flow *f, uint64_t id, const struct early_event *e)
{
	const struct fxt_str category = chrome_early_category(e), name = chrome_early_name(e);

	f->id = id;
	f->category.len = f->name.len = 0;
	write_buf_bytes(&f->category, category.data, category.len);
	write_buf_bytes(&f->name, name.data, name.len);
	return f->category.failed || f->name.failed ? -ENOMEM : 0;
}

static const char *phase_of(const struct early_event *e)
{
	return e->type == FXT_FLOW_BEGIN ? "s" : e->type == FXT_FLOW_STEP ? "t" : "f";
}

static int put_flow(struct chrome_writer *w, struct flow *f, uint64_t id, const struct early_event *e)
{
	int err = 0;

	if (!f->is_open || f->id != id || e->type == FXT_FLOW_BEGIN)
		err = begin_flow(f, id, e);
	if (err)
		return err;
	f->is_open = e->type != FXT_FLOW_END;
	chrome_line_begin(w, phase_of(e), e->at, e->ts_ns, fxt_str_n(f->category.data, f->category.len),
			  fxt_str_n(f->name.data, f->name.len));
	write_buf_text(&w->line, ",\"bp\":\"e\"");
	chrome_line_id(w, id);
	w->args.len = 0;
	chrome_early_put_args(w, e);
	return chrome_line_end(w, e->ts_ns, RANK_OTHER);
}

int chrome_flows_put(struct chrome_writer *w, struct event_sort_item *item)
{
	struct write_buf copy = { 0 };
	struct flow flow = { 0 };
	int got = 1, err = 0;

	while (!err && got > 0 && item->key.group == EARLY_FLOW) {
		const struct early_event *e = chrome_early_get(&copy, item);

		err = e ? put_flow(w, &flow, item->key.ts, e) : -ENOMEM;
		got = err ? err : event_sort_next(w->early, item);
	}
	write_buf_fini(&copy);
	write_buf_fini(&flow.category);
	write_buf_fini(&flow.name);
	return got;
}
