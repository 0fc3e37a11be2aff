// SPDX-License-Identifier: GPL-2.0
/*
 * Which programs sample stacks, their rings, and where they are attached.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/abi/ids.h"
#include "bpf/abi/ring.h"
#include "capture/source.h"
#include "kernel/bpf_sys.h"
#include "kernel/btf.h"
#include "kfxt.skel.h"
#include "stack_p.h"

#define RING_BYTES_MIN	65536U	/* more than two samples */
#define NS_PER_SECOND	1000000000ULL
#define CLOCKS_DIFFER_NS	100000000ULL	/* the clock of perf events and that of the system, */
#define CLOCKS_DIFFER_PART	256		/* and this part of what has passed */

static unsigned int log2_of(uint64_t power_of_two)
{
	return 63 - __builtin_clzll(power_of_two);
}

/* ---- before loading ----------------------------------------------------------------------- */

static int size_rings(struct stack_source *s, struct kfxt_bpf *skel)
{
	const unsigned int shift = log2_of(s->cfg.ring_bytes > RING_BYTES_MIN ? s->cfg.ring_bytes : RING_BYTES_MIN);
	const unsigned int chunk_max = log2_of(RING_CHUNK_BYTES_MAX), chunk_shift = shift < chunk_max ? shift : chunk_max;
	const size_t chunk_bytes = (1UL << chunk_shift) + STACK_SLACK_BYTES;
	const int cpus = libbpf_num_possible_cpus();
	int err = cpus < 0 ? cpus : bpf_map__set_max_entries(skel->maps.stack_ctls, cpus);

	skel->rodata->cfg_stack_chunk_shift = chunk_shift;
	skel->rodata->cfg_stack_chunks_shift = shift - chunk_shift;
	skel->rodata->cfg_stack_wake_bytes = 1ULL << (shift - 2);
	s->ctls_bytes = cpus * sizeof(struct stack_ctl);
	s->rings_bytes = chunk_bytes * s->cpus_cnt << (shift - chunk_shift);
	err = err ?: bpf_map__set_max_entries(skel->maps.stack_rings, s->cpus_cnt << (shift - chunk_shift));
	return err ?: bpf_map__set_value_size(skel->maps.stack_rings, chunk_bytes);
}

/* What a sample may have. */
static void set_parts(const struct stack_cfg *cfg, struct kfxt_bpf *skel)
{
	const bool fp = cfg->user != STACK_NO_USER, copy = cfg->user == STACK_BY_RULES;

	skel->rodata->cfg_stack_kernel = !cfg->no_kernel;
	skel->rodata->cfg_stack_fp = fp;
	skel->rodata->cfg_stack_copy_bytes = copy ? cfg->copy_bytes : 0;
	/* Helpers are handed space for all frames there may be, even those whose part is empty. */
	skel->rodata->cfg_stack_words = STACK_WORDS + (!cfg->no_kernel + fp) * STACK_FRAMES_MAX +
					(copy ? 2 * STACK_RETURNS_MAX + cfg->copy_bytes / 8 : 0);
}

/* What is planned for sleeps: a kernel without the tracepoint has the others, the last one always. */
static void choose_programs(struct stack_source *s, struct kfxt_bpf *skel)
{
	const bool sleeps = s->cfg.off_cpu || s->cfg.wakers, off_cpu = s->cfg.off_cpu;
	const bool exit_tp = off_cpu && kernel_btf_has_tracepoint("sched_exit_tp", 1);

	s->via = !off_cpu ? STACK_VIA_CNT : exit_tp ? STACK_VIA_EXIT_TP : STACK_VIA_KPROBE;
	bpf_program__set_autoload(skel->progs.on_sched_switch, false);
	bpf_program__set_autoload(skel->progs.on_sched_switch_stamped, true);
	skel->rodata->cfg_stamps = sleeps;
	skel->rodata->cfg_idle = s->cfg.hz && !s->cfg.cycles;	/* cycles are not counted while a CPU is idle */
	bpf_program__set_autoload(skel->progs.on_sample, s->cfg.hz);
	bpf_program__set_autoload(skel->progs.on_sched_exit_tp, exit_tp);
	bpf_program__set_autoload(skel->progs.on_finish_task_switch, off_cpu && !exit_tp);
	bpf_program__set_autoload(skel->progs.on_switch_sleep, off_cpu && !exit_tp);
	bpf_program__set_autoload(skel->progs.on_waking_sleep, s->cfg.wakers);
	bpf_program__set_autoload(skel->progs.record_asleep, off_cpu && !s->cfg.no_kernel);
	/* By hand: after those of scheduling, and of two that do the same only one. */
	bpf_program__set_autoattach(skel->progs.on_sample, false);
	bpf_program__set_autoattach(skel->progs.on_sched_exit_tp, false);
	bpf_program__set_autoattach(skel->progs.on_finish_task_switch, false);
	bpf_program__set_autoattach(skel->progs.on_switch_sleep, false);
	bpf_program__set_autoattach(skel->progs.on_waking_sleep, false);
	bpf_program__set_autoattach(skel->progs.record_asleep, false);
}

int stack_programs_prepare(struct stack_source *s, struct source_ctx *c)
{
	struct kfxt_bpf *skel = c->skel;
	int err = 0;

	s->cpus = c->cpus;
	s->cpus_cnt = c->cpus_cnt;
	choose_programs(s, skel);
	set_parts(&s->cfg, skel);
	skel->rodata->cfg_off_cpu = s->cfg.off_cpu;
	skel->rodata->cfg_off_cpu_ns = s->cfg.off_cpu_ns;
	skel->rodata->cfg_stack_period_ns = s->cfg.hz ? NS_PER_SECOND / s->cfg.hz : 0;
	if (s->cfg.off_cpu || s->cfg.wakers)
		err = bpf_map__set_max_entries(skel->maps.stamps, IDS_MAX >> STAMPS_SHIFT);
	return err ?: size_rings(s, skel);
}

/* ---- after loading ------------------------------------------------------------------------ */

int stack_programs_load(struct stack_source *s, struct source_ctx *c)
{
	const uint32_t chunk_shift = c->skel->rodata->cfg_stack_chunk_shift;
	unsigned int i;

	s->ctls = bpf_call_map(c->skel->maps.stack_ctls, s->ctls_bytes, PROT_READ | PROT_WRITE);
	s->rings = bpf_call_map(c->skel->maps.stack_rings, s->rings_bytes, PROT_READ | PROT_WRITE);
	if (!s->ctls || !s->rings)
		return -errno;
	s->ring = calloc(s->cpus_cnt, sizeof(*s->ring));
	s->events = calloc(s->cpus_cnt, sizeof(*s->events));
	if (!s->ring || !s->events)
		return -ENOMEM;
	for (i = 0; i < s->cpus_cnt; i++) {
		struct stack_ctl *ctl = &s->ctls[s->cpus[i]];

		/* Until it has switched, or was sampled. */
		ctl->idle_since = clock_ns(CLOCK_BOOTTIME);
		s->events[i].fd = -1;
		s->ring[i] = (struct event_ring){
			.reserved = &ctl->head, .tail = &ctl->tail, .notified = &ctl->notified,
			.data = s->rings + s->rings_bytes / s->cpus_cnt * i, .chunk_shift = chunk_shift,
			.chunks = 1U << c->skel->rodata->cfg_stack_chunks_shift, .slack_bytes = STACK_SLACK_BYTES,
		};
	}
	return 0;
}

/* ---- attaching ---------------------------------------------------------------------------- */

static int attach(struct bpf_link **link, struct bpf_program *prog)
{
	*link = bpf_program__attach(prog);
	return *link ? 0 : -errno;
}

/* The link begins the event, and closes it. */
static int attach_event(struct stack_source *s, unsigned int i, struct bpf_program *prog)
{
	struct stack_event *e = &s->events[i];
	const int fd = stack_event_open(s->cpus[i], s->cfg.cycles, s->period);

	if (fd < 0)
		return fd;
	e->link = bpf_program__attach_perf_event(prog, fd);
	if (e->link)
		e->fd = fd;
	else
		close(fd);
	return e->link ? 0 : -errno;
}

static int attach_events(struct stack_source *s, struct kfxt_bpf *skel)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->cpus_cnt && !err; i++)
		err = attach_event(s, i, skel->progs.on_sample);
	return err;
}

/*
 * Sleeps, by the first mechanism that this kernel lets us attach. For a kprobe it takes locks of its tracers, one of which it
 * holds while it waits for a grace period.
 */
int stack_programs_attach_sleeps(struct stack_source *s, struct kfxt_bpf *skel, const char **which)
{
	const char *symbol = stack_finish_symbol();

	*which = "attaching to the end of switches";
	s->links[0] = symbol ? bpf_program__attach_kprobe(skel->progs.on_finish_task_switch, false, symbol) : NULL;
	if (s->links[0])
		return 0;
	s->via = STACK_VIA_SWITCH;
	return attach(&s->links[0], skel->progs.on_switch_sleep);
}

/* Opened now, while that is allowed, and read at the end. */
static int attach_iterator(struct stack_source *s, struct kfxt_bpf *skel)
{
	const int fd = bpf_call_iterate(skel->progs.record_asleep, &s->links[2]);

	s->asleep_fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

int stack_programs_attach(struct stack_source *s, struct source_ctx *c, const char **which)
{
	int err = 0;

	*which = "attaching to the end of switches";
	if (s->via == STACK_VIA_EXIT_TP)
		err = attach(&s->links[0], c->skel->progs.on_sched_exit_tp);
	if (!err && s->cfg.off_cpu && !s->cfg.no_kernel)
		err = attach_iterator(s, c->skel);
	if (err)
		return err;
	*which = "attaching to wakeups";
	if (s->cfg.wakers)
		err = attach(&s->links[1], c->skel->progs.on_waking_sleep);
	if (err)
		return err;
	*which = "opening the perf events of --sample";
	return s->cfg.hz ? attach_events(s, c->skel) : 0;
}

/* Until @now_ns; the program of a switch may be adding to it. */
static uint64_t idle_ns(const struct stack_ctl *ctl, uint64_t now_ns)
{
	uint64_t ended, since;

	do {
		ended = __atomic_load_n(&ctl->idle_ns, __ATOMIC_ACQUIRE);
		since = __atomic_load_n(&ctl->idle_since, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&ctl->idle_ns, __ATOMIC_RELAXED) != ended);
	return ended + (since && since < now_ns ? now_ns - since : 0);
}

static void read_event(const struct stack_source *s, unsigned int i, struct stack_reading *r)
{
	const struct stack_ctl *ctl = &s->ctls[s->cpus[i]];
	uint64_t values[2] = { 0 };

	if (read(s->events[i].fd, values, sizeof(values)) != sizeof(values))
		values[0] = values[1] = 0;
	r->count = values[0];
	r->enabled_ns = values[1];
	r->clock_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	r->idle_ns = idle_ns(ctl, clock_ns(CLOCK_BOOTTIME));
	r->outside = ctl->outside;
}

void stack_programs_start(struct stack_source *s)
{
	unsigned int i;

	for (i = 0; i < s->cpus_cnt; i++)
		if (s->events[i].fd >= 0)
			read_event(s, i, &s->events[i].start);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The event of a CPU that goes offline ends, and the kernel does not begin it again. */
static bool has_ended(const struct stack_reading *start, const struct stack_reading *end)
{
	const uint64_t passed_ns = less(end->clock_ns, start->clock_ns);

	return less(passed_ns, less(end->enabled_ns, start->enabled_ns)) > CLOCKS_DIFFER_NS + passed_ns / CLOCKS_DIFFER_PART;
}

/* ns, or cycles: how many there were after it had ended is not known. */
static uint64_t counted(const struct stack_source *s, const struct stack_event *e, const struct stack_reading *end, bool ended)
{
	return ended && !s->cfg.cycles ? less(end->clock_ns, e->start.clock_ns) : less(end->count, e->start.count);
}

/*
 * Since when a CPU has been offline that is, at the latest; 0: it is not, or since then counts as idle time anyway. Its last
 * switch, to the idle thread, is not reported.
 */
static uint64_t offline_since(const struct stack_source *s, const struct source_ctx *c, unsigned int i)
{
	if (!c->is_online_known || num_cpus_has(&c->online, s->cpus[i]) || s->ctls[s->cpus[i]].idle_since)
		return 0;
	return c->ctls[s->cpus[i]].last_ns;
}

/* More is not lost than what the time that was not idle comes to. */
void stack_programs_stop(struct stack_source *s, const struct source_ctx *c)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	uint64_t since_ns;
	unsigned int i;

	for (i = 0; s->events && i < s->cpus_cnt && !s->stopped; i++) {
		struct stack_event *e = &s->events[i];
		struct stack_reading end;
		bool ended;

		if (e->fd < 0)
			continue;
		ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);
		read_event(s, i, &end);
		ended = has_ended(&e->start, &end);
		s->counts.ended += ended;
		since_ns = ended ? offline_since(s, c, i) : 0;
		if (since_ns)
			end.idle_ns += less(now_ns, since_ns);
		e->due = counted(s, e, &end, ended) / s->period;
		if (!s->cfg.cycles)
			e->idle = less(end.idle_ns, e->start.idle_ns) / s->period;
		e->outside = end.outside - e->start.outside;
	}
	s->stopped = true;
}

void stack_programs_detach(struct stack_source *s)
{
	unsigned int i;

	for (i = 0; i < sizeof(s->links) / sizeof(s->links[0]); i++) {
		bpf_link__destroy(s->links[i]);
		s->links[i] = NULL;
	}
	if (s->asleep_fd >= 0)
		close(s->asleep_fd);
	s->asleep_fd = -1;
	for (i = 0; s->events && i < s->cpus_cnt; i++) {
		bpf_link__destroy(s->events[i].link);
		s->events[i].link = NULL;
		s->events[i].fd = -1;
	}
}
