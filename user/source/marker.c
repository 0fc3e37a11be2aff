// SPDX-License-Identifier: GPL-2.0
/*
 * Markers wait here until the names are as new as they are, and until no other CPU has older
 * ones in its buffer.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "bpf/abi/marker.h"
#include "bpf/abi/raw.h"
#include "format/ftrace/live.h"
#include "fxt/fxt.h"
#include "kfxt.skel.h"
#include "capture/features.h"
#include "capture/source.h"
#include "capture/thread_filter.h"
#include "marker_instance.h"
#include "marker.h"
#include "table.h"
#include "capture/tasks.h"

#define HOLD_NS		100000000ULL	/* a writer is done with its record long before */
#define COPY_BYTES_MAX	(1U << 20)	/* of each CPU's buffer; it is emptied five times a second */

struct marker {
	uint64_t ts, number;		/* as they came */
	struct fxt_thread at;		/* without a process: it is to be looked up */
	size_t len;
	char *text;			/* NULL: here some are missing */
};

struct markers {
	struct marker_instance *copy;	/* NULL: the kernel makes none */
	struct markers_cfg cfg;
	struct live_cfg live;
	struct live *builder;	/* NULL: nothing has been written */
	struct marker *waiting;
	size_t cnt, cap;
	uint64_t number;
	uint64_t events, unwritten;
};

static bool find_process(void *ctx, uint32_t pid, uint64_t *koid)
{
	const struct markers *m = ctx;
	struct fxt_thread at;
	const bool known = pid && tasks_find(m->cfg.names, pid, &at) && at.process == at.thread;

	*koid = known ? at.process : 0;
	return known;
}

int markers_open(struct markers **out)
{
	struct markers *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	marker_instance_open(&m->copy);
	*out = m;
	return 0;
}

bool markers_are_copied(const struct markers *m)
{
	return m && m->copy;
}

int markers_begin(struct markers *m, const struct markers_cfg *cfg)
{
	const uint64_t bytes = cfg->ring_bytes < COPY_BYTES_MAX ? cfg->ring_bytes : COPY_BYTES_MAX;

	m->cfg = *cfg;
	m->live = (struct live_cfg){ .find_process = find_process, .ctx = m, .own_tracks = cfg->own_tracks };
	return m->copy ? marker_instance_begin(m->copy, cfg->cpus, cfg->cpus_cnt, bytes) : 0;
}

int markers_fd(const struct markers *m)
{
	return markers_are_copied(m) ? marker_instance_fd(m->copy) : -1;
}

/* ---- in ------------------------------------------------------------------------ */

static struct marker *push(struct markers *m, uint64_t ts)
{
	if (array_reserve(m->waiting, m->cnt, m->cap, 1))
		return NULL;
	m->waiting[m->cnt] = (struct marker){ .ts = ts, .number = m->number++ };
	return &m->waiting[m->cnt++];
}

static int add_marker(struct markers *m, uint64_t ts, struct fxt_thread at, const char *text, size_t len)
{
	char *copy = malloc(len + 1);
	struct marker *marker = copy ? push(m, ts) : NULL;

	if (!marker) {
		free(copy);
		return -ENOMEM;
	}
	/* The kernel adds it where it is missing. */
	len -= len && text[len - 1] == '\n';
	memcpy(copy, text, len);
	marker->at = at;
	marker->text = copy;
	marker->len = len;
	return 0;
}

int markers_gap(struct markers *m, uint64_t from_ns, uint64_t to_ns)
{
	return push(m, from_ns) && push(m, to_ns) ? 0 : -ENOMEM;
}

static int take_copy(void *ctx, const struct page_marker *p)
{
	struct markers *m = ctx;
	int err;

	if (p->ts < m->cfg.start_ns || !filter_selected(m->cfg.filter, p->tid))
		return 0;
	err = add_marker(m, p->ts, (struct fxt_thread){ .thread = p->tid }, p->text, p->len);
	m->unwritten += !!err;
	return err;
}

int markers_read(struct markers *m)
{
	return m->copy ? marker_instance_read(m->copy, take_copy, m) : 0;
}

uint64_t markers_overwritten(const struct markers *m, unsigned int i)
{
	return m->copy ? marker_instance_lost(m->copy, i) : 0;
}

void markers_stop(struct markers *m)
{
	if (m->copy)
		marker_instance_end(m->copy);
}

int markers_take(struct markers *m, const uint64_t *rec)
{
	const char *text = (const char *)(rec + MARKER_TEXT);
	const size_t room = (FXT_GET(rec[RAW_HEADER], FXT_F_SIZE) - MARKER_TEXT) * 8;
	const struct fxt_thread at = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] };

	if (!rec[MARKER_LEN])	/* counted as lost */
		return 0;
	return add_marker(m, rec[RAW_TS], at, text, strnlen(text, rec[MARKER_LEN] < room ? rec[MARKER_LEN] : room));
}

/* ---- out ----------------------------------------------------------------------- */

static int compare_markers(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int write_marker(struct markers *m, const struct marker *marker)
{
	struct fxt_thread at = marker->at;

	if (!marker->text)
		return live_gap(m->builder, marker->ts);
	if (!at.process)
		tasks_find(m->cfg.names, (uint32_t)at.thread, &at);
	return live_add(m->builder, marker->ts, at, marker->text, marker->len);
}

/* Those up to @until_ns; once the output fails they are counted. */
static int write_until(struct markers *m, uint64_t until_ns)
{
	size_t i, kept = 0;
	int err = 0;

	if (m->cnt)
		qsort(m->waiting, m->cnt, sizeof(*m->waiting), compare_markers);
	for (i = 0; i < m->cnt; i++) {
		if (m->waiting[i].ts > until_ns) {
			m->waiting[kept++] = m->waiting[i];
			continue;
		}
		err = err ?: write_marker(m, &m->waiting[i]);
		m->unwritten += err && m->waiting[i].text;
		free(m->waiting[i].text);
	}
	m->cnt = kept;
	return err;
}

int markers_write(struct markers *m, struct fxt_writer *w, uint64_t now_ns, bool last)
{
	const uint64_t named_ns = tasks_drained_ns(m->cfg.names);
	const uint64_t until_ns = last ? now_ns : now_ns - HOLD_NS < named_ns ? now_ns - HOLD_NS : named_ns;
	struct builder_stats stats;
	int err = 0, failed;

	if (m->cnt && !m->builder)
		err = live_open(&m->builder, w, &m->live);
	if (!m->builder)
		return err;
	failed = write_until(m, until_ns);
	err = err ?: failed;
	if (last)
		err = live_end(m->builder, now_ns) ?: err;
	live_stats(m->builder, &stats);
	m->events = stats.events;
	return err;
}

void markers_close(struct markers *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->cnt; i++)
		free(m->waiting[i].text);
	free(m->waiting);
	live_close(m->builder);
	marker_instance_close(m->copy);
	free(m);
}

/* ---- as a source --------------------------------------------------------------- */

/*
 * By the kernel's copies where it makes them. The program costs something at each system call, so
 * it is for those who asked.
 */
static int open_marker(void **s, const struct source_ctx *c, char *why, size_t size)
{
	struct markers *m = NULL;
	int err = markers_open(&m);

	(void)why, (void)size;
	if (!err && !markers_are_copied(m) && !c->by_name) {
		markers_close(m);
		return SOURCE_OUT;
	}
	*s = m;
	return err ?: markers_are_copied(m) ? SOURCE_BARE : 0;
}

static int prepare_marker(void *s, struct source_ctx *c)
{
	(void)s;
	c->skel->rodata->cfg_markers_of_all = c->of_all;
	return 0;
}

static int start_marker(void **s, struct source_ctx *c)
{
	return markers_begin(*s, &(struct markers_cfg){
		.names = c->names, .start_ns = c->start_ns, .cpus = c->cpus, .cpus_cnt = c->cpus_cnt,
		.ring_bytes = c->ring_bytes, .own_tracks = c->calls_are_slices, .filter = c->of_all ? NULL : c->filter,
	});
}

static bool marker_is_late(const void *s, struct source_late *late)
{
	const struct markers *m = s;

	return m->copy && marker_instance_late(m->copy, &late->since_ns, late->why);
}

static int marker_fd(const void *s)
{
	return markers_fd(s);
}

static int read_marker(void *s)
{
	return markers_read(s);
}

/* It is written in its turn: see markers_write(). */
static int decode_marker(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	(void)c, (void)written;
	return markers_take(s, rec);
}

static int poll_marker(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	return markers_write(s, c->w, now_ns, final);
}

/* Files of buffers that come late. */
static const struct source_call calls[] = {
	{ SCMP_SYS(recvmsg), 2, UINT32_MAX, MSG_CMSG_CLOEXEC | MSG_DONTWAIT },
	{ .call = SOURCE_LAST_CALL },
};

static uint64_t overwritten_markers(const void *s, unsigned int i)
{
	return markers_overwritten(s, i);
}

static int gap_in_markers(void *s, bool overwritten, uint64_t from_ns, uint64_t to_ns)
{
	return markers_are_copied(s) == overwritten ? markers_gap(s, from_ns, to_ns) : 0;
}

static void stop_marker(void *s, struct source_ctx *c)
{
	(void)c;
	markers_stop(s);
}

static void count_markers(const void *s, const struct source_ctx *c, struct source_counts *counts)
{
	const struct markers *m = s;

	(void)c;
	counts->records += m->events;
	counts->taken += m->copy ? m->events : 0;
	counts->unwritten += m->unwritten;
}

static void close_marker(void *s)
{
	markers_close(s);
}

const struct source_ops source_marker = {
	.name = "marker", .by_default = true,
	.about = "what programs write to trace_marker; on unless !marker if the kernel can copy markers",
	.shows = "slices, counters and instants, as kfxt convert makes of markers",
	.tracepoints = { { "sys_exit", 2 } },
	.features = (const struct feature[]){
		FEATURE_TRACEPOINT("sys_exit", 2, "markers, where the kernel makes no copies of them"),
		{ .name = "copies of markers", .used_for = "markers at no cost, without -e marker", .locked = true,
		  .remedy = "run as root on kernel 6.16 or later", .have = feature_have_tracefs,
		  .arg = "options/copy_trace_marker" },
		{ 0 } },
	.programs = { "on_marker" },
	.class = LEDGER_EVENTS, .raw_words_min = MARKER_TEXT, .calls = calls,
	.open = open_marker, .prepare = prepare_marker, .start = start_marker, .late = marker_is_late, .fd = marker_fd, .after_look = read_marker,
	.decode = decode_marker, .poll = poll_marker, .overwritten = overwritten_markers, .gap = gap_in_markers,
	.stop = stop_marker, .count = count_markers, .close = close_marker,
};
