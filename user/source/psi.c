// SPDX-License-Identifier: GPL-2.0
/*
 * Pressure stall information as counters. What the kernel counts is microseconds; a counter is
 * the share of the time since it was last read, and is dated where that time began.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/features.h"
#include "capture/source.h"
#include "capture/tracks.h"
#include "fxt/fxt.h"
#include "table.h"

#define PERIOD_NS_MIN	100000000U	/* between two readings; a full ring makes us come sooner */
#define PERIOD_NS_LAST	1000000U	/* and before the last one */

/* "full" of the CPU is always 0 for the whole machine. */
static const struct {
	const char *file, *counter;
	unsigned int shares;
} kinds[] = {
	{ "cpu", "pressure cpu", 1 },
	{ "memory", "pressure memory", 2 },
	{ "io", "pressure io", 2 },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static const char *const shares[] = { "some", "full" };

struct psi {
	uint64_t read_ns;	/* 0: not yet */
	struct {
		int fd;
		uint64_t total_us[2];
	} of[KINDS];
};

static int read_totals(const struct psi *psi, unsigned int kind, uint64_t *total_us)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < kinds[kind].shares && !err; i++)
		err = pressure_read(psi->of[kind].fd, shares[i], &total_us[i]);
	return err;
}

static void close_psi(void *s)
{
	struct psi *psi = s;
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		if (psi->of[i].fd >= 0)
			close(psi->of[i].fd);
	free(psi);
}

static int open_psi(void **s, const struct source_ctx *c, char *why, size_t size)
{
	struct psi *psi = calloc(1, sizeof(*psi));
	char path[256];
	unsigned int i;
	int err = 0;

	if (!psi)
		return -ENOMEM;
	for (i = 0; i < KINDS; i++) {
		snprintf(path, sizeof(path), "%s/proc/pressure/%s", c->root, kinds[i].file);
		psi->of[i].fd = open(path, O_RDONLY | O_CLOEXEC);
		if (!err && (psi->of[i].fd < 0 || (err = read_totals(psi, i, psi->of[i].total_us)))) {
			err = err ?: -errno;
			snprintf(why, size, "psi: %s: %s (psi=1 on the kernel's command line)", path,
				 strerror(-err));
		}
	}
	if (err)
		close_psi(psi);
	else
		*s = psi;
	return err ? -ENOTSUP : 0;
}

static int write_kind(struct psi *psi, struct fxt_writer *w, struct fxt_thread at, unsigned int kind, uint64_t ns)
{
	const struct fxt_event event = {
		.type = FXT_COUNTER, .ts = psi->read_ns, .thread = at, .category = fxt_str("psi"),
		.name = fxt_str(kinds[kind].counter),
	};
	uint64_t total_us[2] = { 0 };
	struct fxt_arg args[2];
	unsigned int i;
	int err = read_totals(psi, kind, total_us);

	for (i = 0; !err && i < kinds[kind].shares; i++) {
		args[i] = fxt_arg_f64(shares[i], (total_us[i] - psi->of[kind].total_us[i]) * 1e5 / ns);
		psi->of[kind].total_us[i] = total_us[i];
	}
	return err || !psi->read_ns ? err : fxt_write_event(w, &event, args, kinds[kind].shares);
}

/* Writes what there was since the last time; the first time, nothing. */
static int poll_psi(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	struct psi *psi = s;
	struct fxt_thread at;
	unsigned int i;
	int err;

	if (now_ns < psi->read_ns + (final ? PERIOD_NS_LAST : PERIOD_NS_MIN))
		return 0;
	err = tracks_get_counters(c->tracks, c->w, &at);
	for (i = 0; i < KINDS && !err; i++) {
		err = write_kind(psi, c->w, at, i, now_ns - psi->read_ns);
		c->events += !err && psi->read_ns;
	}
	psi->read_ns = now_ns;
	return err;
}

const struct source_ops source_psi = {
	.name = "psi",
	.about = "pressure: the share of time some or all tasks waited for CPU, memory or I/O",
	.shows = "counters \"pressure WHAT\" (percent, up to five times a second) of process \"counters\"",
	.file = "/proc/pressure/cpu",
	.features = (const struct feature[]){
		{ .name = "pressure", .used_for = "-e psi", .remedy = "kernel with CONFIG_PSI=y, started with psi=1",
		  .have = feature_have_file, .arg = "/proc/pressure/cpu" },
		{ 0 } },
	.class = LEDGER_EVENTS,
	.open = open_psi, .poll = poll_psi, .close = close_psi,
};
