/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a user does about rights that are missing.
 */
#ifndef CLI_REMEDY_H
#define CLI_REMEDY_H

#include <stdbool.h>
#include <stddef.h>

#define REMEDY_BYTES	8192	/* space for it, with a path */

struct feature;

enum remedy_lockdown {
	REMEDY_LOCKDOWN_UNKNOWN,	/* securityfs is not mounted */
	REMEDY_LOCKDOWN_NONE,
	REMEDY_LOCKDOWN_INTEGRITY,
	REMEDY_LOCKDOWN_CONFIDENTIALITY,
};

/* What may keep this process from what its kernel has. */
struct remedy_facts {
	bool rights;		/* it has CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
	bool admin;		/* it has CAP_SYS_ADMIN */
	bool user_namespace;	/* its capabilities are not the initial user namespace's */
	bool seccomp;		/* it has a seccomp filter */
	bool tracefs_empty;	/* mounted, without "events" */
	enum remedy_lockdown lockdown;
};

/*
 * The command that gives this very program the capabilities it needs, or why none can; NULL:
 * it has them. Returns @buf.
 */
const char *remedy_command(char buf[REMEDY_BYTES]);
void remedy_get_facts(struct remedy_facts *facts);
/* What helps where @f is missing for the reason @why. */
const char *remedy_for(const struct remedy_facts *facts, const struct feature *f, const char *why);

#endif
