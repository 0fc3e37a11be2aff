// SPDX-License-Identifier: GPL-2.0
/*
 * Events are held back until it is known whether a stack follows, which then is an
 * argument of theirs. One is enough, unless there are stacks: then records of
 * other CPUs come between.
 */
#include "build_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES_MAX	6000U

static int keep(char **buf, size_t *cap, size_t len)
{
	char *moved;

	if (len <= *cap)
		return 0;
	moved = realloc(*buf, len + 256);
	if (!moved)
		return -ENOMEM;
	*buf = moved;
	*cap = len + 256;
	return 0;
}

static void move_text(struct ftrace_text *text, char **at)
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

	if (keep(&h->text, &h->text_cap, len))
		return -ENOMEM;
	h->ev = *ev;
	h->has_stack[0] = false;
	h->has_stack[1] = false;
	at = h->text;
	move_text(&h->ev.comm, &at);
	move_text(&h->ev.system, &at);
	move_text(&h->ev.name, &at);
	move_text(&h->ev.args, &at);
	return 0;
}

/* A stack that no record took: an instant. */
static int write_stack(struct builder *b, const struct held *h, unsigned int which)
{
	struct ftrace_event ev = h->ev;

	if (h->ev.kind >= FTRACE_KIND_RECORDS)
		return 0;
	ev.kind = which ? FTRACE_USER_STACK : FTRACE_STACK;
	ev.args = (struct ftrace_text){ h->stacks[which], h->stacks_len[which] };
	return build_take(b, &ev);
}

int build_release(struct builder *b)
{
	struct held *h = &b->held[b->held_first];
	unsigned int i;
	int err;

	b->held_first = (b->held_first + 1) % HELD_MAX;
	b->held_cnt--;
	b->current = h;
	err = build_take(b, &h->ev);
	b->current = NULL;
	for (i = 0; i < 2 && !err; i++)
		if (h->has_stack[i])
			err = write_stack(b, h, i);
	return err;
}

bool build_take_stack(struct builder *b, unsigned int which, struct fxt_str *text)
{
	struct held *h = b->current;

	if (!h || !h->has_stack[which])
		return false;
	h->has_stack[which] = false;
	*text = fxt_str_inline(h->stacks[which], h->stacks_len[which] < STACK_BYTES_MAX ?
			       h->stacks_len[which] : STACK_BYTES_MAX);
	b->outcomes[OUT_STACK]++;
	b->stats.records++;
	return true;
}

/* The last record of that thread and CPU that is still held. */
static struct held *find_held(struct builder *b, const struct ftrace_event *ev)
{
	unsigned int i = b->held_cnt;

	while (i--) {
		struct held *h = &b->held[(b->held_first + i) % HELD_MAX];

		if (h->ev.kind < FTRACE_KIND_RECORDS &&
		    (ev->tid < 0 || h->ev.tid == ev->tid) &&
		    (ev->cpu < 0 || h->ev.cpu < 0 || h->ev.cpu == ev->cpu))
			return h;
	}
	return NULL;
}

/* Where there are stacks, records of other CPUs come between: hold more of them. */
static int hold_stack(struct builder *b, const struct ftrace_event *ev, bool *done)
{
	unsigned int which = ev->kind == FTRACE_USER_STACK;
	struct held *h = find_held(b, ev);

	b->held_depth = HELD_MAX;
	*done = h && !h->has_stack[which];
	if (!*done)
		return 0;
	if (keep(&h->stacks[which], &h->stacks_cap[which], ev->args.len + 1))
		return -ENOMEM;
	if (ev->args.len)
		memcpy(h->stacks[which], ev->args.data, ev->args.len);
	h->stacks_len[which] = ev->args.len;
	h->has_stack[which] = true;
	return 0;
}

int builder_add(void *ctx, const struct ftrace_event *event)
{
	struct builder *b = ctx;
	bool done = false;
	int err = 0;

	if (event->kind == FTRACE_STACK || event->kind == FTRACE_USER_STACK)
		err = hold_stack(b, event, &done);
	while (!err && !done && b->held_cnt >= b->held_depth)
		err = build_release(b);
	if (err || done)
		return err;
	err = hold(&b->held[(b->held_first + b->held_cnt) % HELD_MAX], event);
	b->held_cnt += !err;
	return err;
}

/* ---- writing --------------------------------------------------------------- */

int build_event(struct builder *b, struct fxt_event *e, const struct fxt_arg *args, unsigned int n)
{
	struct fxt_arg all[FXT_ARGS_MAX];
	struct fxt_str text;
	unsigned int i;
	int err;

	if (b->current && (b->current->has_stack[0] || b->current->has_stack[1])) {
		if (n)
			memcpy(all, args, n * sizeof(*args));
		args = all;
		for (i = 0; i < 2 && n < FXT_ARGS_MAX; i++)
			if (build_take_stack(b, i, &text))
				all[n++] = fxt_arg_str(i ? "user_stack" : "stack", text);
	}
	/* One that is too large for a record goes without them. */
	err = fxt_write_event(b->w, e, args, n);
	if (err == -EMSGSIZE)
		err = fxt_write_event(b->w, e, NULL, 0);
	b->stats.events += !err;
	return err;
}

void held_fini(struct builder *b)
{
	unsigned int i;

	for (i = 0; i < HELD_MAX; i++) {
		free(b->held[i].text);
		free(b->held[i].stacks[0]);
		free(b->held[i].stacks[1]);
	}
}
