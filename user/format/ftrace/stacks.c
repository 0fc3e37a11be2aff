// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks that follow a record are arguments of it, so a record that one may follow is held back.
 * Others are written at once, until there are stacks: then records of other CPUs come between. More
 * are held where another trace may begin (restart.c).
 */
#include "import_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void move_text(struct model_text *text, char **at)
{
	if (text->len)
		memcpy(*at, text->data, text->len);
	text->data = *at;
	*at += text->len;
}

static int hold(struct held *h, const struct ftrace_event *ev)
{
	size_t len = ev->comm.len + ev->system.len + ev->name.len + ev->args.len + 1;
	char *at;

	if (array_reserve(h->text, 0, h->text_cap, len))
		return -ENOMEM;
	h->ev = *ev;
	if (ev->sched) {
		h->sched = *ev->sched;
		h->ev.sched = &h->sched;
	}
	h->stacks = (struct call_stacks){ 0 };
	at = h->text;
	move_text(&h->ev.comm, &at);
	move_text(&h->ev.system, &at);
	move_text(&h->ev.name, &at);
	move_text(&h->ev.args, &at);
	return 0;
}

/* A stack that no record took: an instant. */
static int write_stack(struct ftrace_import *im, const struct held *h, unsigned int which)
{
	struct ftrace_event ev = h->ev;

	if (h->ev.kind >= FTRACE_KIND_RECORDS)
		return 0;
	ev.kind = which ? FTRACE_USER_STACK : FTRACE_STACK;
	ev.args = h->stacks.text[which];
	return import_take(im, &ev);
}

int held_release(struct ftrace_import *im)
{
	struct held *h = &im->held[im->held_first];
	unsigned int i;
	int err = 0;

	if (restart_is_near(im, &h->ev)) {
		im->looking = im->held_cnt < HELD_MAX && !im->ending;
		if (im->looking)
			return 0;
		err = restart_look(im);
	}
	if (err)
		return err;
	im->held_first = (im->held_first + 1) % HELD_MAX;
	im->held_cnt--;
	im->b->stacks = &h->stacks;
	err = import_take(im, &h->ev);
	im->b->stacks = NULL;
	for (i = 0; i < 2 && !err; i++)
		if (h->stacks.has[i])
			err = write_stack(im, h, i);
	return err;
}

/* The last record of that thread and CPU that is still held. */
static struct held *find_held(struct ftrace_import *im, const struct ftrace_event *ev)
{
	unsigned int i = im->held_cnt;

	while (i--) {
		struct held *h = &im->held[(im->held_first + i) % HELD_MAX];

		if (h->ev.kind < FTRACE_KIND_RECORDS &&
		    (ev->tid < 0 || h->ev.tid == ev->tid) &&
		    (ev->cpu < 0 || h->ev.cpu < 0 || h->ev.cpu == ev->cpu))
			return h;
	}
	return NULL;
}

/* Where there are stacks, records of other CPUs come between: hold more of them. */
static int hold_stack(struct ftrace_import *im, const struct ftrace_event *ev, bool *done)
{
	unsigned int which = ev->kind == FTRACE_USER_STACK;
	struct held *h = find_held(im, ev);

	im->held_depth = HELD_STACKS;
	*done = h && !h->stacks.has[which];
	if (!*done)
		return 0;
	if (array_reserve(h->stack_text[which], 0, h->stack_cap[which], ev->args.len + 1))
		return -ENOMEM;
	if (ev->args.len)
		memcpy(h->stack_text[which], ev->args.data, ev->args.len);
	h->stacks.text[which] = (struct model_text){ h->stack_text[which], ev->args.len };
	h->stacks.has[which] = true;
	return 0;
}

/* Nothing has to be known of what follows: the parser's event is taken as it is. */
static bool is_ready(const struct ftrace_import *im, const struct ftrace_event *ev)
{
	return !im->held_cnt && im->held_depth == 1 && !ev->stack_follows && !restart_is_near(im, ev);
}

int ftrace_import_add(void *ctx, const struct ftrace_event *event)
{
	struct ftrace_import *im = ctx;
	bool done = false;
	int err = 0;

	if (event->kind == FTRACE_STACK || event->kind == FTRACE_USER_STACK)
		err = hold_stack(im, event, &done);
	while (!err && !done && im->held_cnt >= (im->looking ? HELD_MAX : im->held_depth))
		err = held_release(im);
	if (err || done)
		return err;
	if (is_ready(im, event))
		return import_take(im, event);
	/* The same one each time stays in the cache. */
	if (!im->held_cnt)
		im->held_first = 0;
	err = hold(&im->held[(im->held_first + im->held_cnt) % HELD_MAX], event);
	im->held_cnt += !err;
	return err;
}

int ftrace_import_end(struct ftrace_import *im)
{
	int err = 0;

	im->ending = true;
	while (!err && im->held_cnt)
		err = held_release(im);
	return err ? err : import_draw_losses(im);
}

void held_fini(struct ftrace_import *im)
{
	unsigned int i;

	for (i = 0; i < HELD_MAX; i++) {
		free(im->held[i].text);
		free(im->held[i].stack_text[0]);
		free(im->held[i].stack_text[1]);
	}
}
