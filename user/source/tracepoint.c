// SPDX-License-Identifier: GPL-2.0
/*
 * The programs of tracepoints, and what becomes of their records. One program serves all of
 * them; its attach cookie says which it runs for.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/abi/raw.h"
#include "capture/features.h"
#include "capture/source.h"
#include "fxt/fxt.h"
#include "kernel/bpf_sys.h"
#include "kernel/btf.h"
#include "kernel/symbols.h"
#include "kfxt.skel.h"
#include "kernel/printk_formats.h"
#include "kernel/tracefs.h"
#include "tracepoint/filter.h"
#include "tracepoint/tracepoint.h"
#include "table.h"
#include "tracepoint_p.h"

static void detach(struct tracepoint *tp)
{
	bpf_link__destroy(tp->link);
	tp->link = NULL;
	if (tp->count_fd > 0)
		close(tp->count_fd);
	tp->count_fd = 0;
}

/* ---- the programs ------------------------------------------------------------------------------ */

int tracepoints_prepare(struct tracepoints *t, struct kfxt_bpf *skel)
{
	const unsigned int cnt = tracepoints_cnt(t);

	skel->rodata->cfg_tracepoints_count = cnt && !kernel_btf_counts_skipped_tracepoints();
	bpf_program__set_autoload(skel->progs.on_tracepoint, cnt);
	bpf_program__set_autoattach(skel->progs.on_tracepoint, false);
	bpf_program__set_autoload(skel->progs.count_tracepoint, skel->rodata->cfg_tracepoints_count);
	bpf_program__set_autoattach(skel->progs.count_tracepoint, false);
	return cnt ? bpf_map__set_max_entries(skel->maps.tracepoints, cnt) : 0;
}

static bool any_shape(const struct tracepoints *t, enum tracepoint_shape shape)
{
	unsigned int i, k, cnt;

	for (i = 0; i < t->cnt; i++) {
		const struct tracepoint_field *fields = tracepoint_format_fields(t->all[i].format, &cnt);

		for (k = 0; k < cnt; k++)
			if (fields[k].shape == shape)
				return true;
	}
	return false;
}

int tracepoints_fill(struct tracepoints *t, struct kfxt_bpf *skel)
{
	unsigned int i;

	if (!tracepoints_cnt(t))
		return 0;
	t->infos_bytes = t->cnt * sizeof(*t->infos);
	t->infos = bpf_call_map(skel->maps.tracepoints, t->infos_bytes, PROT_READ | PROT_WRITE);
	if (!t->infos)
		return -errno;
	for (i = 0; i < t->cnt; i++)
		t->infos[i] = t->all[i].info;
	/* What has no name without them is an address then. */
	if (any_shape(t, TRACEPOINT_FUNCTION) && kernel_symbols_open(&t->symbols, NULL) == -EPERM) {
		kernel_symbols_close(t->symbols);
		t->symbols = NULL;
	}
	if (any_shape(t, TRACEPOINT_LITERAL))
		printk_formats_open(&t->literals);
	return 0;
}

static int attach(struct tracepoint *tp, const struct bpf_program *prog, unsigned int which)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = which);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = tracepoint_format_id(tp->format),
	};
	/* On one CPU, which is what the program needs to run on all. */
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	tp->link = bpf_program__attach_perf_event_opts(prog, fd, &opts);
	if (tp->link)
		return 0;
	err = -errno;
	close(fd);
	return err;
}

int tracepoints_attach(struct tracepoints *t, struct kfxt_bpf *skel, const char **which, progress_fn progress,
		       void *ctx)
{
	unsigned int i;
	int err;

	for (i = 0; i < tracepoints_cnt(t); i++) {
		if (progress && !progress(ctx, "attaching", i, t->cnt, "tracepoints"))
			return -ECANCELED;
		/* Events without a tracepoint of their own, as of one system call, come from nowhere else. */
		if (skel->rodata->cfg_tracepoints_count)
			t->all[i].count_fd = bpf_raw_tracepoint_open(t->all[i].event.data,
								     bpf_program__fd(skel->progs.count_tracepoint));
		err = attach(&t->all[i], skel->progs.on_tracepoint, i);
		if (err && (!t->all[i].by_glob || t->all[i].needs_cnt)) {
			*which = t->all[i].event.data;
			return err;
		}
		if (err && !t->refused++)
			t->first_refused = t->all[i].event.data;
	}
	return 0;
}

unsigned int tracepoints_refused(const struct tracepoints *t, const char **first)
{
	*first = t ? t->first_refused : NULL;
	return t ? t->refused : 0;
}

/* ---- records --------------------------------------------------------------------------------------- */

static const char *literal(void *ctx, uint64_t addr)
{
	return printk_formats_find(ctx, addr);
}

int tracepoints_write(struct tracepoints *t, struct fxt_writer *w, const uint64_t *rec)
{
	const uint32_t which = (uint32_t)rec[TRACEPOINT_WHICH], bytes = rec[TRACEPOINT_WHICH] >> 32;
	const struct tracepoint_names names = {
		.symbols = t->symbols, .literal = t->literals ? literal : NULL, .ctx = t->literals,
	};
	struct fxt_event event = {
		.type = FXT_INSTANT, .ts = rec[RAW_TS],
		.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
	};
	struct fxt_arg args[FXT_ARGS_MAX];
	char text[TRACEPOINT_TEXT_BYTES];
	unsigned int n;

	if (which >= t->cnt || bytes > (FXT_GET(rec[RAW_HEADER], FXT_F_SIZE) - TRACEPOINT_RECORD) * 8)
		return -EINVAL;
	event.category = t->all[which].system;
	event.name = t->all[which].event;
	n = tracepoint_format_decode(t->all[which].format, &names, rec + TRACEPOINT_RECORD, bytes, args, text);
	return fxt_write_event(w, &event, args, n);
}

void tracepoints_report(const struct tracepoints *t, const struct source_ctx *c, const uint64_t *rec)
{
	const struct tracepoint *tp = &t->all[(uint32_t)rec[TRACEPOINT_WHICH]];
	const size_t bytes = rec[TRACEPOINT_WHICH] >> 32;
	const struct need *n;

	for (n = tp->needs; c->found && n < tp->needs + tp->needs_cnt; n++)
		if (tracepoint_filter_matches(&n->info, rec + TRACEPOINT_RECORD, bytes))
			c->found(c->found_ctx, n->word, rec[RAW_TS], rec[RAW_THREAD]);
}

uint64_t tracepoints_filtered(const struct tracepoints *t)
{
	uint64_t cnt = 0;
	unsigned int i;

	for (i = 0; t && t->infos && i < t->cnt; i++)
		cnt += __atomic_load_n(&t->infos[i].filtered, __ATOMIC_RELAXED);
	return cnt;
}

uint64_t tracepoints_skipped(const struct tracepoints *t, const struct kfxt_bpf *skel)
{
	const int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(skel->maps.tracepoint_counts);
	uint64_t seen[cpus > 0 ? cpus : 1], ran[cpus > 0 ? cpus : 1], all = 0;
	const uint32_t keys[TRACEPOINTS_COUNTS] = { TRACEPOINTS_SEEN, TRACEPOINTS_RAN };
	int i;

	if (!t || !skel->rodata->cfg_tracepoints_count || cpus < 0 || bpf_map_lookup_elem(fd, &keys[0], seen) ||
	    bpf_map_lookup_elem(fd, &keys[1], ran))
		return 0;
	/* One may have been counted on a CPU that began or ended between the two. */
	for (i = 0; i < cpus; i++)
		all += seen[i] > ran[i] ? seen[i] - ran[i] : 0;
	return all;
}

void tracepoints_close(struct tracepoints *t)
{
	unsigned int i;

	if (!t)
		return;
	for (i = 0; i < t->cnt; i++) {
		detach(&t->all[i]);
		tracepoint_drop(&t->all[i]);
	}
	if (t->infos)
		munmap(t->infos, t->infos_bytes);
	tracefs_events_free(t->offered, t->offered_cnt);
	kernel_symbols_close(t->symbols);
	printk_formats_close(t->literals);
	free(t->all);
	free(t);
}

/* ---- as a source ----------------------------------------------------------------------------------- */

static int select_tracepoints(void **s, const char *word, bool out, char *why, size_t size)
{
	struct tracepoints *t = *s;
	int err = t ? 0 : tracepoints_open(&t, true);

	*s = t;
	err = err ?: tracepoints_choose(t, word, out, why, size);
	return err ?: tracepoints_cnt(t) > 0 || t->is_busy;
}

static int need_tracepoints(void **s, const char *word, char *why, size_t size)
{
	struct tracepoints *t = *s;
	int err = t ? 0 : tracepoints_open(&t, true);

	*s = t;
	err = err ?: tracepoints_need(t, word, why, size);
	return err ?: tracepoints_cnt(t) > 0;
}

static bool have_tracepoints(const void *s, const char *word)
{
	return tracepoints_have(s, word);
}

static int open_tracepoints(void **s, const struct source_ctx *c, char *why, size_t size)
{
	(void)c;
	return tracepoints_join(*s, why, size);
}

static int prepare_tracepoints(void *s, struct source_ctx *c)
{
	return tracepoints_prepare(s, c->skel);
}

static int fill_tracepoints(void *s, struct source_ctx *c)
{
	return tracepoints_fill(s, c->skel);
}

/* What the process that attaches gives to the recorder. */
struct results {
	_Atomic unsigned int refused;
	_Atomic(const char *) first;	/* a name from before the fork */
};

static size_t share_results(const void *s)
{
	return tracepoints_cnt(s) ? sizeof(struct results) : 0;
}

static int attach_tracepoints(void *s, struct source_ctx *c, const char **which)
{
	const struct tracepoints *t = s;
	struct results *r = c->aside;
	int err = tracepoints_attach(s, c->skel, which, c->progress, c->progress_ctx);

	r->first = t->first_refused;
	r->refused = t->refused;
	return err;
}

static void take_results(void *s, const struct source_ctx *c)
{
	const struct results *r = c->aside;
	struct tracepoints *t = s;

	t->refused = r->refused;
	t->first_refused = r->first;
}

static bool tracepoints_are_late(const void *s, struct source_late *late)
{
	const struct tracepoints *t = s;

	late->name = source_tracepoint.many;
	snprintf(late->why, sizeof(late->why), TRACEFS_BUSY);
	return t->is_busy;
}

static int decode_tracepoint(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	int err = tracepoints_write(s, c->w, rec);

	*written = !err;
	if (!err)
		tracepoints_report(s, c, rec);
	return err;
}

static void count_tracepoints(const void *s, const struct source_ctx *c, struct source_counts *counts)
{
	counts->skipped += tracepoints_skipped(s, c->skel);
}

static void close_tracepoints(void *s)
{
	tracepoints_close(s);
}

/* Any word that is no other source's. */
const struct source_ops source_tracepoint = {
	.programs = { "on_tracepoint", "count_tracepoint" },
	.features = (const struct feature[]){
		{ .name = "tracefs", .used_for = "tracepoints by name, signal, migrate, system calls, markers",
		  .locked = true, .remedy = "as root: mount -t tracefs tracefs /sys/kernel/tracing",
		  .have = feature_have_tracefs, .arg = "events" },
		{ 0 } },
	.class = LEDGER_EVENTS, .raw_words_min = TRACEPOINT_RECORD,
	.many = "tracepoints", .typical_ns = 55, .shed_class = SHED_TRACEPOINTS, .shed_runs = 1,
	.select = select_tracepoints, .need = need_tracepoints, .has = have_tracepoints, .open = open_tracepoints, .prepare = prepare_tracepoints, .loaded = fill_tracepoints,
	.aside = share_results, .attach_aside = attach_tracepoints, .take_aside = take_results,
	.late = tracepoints_are_late, .decode = decode_tracepoint, .count = count_tracepoints, .close = close_tracepoints,
};

const struct source_ops source_signal = {
	.name = "signal",
	.about = "signals as they are sent and as they are delivered",
	.shows = "instants of category \"signal\" on the sending and the receiving thread; needs tracefs",
	.tracepoints = { { "signal_generate", 1 }, { "signal_deliver", 1 } },
	.class = LEDGER_EVENTS, .events = { "signal:signal_generate", "signal:signal_deliver" },
};

const struct source_ops source_migrate = {
	.name = "migrate",
	.about = "migrations of threads to another CPU",
	.shows = "instants of category \"sched\" on the thread that migrates them; needs tracefs",
	.tracepoints = { { "sched_migrate_task", 1 } },
	.class = LEDGER_EVENTS, .events = { "sched:sched_migrate_task" },
};
