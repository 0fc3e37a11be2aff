// SPDX-License-Identifier: GPL-2.0
/*
 * The builder's life: its clock and CPUs, the records that it writes, and what there was no
 * reason to write before the end.
 */
#include "builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"
#include "profile/profile.h"
#include "sched.h"

#define PROVIDER	1

static const char *const fixed_strings[] = {
	[FIXED_OUTGOING_WEIGHT] = "outgoing_weight", [FIXED_INCOMING_WEIGHT] = "incoming_weight",
	[FIXED_WEIGHT] = "weight", [FIXED_WAKER] = "waker", [FIXED_LINUX_STATE] = "linux_state",
	[FIXED_MARK] = "mark", [FIXED_START] = "start", [FIXED_STOP] = "stop", [FIXED_GAP] = "gap",
	[FIXED_IMPLIED] = "implied", [FIXED_STACK] = "stack", [FIXED_USER_STACK] = "user_stack",
	[FIXED_FILTER] = "filter", [FIXED_STATE] = "state", [FIXED_FILTERED] = "filtered",
};

struct fxt_str build_str(struct builder *b, struct model_text text)
{
	b->stats.names_cut += text.len > NAME_BYTES_MAX;
	/* What is long does not come again. */
	return text.len > 200 ? fxt_str_inline(text.data, text_cut(text.data, text.len, NAME_BYTES_MAX)) :
				fxt_str_n(text.data, text.len);
}

/* ---- time ------------------------------------------------------------------ */

uint64_t build_ns_of_ticks(const struct builder *b, uint64_t ts)
{
	unsigned __int128 ns = (unsigned __int128)ts * 1000000000 / (b->ticks_per_second ? b->ticks_per_second : 1);

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t build_rate(const struct builder *b, enum model_clock clock)
{
	if (clock != MODEL_CLOCK_TICKS || !b->cfg.ticks_per_second)
		return 1000000000;
	return b->cfg.ticks_per_second;
}

/* Each clock is a provider: readers keep ticks per second by provider. */
int build_set_provider(struct builder *b, enum model_clock clock)
{
	int err;

	b->ticks_per_second = build_rate(b, clock);
	if (b->providers[clock])
		return fxt_write_provider_section(b->w, b->providers[clock]);
	b->providers[clock] = PROVIDER + b->providers_cnt++;
	err = b->providers[clock] == PROVIDER ? 0 :
	      fxt_write_provider_info(b->w, b->providers[clock], fxt_str(b->cfg.source));
	return err ? err : fxt_write_initialization(b->w, b->ticks_per_second);
}

int build_set_clock(struct builder *b, enum model_clock clock)
{
	int err = 0;

	if (b->clock != MODEL_CLOCK_NONE)
		err = build_end_trace(b);
	if (!err)
		err = build_set_provider(b, clock);
	b->clock = clock;
	b->now = 0;
	/* Their times are of the other clock. */
	if (b->implied_cnt)
		b->unsafe_wakes = true;
	return err;
}

/* ---- CPU and thread -------------------------------------------------------- */

struct cpu *build_new_cpu(struct builder *b, int32_t nr)
{
	struct cpu *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->nr = (uint16_t)nr;
	if (c->nr >= b->cpus_cnt)
		b->cpus_cnt = c->nr + 1U;
	b->cpus[nr] = c;
	return c;
}

int build_end_tracks(struct builder *b, struct cpu *c)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < PSEUDO_CNT && !err; i++)
		err = slices_close(b, c->tracks[i]);
	return err;
}

void build_count(struct builder *b, int out, unsigned int times)
{
	if (out == OUT_UNMATCHED) {
		b->stats.unmatched_ends++;
		out = OUT_INSTANT;
	}
	b->outcomes[out] += times;
	b->stats.records += times;
}

int build_end_trace(struct builder *b)
{
	int err = sched_stop(b);
	size_t i;

	for (i = 0; i < b->threads_cnt && !err; i++) {
		err = slices_close(b, b->threads[i]->track);
		if (!err)
			err = slices_close(b, b->threads[i]->markers);
	}
	for (i = 0; i < b->cpus_cnt && !err; i++)
		if (b->cpus[i])
			err = build_end_tracks(b, b->cpus[i]);
	if (!err)
		err = build_end_tracks(b, b->no_cpu);
	if (!err)
		err = asyncs_close(b);
	sched_reset(b);
	return err;
}

/* ---- writing --------------------------------------------------------------- */

#define STACK_BYTES_MAX	6000U

bool build_take_stack(struct builder *b, unsigned int which, struct fxt_str *text)
{
	struct call_stacks *s = b->stacks;

	if (!s->has[which])
		return false;
	s->has[which] = false;
	*text = fxt_str_inline(s->text[which].data, s->text[which].len < STACK_BYTES_MAX ?
			       s->text[which].len : STACK_BYTES_MAX);
	b->outcomes[OUT_STACK]++;
	b->stats.records++;
	return true;
}

int build_event(struct builder *b, struct fxt_event *e, const struct fxt_arg *args, unsigned int n)
{
	struct fxt_arg all[FXT_ARGS_MAX];
	struct fxt_str text;
	unsigned int i;
	int err;

	if (b->stacks && (b->stacks->has[0] || b->stacks->has[1])) {
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

/* ---- pseudo processes and threads ------------------------------------------ */

static int write_object(struct builder *b, uint8_t kind, uint64_t koid, const char *name,
			const struct fxt_arg *arg)
{
	struct fxt_object o = { .id = koid, .kind = kind,
				.name = fxt_str_inline(name, strlen(name)) };

	return fxt_write_kernel_object(b->w, &o, arg, arg ? 1 : 0);
}

static int write_track(struct builder *b, const struct track *tr, const char *name)
{
	const struct fxt_arg process = fxt_arg_koid("process", tr->at.process);

	if (tr->at.process > PSEUDO_BASE)
		b->pseudo_used |= 1U << (tr->at.process - PSEUDO_BASE);
	return write_object(b, FXT_KOBJ_THREAD, tr->at.thread, name, &process);
}

static int write_pseudo_cpu(struct builder *b, const struct cpu *c)
{
	char name[32];
	unsigned int i;
	int err = 0;

	for (i = 0; i < PSEUDO_CNT && !err; i++) {
		pseudo_thread_name(i, c->nr, name, sizeof(name));
		if (c->nr == CPUS_MAX)
			snprintf(name, sizeof(name), "unknown CPU");
		if (c->tracks[i])
			err = write_track(b, c->tracks[i], name);
	}
	return err;
}

/* Only those that were used. */
static int write_pseudo(struct builder *b)
{
	const struct track counters = { .at = { PROCESS_COUNTERS, PROCESS_COUNTERS, false } };
	unsigned int i;
	int err = b->counted ? write_track(b, &counters, "counters") : 0;

	for (i = 0; i < b->cpus_cnt && !err; i++)
		if (b->cpus[i])
			err = write_pseudo_cpu(b, b->cpus[i]);
	if (!err)
		err = write_pseudo_cpu(b, b->no_cpu);
	for (i = 1; i < PSEUDO_PROCESSES && !err; i++)
		if (b->pseudo_used & 1U << i)
			err = write_object(b, FXT_KOBJ_PROCESS, PSEUDO_BASE + i, pseudo_process_name(PSEUDO_BASE + i),
					   NULL);
	return err;
}

/* ---- life ------------------------------------------------------------------ */

static int write_head(struct builder *b)
{
	unsigned int i;
	int err = fxt_write_magic(b->w);

	if (!err)
		err = fxt_write_provider_info(b->w, PROVIDER, fxt_str(b->cfg.source));
	for (i = 1; i < sizeof(fixed_strings) / sizeof(*fixed_strings) && !err; i++)
		err = fxt_write_string(b->w, (uint16_t)i, fxt_str(fixed_strings[i]));
	return err;
}

static int alloc(struct builder *b)
{
	b->cpus = calloc(CPUS_MAX, sizeof(struct cpu *));
	b->no_cpu = calloc(1, sizeof(*b->no_cpu));
	b->words = malloc(FXT_RECORD_WORDS_MAX * sizeof(*b->words));
	if (!b->cpus || !b->no_cpu || !b->words)
		return -ENOMEM;
	b->no_cpu->nr = CPUS_MAX;
	b->idle = thread_get(b, 0);
	if (!b->idle)
		return -ENOMEM;
	b->idle->koid = 0;
	b->idle->process = 0;
	return 0;
}

int builder_open(struct builder **out, struct fxt_writer *w, const struct builder_cfg *cfg)
{
	struct builder *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->w = w;
	b->cfg = *cfg;
	err = alloc(b);
	if (!err && cfg->source)
		err = write_head(b);
	if (err) {
		builder_close(b);
		return err;
	}
	*out = b;
	return 0;
}

void builder_set_source(struct builder *b, const char *name)
{
	if (b->providers_cnt || !b->cfg.source)
		return;
	b->cfg.source = name;
	b->recorded = true;
	b->providers_cnt = 1;	/* the first one is in the head, with the name of the reader */
}

int builder_track(struct builder *b, const struct model_track *spec, uint32_t *track)
{
	return tracks_find(b, spec, track);
}

int builder_add(struct builder *b, const struct model_event *ev)
{
	return play_add(b, ev);
}

int builder_end(struct builder *b)
{
	int err = build_end_trace(b);

	if (err || !b->cfg.source)
		return err;
	if (!b->ticks_per_second)
		err = build_set_provider(b, MODEL_CLOCK_NONE);
	if (!err && b->profile)
		err = profile_writer_flush(b->profile);
	if (!err)
		err = write_pseudo(b);
	return err ? err : threads_write(b);
}

void builder_stats(const struct builder *b, struct builder_stats *stats)
{
	*stats = b->stats;
	stats->switches = b->outcomes[OUT_SWITCH];
	stats->wakeups = b->outcomes[OUT_WAKEUP];
	stats->names = b->outcomes[OUT_NAME];
	stats->slices = b->outcomes[OUT_SLICE];
	stats->counters = b->outcomes[OUT_COUNTER];
	stats->instants = b->outcomes[OUT_INSTANT];
	stats->logs = b->outcomes[OUT_LOG];
	stats->stacks = b->outcomes[OUT_STACK];
	stats->no_op_wakes = b->outcomes[OUT_NO_OP];
	stats->duplicate_wakes = b->outcomes[OUT_DUPLICATE];
	stats->incomplete = b->outcomes[OUT_INCOMPLETE];
	stats->flows = b->outcomes[OUT_FLOW];
	stats->states = b->outcomes[OUT_STATE];
	stats->samples = b->outcomes[OUT_SAMPLE];
}

static void cpu_free(struct cpu *c)
{
	unsigned int i;

	for (i = 0; c && i < PSEUDO_CNT; i++)
		track_free(c->tracks[i]);
	free(c);
}

void builder_close(struct builder *b)
{
	unsigned int i;

	if (!b)
		return;
	for (i = 0; b->cpus && i < b->cpus_cnt; i++)
		cpu_free(b->cpus[i]);
	cpu_free(b->no_cpu);
	threads_fini(b);
	asyncs_fini(b);
	tracks_fini(b);
	id_table_fini(&b->flows);
	profile_writer_close(b->profile);
	free(b->begun_flows);
	free(b->nests);
	free(b->implied);
	free(b->cpus);
	free(b->words);
	free(b);
}
