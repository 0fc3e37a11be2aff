// SPDX-License-Identifier: GPL-2.0
/*
 * Idle states and frequencies as counters, a track for each CPU.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/abi/power.h"
#include "bpf/abi/raw.h"
#include "capture/features.h"
#include "capture/source.h"
#include "capture/tracks.h"
#include "fxt/fxt.h"
#include "table.h"

struct power {
	bool frequencies_written;
};

static int decode(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	static const char *const names[POWER_KIND_CNT] = {
		[POWER_IDLE] = "cpu_idle", [POWER_FREQUENCY] = "cpu_frequency",
	};
	const enum power_kind kind = FXT_GET(rec[POWER_WHAT], POWER_F_KIND);
	struct fxt_event event = {
		.type = FXT_COUNTER, .ts = rec[RAW_TS], .id = FXT_GET(rec[POWER_WHAT], POWER_F_CPU),
		.category = fxt_str("power"), .name = fxt_str(kind < POWER_KIND_CNT ? names[kind] : NULL),
	};
	/* "Not idle" is (u32)-1 for the kernel and -1 here. */
	const struct fxt_arg arg = fxt_arg_i32("state", FXT_GET(rec[POWER_WHAT], POWER_F_VALUE));
	int err = kind < POWER_KIND_CNT ? tracks_get_counters(c->tracks, c->w, &event.thread) : -EINVAL;

	(void)s;
	err = err ?: fxt_write_event(c->w, &event, &arg, 1);
	*written = !err;
	return err;
}

/* As if the kernel had just reported it. */
static int write_frequency(struct source_ctx *c, const char *path, const char *format, uint64_t now_ns)
{
	uint64_t rec[POWER_WORDS] = { [RAW_TS] = now_ns };
	FILE *f = fopen(path, "re");
	unsigned int cpu, khz, written;
	int err = 0;

	if (f && sscanf(path, format, &cpu) == 1 && fscanf(f, "%u", &khz) == 1) {
		rec[POWER_WHAT] = FXT_PUT(POWER_FREQUENCY, POWER_F_KIND) | FXT_PUT(cpu, POWER_F_CPU) |
				  FXT_PUT(khz, POWER_F_VALUE);
		err = decode(NULL, c, rec, &written);
		c->events += written;
	}
	if (f)
		fclose(f);
	return err;
}

/* As sysfs has them; of CPUs that have none nothing is written. */
static int write_frequencies(struct source_ctx *c, uint64_t now_ns)
{
	char pattern[256], format[256];
	glob_t found;
	size_t i;
	int err = 0;

	snprintf(pattern, sizeof(pattern), "%s/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq", c->root);
	snprintf(format, sizeof(format), "%s/sys/devices/system/cpu/cpu%%u/", c->root);
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc && !err; i++)
		err = write_frequency(c, found.gl_pathv[i], format, now_ns);
	globfree(&found);
	return err;
}

static int open_power(void **s, const struct source_ctx *c, char *why, size_t size)
{
	(void)c, (void)why, (void)size;
	*s = calloc(1, sizeof(struct power));
	return *s ? 0 : -ENOMEM;
}

/* At the start, as programs report only changes. */
static int poll_power(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	struct power *power = s;

	(void)final;
	if (power->frequencies_written)
		return 0;
	power->frequencies_written = true;
	return write_frequencies(c, now_ns);
}

const struct source_ops source_power = {
	.name = "power",
	.about = "idle state and frequency of each CPU",
	.shows = "counters \"cpu_idle\" and \"cpu_frequency\" (kHz) of process \"counters\", by CPU",
	.tracepoints = { { "cpu_idle", 2 }, { "cpu_frequency", 2 } },
	.features = (const struct feature[]){
		FEATURE_TRACEPOINT("cpu_idle", 2, "-e power"),
		{ 0 } },
	.programs = { "on_cpu_idle", "on_cpu_frequency" },
	.class = LEDGER_EVENTS, .raw_words_min = POWER_WORDS,
	.shed_class = SHED_PRESETS, .shed_runs = 2,
	.open = open_power, .decode = decode, .poll = poll_power, .close = free,
};
