// SPDX-License-Identifier: GPL-2.0
/* What a thread does, by /proc. */
#include "trigger.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"

#define BYTES_MAX	(1U << 20)	/* some 1500, and up to 11 for each group of its user */

/* What comes after @key, which begins with the end of the line before; NULL: there is no such line. */
static const char *value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? at + strlen(key) : NULL;
}

/* The thread counts a switch as it is switched out. */
static int read_switches(const char *text, uint64_t *switches)
{
	const char *voluntary = value_of(text, "\nvoluntary_ctxt_switches:\t");
	const char *other = value_of(text, "\nnonvoluntary_ctxt_switches:\t");

	if (!voluntary || !other || !strchr(other, '\n'))
		return -EIO;
	*switches = strtoull(voluntary, NULL, 10) + strtoull(other, NULL, 10);
	return 0;
}

/* The name is up to 15 characters, and of threads of the kernel more; a few are written as \n or \\. */
static int read_comm(const char *text, char comm[TRIGGER_COMM_BYTES])
{
	const char *name = !strncmp(text, "Name:\t", 6) ? text + 6 : NULL, *end = name ? strchr(name, '\n') : NULL;
	size_t len = 0;

	if (!end)
		return -EIO;
	while (name < end && len < TRIGGER_COMM_BYTES - 1) {
		const bool is_escape = *name == '\\' && name + 1 < end;

		name += is_escape;
		comm[len++] = is_escape && *name == 'n' ? '\n' : *name;
		name++;
	}
	comm[len] = 0;
	return 0;
}

/* The first number is ns; before the kernel has it, or without CONFIG_SCHED_INFO, there is no such file. */
static uint64_t read_run_ns(const char *root, uint32_t tid)
{
	uint64_t run_ns = TRIGGER_NO_RUN_NS;
	char path[PATH_MAX], *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/proc/%u/schedstat", root, tid);
	if (text_file_read(path, BYTES_MAX, &text, &len))
		return TRIGGER_NO_RUN_NS;
	if (*text >= '0' && *text <= '9')
		run_ns = strtoull(text, NULL, 10);
	free(text);
	return run_ns;
}

static int read_status(const char *text, struct trigger_answer *out)
{
	const char *state = value_of(text, "\nState:\t");

	out->state = state ? *state : 0;
	return out->state ? read_comm(text, out->comm) ?: read_switches(text, &out->switches) : -EIO;
}

int triggers_ask_proc(void *ctx, uint32_t tid, struct trigger_answer *out)
{
	char path[PATH_MAX], *text;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/proc/%u/status", (const char *)ctx, tid);
	out->before_ns = clock_ns(CLOCK_BOOTTIME);
	out->run_ns = TRIGGER_NO_RUN_NS;
	err = text_file_read(path, BYTES_MAX, &text, &len);
	if (err)
		return err;
	err = read_status(text, out);
	free(text);
	if (!err && out->state == 'R')
		out->run_ns = read_run_ns(ctx, tid);
	out->after_ns = clock_ns(CLOCK_BOOTTIME);
	return err;
}
