// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of tracepoints, and what becomes of their records. One program serves all of
 * them; its attach cookie says which it runs for.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/glob.h"
#include "bpf/abi/raw.h"
#include "bpf/abi/tracepoint.h"
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
#include "tracepoint_near.h"
#include "tracepoint.h"

struct tracepoint {
	char *name;			/* "sched:sched_switch"; what follows the colon is the event */
	struct fxt_str system, event;
	struct tracepoint_format *format;
	struct tracepoint_info info;	/* for the kernel side */
	struct bpf_link *link;
	int count_fd;			/* the program that only counts; 0: none */
	bool by_glob;
};

struct tracepoints {
	bool presets;
	struct tracepoint *all;
	unsigned int cnt, cap;
	struct tracefs_event *offered;	/* NULL: not read yet */
	size_t offered_cnt;
	struct kernel_symbols *symbols;	/* NULL: nothing needs them, or they cannot be had */
	struct literals *literals;
	struct tracepoint_info *infos;	/* shared with the kernel side */
	size_t infos_bytes;
	unsigned int refused;
	const char *first_refused;
};

int tracepoints_open(struct tracepoints **out, bool presets)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->presets = presets;
	return 0;
}

unsigned int tracepoints_cnt(const struct tracepoints *t)
{
	return t ? t->cnt : 0;
}

const struct tracepoint_format *tracepoints_at(const struct tracepoints *t, unsigned int i, const char **system,
					       const char **event)
{
	*system = t->all[i].system.data;
	*event = t->all[i].event.data;
	return t->all[i].format;
}

/* ---- what a word means --------------------------------------------------------------- */

/* A word taken apart: globs, either of them "" where it does not say; and a filter or "". */
struct pattern {
	char system[128], event[128], filter[512];
};

static bool copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		return false;
	memcpy(to, from, len);
	to[len] = 0;
	return true;
}

/*
 * "sched:x/pid > 1/", "sched/x/pid > 1/", "x/pid > 1/": a filter ends with a slash and begins
 * with the first one, or the second where the first is between system and event.
 */
static bool split(const char *word, struct pattern *w)
{
	const size_t len = strlen(word);
	const char *colon = strchr(word, ':'), *slash = strchr(word, '/'), *second = slash ? strchr(slash + 1, '/') : NULL;
	const bool filtered = len > 1 && word[len - 1] == '/' && slash != word + len - 1;
	const char *sep = colon && (!slash || colon < slash) ? colon : NULL;
	const char *filter = filtered ? slash : NULL;

	*w = (struct pattern){ 0 };
	if (!sep && filtered && second && second != word + len - 1) {
		sep = slash;
		filter = second;
	} else if (!sep && !filtered) {
		sep = slash;
	}
	if (filter && !copy(w->filter, sizeof(w->filter), filter + 1, (size_t)(word + len - 1 - filter - 1)))
		return false;
	if (!filter)
		filter = word + len;
	if (!sep)
		return copy(w->event, sizeof(w->event), word, (size_t)(filter - word));
	return copy(w->system, sizeof(w->system), word, (size_t)(sep - word)) &&
	       copy(w->event, sizeof(w->event), sep + 1, (size_t)(filter - sep - 1));
}

static const char *near(const struct tracepoints *t, const char *system, const char *event,
			char text[SUGGEST_TEXT_BYTES])
{
	const struct tracepoint_near n = { t->offered, t->offered_cnt, t->presets };

	return tracepoint_near(&n, system, event, text);
}

static int read_offered(struct tracepoints *t, const char *word, char *why, size_t size)
{
	int err = t->offered ? 0 : tracefs_events(&t->offered, &t->offered_cnt);
	char text[SUGGEST_TEXT_BYTES];

	if (!err || err == -ENOMEM)
		return err;
	if (!strpbrk(word, ":/") && near(t, "", word, text)[0])
		snprintf(why, size, "%s: no such preset%s; events in tracefs: %s (%s)", word, text, strerror(-err),
			 tracefs_remedy(err));
	else
		snprintf(why, size, "%s: events in tracefs: %s (%s)", word, strerror(-err), tracefs_remedy(err));
	return -ENOTSUP;
}

/* Why @word, of which @w was made, matches no event. */
static int no_such_events(const struct tracepoints *t, const char *word, const struct pattern *w, char *why, size_t size)
{
	const char *slash = strchr(word, '/'), *op = strpbrk(slash ?: word, "=<>&|~");
	char text[SUGGEST_TEXT_BYTES];

	if (!w->event[0] && !w->system[0])
		snprintf(why, size, "'%s': no event name ('*:*' selects all events)", word);
	else if (op && !w->filter[0] && slash)
		snprintf(why, size, "%s: the slash that ends the filter is missing (%s/)", word, word);
	else if (op && !w->filter[0])
		snprintf(why, size, "%s: no such events (a filter is written SYSTEM:EVENT/FILTER/)", word);
	else if (strchr(w->event, ',') || strchr(w->system, ','))
		snprintf(why, size, "%s: no such events (is it a list? each takes an -e of its own)", word);
	else
		snprintf(why, size, "%s: no such events%s", word,
			 near(t, w->system, w->event, text)[0] ? text : " (kfxt list prints all)");
	return -EINVAL;
}

static bool fits(const struct tracefs_event *e, const struct pattern *w)
{
	return (!w->system[0] || glob_match(w->system, e->system)) &&
	       (!w->event[0] || glob_match(w->event, e->name));
}

/* A word alone is an event; if there is none of that name, it is a system. */
static bool resolve(const struct tracepoints *t, struct pattern *w)
{
	size_t i;

	for (i = 0; i < t->offered_cnt; i++)
		if (fits(&t->offered[i], w))
			return true;
	if (w->system[0])
		return false;
	strcpy(w->system, w->event);
	w->event[0] = 0;
	for (i = 0; i < t->offered_cnt; i++)
		if (fits(&t->offered[i], w))
			return true;
	return false;
}

/* ---- the choice ---------------------------------------------------------------------------- */

static void detach(struct tracepoint *tp)
{
	bpf_link__destroy(tp->link);
	tp->link = NULL;
	if (tp->count_fd > 0)
		close(tp->count_fd);
	tp->count_fd = 0;
}

static void drop(struct tracepoint *tp)
{
	detach(tp);
	tracepoint_format_close(tp->format);
	free(tp->name);
}

static struct tracepoint *find(const struct tracepoints *t, const struct tracefs_event *e)
{
	unsigned int i;

	for (i = 0; i < t->cnt; i++)
		if (!strcmp(t->all[i].system.data, e->system) && !strcmp(t->all[i].event.data, e->name))
			return &t->all[i];
	return NULL;
}

/* What the kernel side has to know to copy a record. */
static void describe(struct tracepoint *tp)
{
	unsigned int cnt, i, n = 0;
	const struct tracepoint_field *fields = tracepoint_format_fields(tp->format, &cnt);

	tp->info.bytes = tracepoint_format_bytes(tp->format);
	for (i = 0; i < cnt && n < TRACEPOINT_DYNAMIC_MAX; i++)
		if (fields[i].is_dynamic)
			tp->info.dynamic[n++] = fields[i].offset | (fields[i].is_relative ? TRACEPOINT_RELATIVE : 0);
}

static bool value_of(void *ctx, const char *name, int64_t *value)
{
	(void)ctx;
	return kernel_btf_enumerator(name, value);
}

static int read_format(struct tracepoint *tp, const struct tracefs_event *e, char *why, size_t size)
{
	char *text;
	size_t len;
	int err = tracefs_format(e, &text, &len);

	if (!err) {
		err = tracepoint_format_open(&tp->format, e->system, text, len, value_of, NULL);
		free(text);
	}
	if (err == -EINVAL)
		snprintf(why, size, "%s:%s: its format file cannot be parsed", e->system, e->name);
	else if (err)
		snprintf(why, size, "%s:%s: its format file: %s", e->system, e->name, strerror(-err));
	return err == -ENOMEM ? err : err ? -ENOTSUP : 0;
}

/* Makes the next one, whole but not counted yet. */
static int make(struct tracepoints *t, const struct tracefs_event *e, char *why, size_t size)
{
	struct tracepoint *tp;
	int err;

	if (array_reserve(t->all, t->cnt, t->cap, 1))
		return -ENOMEM;
	tp = &t->all[t->cnt];
	*tp = (struct tracepoint){ 0 };
	err = read_format(tp, e, why, size);
	/* Both names, the first with a NUL in place of the colon. */
	if (!err && asprintf(&tp->name, "%s%c%s", e->system, 0, e->name) < 0) {
		tp->name = NULL;
		err = -ENOMEM;
	}
	if (err) {
		drop(tp);
		return err;
	}
	tp->system = fxt_str(tp->name);
	tp->event = fxt_str(tp->name + strlen(tp->name) + 1);
	describe(tp);
	return 0;
}

/* Adds @e, or gives it the filter if it is there already. */
static int choose(struct tracepoints *t, const struct tracefs_event *e, const struct pattern *w, char *why, size_t size)
{
	struct tracepoint *tp = find(t, e);
	char reason[256];
	int err;

	if (!tp) {
		err = make(t, e, why, size);
		if (err)
			return err;
		tp = &t->all[t->cnt++];
	}
	tp->by_glob = glob_has_wildcard(w->system) || glob_has_wildcard(w->event) || !w->event[0];
	tp->info.tests = 0;
	if (!w->filter[0])
		return 0;
	err = tracepoint_filter_compile(&tp->info, tp->format, w->filter, reason, sizeof(reason));
	if (err)
		snprintf(why, size, "%s:%s: filter: %s", e->system, e->name, reason);
	return err;
}

static void forget(struct tracepoints *t, const struct tracefs_event *e)
{
	struct tracepoint *tp = find(t, e);

	if (!tp)
		return;
	drop(tp);
	*tp = t->all[--t->cnt];
}

int tracepoints_choose(struct tracepoints *t, const char *word, bool out, char *why, size_t why_size)
{
	struct pattern w;
	size_t i;
	int err = read_offered(t, word, why, why_size);

	if (!err && (!split(word, &w) || !(w.system[0] || w.event[0]) || !resolve(t, &w)))
		err = no_such_events(t, word, &w, why, why_size);
	for (i = 0; !err && i < t->offered_cnt; i++) {
		if (!fits(&t->offered[i], &w))
			continue;
		if (out)
			forget(t, &t->offered[i]);
		else
			err = choose(t, &t->offered[i], &w, why, why_size);
	}
	return err;
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
		literals_open(&t->literals);
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
		if (err && !t->all[i].by_glob) {
			*which = t->all[i].event.data;
			return err;
		}
		if (err && !t->refused++)
			t->first_refused = t->all[i].event.data;
	}
	return 0;
}

void tracepoints_detach(struct tracepoints *t, progress_fn progress, void *ctx)
{
	unsigned int i;

	for (i = 0; i < tracepoints_cnt(t); i++) {
		if (progress && t->all[i].link)
			progress(ctx, "detaching", i, t->cnt, "tracepoints");
		detach(&t->all[i]);
	}
}

unsigned int tracepoints_refused(const struct tracepoints *t, const char **first)
{
	*first = t ? t->first_refused : NULL;
	return t ? t->refused : 0;
}

/* ---- records --------------------------------------------------------------------------------------- */

static const char *literal(void *ctx, uint64_t addr)
{
	return literals_find(ctx, addr);
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
	for (i = 0; i < t->cnt; i++)
		drop(&t->all[i]);
	if (t->infos)
		munmap(t->infos, t->infos_bytes);
	tracefs_events_free(t->offered, t->offered_cnt);
	kernel_symbols_close(t->symbols);
	literals_close(t->literals);
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
	return err ?: tracepoints_cnt(t) > 0;
}

static int prepare_tracepoints(void *s, struct source_ctx *c)
{
	return tracepoints_prepare(s, c->skel);
}

static int fill_tracepoints(void *s, struct source_ctx *c)
{
	return tracepoints_fill(s, c->skel);
}

static int attach_tracepoints(void *s, struct source_ctx *c, const char **which)
{
	return tracepoints_attach(s, c->skel, which, c->progress, c->progress_ctx);
}

static int decode_tracepoint(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	int err = tracepoints_write(s, c->w, rec);

	*written = !err;
	return err;
}

static void count_tracepoints(const void *s, const struct source_ctx *c, struct source_counts *counts)
{
	counts->skipped += tracepoints_skipped(s, c->skel);
}

static void detach_tracepoints(void *s, struct source_ctx *c)
{
	tracepoints_detach(s, c->progress, c->progress_ctx);
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
	.select = select_tracepoints, .prepare = prepare_tracepoints, .loaded = fill_tracepoints,
	.attach = attach_tracepoints, .decode = decode_tracepoint, .count = count_tracepoints,
	.detach = detach_tracepoints, .close = close_tracepoints,
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
