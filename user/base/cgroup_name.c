// SPDX-License-Identifier: GPL-2.0
/*
 * Paths are read from their last directory to the first.
 */
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cgroup_name.h"

#define ID_BYTES	64
#define ID_BYTES_SHOWN	12
#define CUT_MARK	"..."
#define PATH_BYTES_MAX	4096U

/* The last directory of the @len bytes of @path, without slashes; of none the length is 0. */
static struct cgroup_part last_part(const char *path, size_t len)
{
	struct cgroup_part part;

	while (len && path[len - 1] == '/')
		len--;
	part = (struct cgroup_part){ path + len, 0 };
	while (part.text > path && part.text[-1] != '/') {
		part.text--;
		part.len++;
	}
	return part;
}

static bool ends_with(struct cgroup_part part, const char *end)
{
	const size_t len = strlen(end);

	return part.len >= len && !memcmp(part.text + part.len - len, end, len);
}

/* ---- containers -------------------------------------------------------------- */

static bool is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") >= ID_BYTES;
}

static struct cgroup_part id_in(struct cgroup_part part)
{
	const struct cgroup_part none = { 0 };
	struct cgroup_part before = part;

	if (ends_with(part, ".scope"))
		part.len -= strlen(".scope");
	if (part.len < ID_BYTES || !is_id(part.text + part.len - ID_BYTES))
		return none;
	before.len = part.len - ID_BYTES;
	if (before.len && (!strchr("-:_.", before.text[before.len - 1]) || ends_with(before, "conmon-")))
		return none;
	return (struct cgroup_part){ part.text + before.len, ID_BYTES };
}

struct cgroup_part cgroup_container(const char *path)
{
	struct cgroup_part part = last_part(path, strlen(path)), id = { 0 };

	for (; part.len && !id.len; part = last_part(path, (size_t)(part.text - path)))
		id = id_in(part);
	return id;
}

/* ---- units ------------------------------------------------------------------- */

/* The characters that systemd allows; others it writes as \xNN. */
static bool has_unit_characters(struct cgroup_part part)
{
	return strspn(part.text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\@") >= part.len;
}

static struct cgroup_part unit_in(struct cgroup_part part)
{
	static const char *const kinds[] = { ".service", ".scope", ".mount", ".socket", ".swap" };
	size_t i;

	/* Before a name that the kernel's files have, such as memory.service. */
	if (part.len && *part.text == '_')
		part = (struct cgroup_part){ part.text + 1, part.len - 1 };
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (ends_with(part, kinds[i]) && part.len > strlen(kinds[i]) && has_unit_characters(part))
			return part;
	return (struct cgroup_part){ 0 };
}

struct cgroup_part cgroup_unit(const char *path)
{
	struct cgroup_part part = last_part(path, strlen(path)), unit = { 0 }, found;

	for (; part.len; part = last_part(path, (size_t)(part.text - path))) {
		found = unit_in(part);
		if (found.len)
			unit = found;
		if (found.len && (found.len != strlen("init.scope") || !ends_with(found, "init.scope")))
			break;
	}
	return unit;
}

/* ---- both -------------------------------------------------------------------- */

/* Of a path, @len bytes, the end that fits; of the root nothing. */
static void put_end(char buf[CGROUP_LABEL_BYTES], const char *path, size_t len)
{
	const size_t max = CGROUP_LABEL_BYTES - 1, mark = strlen(CUT_MARK);

	if (len <= 1)
		len = 0;
	if (len > max) {
		memcpy(buf, CUT_MARK, mark);
		memcpy(buf + mark, path + len - (max - mark), max - mark);
		len = max;
	} else {
		memcpy(buf, path, len);
	}
	buf[len] = 0;
}

void cgroup_label(char buf[CGROUP_LABEL_BYTES], const char *path, size_t len)
{
	const size_t kept = len < PATH_BYTES_MAX ? len : PATH_BYTES_MAX;
	struct cgroup_part container, unit;
	char text[PATH_BYTES_MAX + 1];

	if (kept)
		memcpy(text, path + len - kept, kept);
	text[kept] = 0;
	container = cgroup_container(text);
	unit = cgroup_unit(text);
	if (container.len && unit.len && unit.text > container.text)
		snprintf(buf, CGROUP_LABEL_BYTES, "container %.*s, %.*s", ID_BYTES_SHOWN, container.text, (int)unit.len, unit.text);
	else if (container.len)
		snprintf(buf, CGROUP_LABEL_BYTES, "container %.*s", ID_BYTES_SHOWN, container.text);
	else if (unit.len)
		snprintf(buf, CGROUP_LABEL_BYTES, "%.*s", (int)unit.len, unit.text);
	else
		put_end(buf, text, kept);
}

/* ---- where they are ---------------------------------------------------------- */

const char *cgroup_below_mount(const char *path)
{
	FILE *mounts = setmntent("/proc/mounts", "re");
	const struct mntent *m;
	const char *below = NULL;

	while (mounts && !below && (m = getmntent(mounts))) {
		const size_t len = strlen(m->mnt_dir);

		if (!strcmp(m->mnt_type, "cgroup2") && !strncmp(path, m->mnt_dir, len) && (!path[len] || path[len] == '/'))
			below = path + len;
	}
	if (mounts)
		endmntent(mounts);
	return below;
}
