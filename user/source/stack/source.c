// SPDX-License-Identifier: GPL-2.0
/*
 * Stack samples as a source. They are chosen by options of their own, so the command opens and closes
 * them: stack.h.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi/ids.h"
#include "capture/source.h"
#include "elf/mapped_file.h"
#include "frames.h"
#include "kernel/pid_namespace.h"
#include "profile/profile.h"
#include "source/table.h"
#include "stack_p.h"

#define NS_PER_SECOND	1000000000ULL
#define WAKER_TEXT	64

/* ---- life --------------------------------------------------------------------------------- */

int stack_source_open(struct stack_source **out, const struct stack_cfg *cfg, char *why, size_t size)
{
	const uint64_t period = !cfg->hz ? 0 : (cfg->cycles ? stack_cycles_hz() : NS_PER_SECOND) / cfg->hz;
	const int fd = cfg->hz ? stack_event_open(0, cfg->cycles, period) : 0;
	struct stack_source *s;

	if (fd < 0) {
		snprintf(why, size, "--sample%s: %s", cfg->cycles ? "=cycles" : "",
			 fd == -ENOENT || fd == -EOPNOTSUPP ? "this machine does not count cycles (without \"cycles\" a timer is used)" :
			 strerror(-fd));
		return -ENOTSUP;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		if (cfg->hz)
			close(fd);
		return -ENOMEM;
	}
	s->cfg = *cfg;
	s->tried_fd = cfg->hz ? fd : -1;
	s->period = period;
	s->via = STACK_VIA_CNT;
	s->asleep_fd = -1;
	*out = s;
	return 0;
}

enum stack_via stack_source_via(const struct stack_source *s)
{
	return s->via;
}

bool stack_source_is_partial(const struct stack_source *s)
{
	return s->via == STACK_VIA_SWITCH && s->cfg.user != STACK_NO_USER;
}

/* Mappings would be those of other processes. */
bool stack_source_lacks_user(const struct stack_source *s)
{
	return s->cfg.user != STACK_NO_USER && !pid_namespace_is_initial();
}

void stack_source_counts(const struct stack_source *s, struct stack_counts *counts)
{
	struct stack_frames_counts frames = { 0 };

	if (s->frames)
		stack_frames_counts(s->frames, &frames);
	*counts = s->counts;
	counts->whole = frames.verdicts[UNWIND_WHOLE];
	counts->cut = frames.verdicts[UNWIND_CUT];
	counts->unmapped = frames.verdicts[UNWIND_UNMAPPED];
	counts->no_rule = frames.verdicts[UNWIND_NO_RULE];
	counts->unreadable = frames.unreadable;
	counts->maps_lost = frames.maps_lost;
	counts->maps_refused = frames.maps_refused;
	counts->events_err = frames.events_err;
}

void stack_source_close(struct stack_source *s)
{
	if (!s)
		return;
	stack_programs_detach(s);
	profile_writer_close(s->profile);
	stack_frames_close(s->frames);
	if (s->tried_fd >= 0)
		close(s->tried_fd);
	if (s->ctls)
		munmap(s->ctls, s->ctls_bytes);
	if (s->rings)
		munmap(s->rings, s->rings_bytes);
	free(s->ring);
	free(s->events);
	free(s);
}

/* ---- operations --------------------------------------------------------------------------- */

static int prepare_stacks(void *s, struct source_ctx *c)
{
	return stack_programs_prepare(s, c);
}

static int load_stacks(void *s, struct source_ctx *c)
{
	return stack_programs_load(s, c);
}

/* Perf events are opened before the process is there that closes them last. */
static int attach_stacks(void *state, struct source_ctx *c, const char **which)
{
	struct stack_source *s = state;
	int err = stack_programs_attach(s, c, which);

	if (err)
		return err;
	*which = "opening what reports mappings";
	return stack_frames_open(&s->frames, stack_source_lacks_user(s) ? STACK_NO_USER : s->cfg.user);
}

/* By which mechanism; 0: none yet, else one more. */
static size_t share_mechanism(const void *state)
{
	const struct stack_source *s = state;

	return s->via == STACK_VIA_KPROBE ? sizeof(atomic_uint) : 0;
}

static int attach_sleeps(void *state, struct source_ctx *c, const char **which)
{
	struct stack_source *s = state;
	int err = stack_programs_attach_sleeps(s, c->skel, which);

	atomic_store((atomic_uint *)c->aside, s->via + 1);
	return err;
}

static void take_mechanism(void *state, const struct source_ctx *c)
{
	const unsigned int via = atomic_load((atomic_uint *)c->aside);
	struct stack_source *s = state;

	s->via = via ? via - 1 : s->via;
}

static int start_stacks(void **state, struct source_ctx *c)
{
	struct stack_source *s = *state;
	const struct profile_config cfg = {
		.period_ns = s->cfg.hz ? NS_PER_SECOND / s->cfg.hz : 0, .clock = s->cfg.cycles ? "cycles" : NULL,
	};
	int err = stack_frames_begin(s->frames);

	err = err ?: profile_writer_open(&s->profile, c->w, &cfg);
	stack_programs_start(s);
	return err;
}

static struct event_ring *ring_of(void *state, unsigned int i)
{
	struct stack_source *s = state;

	return s->ring ? &s->ring[i] : NULL;
}

static void count_row(const void *state, unsigned int i, struct ledger_row *row)
{
	const struct stack_source *s = state;
	const struct stack_ctl *ctl = &s->ctls[s->cpus[i]];
	const struct event_counts *cpu = &ctl->counts[STACK_CPU];
	/* Of idle time either the program of a sample or, where the timer does not run, that of a switch knows. */
	const struct stack_event *e = &s->events[i];
	const uint64_t run = cpu->seen + e->outside + (e->idle > ctl->idle ? e->idle - ctl->idle : 0);
	unsigned int kind;

	for (kind = 0; kind < STACK_KIND_CNT; kind++) {
		row->seen += ctl->counts[kind].seen;
		row->filtered += ctl->counts[kind].filtered;
		row->lost[LEDGER_RING_FULL] += ctl->counts[kind].lost;
		row->contended += ctl->counts[kind].contended;
	}
	row->idle += ctl->idle;
	if (e->due > run)
		row->lost[LEDGER_UNSAMPLED] += e->due - run;
}

static int read_mappings(void *state)
{
	struct stack_source *s = state;

	return stack_frames_read(s->frames);
}

/* Mappings of any process are read, and the files that are mapped. */
static uint64_t stack_capabilities(const void *state)
{
	const struct stack_source *s = state;

	return s->cfg.user == STACK_NO_USER ? 0 : MAPPED_FILES_CAPABILITIES;
}

/* What its counts say lies within the record. */
static bool is_whole(const uint64_t *rec)
{
	const uint64_t kernel = FXT_GET(rec[STACK_COUNTS], STACK_F_KERNEL), fp = FXT_GET(rec[STACK_COUNTS], STACK_F_FP);
	const uint64_t bytes = FXT_GET(rec[STACK_COUNTS], STACK_F_BYTES);
	const uint64_t returns = FXT_GET(rec[STACK_COUNTS], STACK_F_RETURNS);

	return FXT_GET(rec[STACK_WHAT], STACK_F_KIND) < STACK_KIND_CNT && kernel <= STACK_FRAMES_MAX &&
	       fp <= STACK_FRAMES_MAX && returns <= STACK_RETURNS_MAX && bytes <= STACK_COPY_MAX &&
	       STACK_WORDS + kernel + fp + 2 * returns + (bytes + 7) / 8 <= FXT_GET(*rec, FXT_F_SIZE);
}

static void reverse(struct profile_frame *frames, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < cnt / 2; i++) {
		const struct profile_frame frame = frames[i];

		frames[i] = frames[cnt - 1 - i];
		frames[cnt - 1 - i] = frame;
	}
}

/* The outermost frame of a waker's sample: who it is. */
static void name_waker(const uint64_t *rec, char text[WAKER_TEXT], struct profile_frame *frame)
{
	const uint32_t tid = rec[RAW_THREAD] % ID_GENERATION_STEP;
	const bool interrupt = FXT_GET(rec[STACK_WHAT], STACK_F_FLAGS) & STACK_INTERRUPT;

	if (interrupt)
		snprintf(text, WAKER_TEXT, "woken by an interrupt");
	else
		snprintf(text, WAKER_TEXT, "woken by %.*s %u", STACK_COMM_WORDS * 8, (const char *)(rec + STACK_COMM), tid);
	*frame = (struct profile_frame){ .name = fxt_str(text), .mapping = fxt_str("waker") };
}

/* The sample of a waker is one of the thread that was woken. */
static int decode(void *state, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	static const enum profile_source sources[STACK_KIND_CNT] = {
		[STACK_CPU] = PROFILE_CPU, [STACK_OFF_CPU] = PROFILE_OFF_CPU, [STACK_WAKER] = PROFILE_WAKER,
	};
	const unsigned int kind = FXT_GET(rec[STACK_WHAT], STACK_F_KIND);
	const bool waker = kind == STACK_WAKER;
	struct profile_frame frames[FRAMES_MAX + 1];
	char name[WAKER_TEXT];
	struct profile_sample sample = {
		.ts = rec[RAW_TS], .cpu = FXT_GET(rec[STACK_WHAT], STACK_F_CPU), .weight = rec[STACK_WEIGHT],
		.process = rec[waker ? STACK_OTHER_PROCESS : RAW_PROCESS], .thread = rec[waker ? STACK_OTHER : RAW_THREAD],
		.user_mode = FXT_GET(rec[STACK_WHAT], STACK_F_FLAGS) & STACK_USER_MODE, .frames = frames,
	};
	struct stack_source *s = state;
	int err;

	(void)c;
	if (!s->profile || !is_whole(rec))
		return -EINVAL;
	sample.source = sources[kind];
	sample.frames_cnt = stack_frames_of(s->frames, rec, frames);
	if (waker)
		name_waker(rec, name, &frames[sample.frames_cnt++]);
	if (FXT_GET(rec[STACK_WHAT], STACK_F_FLAGS) & STACK_THROUGHOUT)
		frames[sample.frames_cnt++] = (struct profile_frame){ .name = fxt_str("[asleep throughout]") };
	reverse(frames, sample.frames_cnt);
	s->counts.by_kind[kind]++;
	err = profile_writer_add(s->profile, &sample);
	*written = !err;
	return err;
}

/* A thread that is asleep when the recording stops. */
static int take_asleep(struct stack_source *s, struct source_ctx *c, uint64_t *rec, uint64_t stop_ns)
{
	const uint64_t since = rec[RAW_TS] ?: c->start_ns;
	unsigned int written;

	if (stop_ns < since || stop_ns - since < s->cfg.off_cpu_ns)
		return 0;
	if (!rec[RAW_TS])
		rec[STACK_WHAT] |= FXT_PUT(STACK_THROUGHOUT, STACK_F_FLAGS);
	rec[RAW_TS] = since;
	rec[STACK_WEIGHT] = stop_ns - since;
	s->asleep++;
	return decode(s, c, rec, &written);
}

/* What the kernel hands out ends anywhere in a record. */
static int read_asleep(struct stack_source *s, struct source_ctx *c, uint64_t stop_ns)
{
	uint64_t buf[4 * STACK_ASLEEP_WORDS_MAX], words;
	size_t have = 0, at;
	ssize_t got;
	int err = 0;

	if (s->asleep_fd < 0)
		return 0;
	do {
		got = read(s->asleep_fd, (char *)buf + have, sizeof(buf) - have);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		have += got > 0 ? (size_t)got : 0;
		for (at = 0; !err && have - at >= sizeof(*buf); at += words * 8) {
			words = FXT_GET(buf[at / 8], FXT_F_SIZE);
			if (words < STACK_WORDS || words > STACK_ASLEEP_WORDS_MAX)
				return -EINVAL;
			if (words * 8 > have - at)
				break;
			err = take_asleep(s, c, buf + at / 8, stop_ns);
		}
		have -= at;
		memmove(buf, (char *)buf + at, have);
	} while (got && !err);
	return err;
}

static int poll_stacks(void *state, struct source_ctx *c, uint64_t now_ns, bool final)
{
	struct stack_source *s = state;
	int err = final ? read_asleep(s, c, now_ns) : 0;

	return err ?: profile_writer_flush(s->profile);
}

/* Those that no CPU counted. */
static void count_asleep(const void *state, const struct source_ctx *c, struct source_counts *counts)
{
	const struct stack_source *s = state;

	(void)c;
	counts->taken += s->asleep;
	counts->records += s->asleep;
}

static void stop_stacks(void *state, struct source_ctx *c)
{
	stack_programs_stop(state, c);
}

static void detach_stacks(void *state, struct source_ctx *c)
{
	(void)c;
	stack_programs_detach(state);
}

const struct source_ops source_stack = {
	.class = LEDGER_SAMPLES, .raw_words_min = STACK_WORDS, .few_records = true,
	.many = "samples", .typical_ns = 3000,
	.programs = { "on_sample", "on_sched_exit_tp", "on_finish_task_switch", "on_switch_sleep", "on_waking_sleep",
		      "record_asleep" },
	.maps = { "stack_rings", "stack_ctls", "stamps", "asleep_records" },
	.features = stack_features, .options = stack_options, .capabilities = stack_capabilities,
	.prepare = prepare_stacks, .loaded = load_stacks, .attach = attach_stacks,
	.aside = share_mechanism, .attach_aside = attach_sleeps, .take_aside = take_mechanism, .start = start_stacks,
	.ring = ring_of, .row = count_row, .after_look = read_mappings, .decode = decode, .poll = poll_stacks, .count = count_asleep,
	.stop = stop_stacks, .detach = detach_stacks,
};
