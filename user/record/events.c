// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of events, and who completes which raw records.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/presets.h"
#include "../fxt/fxt.h"
#include "events_p.h"
#include "kernel_btf.h"
#include "kfxt.skel.h"
#include "markers.h"
#include "presets.h"
#include "syscalls.h"
#include "tracepoints.h"

static enum source_id find_source(const char *word)
{
	enum source_id i;

	for (i = 0; i < SOURCE_CNT; i++)
		if (!strcmp(sources[i].name, word))
			return i;
	return SOURCE_CNT;
}

/* A source that is a word for some tracepoints. */
static int choose_its_events(struct events *e, const struct source *source, bool out, char *why, size_t size)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < SOURCE_PARTS_MAX && source->events[i]; i++)
		err = tracepoints_choose(e->tracepoints, source->events[i], out, why, size);
	return err;
}

/* In order, the last word on a source counts. */
static int choose(struct events *e, const char *word, char *why, size_t size)
{
	const bool out = word[0] == '!';
	const bool calls = syscalls_are_meant(word + out);
	const enum source_id source = calls ? SOURCE_SYSCALLS : find_source(word + out);
	const char *lacks;
	int err;

	if (source == SOURCE_CNT)
		return tracepoints_choose(e->tracepoints, word + out, out, why, size);
	lacks = out ? NULL : source_lacks(&sources[source]);
	if (lacks) {
		snprintf(why, size, "%s: this kernel has no %s%s", word, lacks[0] == '/' ? "" : "tracepoint ", lacks);
		return -ENOTSUP;
	}
	e->named[source] = true;
	if (!calls) {
		e->has[source] = !out;
		return choose_its_events(e, &sources[source], out, why, size);
	}
	err = syscalls_choose(&e->syscalls, word + out, out, why, size);
	e->has[source] = syscalls_any(e->syscalls);
	return err;
}

/*
 * By the kernel's copies where it makes them. The program costs something at each system call, so
 * it is for those who asked.
 */
static int open_markers(struct events *e)
{
	int err = e->has[SOURCE_MARKER] ? markers_open(&e->markers) : 0;

	e->has[SOURCE_MARKER] &= e->named[SOURCE_MARKER] && !markers_are_copied(e->markers);
	if (!markers_are_copied(e->markers) && !e->has[SOURCE_MARKER]) {
		markers_close(e->markers);
		e->markers = NULL;
	}
	return err;
}

int events_open(struct events **out, const struct events_cfg *cfg, char *why, size_t why_size)
{
	struct events *e = calloc(1, sizeof(*e));
	int err = e ? 0 : -ENOMEM;
	unsigned int i;

	err = err ?: tracepoints_open(&e->tracepoints);
	/* Markers have ids of their own, from 1 on. */
	if (!err)
		e->async_ids = 1ULL << 32;
	for (i = 0; !err && i < SOURCE_CNT; i++)
		e->has[i] = sources[i].by_default && !source_lacks(&sources[i]);
	for (i = 0; !err && i < cfg->wanted_cnt; i++)
		err = choose(e, cfg->wanted[i], why, why_size);
	err = err ?: open_markers(e);
	if (!err)
		err = presets_open(&e->presets, e->has, why, why_size);
	if (err) {
		events_close(e);
		return err;
	}
	*out = e;
	return 0;
}

bool events_has(const struct events *e, enum source_id source)
{
	return e && e->has[source];
}

bool events_lack_log(const struct events *e)
{
	return !e->has[SOURCE_LOG] && !e->named[SOURCE_LOG];
}

bool events_any_but_log(const struct events *e)
{
	enum source_id i;

	for (i = 0; e && i < SOURCE_CNT; i++)
		if (i != SOURCE_LOG && e->has[i])
			return true;
	return e && tracepoints_cnt(e->tracepoints);
}

bool events_any(const struct events *e)
{
	return events_has(e, SOURCE_LOG) || events_any_but_log(e);
}

static void prepare(const struct source *s, struct bpf_object *obj, bool wanted)
{
	bool has[SOURCE_PARTS_MAX] = { false };
	char name[64];
	unsigned int k;

	if (wanted && s->optional[0])
		kernel_btf_have_tracepoints(s->optional, SOURCE_PARTS_MAX, has);
	for (k = 0; k < SOURCE_PARTS_MAX && s->programs[k]; k++)
		bpf_program__set_autoload(bpf_object__find_program_by_name(obj, s->programs[k]), wanted);
	for (k = 0; k < SOURCE_PARTS_MAX && s->optional[k]; k++) {
		snprintf(name, sizeof(name), "on_%s", s->optional[k]);
		bpf_program__set_autoload(bpf_object__find_program_by_name(obj, name), has[k]);
	}
	for (k = 0; k < SOURCE_PARTS_MAX && s->maps[k]; k++)
		bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, s->maps[k]), wanted);
}

int events_prepare(const struct events *e, struct kfxt_bpf *skel)
{
	enum source_id i;

	for (i = 0; i < SOURCE_CNT; i++)
		prepare(&sources[i], skel->obj, events_has(e, i));
	if (e)
		presets_prepare(e->presets, skel->obj);
	if (events_has(e, SOURCE_SYSCALLS))
		syscalls_prepare(e->syscalls, skel);
	return tracepoints_prepare(e ? e->tracepoints : NULL, skel);
}

int events_fill(const struct events *e, struct kfxt_bpf *skel)
{
	return e ? tracepoints_fill(e->tracepoints, skel) : 0;
}

int events_attach(const struct events *e, struct kfxt_bpf *skel, const char **which, progress_fn progress, void *ctx)
{
	return e ? tracepoints_attach(e->tracepoints, skel, which, progress, ctx) : 0;
}

void events_detach(const struct events *e, progress_fn progress, void *ctx)
{
	if (e)
		tracepoints_detach(e->tracepoints, progress, ctx);
}

uint64_t events_skipped(const struct events *e, const struct kfxt_bpf *skel)
{
	return e ? tracepoints_skipped(e->tracepoints, skel) : 0;
}

static int write_tracepoint(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written)
{
	int err = tracepoints_write(e->tracepoints, w, rec);

	*written = !err;
	return err;
}

int events_begin(struct events *e, const struct markers_cfg *cfg)
{
	return e && e->markers ? markers_begin(e->markers, cfg) : 0;
}

int events_fd(const struct events *e)
{
	return e && e->markers ? markers_fd(e->markers) : -1;
}

/* It is written in its turn: see events_poll(). */
static int take_marker(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written)
{
	(void)w, (void)written;
	return e->markers ? markers_take(e->markers, rec) : -EINVAL;
}

int events_write_raw(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written)
{
	static int (*const writers[RAW_KIND_CNT])(struct events *e, struct fxt_writer *w, const uint64_t *rec,
						  unsigned int *written) = {
		[RAW_TRACEPOINT] = write_tracepoint,
		[RAW_MARKER] = take_marker,
		[RAW_IRQ] = irqs_write,
		[RAW_WORK] = works_write,
		[RAW_POWER] = power_write,
		[RAW_BLOCK] = blocks_write,
		[RAW_SYSCALL] = syscalls_write_raw,
	};
	/* What each has at least; a longer part says itself how long it is. */
	static const uint16_t least_words[RAW_KIND_CNT] = {
		[RAW_TRACEPOINT] = TRACEPOINT_RECORD,
		[RAW_MARKER] = MARKER_TEXT,
		[RAW_IRQ] = IRQ_NAME,
		[RAW_WORK] = WORK_WORDS,
		[RAW_POWER] = POWER_WORDS,
		[RAW_BLOCK] = BLOCK_WORDS,
		[RAW_SYSCALL] = SYSCALL_TEXT,
	};
	const unsigned int kind = FXT_GET(rec[RAW_HEADER], RAW_F_KIND);

	*written = 0;
	if (kind >= RAW_KIND_CNT || !writers[kind] || FXT_GET(rec[RAW_HEADER], FXT_F_SIZE) < least_words[kind])
		return -EINVAL;
	return writers[kind](e, w, rec, written);
}

int events_read(struct events *e)
{
	return e && e->markers ? markers_read(e->markers) : 0;
}

uint64_t events_overwritten(const struct events *e, unsigned int i)
{
	return e && e->markers ? markers_overwritten(e->markers, i) : 0;
}

int events_gap(struct events *e, bool overwritten, uint64_t from_ns, uint64_t to_ns)
{
	if (!e || !e->markers || markers_are_copied(e->markers) != overwritten)
		return 0;
	return markers_gap(e->markers, from_ns, to_ns);
}

void events_stop(struct events *e)
{
	if (e && e->markers)
		markers_stop(e->markers);
}

int events_poll(struct events *e, struct fxt_writer *w, uint64_t now_ns, bool last)
{
	int err = e->markers ? markers_write(e->markers, w, now_ns, last) : 0;

	err = presets_poll(e, w, now_ns, last) ?: err;
	if (last && e->has[SOURCE_SYSCALLS])
		err = syscalls_write_unfinished(e, w, now_ns, &e->counts.events) ?: err;
	return err;
}

void events_counts(const struct events *e, struct events_counts *counts)
{
	struct markers_counts markers = { 0 };

	*counts = (struct events_counts){ 0 };
	if (!e)
		return;
	*counts = e->counts;
	counts->filtered = tracepoints_filtered(e->tracepoints);
	counts->refused = tracepoints_refused(e->tracepoints, &counts->first_refused);
	if (e->markers)
		markers_counts(e->markers, &markers);
	counts->events += markers.events;
	counts->late = e->markers && !markers_are_copied(e->markers) ? markers.events : 0;
	counts->unwritten += markers.unwritten;
}

void events_close(struct events *e)
{
	if (e) {
		tracepoints_close(e->tracepoints);
		markers_close(e->markers);
		presets_close(e->presets);
		syscalls_close(e->syscalls);
	}
	free(e);
}
