// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with a beginning and an end: function_graph's and system calls.
 */
#include "import_p.h"

#include <errno.h>
#include <string.h>

/* ---- function_graph -------------------------------------------------------- */

static struct slice graph_slice(struct builder *b, const struct ftrace_event *ev)
{
	return (struct slice){
		.family = FAMILY_GRAPH, .category = fxt_str("function_graph"),
		.name = build_str(b, ev->name),
		.depth = ev->depth < UINT16_MAX ? (uint16_t)ev->depth : UINT16_MAX,
		.key = ev->name.len ? text_hash(ev->name.data, ev->name.len) | 1 : 0,
	};
}

/* A duration later, in ticks of the clock in force; not beyond what readers take. */
static uint64_t time_after(const struct builder *b, uint64_t ts, uint64_t ns)
{
	unsigned __int128 ticks = (unsigned __int128)ns * b->ticks_per_second / 1000000000 + ts;

	return ticks > INT64_MAX || build_ns(b, (uint64_t)ticks) > INT64_MAX ? ts : (uint64_t)ticks;
}

/*
 * Without a time column the only times are durations. Their sum is the least
 * that has gone by on the CPU: its clock, which begins at zero.
 */
static void advance(const struct record *r, uint64_t ts)
{
	if (r->ev->clock == MODEL_CLOCK_NONE && r->cpu && ts > r->cpu->now)
		r->cpu->now = ts;
}

/* Calls at this depth or deeper that did not return in the trace. */
static int close_stale(struct builder *b, struct track *tr, const struct record *r,
		       unsigned int depth)
{
	struct slice s = { .family = FAMILY_GRAPH };
	uint64_t since;
	int out = 0;

	while (out >= 0 && out != OUT_UNMATCHED && slice_top(tr, &s, &since) && s.depth >= depth) {
		s.key = 0;
		out = slice_close(b, tr, r->ts, &s);
	}
	return out < 0 ? out : 0;
}

static unsigned int graph_args(const struct ftrace_event *ev, struct fxt_arg *args)
{
	unsigned int n = 0;

	if (ev->args.len)
		args[n++] = fxt_arg_str(ev->kind == FTRACE_GRAPH_EXIT ? "return" : "args",
					fxt_str_inline(ev->args.data, ev->args.len < 4096 ?
						       ev->args.len : 4096));
	if (ev->has_duration)
		args[n++] = fxt_arg_u64("duration_ns", ev->duration_ns);
	return n;
}

static int on_graph_entry(struct builder *b, const struct record *r, struct track *tr)
{
	struct slice s = graph_slice(b, r->ev);
	struct fxt_arg args[2];
	int err = close_stale(b, tr, r, s.depth);

	return err ? err : slice_begin(b, tr, r->ts, &s, args, graph_args(r->ev, args));
}

static int on_graph_leaf(struct builder *b, const struct record *r, struct track *tr)
{
	struct slice s = graph_slice(b, r->ev);
	uint64_t end = time_after(b, r->ts, r->ev->has_duration ? r->ev->duration_ns : 0);
	struct fxt_arg args[2];
	int err = close_stale(b, tr, r, s.depth);

	if (err)
		return err;
	advance(r, end);
	return slice_leaf(b, tr, r->ts, end, &s, args, graph_args(r->ev, args));
}

static int graph_unmatched(struct builder *b, const struct record *r)
{
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = r->ts, .thread = place_of(b, r),
		.category = fxt_str("function_graph"),
		.name = r->ev->name.len ? build_str(b, r->ev->name) : fxt_str("return"),
	};
	struct fxt_arg args[2];
	int err = build_event(b, &e, args, graph_args(r->ev, args));

	return err ? err : OUT_UNMATCHED;
}

static int on_graph_exit(struct builder *b, const struct record *r, struct track *tr)
{
	struct slice s = graph_slice(b, r->ev), top = { .family = FAMILY_GRAPH };
	uint64_t ts = r->ts, since;
	struct fxt_arg args[2];
	int out = close_stale(b, tr, r, s.depth + 1U);

	if (out)
		return out;
	if (slice_top(tr, &top, &since) && top.depth == s.depth &&
	    r->ev->clock == MODEL_CLOCK_NONE && r->ev->has_duration) {
		advance(r, time_after(b, since, r->ev->duration_ns));
		ts = r->cpu ? r->cpu->now : ts;
	}
	out = slice_end(b, tr, ts, &s, args, graph_args(r->ev, args));
	return out == OUT_UNMATCHED ? graph_unmatched(b, r) : out;
}

/* The arrows around an interrupt have no depth; calls inside of it go on with theirs. */
static int on_graph_irq(struct builder *b, const struct record *r, struct track *tr)
{
	struct slice s = {
		.family = FAMILY_IRQ, .key = 1, .category = fxt_str("function_graph"),
		.name = fxt_str("interrupt"),
	};
	int out;

	if (r->ev->kind == FTRACE_GRAPH_IRQ_ENTRY)
		return slice_begin(b, tr, r->ts, &s, NULL, 0);
	out = slice_end(b, tr, r->ts, &s, NULL, 0);
	return out == OUT_UNMATCHED ? graph_unmatched(b, r) : out;
}

/* On the thread, also in interrupts: nesting is all there is to go by. */
static struct track *graph_track(struct builder *b, const struct record *r)
{
	struct ftrace_event ev = *r->ev;
	struct record plain = *r;

	ev.in_irq = false;
	plain.ev = &ev;
	return track_of(b, &plain);
}

int on_graph(struct builder *b, const struct record *r)
{
	struct track *tr = graph_track(b, r);

	if (!tr)
		return -ENOMEM;
	switch (r->ev->kind) {
	case FTRACE_GRAPH_ENTRY:
		return on_graph_entry(b, r, tr);
	case FTRACE_GRAPH_LEAF:
		return on_graph_leaf(b, r, tr);
	case FTRACE_GRAPH_EXIT:
		return on_graph_exit(b, r, tr);
	default:
		return on_graph_irq(b, r, tr);
	}
}

/* ---- system calls ---------------------------------------------------------- */

struct call {
	bool enters;
	struct fxt_str name;
	uint32_t key;
	struct model_text args;
};

static int play_call(struct builder *b, const struct record *r, const struct call *c)
{
	struct slice s = {
		.family = FAMILY_SYSCALL, .category = fxt_str("syscalls"), .name = c->name,
	};
	struct track *tr = graph_track(b, r);
	struct fxt_arg args[ARGS_TYPED + 1];
	struct slice open = { .family = FAMILY_SYSCALL };
	uint64_t since;
	int out = 0;

	if (!tr)
		return -ENOMEM;
	if (r->t && !r->t->user) {
		r->t->user = r->t != b->idle;
		thread_classify(b, r->t);
	}
	if (!c->enters) {
		s.key = c->key;
		args[0] = arg_return(c->args);
		return slice_end(b, tr, r->ts, &s, args, c->args.len > 0);
	}
	/* A thread is in one call at a time: this one's end is missing. */
	if (slice_top(tr, &open, &since))
		out = slice_close(b, tr, r->ts, &s);
	s.key = c->key;
	if (out < 0)
		return out;
	return slice_begin(b, tr, r->ts, &s, args, args_of_syscall(r->ev, c->args, args));
}

/* An end without its begin: some calls never begin, others began before the trace. */
static int call_unmatched(struct builder *b, const struct record *r, const struct call *c)
{
	struct fxt_arg arg = arg_return(c->args);
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = r->ts, .thread = place_of(b, r),
		.category = fxt_str("syscalls"), .name = c->name,
	};
	int err = build_event(b, &e, &arg, c->args.len > 0);

	return err ? err : OUT_UNMATCHED;
}

static int on_call(struct builder *b, const struct record *r, const struct call *c)
{
	int out;

	if (!r->ev->complete && !c->enters)
		return OUT_INCOMPLETE;
	out = play_call(b, r, c);
	return out == OUT_UNMATCHED ? call_unmatched(b, r, c) : out;
}

/* "openat" becomes "sys_openat". */
static struct call make_call(const struct ftrace_event *ev, struct model_text name, bool enters,
			     char *buf, size_t size)
{
	struct call c = { .enters = enters, .args = ev->args };

	if (name.len > size - 4)
		name.len = size - 4;
	memcpy(buf, "sys_", 4);
	memcpy(buf + 4, name.data, name.len);
	c.name = fxt_str_n(buf, name.len + 4);
	c.key = text_hash(name.data, name.len) | 1;
	return c;
}

int on_syscall(struct builder *b, const struct record *r)
{
	char buf[128];
	struct call c = make_call(r->ev, r->ev->name, r->ev->kind == FTRACE_SYSCALL_ENTER, buf,
				  sizeof(buf));

	return on_call(b, r, &c);
}

/* "sys_enter_openat: dfd: 0xffffff9c, ...", "sys_exit_openat: 0x3" */
int on_named_syscall(struct builder *b, const struct record *r)
{
	bool enters = r->ev->name.data[5] == 'n';	/* sys_eNter_, sys_eXit_ */
	size_t skip = enters ? 10 : 9;
	struct model_text name = { r->ev->name.data + skip, r->ev->name.len - skip };
	char buf[128];
	struct call c = make_call(r->ev, name, enters, buf, sizeof(buf));

	return on_call(b, r, &c);
}

/* "NR 257 (ffffff9c, 7f.., 80000, 0, 0, 0)", "NR 257 = 3" */
int on_raw_syscall(struct builder *b, const struct record *r)
{
	struct model_text args = r->ev->args, number;
	bool enters = r->kind->name.len == 9;
	const char *sign = memchr(args.data, enters ? '(' : '=', args.len);
	struct call c = { .enters = enters };
	char buf[32] = "syscall ";
	int64_t nr;

	if (args.len < 5 || memcmp(args.data, "NR ", 3) || !sign)
		return OUT_OTHER;
	number = (struct model_text){ args.data + 3, (size_t)(sign - args.data) - 3 };
	if (!text_int(number, &nr) || nr < -1)
		return OUT_OTHER;
	while (number.len && number.data[number.len - 1] == ' ')
		number.len--;
	if (number.len > 20)
		return OUT_OTHER;
	memcpy(buf + 8, number.data, number.len);
	c.name = fxt_str_n(buf, 8 + number.len);
	c.key = (uint32_t)nr * 2 + 1;
	c.args = (struct model_text){ sign + 1, (size_t)(args.data + args.len - sign) - 1 };
	if (enters && c.args.len && c.args.data[c.args.len - 1] == ')')
		c.args.len--;
	return on_call(b, r, &c);
}
