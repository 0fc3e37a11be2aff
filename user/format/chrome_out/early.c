// SPDX-License-Identifier: GPL-2.0
/*
 * Events that are put in another order before they are written: copies of what was in a record.
 */
#include <errno.h>

#include "args.h"
#include "writer_p.h"

int chrome_early_add(struct chrome_writer *w, struct event_sort_key key, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_event *e = &rec->event;
	struct early_event early = {
		.at = e->thread, .ts_ns = ts_ns, .type = (uint8_t)e->type,
		.category_len = (uint32_t)e->category.len, .name_len = (uint32_t)e->name.len,
	};

	w->args.len = w->line.len = 0;
	write_args_put(&w->args, rec->args, rec->nargs);
	early.args_len = (uint32_t)w->args.len;
	write_buf_bytes(&w->line, &early, sizeof(early));
	write_buf_bytes(&w->line, e->category.data, e->category.len);
	write_buf_bytes(&w->line, e->name.data, e->name.len);
	write_buf_bytes(&w->line, w->args.data, w->args.len);
	if (w->line.failed || w->args.failed)
		return -ENOMEM;
	return event_sort_add(w->early, key, w->line.data, w->line.len);
}

const struct early_event *chrome_early_get(struct write_buf *copy, const struct event_sort_item *item)
{
	copy->len = 0;
	write_buf_bytes(copy, item->data, item->len);
	return copy->failed ? NULL : (const struct early_event *)(const void *)copy->data;
}

struct fxt_str chrome_early_category(const struct early_event *e)
{
	return fxt_str_n((const char *)(e + 1), e->category_len);
}

struct fxt_str chrome_early_name(const struct early_event *e)
{
	return fxt_str_n((const char *)(e + 1) + e->category_len, e->name_len);
}

void chrome_early_put_args(struct chrome_writer *w, const struct early_event *e)
{
	if (w->args.len && e->args_len)
		write_buf_char(&w->args, ',');
	write_buf_bytes(&w->args, (const char *)(e + 1) + e->category_len + e->name_len, e->args_len);
}
