// SPDX-License-Identifier: GPL-2.0
/* What a thread does, by /proc. */
#include "trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define STATUS_BYTES	8192U	/* some 1500, and up to 11 for each group of its user */

static int read_file(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, text, size - 1);
	if (len < 0)
		len = -errno;
	close(fd);
	text[len < 0 ? 0 : len] = 0;
	return len < 0 ? (int)len : 0;
}

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

int triggers_ask_proc(void *ctx, uint32_t tid, struct trigger_answer *out)
{
	char path[PATH_MAX], text[STATUS_BYTES];
	const char *state;
	int err;

	snprintf(path, sizeof(path), "%s/proc/%u/status", (const char *)ctx, tid);
	out->before_ns = clock_ns(CLOCK_BOOTTIME);
	err = read_file(path, text, sizeof(text));
	out->after_ns = clock_ns(CLOCK_BOOTTIME);
	if (err)
		return err;
	state = value_of(text, "\nState:\t");
	out->state = state ? *state : 0;
	return out->state ? read_comm(text, out->comm) ?: read_switches(text, &out->switches) : -EIO;
}
