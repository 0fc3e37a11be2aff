// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments of sched_switch and of the wakeups, in the forms of the kernel, of
 * trace-cmd's plugins and of field dumps. Names may hold anything, even pieces of
 * the form itself, so they are what is left when the rest has been matched.
 */
#include "import_p.h"

#include <string.h>

#define PRIO_DIGITS	3	/* no priority has more: a line that ends there was not cut in it */

/* A text that is eaten from either end. */
struct span {
	const char *at, *end;
};

/* Inlined, comparing with a word of known length is an instruction or two. */
#define INLINE static inline __attribute__((always_inline))

INLINE bool eat(struct span *s, const char *word, size_t len)
{
	if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len))
		return false;
	s->at += len;
	return true;
}

INLINE bool eat_back(struct span *s, const char *word, size_t len)
{
	if ((size_t)(s->end - s->at) < len || memcmp(s->end - len, word, len))
		return false;
	s->end -= len;
	return true;
}

#define EAT(s, word)		eat(s, word, sizeof(word) - 1)
#define EAT_BACK(s, word)	eat_back(s, word, sizeof(word) - 1)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A decimal number that fits; '-' only where the field is signed. */
static bool eat_number(struct span *s, bool negative, int32_t *v)
{
	bool minus = negative && EAT(s, "-");
	int64_t sum = 0;
	int digits = 0;

	for (; s->at < s->end && is_digit(*s->at) && digits < 11; digits++)
		sum = sum * 10 + (*s->at++ - '0');
	if (!digits || digits > 10 || sum > INT32_MAX)
		return false;
	*v = (int32_t)(minus ? -sum : sum);
	return true;
}

static bool eat_number_back(struct span *s, bool negative, int32_t *v)
{
	struct span number = { s->end, s->end };

	while (number.at > s->at && is_digit(number.at[-1]))
		number.at--;
	if (negative && number.at > s->at && number.at[-1] == '-')
		number.at--;
	s->end = number.at;
	return eat_number(&number, negative, v) && number.at == number.end;
}

static void trim(struct span *s)
{
	while (s->end > s->at && (s->end[-1] == ' ' || s->end[-1] == '\r' || s->end[-1] == '\n'))
		s->end--;
}

static struct model_text text_of(const struct span *s)
{
	return (struct model_text){ s->at, (size_t)(s->end - s->at) };
}

/* A number at the end of a line that was cut may have lost digits. */
static bool may_be_cut(const struct ftrace_event *ev)
{
	const char *end = ev->args.data + ev->args.len;
	size_t digits = 0;

	if (ev->complete)
		return false;
	while (digits < ev->args.len && is_digit(end[-1 - (ptrdiff_t)digits]))
		digits++;
	if (!ev->args.len || (!digits && (end[-1] == '=' || end[-1] == '-' || end[-1] == 'x')))
		return true;
	if (digits < ev->args.len && end[-1 - (ptrdiff_t)digits] == '-')
		return false;
	return digits && digits < PRIO_DIGITS;
}

/* ---- sched_switch, the kernel's form --------------------------------------- */

/* From " prev_pid=" on, up to the next one's name. */
static bool eat_prev(struct span *s, struct sched_text *out)
{
	struct span state;

	if (!EAT(s, " prev_pid=") || !eat_number(s, false, &out->prev_tid) ||
	    !EAT(s, " prev_prio=") || !eat_number(s, true, &out->prev_prio) ||
	    !EAT(s, " prev_state="))
		return false;
	state.at = s->at;
	while (s->at < s->end && *s->at != ' ')
		s->at++;
	state.end = s->at;
	out->state = text_of(&state);
	return EAT(s, " ==> next_comm=");
}

/* A name of 15 bytes has no space for the whole pattern, so one place alone matches. */
static bool parse_kernel_switch(struct span s, struct sched_text *out)
{
	struct span name, rest;

	trim(&s);
	if (!EAT(&s, "prev_comm=") || !eat_number_back(&s, true, &out->next_prio) ||
	    !EAT_BACK(&s, " next_prio=") || !eat_number_back(&s, false, &out->next_tid) ||
	    !EAT_BACK(&s, " next_pid="))
		return false;
	for (name.at = s.at, name.end = s.at; ; name.end++) {
		name.end = memchr(name.end, ' ', (size_t)(s.end - name.end));
		if (!name.end)
			return false;
		rest = (struct span){ name.end, s.end };
		if (eat_prev(&rest, out))
			break;
	}
	out->prev_comm = text_of(&name);
	out->next_comm = text_of(&rest);
	return true;
}

/* ---- trace-cmd's plugin: "tgen:157 [120] R ==> kworker/0:2:51 [120]" ------- */

/* From the right: "NAME:tid [prio]", the name is what remains. */
static bool eat_task_back(struct span *s, int32_t *tid, int32_t *prio)
{
	return EAT_BACK(s, "]") && eat_number_back(s, true, prio) && EAT_BACK(s, " [") &&
	       eat_number_back(s, false, tid) && EAT_BACK(s, ":");
}

static bool parse_plugin_switch(struct span s, struct sched_text *out)
{
	struct span next, prev, state;
	const char *arrow = s.end;

	trim(&s);
	for (;;) {
		arrow = memrchr(s.at, '>', (size_t)(arrow - s.at));
		if (!arrow)
			return false;
		prev = (struct span){ s.at, arrow + 1 };
		next = (struct span){ arrow + 1, s.end };
		if (!EAT(&next, " ") || !EAT_BACK(&prev, " ==>"))
			continue;
		state.end = prev.end;
		while (prev.end > prev.at && prev.end[-1] != ' ')
			prev.end--;
		state.at = prev.end;
		if (EAT_BACK(&prev, " ") && eat_task_back(&prev, &out->prev_tid, &out->prev_prio) &&
		    eat_task_back(&next, &out->next_tid, &out->next_prio))
			break;
	}
	out->state = text_of(&state);
	out->prev_comm = text_of(&prev);
	out->next_comm = text_of(&next);
	return true;
}

/* ---- field dumps: "prev_comm=init prev_pid=0x1 (1) prev_prio=0x78 (120) ..." --- */

/* The text between two keys; the last place of the second counts. */
static bool cut_field(struct span *s, const char *key, struct model_text *value)
{
	size_t len = strlen(key);
	const char *at = s->end;

	while (at > s->at) {
		at = memrchr(s->at, key[0], (size_t)(at - s->at));
		if (!at)
			return false;
		if ((size_t)(s->end - at) >= len && !memcmp(at, key, len)) {
			*value = (struct model_text){ at + len, (size_t)(s->end - at) - len };
			s->end = at;
			return true;
		}
	}
	return false;
}

static bool number_of(struct model_text text, int32_t *v)
{
	int64_t wide;

	if (!text_int(text, &wide) || wide < INT32_MIN || wide > UINT32_MAX)
		return false;
	*v = (int32_t)wide;
	return true;
}

static bool parse_fields_switch(struct span s, struct sched_text *out)
{
	struct model_text next_prio, next_tid, prev_prio, prev_tid;

	trim(&s);
	if (!EAT(&s, "prev_comm=") || !cut_field(&s, " next_prio=", &next_prio) ||
	    !cut_field(&s, " next_pid=", &next_tid) ||
	    !cut_field(&s, " next_comm=", &out->next_comm) ||
	    !cut_field(&s, " prev_state=", &out->state) ||
	    !cut_field(&s, " prev_prio=", &prev_prio) || !cut_field(&s, " prev_pid=", &prev_tid))
		return false;
	out->prev_comm = text_of(&s);
	return number_of(next_prio, &out->next_prio) && number_of(next_tid, &out->next_tid) &&
	       number_of(prev_prio, &out->prev_prio) && number_of(prev_tid, &out->prev_tid);
}

static bool is_switch_sane(const struct sched_text *t)
{
	return t->prev_tid >= 0 && t->next_tid >= 0 && t->state.len > 0;
}

/* trace-cmd report -w puts " Latency: 115.984 usecs" after the switches. */
static void cut_latency(struct span *s)
{
	struct span t = *s;

	if (!EAT_BACK(&t, " usecs"))
		return;
	while (t.end > t.at && (is_digit(t.end[-1]) || t.end[-1] == '.'))
		t.end--;
	if (EAT_BACK(&t, " Latency: "))
		*s = t;
}

static bool parse_switch(const struct ftrace_event *ev, struct sched_text *out)
{
	struct span s = { ev->args.data, ev->args.data + ev->args.len };

	if (!ev->args.len || may_be_cut(ev))
		return false;
	cut_latency(&s);
	return parse_kernel_switch(s, out) || parse_plugin_switch(s, out) || parse_fields_switch(s, out);
}

const struct sched_text *sched_parse_switch(const struct ftrace_event *ev, struct sched_text *buf)
{
	if (ev->sched)
		return is_switch_sane(ev->sched) ? ev->sched : NULL;
	return parse_switch(ev, buf) && is_switch_sane(buf) ? buf : NULL;
}

/* ---- wakeups --------------------------------------------------------------- */

/* Old kernels say whether it was one. */
static void eat_success_back(struct span *s, struct sched_text *out)
{
	struct span t = *s;

	if (eat_number_back(&t, false, &out->success) && EAT_BACK(&t, " success="))
		*s = t;
	else
		out->success = 1;
}

/* "comm=C pid=D prio=D [success=1] target_cpu=DDD" */
static bool parse_kernel_wakeup(struct span s, struct sched_text *out)
{
	struct span t;

	trim(&s);
	out->cpu = FTRACE_ID_UNKNOWN;
	if (!EAT(&s, "comm="))
		return false;
	t = s;
	if (eat_number_back(&t, false, &out->cpu) && EAT_BACK(&t, " target_cpu="))
		s = t;
	else
		out->cpu = FTRACE_ID_UNKNOWN;
	eat_success_back(&s, out);
	if (!eat_number_back(&s, true, &out->next_prio) || !EAT_BACK(&s, " prio=") ||
	    !eat_number_back(&s, false, &out->next_tid) || !EAT_BACK(&s, " pid="))
		return false;
	out->next_comm = text_of(&s);
	return true;
}

/* "rcu_preempt:15 [120] CPU:001", older ones with " success=1" */
static bool parse_plugin_wakeup(struct span s, struct sched_text *out)
{
	struct span t;

	trim(&s);
	out->cpu = FTRACE_ID_UNKNOWN;
	t = s;
	if (eat_number_back(&t, false, &out->cpu) && EAT_BACK(&t, " CPU:"))
		s = t;
	else
		out->cpu = FTRACE_ID_UNKNOWN;
	eat_success_back(&s, out);
	if (!eat_task_back(&s, &out->next_tid, &out->next_prio))
		return false;
	out->next_comm = text_of(&s);
	return true;
}

static bool parse_fields_wakeup(struct span s, struct sched_text *out)
{
	struct model_text cpu, success, prio, tid;

	trim(&s);
	out->cpu = FTRACE_ID_UNKNOWN;
	if (!EAT(&s, "comm="))
		return false;
	if (cut_field(&s, " target_cpu=", &cpu) && !number_of(cpu, &out->cpu))
		return false;
	out->success = 1;
	if (cut_field(&s, " success=", &success))
		number_of(success, &out->success);
	if (!cut_field(&s, " prio=", &prio) || !cut_field(&s, " pid=", &tid))
		return false;
	out->next_comm = text_of(&s);
	return number_of(prio, &out->next_prio) && number_of(tid, &out->next_tid);
}

const struct sched_text *sched_parse_wakeup(const struct ftrace_event *ev, struct sched_text *buf)
{
	struct span s = { ev->args.data, ev->args.data + ev->args.len };

	if (ev->sched)
		return ev->sched->next_tid >= 0 ? ev->sched : NULL;
	if (!ev->args.len || may_be_cut(ev) ||
	    !(parse_kernel_wakeup(s, buf) || parse_plugin_wakeup(s, buf) || parse_fields_wakeup(s, buf)))
		return NULL;
	return buf->next_tid >= 0 ? buf : NULL;
}
