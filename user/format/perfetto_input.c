// SPDX-License-Identifier: GPL-2.0
/*
 * Perfetto's traces as an input: their packets (perfetto/), and the events of ftrace in them, which get
 * their meaning where those of text do (ftrace/). Neither knows the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/ftrace/import.h"
#include "format/perfetto/decode.h"
#include "format/perfetto/fields.h"
#include "format/perfetto_in/reader.h"
#include "model/core.h"
#include "formats_p.h"

struct perfetto_input {
	struct pf_reader *reader;
	struct ftrace_import *import;
	struct ftrace_event event;	/* handed on each time: what is the same of all stays as it is */
	struct sched_text sched;
};

static const char *const forms[] = { "perfetto", NULL };
static const char *const suffixes[] = { ".pftrace", ".perfetto-trace", ".pftrace.gz", ".pftrace.zst", NULL };

/* ---- recognising ----------------------------------------------------------- */

/* Whether the message has fields only, up to where the data ends; *@cut: that was before its own end. */
static bool has_fields(const uint8_t *at, const uint8_t *end, uint64_t len, bool *cut)
{
	struct pf_cursor c = { at, end };
	struct pf_field f;
	int got;

	*cut = len > (uint64_t)(end - at);
	if (!*cut)
		c.end = at + len;
	while ((got = pf_next(&c, &f)) > 0)
		if (f.number > 100000)
			return false;
	return !got || *cut;
}

/* Whether there is a byte that text has not, after the tag. */
static bool is_binary(const uint8_t *at, const uint8_t *end)
{
	while (at < end && ((*at >= ' ' && *at != 0x7f) || (*at >= '\t' && *at <= '\r')))
		at++;
	return at < end;
}

/*
 * Text may begin with the same byte, a newline: the second packet decides, unless the first is long or all there is,
 * with more in it than its length.
 */
static enum format_sniff perfetto_sniff(const void *head, size_t len)
{
	const uint8_t *end = (const uint8_t *)head + len;
	struct pf_cursor c = { head, end };
	uint64_t size;
	bool cut = false;
	int packets;

	for (packets = 0; packets < 4 && !cut && c.at < end; packets++) {
		if (*c.at++ != PF_TRACE_TAG)
			return packets > 1 ? FORMAT_MAYBE : FORMAT_NO;
		if (!pf_varint(&c, &size))
			return packets ? FORMAT_YES : FORMAT_NO;
		if (!has_fields(c.at, end, size, &cut))
			return FORMAT_NO;
		if (!cut)
			c.at += size;
	}
	if (!packets)
		return FORMAT_NO;
	if (packets > 1 || (cut && size > 16))
		return FORMAT_YES;
	return !cut && size && is_binary((const uint8_t *)head + 1, end) ? FORMAT_YES : FORMAT_MAYBE;
}

/* ---- reading --------------------------------------------------------------- */

static void set_sched(struct sched_text *to, const struct pf_ftrace_event *e)
{
	static const uint8_t marks[PF_MARK_CNT] = {
		[PF_MARK_START] = FIXED_START, [PF_MARK_STOP] = FIXED_STOP, [PF_MARK_GAP] = FIXED_GAP,
		[PF_MARK_FILTER] = FIXED_FILTER, [PF_MARK_STATE] = FIXED_STATE, [PF_MARK_FILTERED] = FIXED_FILTERED,
		[PF_MARK_IMPLIED] = FIXED_IMPLIED,
	};

	to->prev_comm = e->sched.prev_comm;
	to->next_comm = e->sched.comm;
	to->state = e->sched.state;
	to->prev_tid = e->sched.prev_tid;
	to->next_tid = e->sched.tid;
	to->prev_prio = e->sched.prev_prio;
	to->next_prio = e->sched.prio;
	to->cpu = e->sched.cpu;
	to->mark = marks[e->sched.mark];
}

/* A pf_ftrace_fn. */
static int add_ftrace(void *ctx, const struct pf_ftrace_event *e)
{
	static const enum ftrace_kind kinds[] = {
		[PF_FTRACE_EVENT] = FTRACE_EVENT, [PF_FTRACE_SWITCH] = FTRACE_EVENT, [PF_FTRACE_WAKEUP] = FTRACE_EVENT,
		[PF_FTRACE_LOST] = FTRACE_LOST, [PF_FTRACE_MARKER] = FTRACE_MARKER,
	};
	struct perfetto_input *in = ctx;
	struct ftrace_event *ev = &in->event;

	ev->kind = kinds[e->kind];
	ev->ts = e->ts_ns;
	ev->cpu = e->cpu;
	ev->tid = e->tid;
	ev->in_irq = e->in_irq;
	ev->recorded = e->recorded;
	ev->system = e->system;
	ev->name = e->name;
	ev->args = e->args;
	ev->sched = NULL;
	if (e->kind == PF_FTRACE_SWITCH || e->kind == PF_FTRACE_WAKEUP) {
		set_sched(&in->sched, e);
		ev->sched = &in->sched;
	}
	return ftrace_import_add(in->import, ev);
}

static void perfetto_close(void *reader)
{
	struct perfetto_input *in = reader;

	if (!in)
		return;
	pf_reader_close(in->reader);
	ftrace_import_close(in->import);
	free(in);
}

static int perfetto_open(void **reader, const struct reader_cfg *cfg)
{
	struct perfetto_input *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return -ENOMEM;
	err = pf_reader_open(&in->reader, cfg->read, cfg->read_ctx, cfg->builder);
	err = err ? err : ftrace_import_open(&in->import, cfg->builder);
	if (err) {
		perfetto_close(in);
		return err;
	}
	in->event = (struct ftrace_event){
		.clock = MODEL_CLOCK_NS, .tgid = FTRACE_ID_UNKNOWN, .complete = true, .comm = { "", 0 },
	};
	in->sched.success = 1;
	pf_reader_set_ftrace(in->reader, add_ftrace, in);
	*reader = in;
	return 0;
}

static int perfetto_read(void *reader)
{
	struct perfetto_input *in = reader;
	int more = pf_reader_read(in->reader);

	return more ? more : ftrace_import_end(in->import);
}

/* ---- counts ---------------------------------------------------------------- */

static uint64_t count_dropped(const struct pf_counts *c)
{
	uint64_t sum = 0;
	int i;

	for (i = PF_FIRST_DROPPED; i < PF_FATES; i++)
		sum += c->fates[i];
	return sum;
}

static uint64_t sum_of(const struct pf_tally *t)
{
	uint64_t sum = t->others;
	unsigned int i;

	for (i = 0; i < t->cnt; i++)
		sum += t->of[i].times;
	return sum;
}

/* "3 packets of unknown fields 33, 1999", with as many as there is space for; where the text ends then. */
static char *add_fields(char *text, size_t size, uint64_t cnt, const char *one, const char *many, const struct pf_tally *t)
{
	static const char more[] = ", ...";
	char number[16];
	unsigned int i;
	size_t n;

	n = (size_t)snprintf(text, size, "%" PRIu64 " %s%s", cnt, cnt == 1 ? one : many, t->cnt == 1 ? "" : "s");
	for (i = 0; i < t->cnt; i++) {
		snprintf(number, sizeof(number), "%s %u", i ? "," : "", t->of[i].number);
		if (n + strlen(number) + sizeof(more) > size) {
			memcpy(text + n, more, sizeof(more));
			return text + n + sizeof(more) - 1;
		}
		n += (size_t)snprintf(text + n, size - n, "%s", number);
	}
	return text + n;
}

static void note_left_out(struct reader_counts *counts, const struct pf_counts *c)
{
	const uint64_t packets = c->fates[PF_UNKNOWN], values = sum_of(&c->event_fields);
	const size_t size = sizeof(counts->left_out);
	char *text = counts->left_out;

	if (packets)
		text = add_fields(text, values ? size / 2 : size, packets, "packet of unknown field", "packets of unknown field",
				  &c->by_field);
	if (packets && values)
		text = stpcpy(text, ", ");
	if (values)
		add_fields(text, size - (size_t)(text - counts->left_out), values, "value of unknown event field",
			   "values of unknown event field", &c->event_fields);
}

static void perfetto_counts(const void *reader, struct reader_counts *counts)
{
	const struct perfetto_input *in = reader;
	struct pf_counts c;
	unsigned int i;

	pf_reader_counts(in->reader, &c);
	*counts = (struct reader_counts){
		.wrapper = "Perfetto packets", .bytes = c.bytes, .records = c.handed_on,
		.lost_notices = c.lost_packets + c.ftrace_losses + c.buffer_losses, .lost_events = c.lost_samples + c.lost_ftrace + c.lost_lines,
		.damaged = c.damaged,
		.unparsed = count_dropped(&c) + c.ftrace_dropped + c.bad_compact + c.ids_dropped + c.strings_dropped +
			    c.extras_dropped,
	};
	note_left_out(counts, &c);
	for (i = 0; i < c.first_cnt && i < READER_UNPARSED_KEPT; i++) {
		counts->first_unparsed[i].line = c.first[i].packet;
		counts->first_unparsed[i].reason = c.first[i].reason;
	}
	if (c.first_cnt) {
		counts->problem = c.first[0].reason;
		counts->problem_offset = c.first[0].offset;
	}
}

static void put_tally(struct json *j, const char *key, const struct pf_tally *t)
{
	char number[16];
	unsigned int i;

	json_key(j, key);
	json_object(j);
	for (i = 0; i < t->cnt; i++) {
		snprintf(number, sizeof(number), "%u", t->of[i].number);
		json_key_u64(j, number, t->of[i].times);
	}
	if (t->others)
		json_key_u64(j, "others", t->others);
	json_end(j);
}

static void put_dropped(struct json *j, const struct pf_counts *c)
{
	unsigned int i;

	json_key(j, "dropped");
	json_object(j);
	for (i = PF_FIRST_DROPPED; i < PF_FATES; i++)
		if (c->fates[i])
			json_key_u64(j, pf_fate_name((enum pf_fate)i), c->fates[i]);
	json_end(j);
	json_key(j, "first_dropped");
	json_array(j);
	for (i = 0; i < c->first_cnt; i++) {
		json_object(j);
		json_key_u64(j, "offset", c->first[i].offset);
		json_key_u64(j, "packet", c->first[i].packet);
		json_key_text(j, "reason", c->first[i].reason);
		json_end(j);
	}
	json_end(j);
}

static void perfetto_stats(const void *reader, struct json *j)
{
	const struct perfetto_input *in = reader;
	struct pf_counts c;

	pf_reader_counts(in->reader, &c);
	json_key_u64(j, "packets", c.packets);
	json_key_u64(j, "packets_used", c.fates[PF_USED]);
	json_key_u64(j, "packets_of_state", c.fates[PF_EMPTY]);
	json_key_u64(j, "packets_skipped", c.fates[PF_SKIPPED]);
	json_key_u64(j, "packets_unknown", c.fates[PF_UNKNOWN]);
	json_key_u64(j, "compressed", c.compressed);
	json_key_u64(j, "damaged_stretches", c.damaged);
	put_dropped(j, &c);
	put_tally(j, "unknown_packets", &c.by_field);
	put_tally(j, "unknown_event_fields", &c.event_fields);
	put_tally(j, "unknown_ftrace_events", &c.ftrace_unknown);
	json_key_u64(j, "handed_on", c.handed_on);
	json_key_u64(j, "sequences", c.sequences);
	json_key_u64(j, "packets_lost_before", c.lost_packets);
	json_key_u64(j, "unknown_ids", c.unknown_ids);
	json_key_u64(j, "ids_dropped", c.ids_dropped);
	json_key_u64(j, "strings_dropped", c.strings_dropped);
	json_key_u64(j, "extra_values_dropped", c.extras_dropped);
	json_key_u64(j, "bad_arguments", c.bad_args);
	json_key_u64(j, "cut_strings", c.cut_strings);
	json_key_u64(j, "clock_snapshots", c.snapshots);
	json_key_u64(j, "refused_snapshots", c.refused_snapshots);
	json_key_u64(j, "clock_steps", c.clock_steps);
	json_key_u64(j, "ftrace_events", c.ftrace_events);
	json_key_u64(j, "ftrace_dropped", c.ftrace_dropped);
	json_key_u64(j, "ftrace_losses", c.ftrace_losses);
	json_key_u64(j, "bad_compact", c.bad_compact);
	json_key_u64(j, "samples", c.samples);
	json_key_u64(j, "lost_samples", c.lost_samples);
	json_key_u64(j, "buffer_losses", c.buffer_losses);
	json_key_u64(j, "lost_ftrace_events", c.lost_ftrace);
	json_key_u64(j, "lost_lines", c.lost_lines);
	json_key_u64(j, "sorted_runs", c.runs);
}

const struct reader_ops perfetto_reader = {
	.name = "perfetto",
	.about = "a Perfetto trace",
	.forms = forms,
	.suffixes = suffixes,
	.sniff = perfetto_sniff,
	.open = perfetto_open,
	.read = perfetto_read,
	.counts = perfetto_counts,
	.stats = perfetto_stats,
	.close = perfetto_close,
};
