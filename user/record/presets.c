// SPDX-License-Identifier: GPL-2.0
/*
 * The life of the presets, their tracks, and what they have that no program tells.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "../../bpf/presets.h"
#include "events_p.h"
#include "kernel_symbols.h"
#include "presets.h"

#define PSI_NS_MIN	100000000U	/* between two readings; a full ring makes us come sooner */
#define PSI_NS_LAST	1000000U	/* and before the last one */
#define THREADS_MAX	(PSEUDO_STEP * (1 + PSEUDO_CNT))	/* from PSEUDO_BASE */

int presets_open(struct presets **out, const bool *has, char *why, size_t why_size)
{
	struct presets *p = calloc(1, sizeof(*p));
	int err = -ENOMEM;

	if (!p)
		return err;
	p->named_threads = calloc(THREADS_MAX, sizeof(*p->named_threads));
	if (p->named_threads)
		err = has[SOURCE_PSI] ? psi_open(&p->psi, "/proc/pressure", why, why_size) : 0;
	/* Without symbols functions go by their addresses. */
	if (!err && has[SOURCE_WORKQUEUE])
		kernel_symbols_open(&p->symbols, NULL);
	if (err)
		presets_close(p);
	else
		*out = p;
	return err;
}

void presets_prepare(struct presets *p, struct bpf_object *obj)
{
	if (p)
		p->obj = obj;
}

void presets_close(struct presets *p)
{
	if (!p)
		return;
	psi_close(p->psi);
	kernel_symbols_close(p->symbols);
	free(p->disks);
	free(p->named_threads);
	free(p);
}

/* ---- tracks ----------------------------------------------------------------------- */

static int write_process(struct presets *p, struct fxt_writer *w, uint64_t process)
{
	bool *named = &p->named_processes[process - PSEUDO_BASE];
	const struct fxt_object object = {
		.id = process, .kind = FXT_KOBJ_PROCESS, .name = fxt_str(pseudo_process_name(process)),
	};

	if (*named)
		return 0;
	*named = true;
	return fxt_write_kernel_object(w, &object, NULL, 0);
}

static int write_thread(struct presets *p, struct fxt_writer *w, struct fxt_thread at, const char *name)
{
	const struct fxt_arg process = fxt_arg_koid("process", at.process);
	const struct fxt_object object = { .id = at.thread, .kind = FXT_KOBJ_THREAD, .name = fxt_str(name) };
	bool *named = &p->named_threads[at.thread - PSEUDO_BASE];
	int err;

	if (*named)
		return 0;
	*named = true;
	err = write_process(p, w, at.process);
	return err ?: fxt_write_kernel_object(w, &object, &process, 1);
}

int presets_track(struct presets *p, struct fxt_writer *w, enum pseudo kind, uint32_t cpu, struct fxt_thread *at)
{
	char name[32];

	if (cpu >= PSEUDO_STEP)
		return -EINVAL;
	pseudo_thread_name(kind, cpu, name, sizeof(name));
	*at = pseudo_thread(kind, cpu);
	return write_thread(p, w, *at, name);
}

int presets_counters(struct presets *p, struct fxt_writer *w, struct fxt_thread *at)
{
	*at = (struct fxt_thread){ .process = PROCESS_COUNTERS, .thread = PROCESS_COUNTERS };
	return write_thread(p, w, *at, pseudo_process_name(PROCESS_COUNTERS));
}

/* ---- what no program tells ------------------------------------------------------------ */

/* What has begun and not ended. No CPU records any more, so it stays as it is. */
static int write_open(struct events *e, struct fxt_writer *w, const char *map, uint64_t now_ns)
{
	const int fd = bpf_object__find_map_fd_by_name(e->presets->obj, map);
	uint64_t rec[OPEN_WORDS_MAX], key[2], *last = NULL;
	unsigned int written;
	int err = 0, failed;

	for (; !bpf_map_get_next_key(fd, last, key); last = key) {
		if (bpf_map_lookup_elem(fd, key, rec))
			continue;
		rec[OPEN_END_TS] = now_ns;
		rec[OPEN_PLACE] |= OPEN_UNFINISHED;
		failed = events_write_raw(e, w, rec, &written);
		e->counts.events += written;
		e->counts.lost += !!failed;
		err = err ?: failed;
	}
	return err;
}

static int poll_psi(struct events *e, struct fxt_writer *w, uint64_t now_ns, bool last)
{
	struct fxt_thread at;
	unsigned int written = 0;
	int err;

	if (now_ns < e->presets->psi_ns + (last ? PSI_NS_LAST : PSI_NS_MIN))
		return 0;
	e->presets->psi_ns = now_ns;
	err = presets_counters(e->presets, w, &at);
	err = err ?: psi_poll(e->presets->psi, w, at, now_ns, &written);
	e->counts.events += written;
	return err;
}

int presets_poll(struct events *e, struct fxt_writer *w, uint64_t now_ns, bool last)
{
	struct presets *p = e->presets;
	int err = 0;

	if (!p->polled && e->has[SOURCE_POWER])
		err = power_write_frequencies(e, w, "/sys/devices/system/cpu", now_ns);
	p->polled = true;
	if (!err && p->psi)
		err = poll_psi(e, w, now_ns, last);
	if (!err && last && e->has[SOURCE_WORKQUEUE])
		err = write_open(e, w, "open_works", now_ns);
	if (!err && last && e->has[SOURCE_BLOCK])
		err = write_open(e, w, "open_requests", now_ns);
	return err;
}
