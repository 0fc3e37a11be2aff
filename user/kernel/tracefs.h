/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's tracing file system: where it is, and the tracepoints it lists.
 */
#ifndef KERNEL_TRACEFS_H
#define KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACEFS_FILE_MAX	(4U << 20)

/* A tracepoint, by its directory in events/. */
struct tracefs_event {
	char *system, *name;
};

/*
 * The path of file @name in tracefs: where it usually is mounted, in debugfs, or wherever
 * /proc/mounts has it. False: it is nowhere. To look is all that takes, not to read or list.
 */
bool tracefs_find(char *path, size_t size, const char *name);
/* The directory where one may make tracing instances. 0, -ENOENT: there is none; or -errno: not for us. */
int tracefs_instances(char *path, size_t size);
/*
 * The name of the instance that thread @id makes: kfxt-ID. Ids of other PID namespaces may be the same and are not to be
 * seen from here, so where this is not the initial one its number follows: kfxt-ID-NUMBER.
 */
void tracefs_instance_name(char *name, size_t size, pid_t id);
/* What to do about tracefs after @err, a negative errno. */
const char *tracefs_remedy(int err);
/* Reads a file of tracefs; as text_file_read(). */
int tracefs_read(const char *name, char **text, size_t *len);
/*
 * All events, by system and name. 0 or -errno: -ENOENT: not mounted, -EACCES: not for us,
 * -ENOMEM. To be freed by tracefs_events_free().
 */
int tracefs_events(struct tracefs_event **out, size_t *cnt);
void tracefs_events_free(struct tracefs_event *events, size_t cnt);
/*
 * The format file of an event; as text_file_read(). -EBUSY where none could be read within half a second when the first was asked
 * for, by a process that goes on waiting for that: another tracer is closing tracepoints, and the kernel waits.
 */
int tracefs_format(const struct tracefs_event *event, char **text, size_t *len);
/* Whether that was so. */
bool tracefs_is_busy(void);
#define TRACEFS_BUSY	"another tracer keeps tracefs busy"

#endif
