// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of perf: a sample has how much of its event was counted on that CPU so far, and of other events that are
 * read with it. Defaults of the sequence say which they are.
 */
#include "reader_p.h"

#define NAME_BYTES	1000

enum { TRACEPOINT_NAME = 1 };
enum { RAW_TYPE = 1, RAW_CONFIG = 2, RAW_CONFIG_1 = 3, RAW_CONFIG_2 = 4 };

/* Which fields of a message that describes a counter have its parts. */
struct counter_fields {
	uint8_t counter, tracepoint, raw, modifiers, name;
};

static const char *const counter_names[] = {
	[1] = "cpu-clock", "page-faults", "task-clock", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
	"alignment-faults", "emulation-faults", "cpu-cycles", "instructions", "cache-references", "cache-misses",
	"branch-instructions", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	"ref-cycles", "dummy",
};

static const char *counter_name(uint64_t number)
{
	return number && number < sizeof(counter_names) / sizeof(counter_names[0]) ? counter_names[number] : "unknown";
}

/* ---- names ----------------------------------------------------------------- */

static void add_raw(struct pf_reader *r, struct pf_cursor m)
{
	static const uint32_t fields[] = { RAW_TYPE, RAW_CONFIG, RAW_CONFIG_1, RAW_CONFIG_2 };
	struct pf_field f;
	size_t i;

	pf_text_print(r, "raw");
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		pf_find(m, fields[i], PF_VARINT, &f);
		pf_text_print(r, ".0x%llx", (unsigned long long)f.value);
	}
}

/* As perf(1) names events, unless it has a name of its own. */
static void add_name(struct pf_reader *r, struct pf_cursor m, const struct counter_fields *at)
{
	struct pf_field f;

	if (pf_find(m, at->name, PF_BYTES, &f) && f.len) {
		pf_text_add(r, f.data, f.len);
	} else if (pf_find(m, at->tracepoint, PF_BYTES, &f)) {
		pf_find(pf_inner(&f), TRACEPOINT_NAME, PF_BYTES, &f);
		pf_text_add(r, f.data, f.len);
	} else if (pf_find(m, at->raw, PF_BYTES, &f)) {
		add_raw(r, pf_inner(&f));
	} else {
		pf_find(m, at->counter, PF_VARINT, &f);
		pf_text_print(r, "%s", counter_name(f.value));
	}
}

/* ":u" of user space, k of the kernel, h of a hypervisor. */
static void add_modifiers(struct pf_reader *r, struct pf_cursor m, const struct counter_fields *at)
{
	static const char letters[] = "ukh";
	struct pf_field f;
	bool any = false;

	while (pf_next(&m, &f) > 0) {
		if (!pf_is(&f, at->modifiers, PF_VARINT) || !f.value || f.value >= sizeof(letters))
			continue;
		pf_text_print(r, "%s%c", any ? "" : ":", letters[f.value - 1]);
		any = true;
	}
}

/* Values of those that there is no space for are counted when they come. */
static void take_counter(struct pf_reader *r, struct pf_sequence *q, struct pf_cursor m, const struct counter_fields *at)
{
	if (q->perf_cnt == PF_PERF_COUNTERS_MAX)
		return;
	pf_text_clear(r);
	add_name(r, m, at);
	add_modifiers(r, m, at);
	q->perf_names[q->perf_cnt++] = pf_string(r, r->text, pf_cut_len(r, r->text, r->text_len, NAME_BYTES));
}

void pf_perf_defaults(struct pf_reader *r, struct pf_sequence *q, struct pf_cursor defaults)
{
	static const struct counter_fields timebase = { .counter = 4, .tracepoint = 3, .raw = 5, .modifiers = 12, .name = 10 };
	static const struct counter_fields follower = { .counter = 1, .tracepoint = 2, .raw = 3, .modifiers = 5, .name = 4 };
	struct pf_cursor m;
	struct pf_field f;

	if (!pf_find(defaults, PF_DEFAULTS_PERF_SAMPLE, PF_BYTES, &f))
		return;
	m = pf_inner(&f);
	pf_find(m, PF_SAMPLE_DEFAULTS_TIMEBASE, PF_BYTES, &f);
	take_counter(r, q, pf_inner(&f), &timebase);
	while (pf_next(&m, &f) > 0)
		if (pf_is(&f, PF_SAMPLE_DEFAULTS_FOLLOWERS, PF_BYTES))
			take_counter(r, q, pf_inner(&f), &follower);
}

/* ---- values ---------------------------------------------------------------- */

/* Without defaults it is the clock of the CPU. */
static int put_value(struct pf_reader *r, const struct pf_sequence *q, int32_t cpu, size_t i, uint64_t value)
{
	const struct fxt_str name = i < q->perf_cnt ? pf_pool_str(&r->pool, q->perf_names[i]) : fxt_str(counter_name(1));

	if (i && i >= q->perf_cnt) {
		pf_drop_extra(r, r->packet_number, r->packet_offset);
		return 0;
	}
	pf_text_clear(r);
	if (cpu >= 0)
		pf_text_print(r, "cpu%d.", cpu);
	pf_text_print(r, "perf.");
	pf_text_add(r, name.data, name.len);
	return pf_put_counter(r, PF_PIECE_COUNTER, value);
}

/* @i is the next follower. */
static int put_followers(struct pf_reader *r, const struct pf_sequence *q, int32_t cpu, const struct pf_field *f, size_t *i)
{
	uint64_t values[PF_PERF_COUNTERS_MAX];
	size_t cnt = pf_numbers(f, PF_VARINT, values, 0, PF_PERF_COUNTERS_MAX), all = pf_numbers_cnt(f, PF_VARINT), at;
	int err = 0;

	for (at = 0; at < cnt && !err; at++)
		err = put_value(r, q, cpu, (*i)++, values[at]);
	for (; at < all; at++)
		pf_drop_extra(r, r->packet_number, r->packet_offset);
	return err;
}

int pf_perf_counts(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor m, int32_t cpu)
{
	struct pf_record head = { .kind = PF_RECORD_COUNTER };
	size_t follower = 1;
	struct pf_field f;
	int err;

	/* Each sequence is a session: what it counts is another counter, also if it has the same name. */
	if (!p->q->perf_session)
		p->q->perf_session = ++r->perf_sessions;
	head.id = p->q->perf_session - 1;
	err = pf_record_begin(r, &head, sizeof(head));
	while (!err && pf_next(&m, &f) > 0) {
		if (pf_is(&f, PF_SAMPLE_COUNT, PF_VARINT))
			err = put_value(r, p->q, cpu, 0, f.value);
		else if (f.number == PF_SAMPLE_FOLLOWERS)
			err = put_followers(r, p->q, cpu, &f, &follower);
	}
	return err ? err : pf_emit_packet(r, p, PF_RANK_OTHER);
}
