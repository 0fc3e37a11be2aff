// SPDX-License-Identifier: GPL-2.0
/*
 * Life of the BPF programs: sizes, load, attach, begin and end of each CPU.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/affinity.h"
#include "bpf/abi/ids.h"
#include "bpf/abi/patch.h"
#include "bpf/abi/ring.h"
#include "model/track_ids.h"
#include "kernel/bpf_sys.h"
#include "sources.h"
#include "fit.h"
#include "thread_filter.h"
#include "kernel/btf.h"
#include "kernel/preemptible.h"
#include "kfxt.skel.h"
#include "programs.h"

#define RING_BYTES_MIN	4096
#define FEW_RING_SHIFT	2		/* of a ring's size, where the event rings are for few records */

struct programs {
	struct kfxt_bpf *skel;
	struct sources *sources;	/* borrowed */
	struct cpu_ctl *ctls;		/* by CPU */
	char *rings, *event_rings;
	uint16_t *ids;			/* by tid */
	size_t ctls_bytes, rings_bytes, event_rings_bytes, ids_bytes;
	uint32_t *cpus;
	struct ring *ring;		/* by position in cpus */
	struct event_ring *event_ring;	/* the same; NULL: no source of events */
	unsigned int cpus_cnt;
	int states_fd;
	uint64_t memory_bytes;		/* of all maps */
	uint64_t ring_bytes;
	uint64_t names_unread;		/* in the metadata ring at the end */
	struct programs_counts final;	/* since programs_end_counts() */
	bool is_final;
};

static unsigned int log2_up(uint64_t n)
{
	return n <= 1 ? 0 : 64 - __builtin_clzll(n - 1);
}

/* Rings of @bytes for each CPU, in chunks: how many and how large. */
static int size_rings(struct programs *p, struct bpf_map *map, unsigned int shift, unsigned int chunk_shift,
		      size_t *bytes)
{
	int err = bpf_map__set_max_entries(map, p->cpus_cnt << (shift - chunk_shift));

	*bytes = ((size_t)p->cpus_cnt << (shift - chunk_shift)) * ((1UL << chunk_shift) + RING_SLACK_BYTES);
	return err ?: bpf_map__set_value_size(map, (1U << chunk_shift) + RING_SLACK_BYTES);
}

/* Sizes of maps and the constants the programs compute with. */
static int size_maps(struct programs *p, uint64_t ring_bytes)
{
	struct kfxt_bpf *skel = p->skel;
	unsigned int shift = log2_up(ring_bytes), chunk_shift;
	int err;

	chunk_shift = shift < log2_up(RING_CHUNK_BYTES_MAX) ? shift : log2_up(RING_CHUNK_BYTES_MAX);
	skel->rodata->cfg_chunk_shift = chunk_shift;
	skel->rodata->cfg_chunks_shift = shift - chunk_shift;
	skel->rodata->cfg_wake_bytes = 1ULL << (shift - 2);
	skel->rodata->cfg_gap_thread = pseudo_thread(PSEUDO_LOST, 0).thread;
	skel->rodata->cfg_gap_process = PROCESS_LOST;
	skel->rodata->cfg_preempt_count_from_rq = kernel_btf_preempt_count_from_rq();
	err = size_rings(p, skel->maps.rings, shift, chunk_shift, &p->rings_bytes);
	/* Not less than a chunk, of which theirs are the same. */
	if (!sources_any(p->sources, true))
		shift = shift - FEW_RING_SHIFT > chunk_shift ? shift - FEW_RING_SHIFT : chunk_shift;
	skel->rodata->cfg_event_chunks_shift = shift - chunk_shift;
	skel->rodata->cfg_event_wake_bytes = 1ULL << (shift - 2);
	if (!err && sources_any(p->sources, false))
		err = size_rings(p, skel->maps.event_rings, shift, chunk_shift, &p->event_rings_bytes);
	return err;
}

/*
 * All ids in one value or, where the kernel has none so large, in many. All there can be: pid_max is
 * of who asks (its pid namespace's, from 6.14 on) and of this moment.
 */
static int create_ids(struct programs *p)
{
	struct bpf_map *map = p->skel->maps.ids;
	int err;

	p->ids_bytes = sizeof(uint16_t) * IDS_MAX;
	p->skel->rodata->cfg_ids_shift = log2_up(IDS_MAX);
	err = bpf_call_create_value(map, p->ids_bytes);
	if (err != -E2BIG)
		return err;
	p->skel->rodata->cfg_ids_shift = IDS_PAGE_SHIFT;
	return bpf_map__set_max_entries(map, IDS_MAX >> IDS_PAGE_SHIFT);
}

/* Makes rings smaller until all maps fit. */
static int fit_rings(struct programs *p, const struct programs_cfg *cfg, const char **what)
{
	static char text[96];
	const uint64_t ids = sizeof(uint16_t) * IDS_MAX;
	uint64_t need = 0;
	int err = 0;

	p->ring_bytes = cfg->ring_bytes;
	while (!err && cfg->memory_bytes) {
		need = fit_maps_bytes(p->skel->obj, libbpf_num_possible_cpus()) + ids;
		if (need <= cfg->memory_bytes)
			return 0;
		if (p->ring_bytes <= RING_BYTES_MIN)
			err = -EDQUOT;
		else
			err = size_maps(p, p->ring_bytes /= 2);
	}
	snprintf(text, sizeof(text), "maps of %llu KiB, with the smallest rings", (unsigned long long)need >> 10);
	if (err == -EDQUOT)
		*what = text;
	return err;
}

/* The program of switches, of which a source may have chosen another one. */
static struct bpf_program *switch_program(const struct kfxt_bpf *skel)
{
	struct bpf_program *stamped = skel->progs.on_sched_switch_stamped;

	return bpf_program__autoload(stamped) ? stamped : skel->progs.on_sched_switch;
}

/* See lock_cpu() of bpf/lib/preempt.bpf.h. */
static int put_preemption_off(struct programs *p)
{
	struct kfxt_bpf *skel = p->skel;
	struct bpf_program *progs[] = {
		skel->progs.on_task_newtask, skel->progs.on_task_rename, skel->progs.on_sched_process_exec,
		skel->progs.on_sched_process_exit, skel->progs.on_cgroup_attach_task, skel->progs.on_cgroup_mkdir,
	};
	const bool preemptible = kernel_tracepoints_are_preemptible();
	/* Each takes a look at all names of the BTF. */
	const int disable = preemptible ? kernel_btf_function("bpf_preempt_disable") : -ENOENT;
	const int enable = preemptible ? kernel_btf_function("bpf_preempt_enable") : -ENOENT;
	const bool off = disable >= 0 && enable >= 0;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(progs) / sizeof(*progs); i++) {
		err = bpf_call_put(progs[i], NUMBER_PREEMPTIBLE, off);
		if (off) {
			err = err ?: bpf_call_put(progs[i], CALL_PREEMPT_DISABLE, disable);
			err = err ?: bpf_call_put(progs[i], CALL_PREEMPT_ENABLE, enable);
		}
	}
	return err;
}

/* Creates the maps whose addresses are in the programs, and puts those and the numbers there. */
static int put_in_place(struct programs *p)
{
	struct kfxt_bpf *skel = p->skel;
	struct bpf_program *progs[] = { switch_program(skel), skel->progs.on_sched_waking };
	int cpus = libbpf_num_possible_cpus(), err;
	bool cast = !bpf_call_link_kfunc(progs[1], CALL_RDONLY_CAST, "bpf_rdonly_cast");
	int32_t ids;

	if (cpus < 0)
		return cpus;
	skel->rodata->cfg_cpus = cpus;
	p->ctls_bytes = cpus * sizeof(struct cpu_ctl);
	err = bpf_call_create_value(skel->maps.ctls, p->ctls_bytes);
	err = err ?: create_ids(p);
	err = err ?: put_preemption_off(p);
	ids = bpf_map__max_entries(skel->maps.ids) == 1 ? IDS_MAX : 0;
	for (unsigned int i = 0; i < 2; i++) {
		err = err ?: bpf_call_put(progs[i], VALUE_CTLS, bpf_map__fd(skel->maps.ctls));
		err = err ?: bpf_call_put(progs[i], NUMBER_CPUS, cpus);
		if (ids)
			err = err ?: bpf_call_put(progs[i], VALUE_IDS, bpf_map__fd(skel->maps.ids));
		err = err ?: bpf_call_put(progs[i], NUMBER_IDS, ids);
		err = err ?: bpf_call_put(progs[i], NUMBER_CHUNK_LAST, (1 << skel->rodata->cfg_chunk_shift) - 1);
		err = err ?: bpf_call_put(progs[i], NUMBER_RDONLY_CAST, cast);
	}
	return err;
}

static int map_maps(struct programs *p)
{
	const struct kfxt_bpf *skel = p->skel;
	unsigned int i;

	p->ctls = bpf_call_map(skel->maps.ctls, p->ctls_bytes, PROT_READ | PROT_WRITE);
	p->rings = bpf_call_map(skel->maps.rings, p->rings_bytes, PROT_READ);
	p->ids = bpf_call_map(skel->maps.ids, p->ids_bytes, PROT_READ);
	if (!p->ctls || !p->rings || !p->ids)
		return -errno;
	for (i = 0; i < p->cpus_cnt; i++) {
		p->ctls[p->cpus[i]].slot = i;
		p->ctls[p->cpus[i]].switch_header = FXT_SWITCH_HEADER(SWITCH_WORDS, 2, p->cpus[i], FXT_STATE_RUNNING);
		p->ctls[p->cpus[i]].chunk = i << skel->rodata->cfg_chunks_shift;
		p->ring[i].ctl = &p->ctls[p->cpus[i]];
		p->ring[i].chunk_shift = skel->rodata->cfg_chunk_shift;
		p->ring[i].chunks = 1U << skel->rodata->cfg_chunks_shift;
		p->ring[i].data = p->rings + p->rings_bytes / p->cpus_cnt * i;
	}
	return 0;
}

static int map_event_rings(struct programs *p)
{
	unsigned int i;

	if (!p->event_rings_bytes)
		return 0;
	p->event_rings = bpf_call_map(p->skel->maps.event_rings, p->event_rings_bytes, PROT_READ | PROT_WRITE);
	if (!p->event_rings)
		return -errno;
	p->event_ring = calloc(p->cpus_cnt, sizeof(*p->event_ring));
	if (!p->event_ring)
		return -ENOMEM;
	for (i = 0; i < p->cpus_cnt; i++)
		p->event_ring[i] = (struct event_ring){
			.reserved = &p->ring[i].ctl->event_head, .tail = &p->ring[i].ctl->event_tail,
			.notified = &p->ring[i].ctl->event_notified,
			.chunk_shift = p->ring[i].chunk_shift, .slack_bytes = RING_SLACK_BYTES,
			.chunks = 1U << p->skel->rodata->cfg_event_chunks_shift,
			.data = p->event_rings + p->event_rings_bytes / p->cpus_cnt * i,
		};
	return 0;
}

/* What the kernel says a map takes. */
static uint64_t map_bytes(const struct bpf_map *map)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
	f = bpf_map__fd(map) < 0 ? NULL : fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	return bytes;
}

static uint64_t count_memory(const struct bpf_object *obj)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, obj)
		bytes += map_bytes(map);
	return bytes;
}

int programs_open(struct programs **out, const struct programs_cfg *cfg, const char **what)
{
	struct programs *p = calloc(1, sizeof(*p));
	int err = -ENOMEM;

	*what = "allocating memory";
	if (!p)
		return err;
	p->states_fd = -1;
	p->sources = cfg->sources;
	p->cpus_cnt = cfg->cpus_cnt;
	sources_ctx(p->sources)->cpus = cfg->cpus;
	sources_ctx(p->sources)->cpus_cnt = cfg->cpus_cnt;
	p->cpus = calloc(cfg->cpus_cnt, sizeof(*p->cpus));
	p->ring = calloc(cfg->cpus_cnt, sizeof(*p->ring));
	if (!p->cpus || !p->ring)
		goto err_close;
	for (unsigned int i = 0; i < cfg->cpus_cnt; i++)
		p->cpus[i] = cfg->cpus[i];
	*what = "opening the BPF object";
	p->skel = kfxt_bpf__open();
	err = p->skel ? size_maps(p, cfg->ring_bytes) : -errno;
	err = err ?: sources_prepare(p->sources, p->skel);
	err = err ?: filter_prepare(cfg->filter, p->skel);
	err = err ?: fit_rings(p, cfg, what);
	bpf_program__set_autoload(p->skel->progs.on_cgroup_attach_task, kernel_btf_has_tracepoint("cgroup_attach_task", 3));
	if (err)
		goto err_close;
	*what = "loading the BPF programs";
	err = put_in_place(p);
	err = err ?: kfxt_bpf__load(p->skel);
	if (err)
		goto err_close;
	*what = "mapping the rings";
	err = map_maps(p);
	err = err ?: map_event_rings(p);
	err = err ?: sources_fill(p->sources);
	err = err ?: filter_fill(cfg->filter, p->skel);
	if (err)
		goto err_close;
	p->memory_bytes = count_memory(p->skel->obj);
	*out = p;
	return 0;
err_close:
	programs_close(p);
	return err;
}

int programs_attach(struct programs *p, const char **what)
{
	struct bpf_program *last = switch_program(p->skel);
	struct bpf_link **link;
	int err;

	/* By hand only for its place: no sleep may be seen before its wake can be. */
	bpf_program__set_autoattach(p->skel->progs.begin_or_end, false);
	bpf_program__set_autoattach(last, false);
	*what = "attaching the BPF programs";
	err = kfxt_bpf__attach(p->skel);
	if (err)
		return err;
	link = &p->skel->links.on_sched_switch;
	*link = bpf_program__attach(last);
	if (!*link)
		return -errno;
	p->states_fd = bpf_iter_create(bpf_link__fd(p->skel->links.record_states));
	return p->states_fd < 0 ? -errno : sources_attach(p->sources, what);
}

/* Runs begin_or_end on @cpu, by interrupt if that is not the one we are pinned to. */
static int kick(struct programs *p, uint32_t cpu, uint32_t own_cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
	const uint32_t state = p->ctls[cpu].state;
	unsigned int us;

	if (cpu != own_cpu)
		return bpf_prog_test_run_opts(bpf_program__fd(p->skel->progs.begin_or_end), &opts);
	/*
	 * Interrupts would not be off there; a context switch does the same work. None comes where
	 * the time is over before the sleep has begun. No program runs here now that would write this, too.
	 */
	p->ctls[cpu].fast_until = 0;
	for (us = 1; us < 1000 && __atomic_load_n(&p->ctls[cpu].state, __ATOMIC_ACQUIRE) == state; us *= 2)
		usleep(us);
	return 0;
}

/* A CPU may change its state at any moment: only what is still @from is changed. */
static bool change_state(struct cpu_ctl *ctl, uint32_t from, uint32_t state)
{
	return __atomic_compare_exchange_n(&ctl->state, &from, state, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* Sets all CPUs to @state and has each act on it at once; all but ours by interrupt. */
static int change_all(struct programs *p, uint32_t from, uint32_t state)
{
	struct affinity before;
	int own, err = affinity_get(&before), first = 0;
	unsigned int i;

	own = sched_getcpu();
	if (!err && own >= 0)
		err = affinity_pin(own);
	for (i = 0; !err && i < p->cpus_cnt; i++) {
		if (!change_state(p->ring[i].ctl, from, state))
			continue;
		first = kick(p, p->cpus[i], own) ?: first;
	}
	if (before.set)
		affinity_set(&before);
	affinity_free(&before);
	return err ?: first;
}

int programs_begin(struct programs *p)
{
	int err = change_all(p, CPU_OFF, CPU_ARMED), tries = 0;
	unsigned int i;

	/* Ours may need some more sleep to switch. */
	for (i = 0; !err && i < p->cpus_cnt; i++)
		while (__atomic_load_n(&p->ring[i].ctl->state, __ATOMIC_ACQUIRE) == CPU_ARMED && tries++ < 100)
			usleep(1000);
	return err;
}

int programs_end(struct programs *p)
{
	unsigned int i;
	int left = 0;

	/* A CPU that found no space last time is asked again. */
	for (i = 0; i < p->cpus_cnt; i++)
		change_state(p->ring[i].ctl, CPU_ENDING, CPU_LIVE);
	change_all(p, CPU_LIVE, CPU_ENDING);
	for (i = 0; i < p->cpus_cnt; i++)
		left += __atomic_load_n(&p->ring[i].ctl->state, __ATOMIC_ACQUIRE) != CPU_OFF;
	return left;
}

void programs_close(struct programs *p)
{
	if (!p)
		return;
	if (p->ctls)
		munmap(p->ctls, p->ctls_bytes);
	sources_detach(p->sources);
	if (p->rings)
		munmap(p->rings, p->rings_bytes);
	if (p->event_rings)
		munmap(p->event_rings, p->event_rings_bytes);
	if (p->ids)
		munmap(p->ids, p->ids_bytes);
	if (p->states_fd >= 0)
		close(p->states_fd);
	kfxt_bpf__destroy(p->skel);
	free(p->cpus);
	free(p->ring);
	free(p->event_ring);
	free(p);
}

struct ring *programs_ring(struct programs *p, unsigned int i)
{
	return &p->ring[i];
}

struct event_ring *programs_event_ring(struct programs *p, unsigned int i)
{
	return p->event_ring ? &p->event_ring[i] : NULL;
}

int programs_metadata_fd(const struct programs *p)
{
	return bpf_map__fd(p->skel->maps.side);
}

uint16_t programs_id(const struct programs *p, uint32_t tid)
{
	return tid < IDS_MAX ? __atomic_load_n(&p->ids[tid], __ATOMIC_RELAXED) : 0;
}

uint64_t programs_koid_offset(const struct programs *p, uint32_t tid)
{
	return ID_GENERATION(programs_id(p, tid)) * ID_GENERATION_STEP;
}

int programs_states_fd(const struct programs *p)
{
	return p->states_fd;
}

const struct cpu_ctl *programs_ctls(const struct programs *p)
{
	return p->ctls;
}

bool programs_take_others(struct programs *p, struct num_cpus *cpus)
{
	const unsigned int possible = p->skel->rodata->cfg_cpus < NUM_CPUS_MAX ? p->skel->rodata->cfg_cpus : NUM_CPUS_MAX;
	unsigned int cpu, i = 0;

	*cpus = (struct num_cpus){ 0 };
	for (cpu = 0; possible > p->cpus_cnt && cpu < possible; cpu++) {
		if (i < p->cpus_cnt && p->cpus[i] == cpu)
			i++;
		else if (p->ctls[cpu].ran_unrecorded && __atomic_exchange_n(&p->ctls[cpu].ran_unrecorded, 0, __ATOMIC_RELAXED))
			num_cpus_add(cpus, cpu);
	}
	return num_cpus_count(cpus);
}

void programs_states_recorded(struct programs *p)
{
	__atomic_store_n(&p->skel->bss->states_recorded, 1, __ATOMIC_RELEASE);
}

/* What is missing where a program of ours, not of a source, was not run. */
static enum ledger_source class_of(const char *program)
{
	static const struct {
		const char *name;	/* or how it begins */
		enum ledger_source source;
	} by_name[] = {
		{ "on_sched_switch", LEDGER_SWITCHES }, { "on_sched_wak", LEDGER_WAKEUPS },
		{ "on_sched_process_", LEDGER_NAMES }, { "on_task_", LEDGER_NAMES }, { "on_cgroup_attach_", LEDGER_NAMES },
	};
	unsigned int i;

	for (i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++)
		if (!strncmp(program, by_name[i].name, strlen(by_name[i].name)))
			return by_name[i].source;
	return LEDGER_EVENTS;
}

static void count_skipped(const struct programs *p, struct programs_counts *counts, const char *program, uint64_t cnt)
{
	const struct source_ops *ops = sources_of_program(p->sources, program);

	if (!ops || !ops->counts_skipped)
		counts->skipped[ops ? ops->class : class_of(program)] += cnt;
}

void programs_counts(const struct programs *p, struct programs_counts *counts)
{
	struct bpf_prog_info info;
	struct bpf_program *prog;
	uint32_t len;

	if (p->is_final) {
		*counts = p->final;
		return;
	}
	*counts = (struct programs_counts){
		.names_seen = p->skel->bss->names_seen,
		.names_lost = programs_names_lost(p),
		.generations_exhausted = p->skel->bss->generations_exhausted,
	};
	bpf_object__for_each_program(prog, p->skel->obj) {
		len = sizeof(info);
		info = (struct bpf_prog_info){ 0 };
		/* Most are not part of this recording. */
		if (bpf_program__fd(prog) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			count_skipped(p, counts, bpf_program__name(prog), info.recursion_misses);
	}
}

uint64_t programs_names_lost(const struct programs *p)
{
	return p->is_final ? p->final.names_lost : p->skel->bss->names_lost + p->names_unread;
}

void programs_names_unread(struct programs *p, uint64_t cnt)
{
	p->names_unread += cnt;
}

void programs_end_counts(struct programs *p)
{
	programs_counts(p, &p->final);
	p->is_final = true;
}

struct bpf_program *programs_next_program(const struct programs *p, struct bpf_program *program)
{
	return bpf_object__next_program(p->skel->obj, program);
}

uint64_t programs_names_seen(const struct programs *p)
{
	return p->skel->bss->names_seen;
}

uint64_t programs_ring_bytes(const struct programs *p)
{
	return p->ring_bytes;
}

uint64_t programs_memory(const struct programs *p)
{
	return p->memory_bytes;
}
