// SPDX-License-Identifier: GPL-2.0
/*
 * Records that are rare enough for the reader: tables, names, what the recorder says, begins and ends of slices.
 */
#include "state_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(struct fxt_str s)
{
	char *copy = malloc(s.len + 1);

	if (!copy)
		return NULL;
	if (s.len)
		memcpy(copy, s.data, s.len);
	copy[s.len] = 0;
	return copy;
}

static bool str_is(struct fxt_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

/* ---- tables ------------------------------------------------------------------------------- */

/* With a provider its tables begin empty. */
static int take_provider(struct piece_state *s, const struct fxt_record *rec)
{
	char *name = copy_text(rec->provider.name);
	unsigned int i;

	if (!name)
		return -ENOMEM;
	free(s->provider_name);
	s->provider_name = name;
	s->provider = rec->provider.id;
	s->has_provider = true;
	for (i = 0; i < s->strings_end; i++) {
		free((char *)s->strings[i].data);
		s->strings[i].data = NULL;
		s->texts[i] = TEXT_OTHER;
	}
	s->strings_end = 0;
	memset(s->refs_known, 0, sizeof(s->refs_known));
	return 0;
}

static int take_string(struct piece_state *s, const struct fxt_record *rec)
{
	const unsigned int i = rec->string.index;
	char *copy = copy_text(rec->string.value);

	if (!copy)
		return -ENOMEM;
	free((char *)s->strings[i].data);
	s->strings[i] = fxt_str_n(copy, rec->string.value.len);
	s->texts[i] = (uint8_t)piece_text_of(copy, rec->string.value.len);
	if (i >= s->strings_end)
		s->strings_end = i + 1;
	return 0;
}

/* ---- names -------------------------------------------------------------------------------- */

static int take_object(struct piece_state *s, const struct fxt_record *rec)
{
	struct kept *k;

	if (rec->object.kind != FXT_KOBJ_PROCESS && rec->object.kind != FXT_KOBJ_THREAD)
		return 0;
	k = kept_copy(rec);
	if (!k)
		return -ENOMEM;
	return rec->object.kind == FXT_KOBJ_THREAD ? piece_name_thread(s, k) : piece_name_process(s, k);
}

/* ---- what the recorder says ----------------------------------------------------------------- */

static uint64_t number(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	if (arg && arg->type == FXT_ARG_UINT64)
		return arg->u64;
	return arg && arg->type == FXT_ARG_UINT32 ? arg->u32 : 0;
}

static int cpus_of(const struct fxt_record *rec, const char *name, struct num_cpus *cpus)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);
	char *text;

	if (!arg || arg->type != FXT_ARG_STRING)
		return 0;
	text = copy_text(arg->str);
	if (!text)
		return -ENOMEM;
	num_parse_cpus(text, cpus, NULL);
	free(text);
	return 0;
}

static void take_lost_names(struct piece_state *s, uint64_t lost, uint64_t unread)
{
	s->lost_names += lost;
	s->unread_names = unread;
}

static int take_start(struct piece_state *s, const struct fxt_record *rec)
{
	struct kept *k = kept_copy(rec);
	struct num_cpus online = { 0 };
	unsigned int i;
	int err;

	if (!k)
		return -ENOMEM;
	free(s->start);
	s->start = k;
	take_lost_names(s, number(rec, "lost_names"), number(rec, "lost_names"));
	err = cpus_of(rec, "cpus", &s->session_cpus);
	err = err ? err : cpus_of(rec, "online", &online);
	s->first_cpu = 0;
	while (s->first_cpu < PIECE_CPUS - 1 && !num_cpus_has(&s->session_cpus, s->first_cpu))
		s->first_cpu++;
	for (i = 0; i < PIECE_CPUS; i++) {
		if (num_cpus_has(&s->session_cpus, i) && i >= s->cpus_end)
			s->cpus_end = i + 1;
		s->partial |= num_cpus_has(&online, i) && !num_cpus_has(&s->session_cpus, i);
	}
	return err;
}

/* A slice where events were lost. That of a gap is between its marks. */
static int take_loss(struct piece_state *s, const struct fxt_record *rec)
{
	const uint64_t i = number(rec, "cpu");
	struct cpu *cpu;

	if (i >= PIECE_CPUS)
		return 0;
	cpu = &s->cpus[i];
	cpu->counts.lost_switches += number(rec, "switches");
	cpu->counts.lost_wakeups += number(rec, "wakeups");
	cpu->counts.unreported_switches += number(rec, "unreported");
	cpu->counts.lost_calls += number(rec, "calls");
	cpu->counts.lost_logs += number(rec, "logs");
	cpu->counts.lost_events += number(rec, "events");
	if (cpu->gap != GAP_BEGUN || !fxt_record_arg(rec, "unreported") || rec->ts != cpu->last_ns)
		return 0;
	cpu->gap = GAP_DRAWN;
	cpu->gap_to_ns = rec->event.id;
	cpu->gap_track = rec->event.thread;
	return 0;
}

static int take_event(struct piece_state *s, const struct fxt_record *rec)
{
	const struct fxt_event *e = &rec->event;

	if (e->type == FXT_INSTANT && str_is(e->category, "kfxt") && str_is(e->name, "start"))
		return take_start(s, rec);
	if (e->type == FXT_INSTANT && str_is(e->category, "kfxt") && str_is(e->name, "stop"))
		s->stop_ns = rec->ts;
	if (e->type == FXT_INSTANT && str_is(e->category, "kfxt") && str_is(e->name, "lost_names"))
		take_lost_names(s, number(rec, "lost"), number(rec, "unread"));
	if (e->type == FXT_DURATION_COMPLETE)
		return fxt_record_arg(rec, "cpu") ? take_loss(s, rec) : 0;
	return piece_slice_event(s, rec);
}

/* ------------------------------------------------------------------------------------------- */

static int take_record(struct piece_state *s, const struct fxt_record *rec)
{
	switch (rec->kind) {
	case FXT_KIND_PROVIDER_INFO:
		return take_provider(s, rec);
	case FXT_KIND_INITIALIZATION:
		s->ticks_per_second = rec->ticks_per_second;
		return 0;
	case FXT_KIND_STRING:
		return take_string(s, rec);
	case FXT_KIND_THREAD:
		s->refs[rec->thread.index] = rec->thread.value;
		s->refs_known[rec->thread.index] = true;
		return 0;
	case FXT_KIND_KERNEL_OBJECT:
		return take_object(s, rec);
	case FXT_KIND_EVENT:
		return take_event(s, rec);
	default:
		return 0;
	}
}

int piece_take_rare(struct piece_state *s, const uint64_t *rec, size_t words)
{
	struct fxt_record record;
	int ret, err = 0;

	s->input.data = (const char *)rec;
	s->input.len = words * 8;
	while ((ret = fxt_reader_next(s->reader, &record)) == 1)
		err = err ? err : take_record(s, &record);
	return err ? err : ret == -EAGAIN ? 0 : ret;
}
