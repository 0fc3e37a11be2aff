// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols of a stripped file, from the file that they were split off into. It must be the
 * right one: known by its build-id, or by the checksum that .gnu_debuglink names.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "elf_p.h"

/* What identifies the right debug file. */
struct debug_id {
	const char *build_id;	/* "": by @crc */
	uint32_t crc;
};

/* A larger one takes too long to read while something is recorded; a hole in it costs whoever made it nothing. */
#define CRC_BYTES_MAX	(64U << 20)

static bool has_crc(const struct elf_image *img, uint32_t expected)
{
	unsigned char buf[1 << 16];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	if (img->bytes > CRC_BYTES_MAX)
		return false;
	while ((n = pread(img->fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, (uInt)n);
		at += n;
	}
	return !n && crc == expected;
}

static bool is_right(const struct elf_image *debug, const struct elf_image *img,
		     const struct debug_id *w)
{
	char build_id[2 * ELF_BUILD_ID_BYTES_MAX + 1];

	if (debug->header.e_machine != img->header.e_machine ||
	    debug->header.e_ident[EI_CLASS] != img->header.e_ident[EI_CLASS])
		return false;
	if (!*w->build_id)
		return has_crc(debug, w->crc);
	elf_image_build_id(debug, build_id);
	return !strcmp(build_id, w->build_id);
}

/* 1 if its symbols were taken. What is no debug file, or a damaged one, is as good as none. */
static int try_file(struct elf_file *f, const struct elf_image *img, const char *path,
		    const struct debug_id *w)
{
	struct elf_image debug;
	const char *why;
	int ret = 0;

	if (elf_image_open(&debug, path, &why))
		return 0;
	if (is_right(&debug, img, w))
		ret = elf_symbols_add(f, &debug, SHT_SYMTAB);
	elf_image_close(&debug);
	return ret == -ENOEXEC ? 0 : ret;
}

static int add_by_build_id(struct elf_file *f, const struct elf_image *img, const char *debug_dir)
{
	const struct debug_id w = { .build_id = f->build_id };
	char path[PATH_MAX];
	int len;

	if (strlen(f->build_id) < 4)
		return 0;
	len = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", debug_dir, f->build_id,
		       f->build_id + 2);
	return len < (int)sizeof(path) ? try_file(f, img, path, &w) : 0;
}

/* A file's name, padding, and a checksum in the last four bytes. */
static const char *read_link(const struct elf_image *img, uint32_t *crc)
{
	const Elf_Data *data =
		elf_image_data(img, elf_image_section(img, ".gnu_debuglink", SHT_NULL));
	const char *name;

	if (!data || !data->d_buf || data->d_size < sizeof(*crc))
		return NULL;
	name = data->d_buf;
	if (!memchr(name, 0, data->d_size - sizeof(*crc)) || !*name || strchr(name, '/'))
		return NULL;
	memcpy(crc, name + data->d_size - sizeof(*crc), sizeof(*crc));
	return name;
}

/* Where the file itself is, symbolic links followed: also for /proc/PID/exe. */
static bool directory_of(const struct elf_image *img, char dir[PATH_MAX])
{
	char link[64];
	ssize_t len;
	char *slash;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", img->fd);
	len = readlink(link, dir, PATH_MAX - 1);
	dir[len < 0 ? 0 : len] = 0;
	slash = strrchr(dir, '/');
	if (slash)
		*slash = 0;
	return slash;
}

static int add_by_link(struct elf_file *f, const struct elf_image *img, const char *debug_dir)
{
	const char *const places[][2] = { { "", "" }, { "", "/.debug" }, { debug_dir, "" } };
	char dir[PATH_MAX], path[PATH_MAX];
	struct debug_id w = { .build_id = "" };
	const char *name = read_link(img, &w.crc);
	int ret = 0, len;
	size_t i;

	if (!name || !directory_of(img, dir))
		return 0;
	for (i = 0; !ret && i < sizeof(places) / sizeof(places[0]); i++) {
		len = snprintf(path, sizeof(path), "%s%s%s/%s", places[i][0], dir, places[i][1],
			       name);
		if (len < (int)sizeof(path))
			ret = try_file(f, img, path, &w);
	}
	return ret;
}

int elf_debug_add(struct elf_file *f, const struct elf_image *img, const char *debug_dir)
{
	int ret;

	if (!debug_dir)
		return 0;
	ret = add_by_build_id(f, img, debug_dir);
	return ret ?: add_by_link(f, img, debug_dir);
}
