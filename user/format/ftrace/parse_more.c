/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of several lines. A text that was printed as it is may hold newlines,
 * and what follows them looks like nothing. So a line of no form belongs to the
 * record before if that one ends in such a text, and is damage if it does not.
 */
#include "parse_p.h"

/* Longer than names and strings of probes get; also bounds how often text is read again. */
#define TEXT_MAX 2048

/* Keys whose values are names of tasks or files. */
static bool is_text_key(const char *s, const char *e)
{
	return ends(s, e, "comm") || ends(s, e, "name") || ends(s, e, "cmdline") ||
	       ends(s, e, "path") || ends(s, e, "msg");
}

/* An odd number of quotes: the last one is open. */
static bool in_quotes(const char *s, const char *e)
{
	bool open = false;

	for (; s < e; s++)
		open ^= *s == '"';
	return open;
}

/* "key=value ... key=value": whether the last value can only be whole. */
static bool ends_whole(const char *s, const char *e)
{
	const char *q, *equals;

	e = trim_end(s, e);
	if (s == e)
		return true;
	if (in_quotes(s, e))
		return false;
	if (e[-1] == ']' || e[-1] == ')' || e[-1] == '}' || e[-1] == '"')
		return true;
	for (q = e; q > s && !is_blank(q[-1]); q--)
		;
	equals = memchr(q, '=', e - q);
	return equals && equals + 1 < e && !is_text_key(q, equals);
}

/* Structured text: its first word is "key=..." or a probe's "(place)". */
static bool is_structured(const char *s, const char *e)
{
	const char *q = skip_name(s, e);

	return s < e && (*s == '(' || (q > s && q < e && *q == '='));
}

/* Names as trace-cmd's plugins print them: "sched_wakeup: NAME:15 [120] CPU:001" */
static bool ends_as_plugin(const char *s, const char *e)
{
	const char *q = e;

	while (q > s && is_digit(q[-1]))
		q--;
	return e > s && (e[-1] == ']' || (q < e && ends(s, q, " CPU:")));
}

/* Events whose format is prose, of which nothing can hold a newline but "[NAME]". */
static bool is_one_line(struct model_text name)
{
	static const char *const of[] = {
		"binder_", "block_",   "btrfs_",     "clk_", "clock_",	   "dma_fence_",
		"drm_",	   "ext4_",    "f2fs_",	     "i2c_", "ipi_",	   "jbd2_",
		"kvm_",	   "mmc_",     "nfs",	     "rcu_", "regulator_", "rpc_",
		"spi_",	   "thermal_", "workqueue_", "xfs_", "xhci_",
	};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		if (starts(name.data, name.data + name.len, of[i]))
			return true;
	}
	return false;
}

static bool in_brackets(const char *s, const char *e)
{
	const char *open = memrchr(s, '[', e - s);

	return open && !memchr(open, ']', e - open);
}

static bool event_may_continue(const struct ftrace_event *ev, const char *s, const char *e)
{
	struct model_text name = ev->name;
	bool sched = starts(name.data, name.data + name.len, "sched_");

	if (text_is(name, "console"))
		return true;
	if (text_is(name, "irq_handler_entry"))
		return false;
	if (ev->dialect == FTRACE_TRACE_CMD)
		return !(sched && ends_as_plugin(s, e));
	if (text_is(name, "sched_switch"))
		return !memmem(s, e - s, " next_prio=", 11);
	if (is_structured(s, e))
		return !ends_whole(s, e);
	/* what is left is trace_printk */
	return !is_one_line(name) || in_brackets(s, e);
}

bool parse_may_continue(const struct ftrace_event *ev, struct model_text args)
{
	if (ev->kind != FTRACE_MARKER && !text_is(ev->name, "console") && args.len > TEXT_MAX)
		return false;
	switch (ev->kind) {
	case FTRACE_MARKER:
		return true;
	case FTRACE_EVENT:
		return event_may_continue(ev, args.data, args.data + args.len);
	case FTRACE_SYSCALL_ENTER:
		return in_quotes(args.data, args.data + args.len);
	default:
		return false;
	}
}

bool parse_is_frame(const struct parse_line *line, struct model_text *frame)
{
	const char *s = skip_blanks(line->s, line->e), *e = trim_end(s, line->e);

	if (!starts(s, e, "=>") || (e - s > 2 && !is_blank(s[2])))
		return false;
	s = skip_blanks(s + 2, e);
	*frame = text_of(s, e);
	return true;
}

bool parse_is_perf_frame(const struct parse_line *line, struct model_text *frame)
{
	const char *s = skip_blanks(line->s, line->e), *e = trim_end(s, line->e), *q = s;
	uint64_t v;

	if (s == line->s || !parse_hex(&q, e, &v) || q >= e || *q != ' ' || e[-1] != ')')
		return false;
	*frame = text_of(skip_blanks(q, e), e);
	return true;
}
