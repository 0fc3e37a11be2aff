// SPDX-License-Identifier: GPL-2.0
/*
 * Reading tracefs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/poll_until.h"
#include "base/side_process.h"
#include "pid_namespace.h"
#include "tracefs.h"

#define PATH_BYTES	512
#define PATIENCE_NS	500000000ULL

/* Where the right to look is missing, it is for the reader to say so. */
static bool find_in(const char *dir, char *path, size_t size, const char *name)
{
	if (strlen(dir) + 1 + strlen(name) >= size)
		return false;
	stpcpy(stpcpy(stpcpy(path, dir), "/"), name);
	return !access(path, F_OK) || errno == EACCES;
}

/* Lines of /proc/mounts: "tracefs /where tracefs rw ...". */
static bool find_mounted(char *path, size_t size, const char *name)
{
	char *text, *line, *rest, dir[PATH_BYTES];
	bool found = false;
	size_t len;

	if (text_file_read("/proc/mounts", TRACEFS_FILE_MAX, &text, &len))
		return false;
	for (line = strtok_r(text, "\n", &rest); line && !found; line = strtok_r(NULL, "\n", &rest))
		found = strstr(line, " tracefs ") && sscanf(line, "%*s %511s tracefs ", dir) == 1 &&
			find_in(dir, path, size, name);
	free(text);
	return found;
}

bool tracefs_find(char *path, size_t size, const char *name)
{
	return find_in("/sys/kernel/tracing", path, size, name) ||
	       find_in("/sys/kernel/debug/tracing", path, size, name) || find_mounted(path, size, name);
}

int tracefs_instances(char *path, size_t size)
{
	if (!tracefs_find(path, size, "instances"))
		return -ENOENT;
	return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) ? -errno : 0;
}

void tracefs_instance_name(char *name, size_t size, pid_t id)
{
	if (pid_namespace_is_initial())
		snprintf(name, size, "kfxt-%d", id);
	else
		snprintf(name, size, "kfxt-%d-%llu", id, (unsigned long long)pid_namespace_number());
}

const char *tracefs_remedy(int err)
{
	return err == -ENOENT ? "as root: mount -t tracefs tracefs /sys/kernel/tracing" :
				"run as root: tracepoints by name, signal, migrate and syscalls need to read tracefs";
}

int tracefs_read(const char *name, char **text, size_t *len)
{
	char path[PATH_BYTES];

	return tracefs_find(path, sizeof(path), name) ? text_file_read(path, TRACEFS_FILE_MAX, text, len) : -ENOENT;
}

/* ---- formats -------------------------------------------------------------------------- */

static enum { NOT_ASKED, CAN_BE_READ, IS_BUSY } busy;

/* The process: never returns. Until it has read it has to get a CPU. */
static void try_to_read(const char *name, int answer)
{
	char *text;
	size_t len;

	if (!side_process_begin("kfxt-tracefs", false, (int *const[]){ &answer }, 1)) {
		side_process_hurry(0);
		if (!tracefs_read(name, &text, &len))
			free(text);
	}
	_exit(0);
}

/*
 * For such a file the kernel takes a lock that it holds for a grace period when another tracer's tracepoint is closed. Whoever waits
 * for it cannot be killed, so another process does at first. Asked once.
 */
static bool can_be_read(const char *name)
{
	struct pollfd answer = { .events = POLLIN };
	int ends[2];
	pid_t pid;

	if (busy != NOT_ASKED || pipe2(ends, O_CLOEXEC))
		return busy != IS_BUSY;
	pid = side_process_fork();
	if (!pid) {
		close(ends[0]);
		try_to_read(name, ends[1]);
	}
	close(ends[1]);
	answer.fd = ends[0];
	busy = CAN_BE_READ;
	if (pid > 0 && !poll_until(&answer, 1, clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS))
		busy = IS_BUSY;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, WNOHANG);
	return busy != IS_BUSY;
}

bool tracefs_is_busy(void)
{
	return busy == IS_BUSY;
}

int tracefs_format(const struct tracefs_event *event, char **text, size_t *len)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "events/%s/%s/format", event->system, event->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return can_be_read(path) ? tracefs_read(path, text, len) : -EBUSY;
}

/* ---- the list ------------------------------------------------------------------------- */

struct list {
	struct tracefs_event *events;
	size_t cnt, cap;
};

static int add_event(struct list *l, const char *system, const char *name)
{
	struct tracefs_event *e;

	if (array_reserve(l->events, l->cnt, l->cap, 1))
		return -ENOMEM;
	e = &l->events[l->cnt];
	e->system = strdup(system);
	e->name = strdup(name);
	if (e->system && e->name) {
		l->cnt++;
		return 0;
	}
	free(e->system);
	free(e->name);
	return -ENOMEM;
}

/* What is a directory there; files are "enable" and "filter". */
static int add_system(struct list *l, const char *events, const char *system)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/%s", events, system) >= (int)sizeof(path))
		return 0;
	dir = opendir(path);
	if (!dir)
		return errno == ENOTDIR || errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			err = add_event(l, system, entry->d_name);
	closedir(dir);
	return err;
}

/* Those of "ftrace" are what tracers write themselves: no program can be attached to them. */
static int add_systems(struct list *l, const char *events)
{
	struct dirent *entry;
	int err = 0;
	DIR *dir = opendir(events);

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && strcmp(entry->d_name, "ftrace") != 0)
			err = add_system(l, events, entry->d_name);
	closedir(dir);
	return err;
}

static int compare_events(const void *pa, const void *pb)
{
	const struct tracefs_event *a = pa, *b = pb;

	return strcmp(a->system, b->system) ?: strcmp(a->name, b->name);
}

int tracefs_events(struct tracefs_event **out, size_t *cnt)
{
	struct list l = { 0 };
	char path[PATH_BYTES];
	int err = tracefs_find(path, sizeof(path), "events") ? add_systems(&l, path) : -ENOENT;

	if (!err && !l.cnt)
		err = -ENOENT;
	if (err) {
		tracefs_events_free(l.events, l.cnt);
		return err;
	}
	qsort(l.events, l.cnt, sizeof(*l.events), compare_events);
	*out = l.events;
	*cnt = l.cnt;
	return 0;
}

void tracefs_events_free(struct tracefs_event *events, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		free(events[i].system);
		free(events[i].name);
	}
	free(events);
}
