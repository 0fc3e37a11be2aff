// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of logs, and what a trace says of its machine.
 */
#include "reader_p.h"

/* ---- logs ------------------------------------------------------------------ */

/* Which fields a message of this kind has its parts in. */
struct log_fields {
	const char *category;
	uint8_t pid, tid, prio, tag, message, unit, args;
};

/* An argument of a line of binary events, which have no text: it is put together of them. */
static int put_log_arg(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field name, f;

	if (!pf_find(m, PF_LOG_ARG_NAME, PF_BYTES, &name))
		return 0;
	pf_text_add(r, " ", r->text_len > 0);
	pf_text_add(r, name.data, name.len);
	if (pf_find(m, PF_LOG_ARG_INT, PF_VARINT, &f)) {
		pf_text_print(r, "=%lld", (long long)f.value);
		return pf_record_put(r, PF_PIECE_INT, pf_string_of(r, &name), f.value);
	}
	if (pf_find(m, PF_LOG_ARG_FLOAT, PF_FIXED32, &f)) {
		f.value = pf_bits_of_float(f.value);
		pf_text_print(r, "=%g", pf_double(f.value));
		return pf_record_put(r, PF_PIECE_DOUBLE, pf_string_of(r, &name), f.value);
	}
	if (!pf_find(m, PF_LOG_ARG_STRING, PF_BYTES, &f))
		return 0;
	pf_text_add(r, "=", 1);
	pf_text_add(r, f.data, f.len);
	return pf_record_put_text(r, PF_PIECE_TEXT, pf_string_of(r, &name), f.data, f.len);
}

static int put_log_args(struct pf_reader *r, struct pf_cursor m, const struct log_fields *at)
{
	struct pf_field f;
	int err = 0;

	pf_text_clear(r);
	while (at->args && !err && pf_next(&m, &f) > 0)
		if (pf_is(&f, at->args, PF_BYTES))
			err = put_log_arg(r, pf_inner(&f));
	return err;
}

static int make_log(struct pf_reader *r, struct pf_cursor m, const struct log_fields *at)
{
	const struct pf_cursor all = m;
	struct pf_record head = { .kind = PF_RECORD_LOG, .category = pf_word(r, at->category) };
	struct pf_field f, message = { 0 }, prio = { 0 }, unit = { 0 };
	int got, err;

	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, at->pid, PF_VARINT))
			head.pid = (int32_t)f.value;
		else if (pf_is(&f, at->tid, PF_VARINT))
			head.tid = (int32_t)f.value;
		else if (pf_is(&f, at->prio, PF_VARINT))
			prio = f;
		else if (pf_is(&f, at->tag, PF_BYTES))
			head.name = pf_string_of(r, &f);
		else if (pf_is(&f, at->message, PF_BYTES))
			message = f;
		else if (at->unit && pf_is(&f, at->unit, PF_BYTES))
			unit = f;
	}
	/* A thread that is not named is the process's first one. */
	if (!head.tid)
		head.tid = head.pid;
	err = got < 0 ? got : pf_record_begin(r, &head, sizeof(head));
	if (!err && prio.number)
		err = pf_record_put(r, PF_PIECE_INT, pf_word(r, "prio"), prio.value);
	if (!err && unit.len)
		err = pf_record_put_text(r, PF_PIECE_TEXT, pf_word(r, "unit"), unit.data, unit.len);
	err = err ? err : put_log_args(r, all, at);
	if (err || message.len)
		return err ? err : pf_record_put_text(r, PF_PIECE_LOG, 0, message.data, message.len);
	return pf_record_put_text(r, PF_PIECE_LOG, 0, r->text, r->text_len);
}

/* Its time is that of the line, by the wall clock, not that of the packet. */
static int take_android_line(struct pf_reader *r, struct pf_cursor m)
{
	static const struct log_fields fields = {
		"android log", PF_ANDROID_LOG_PID, PF_ANDROID_LOG_TID, PF_ANDROID_LOG_PRIO, PF_ANDROID_LOG_TAG,
		PF_ANDROID_LOG_MESSAGE, 0, PF_ANDROID_LOG_ARGS,
	};
	struct pf_field time;
	int err;

	if (!pf_find(m, PF_ANDROID_LOG_TIME, PF_VARINT, &time))
		return PF_NO_TIME;
	err = make_log(r, m, &fields);
	return err ? err : pf_emit(r, PF_CLOCK_REALTIME, time.value, PF_RANK_OTHER);
}

int pf_android_log(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	int got = 0, fate = PF_USED, one;
	struct pf_field f;

	(void)p;
	while (fate >= 0 && (got = pf_next(&message, &f)) > 0) {
		one = pf_is(&f, PF_ANDROID_LOG_EVENTS, PF_BYTES) ? take_android_line(r, pf_inner(&f)) : PF_USED;
		fate = one < 0 || one > fate ? one : fate;
	}
	return fate < 0 || got >= 0 ? fate : got;
}

/* With numbers of lines it is none itself. */
int pf_journald(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	static const struct log_fields fields = {
		"journald", PF_JOURNALD_PID, PF_JOURNALD_TID, PF_JOURNALD_PRIO, PF_JOURNALD_TAG, PF_JOURNALD_MESSAGE,
		PF_JOURNALD_UNIT, 0,
	};
	struct pf_field f;
	int err;

	if (pf_find(message, PF_JOURNALD_FAILED, PF_VARINT, &f))
		return pf_lost_lines(r, p, f.value);
	if (pf_find(message, PF_JOURNALD_TOTAL, PF_VARINT, &f))
		return PF_SKIPPED;
	err = make_log(r, message, &fields);
	return err ? err : pf_emit_packet(r, p, PF_RANK_OTHER);
}

/* ---- the machine ----------------------------------------------------------- */

/* "4.9.1" before "4.14" */
static bool is_before_4_14(const struct pf_field *release)
{
	unsigned int major = 0, minor = 0;
	size_t i = 0;

	for (; i < release->len && release->data[i] >= '0' && release->data[i] <= '9' && major < 1000; i++)
		major = major * 10 + release->data[i] - '0';
	if (!i || i == release->len || release->data[i++] != '.')
		return false;
	for (; i < release->len && release->data[i] >= '0' && release->data[i] <= '9' && minor < 1000; i++)
		minor = minor * 10 + release->data[i] - '0';
	return major < 4 || (major == 4 && minor < 14);
}

int pf_system_info(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_field uts, f;

	(void)p;
	if (!pf_find(message, PF_SYSTEM_UTSNAME, PF_BYTES, &uts))
		return PF_USED;
	if (pf_find(pf_inner(&uts), PF_UTS_RELEASE, PF_BYTES, &f)) {
		r->old_states = is_before_4_14(&f);
		r->has_release = true;
	}
	if (pf_find(pf_inner(&uts), PF_UTS_MACHINE, PF_BYTES, &f))
		pf_syscalls_machine(r, &f);
	return PF_USED;
}

static bool is_text(const struct pf_field *f, const char *text)
{
	return f->len == strlen(text) && !memcmp(f->data, text, f->len);
}

/* The recorder of Perfetto begins so: what follows was not written from FXT, whatever was before it in the file. */
int pf_trace_begins(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	(void)p, (void)message;
	r->is_recorded = false;
	r->record_flag = 0;
	return PF_SKIPPED;
}

/* What follows is as the provider of this name had it, marks and all. */
static void take_attribute(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field key, name;

	if (r->is_recorded || !pf_find(m, PF_ATTRIBUTE_KEY, PF_BYTES, &key) || !is_text(&key, PF_KEY_PROVIDER) ||
	    !pf_find(m, PF_ATTRIBUTE_STRING, PF_BYTES, &name) || name.len >= sizeof(r->provider))
		return;
	r->is_recorded = true;
	r->record_flag = PF_RECORD_FROM_FXT;
	if (r->provider[0])
		return;
	memcpy(r->provider, name.data, name.len);
	builder_set_source(r->builder, r->provider);
}

int pf_trace_attributes(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_field f;
	int got;

	(void)p;
	while ((got = pf_next(&message, &f)) > 0)
		if (pf_is(&f, PF_ATTRIBUTES_LIST, PF_BYTES))
			take_attribute(r, pf_inner(&f));
	return got < 0 ? got : PF_SKIPPED;
}
