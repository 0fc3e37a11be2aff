// SPDX-License-Identifier: GPL-2.0
/*
 * Idle states and frequencies as counters, a track for each CPU.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>

#include "../../bpf/presets.h"
#include "events_p.h"
#include "presets.h"

int power_write(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written)
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
	int err = kind < POWER_KIND_CNT ? presets_counters(e->presets, w, &event.thread) : -EINVAL;

	err = err ?: fxt_write_event(w, &event, &arg, 1);
	*written = !err;
	return err;
}

/* As if the kernel had just told. */
static int write_frequency(struct events *e, struct fxt_writer *w, const char *path, const char *format,
			   uint64_t now_ns)
{
	uint64_t rec[POWER_WORDS] = { [RAW_TS] = now_ns };
	FILE *f = fopen(path, "re");
	unsigned int cpu, khz, written;
	int err = 0;

	if (f && sscanf(path, format, &cpu) == 1 && fscanf(f, "%u", &khz) == 1) {
		rec[POWER_WHAT] = FXT_PUT(POWER_FREQUENCY, POWER_F_KIND) | FXT_PUT(cpu, POWER_F_CPU) |
				  FXT_PUT(khz, POWER_F_VALUE);
		err = power_write(e, w, rec, &written);
		e->counts.events += written;
	}
	if (f)
		fclose(f);
	return err;
}

int power_write_frequencies(struct events *e, struct fxt_writer *w, const char *root, uint64_t now_ns)
{
	char pattern[256], format[256];
	glob_t found;
	size_t i;
	int err = 0;

	snprintf(pattern, sizeof(pattern), "%s/cpu[0-9]*/cpufreq/scaling_cur_freq", root);
	snprintf(format, sizeof(format), "%s/cpu%%u/", root);
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc && !err; i++)
		err = write_frequency(e, w, found.gl_pathv[i], format, now_ns);
	globfree(&found);
	return err;
}
