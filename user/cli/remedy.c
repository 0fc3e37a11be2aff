// SPDX-License-Identifier: GPL-2.0
/*
 * Rights come with the file (setcap), unless something keeps those away.
 */
#include "remedy.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Two it cannot do without; for the levels of the log and addresses; so that the drain is not late. */
#define WANTED	"cap_bpf,cap_perfmon,cap_syslog,cap_sys_nice"

static bool has(cap_value_t cap)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	if (caps)
		cap_get_flag(caps, cap, CAP_EFFECTIVE, &value);
	cap_free(caps);
	return value == CAP_SET;
}

/* As a word of a shell's. */
static void quote(char *out, size_t size, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
	size_t len;

	if (path[strspn(path, plain)] == 0) {
		snprintf(out, size, "%s", path);
		return;
	}
	len = snprintf(out, size, "'");
	for (; *path && len < size; path++)
		len += snprintf(out + len, size - len, *path == '\'' ? "'\\''" : "%c", *path);
	if (len < size)
		snprintf(out + len, size - len, "'");
}

const char *remedy_command(char buf[REMEDY_BYTES])
{
	char path[PATH_MAX], word[REMEDY_BYTES / 2];
	ssize_t len;

	if (has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON)))
		return NULL;
	if (cap_get_bound(CAP_BPF) != 1 || cap_get_bound(CAP_PERFMON) != 1) {
		snprintf(buf, REMEDY_BYTES, "%s",
			 "outside of this container or service: CAP_BPF and CAP_PERFMON are withheld from all in it");
		return buf;
	}
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)) {
		snprintf(buf, REMEDY_BYTES, "run as root, from outside: no_new_privs keeps all rights away here");
		return buf;
	}
	path[len] = 0;
	quote(word, sizeof(word), path);
	snprintf(buf, REMEDY_BYTES, "sudo setcap %s+ep %s", WANTED, word);
	return buf;
}
