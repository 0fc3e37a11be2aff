// SPDX-License-Identifier: GPL-2.0
/*
 * Rights come with the file (setcap), unless something keeps those away.
 */
#include "remedy.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/features.h"
#include "base/file.h"
#include "kernel/tracefs.h"

#define SECURITYFS	"/sys/kernel/security"

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

/* ---- what keeps rights from counting ----------------------------------------------------- */

static bool contains(const char *path, const char *words)
{
	char *text;
	size_t len;
	bool does;

	if (text_file_read(path, 4096, &text, &len))
		return false;
	does = strstr(text, words);
	free(text);
	return does;
}

static enum remedy_lockdown lockdown(void)
{
	struct statfs fs;

	if (statfs(SECURITYFS, &fs) || fs.f_type != SECURITYFS_MAGIC)
		return REMEDY_LOCKDOWN_UNKNOWN;
	if (contains(SECURITYFS "/lockdown", "[confidentiality]"))
		return REMEDY_LOCKDOWN_CONFIDENTIALITY;
	return contains(SECURITYFS "/lockdown", "[integrity]") ? REMEDY_LOCKDOWN_INTEGRITY : REMEDY_LOCKDOWN_NONE;
}

void remedy_get_facts(struct remedy_facts *facts)
{
	char path[PATH_MAX];

	*facts = (struct remedy_facts){
		.rights = has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON)),
		.admin = has(CAP_SYS_ADMIN),
		.user_namespace = !access("/proc/self/uid_map", R_OK) && !contains("/proc/self/uid_map", " 4294967295"),
		.seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0,
		.tracefs_empty = tracefs_find(path, sizeof(path), ".") && !tracefs_find(path, sizeof(path), "events"),
		.lockdown = lockdown(),
	};
}

static bool ends_with(const char *text, int err)
{
	const char *end = strerror(err);
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

#define PERHAPS_LOCKDOWN \
	"perhaps kernel lockdown: mount -t securityfs securityfs " SECURITYFS ", then kfxt check names it"

/* For one who is refused what he has all rights for. */
static const char *remedy_for_policy(const struct remedy_facts *facts)
{
	if (facts->user_namespace)
		return "run outside of the container: capabilities in its user namespace do not count";
	if (facts->seccomp)
		return "run outside of the container or service: its seccomp filter may refuse it";
	switch (facts->lockdown) {
	case REMEDY_LOCKDOWN_UNKNOWN:
		return PERHAPS_LOCKDOWN;
	case REMEDY_LOCKDOWN_NONE:
		return "a security module refuses it whatever the rights: see " SECURITYFS "/lsm";
	default:
		return "lockdown or another security module refuses it whatever the rights: see " SECURITYFS "/lsm";
	}
}

const char *remedy_for(const struct remedy_facts *facts, const struct feature *f, const char *why)
{
	const bool refused = ends_with(why, EPERM) || ends_with(why, EACCES);

	if (f->locked && facts->lockdown == REMEDY_LOCKDOWN_CONFIDENTIALITY)
		return "boot without lockdown=confidentiality: lockdown=integrity leaves it";
	if (ends_with(why, EPERM) && !facts->rights)
		return "the capabilities above";
	/* Some kernels take CAP_SYS_ADMIN for single uprobes; tracefs is root's. */
	if (refused && !facts->admin)
		return strncmp(f->remedy, "run as root", strlen("run as root")) ? "run as root" : f->remedy;
	if (refused)
		return remedy_for_policy(facts);
	if (f->locked && facts->lockdown == REMEDY_LOCKDOWN_UNKNOWN &&
	    (ends_with(why, EINVAL) || (ends_with(why, ENOENT) && facts->tracefs_empty)))
		return PERHAPS_LOCKDOWN;
	return f->remedy;
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
