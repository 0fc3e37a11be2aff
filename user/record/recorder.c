// SPDX-License-Identifier: GPL-2.0
/*
 * The course of a recording. Owns the order of things: what the file's first and
 * last records are, that names come before the records that need them, and that
 * a ring is drained before it is full.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../fxt/fxt.h"
#include "names.h"
#include "packets.h"
#include "probes.h"
#include "recorder.h"
#include "ring.h"
#include "sink.h"

#define PROVIDER_ID	1
#define NS_PER_SECOND	1000000000ULL
#define FLUSH_MS	200	/* so that a reader of a pipe, or of the file after a crash, lags no more */
#define END_TRIES	100	/* a CPU with no room for its last record is drained and asked again */

struct recorder {
	const struct recorder_cfg *cfg;
	struct sink *sink;
	struct fxt_writer *w;
	struct packets *packets;	/* NULL: not wanted */
	struct probes *probes;
	struct names *names;
	uint64_t start_ns, stop_ns;
	uint64_t names_lost;		/* of those, known when /proc was last read */
	struct iovec *pieces;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

/* An event about the recording itself, on the recorder's own thread. */
static int write_own_event(struct recorder *r, const char *name, uint64_t ts,
			   const struct fxt_arg *args, unsigned int nargs)
{
	const struct fxt_event event = {
		.type = FXT_INSTANT,
		.ts = ts,
		.thread = { .process = getpid(), .thread = gettid() },
		.category = fxt_str("kfxt"),
		.name = fxt_str(name),
	};

	return fxt_write_event(r->w, &event, args, nargs);
}

static int write_header(struct recorder *r)
{
	static const char *const strings[STR_CNT] = {
#define X(id, text) [id] = text,
		SESSION_STRINGS(X)
#undef X
	};
	int err = fxt_write_magic(r->w), i;

	err = err ?: fxt_write_provider_info(r->w, PROVIDER_ID, fxt_str("kfxt"));
	err = err ?: fxt_write_initialization(r->w, NS_PER_SECOND);
	for (i = 1; !err && i < STR_CNT; i++)
		err = fxt_write_string(r->w, i, fxt_str(strings[i]));
	if (!err && r->packets)
		err = packets_write_system(r->packets, r->cfg->cpus_cnt);
	if (!err && r->packets)
		err = packets_write_clocks(r->packets);
	return err ?: fxt_writer_flush(r->w);
}

static int write_start(struct recorder *r)
{
	struct utsname uts;

	uname(&uts);
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str_inline(r->cfg->cpus_text, strlen(r->cfg->cpus_text))),
		fxt_arg_str("online", fxt_str_inline(r->cfg->online_text, strlen(r->cfg->online_text))),
		fxt_arg_u64("ring_bytes", r->cfg->ring_bytes),
		fxt_arg_str("kernel", fxt_str_inline(uts.release, strlen(uts.release))),
	};

	return write_own_event(r, "start", r->start_ns, args, sizeof(args) / sizeof(args[0]));
}

int recorder_open(struct recorder **out, const struct recorder_cfg *cfg, const char **what)
{
	const struct probes_cfg probes_cfg = {
		.ring_bytes = cfg->ring_bytes, .cpus = cfg->cpus, .cpus_cnt = cfg->cpus_cnt,
	};
	struct recorder *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	*what = "allocating memory";
	if (!r)
		return err;
	r->cfg = cfg;
	err = probes_open(&r->probes, &probes_cfg, what);
	err = err ?: probes_attach(r->probes, what);
	if (err)
		goto err_close;
	*what = "output";
	err = sink_open(&r->sink, cfg->output);
	err = err ?: fxt_writer_open(&r->w, sink_write, r->sink);
	if (!err && cfg->perfetto_packets)
		err = packets_open(&r->packets, r->w);
	err = err ?: names_open(&r->names, r->w, r->probes, r->packets);
	r->pieces = calloc(probes_ring(r->probes, 0)->chunks + 1, sizeof(*r->pieces));
	if (!r->pieces)
		err = -ENOMEM;
	err = err ?: write_header(r);
	if (err)
		goto err_close;
	*out = r;
	return 0;
err_close:
	recorder_close(r);
	return err;
}

int recorder_begin(struct recorder *r)
{
	int err;

	r->start_ns = now_ns();
	err = write_start(r);
	return err ?: probes_begin(r->probes);
}

/* Writes what a ring holds up to @head and gives it back. */
static int drain_ring(struct recorder *r, struct ring *ring, uint64_t head)
{
	int cnt = ring_pieces(ring, head, r->pieces), err;

	err = cnt ? sink_writev(r->sink, r->pieces, cnt) : 0;
	ring_release(ring, head);
	return err;
}

/*
 * One round. A thread's name is sent before its first record is written, so the
 * heads are taken before the names and what lies before them is written after.
 */
static int drain(struct recorder *r, bool with_names)
{
	uint64_t heads[r->cfg->cpus_cnt];
	unsigned int i;
	int err = 0;

	for (i = 0; i < r->cfg->cpus_cnt; i++)
		heads[i] = ring_head(probes_ring(r->probes, i));
	if (with_names)
		err = names_drain(r->names);
	if (!err && with_names && r->packets)
		err = packets_flush(r->packets);
	err = err ?: fxt_writer_flush(r->w);
	for (i = 0; !err && i < r->cfg->cpus_cnt; i++)
		err = drain_ring(r, probes_ring(r->probes, i), heads[i]);
	return err;
}

/* Reads /proc in steps and keeps the rings from filling between them. */
static int scan(struct recorder *r)
{
	struct probes_counts counts;
	int more, err = 0;

	probes_counts(r->probes, &counts);
	r->names_lost = counts.names_lost;
	do {
		more = names_scan(r->names);
		err = more < 0 ? more : drain(r, false);
	} while (!err && more);
	return err;
}

/* Names were lost on their way: what still lives can be read again. */
static int rescan_if_lost(struct recorder *r)
{
	struct probes_counts counts;

	probes_counts(r->probes, &counts);
	return counts.names_lost > r->names_lost ? scan(r) : 0;
}

int recorder_run(struct recorder *r, int stop_fd, void (*tick)(void *ctx), void *ctx)
{
	struct pollfd fds[] = {
		{ .fd = stop_fd, .events = POLLIN },
		{ .fd = names_fd(r->names), .events = POLLIN },
	};
	int err = scan(r);

	while (!err) {
		if (poll(fds, 2, FLUSH_MS) < 0 && errno != EINTR)
			return -errno;
		err = drain(r, true);
		if (fds[0].revents)
			break;
		if (tick)
			tick(ctx);
	}
	return err;
}

static int write_ledger(struct recorder *r)
{
	struct probes_counts counts;
	struct recorder_cpu c;
	uint64_t lost[r->cfg->cpus_cnt], lost_sum = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < r->cfg->cpus_cnt; i++) {
		recorder_cpu(r, i, &c);
		const struct fxt_arg args[] = {
			fxt_arg_u32("cpu", c.cpu),
			fxt_arg_u64("switches", c.switches), fxt_arg_u64("wakeups", c.wakeups),
			fxt_arg_u64("lost_switches", c.lost_switches),
			fxt_arg_u64("lost_wakeups", c.lost_wakeups),
			fxt_arg_u64("unseen_switches", c.unseen_switches),
		};

		err = write_own_event(r, "ledger", r->stop_ns, args, 6);
		lost[i] = c.lost_switches + c.lost_wakeups;
		lost_sum += lost[i];
	}
	probes_counts(r->probes, &counts);
	const struct fxt_arg args[] = {
		fxt_arg_u64("names", counts.names_seen - counts.names_lost),
		fxt_arg_u64("lost_names", counts.names_lost),
		fxt_arg_u64("skipped", counts.skipped),
	};

	err = err ?: write_own_event(r, "ledger", r->stop_ns, args, 3);
	if (!err && lost_sum)
		err = fxt_write_provider_event(r->w, PROVIDER_ID, FXT_PROVIDER_EVENT_BUFFER_FULL);
	if (!err && r->packets && lost_sum)
		err = packets_write_lost(r->packets, lost, r->cfg->cpus_cnt);
	return err;
}

int recorder_end(struct recorder *r)
{
	int tries = 0, err = drain(r, true);

	while (probes_end(r->probes) && !err && tries++ < END_TRIES)
		err = drain(r, true);
	r->stop_ns = now_ns();
	err = err ?: drain(r, true);
	err = err ?: rescan_if_lost(r);
	err = err ?: write_own_event(r, "stop", r->stop_ns, NULL, 0);
	err = err ?: write_ledger(r);
	if (!err && r->packets)
		err = packets_flush(r->packets);
	if (!err && r->packets)
		err = packets_write_clocks(r->packets);
	return err ?: fxt_writer_flush(r->w);
}

void recorder_cpu(const struct recorder *r, unsigned int i, struct recorder_cpu *cpu)
{
	const struct cpu_ctl *ctl = probes_ring(r->probes, i)->ctl;

	*cpu = (struct recorder_cpu){
		.cpu = r->cfg->cpus[i],
		.switches = ctl->switches, .wakeups = ctl->wakeups,
		.lost_switches = ctl->lost_switches, .lost_wakeups = ctl->lost_wakeups,
		.unseen_switches = ctl->unseen_switches,
	};
}

void recorder_totals(const struct recorder *r, struct recorder_totals *t)
{
	struct probes_counts counts;
	struct recorder_cpu c;
	unsigned int i;

	probes_counts(r->probes, &counts);
	*t = (struct recorder_totals){
		.names = counts.names_seen - counts.names_lost, .names_lost = counts.names_lost,
		.skipped = counts.skipped, .generations_exhausted = counts.generations_exhausted,
		.start_ns = r->start_ns, .stop_ns = r->stop_ns,
		.bytes = sink_bytes(r->sink), .memory_bytes = probes_memory(r->probes),
	};
	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		recorder_cpu(r, i, &c);
		t->sum.switches += c.switches;
		t->sum.wakeups += c.wakeups;
		t->sum.lost_switches += c.lost_switches;
		t->sum.lost_wakeups += c.lost_wakeups;
		t->sum.unseen_switches += c.unseen_switches;
	}
}

int recorder_close(struct recorder *r)
{
	int err;

	if (!r)
		return 0;
	names_close(r->names);
	packets_close(r->packets);
	err = fxt_writer_close(r->w);
	err = sink_close(r->sink) ?: err;
	probes_close(r->probes);
	free(r->pieces);
	free(r);
	return err;
}
