// SPDX-License-Identifier: GPL-2.0
#include "retention.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define NS_MAX	999999999L

struct old_file {
	struct timespec written;
	uint64_t bytes;
	bool is_new;			/* one of cfg->newest */
	char *name;
};

struct scan {
	const struct retention_cfg *cfg;
	struct old_file *files;
	size_t cnt, cap;
};

/* By a descriptor of its own, whose place in the directory is the beginning. */
int retention_list(int dir, int (*found)(void *ctx, const char *name), void *ctx)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	const struct dirent *entry;
	DIR *stream;

	if (fd < 0)
		return -errno;
	stream = fdopendir(fd);
	if (!stream) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err && (errno = 0, entry = readdir(stream)))
		err = found(ctx, entry->d_name);
	err = err ?: -errno;
	closedir(stream);
	return err;
}

static bool is_new(const struct retention_cfg *cfg, const char *name)
{
	size_t i;

	for (i = 0; i < cfg->newest_cnt; i++)
		if (!strcmp(cfg->newest[i], name))
			return true;
	return false;
}

/* What cannot be looked at has gone meanwhile, or is not ours. */
static int add_file(void *ctx, const char *name)
{
	struct scan *s = ctx;
	struct stat st;
	char *copy;

	if (!name_matches(s->cfg->names, name) || fstatat(s->cfg->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || !(st.st_mode & S_IWUSR))
		return 0;
	copy = strdup(name);
	if (!copy || array_reserve(s->files, s->cnt, s->cap, 1)) {
		free(copy);
		return -ENOMEM;
	}
	s->files[s->cnt++] = (struct old_file){ st.st_mtim, st.st_size, is_new(s->cfg, name), copy };
	return 0;
}

static bool is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static int compare_age(const void *a, const void *b)
{
	const struct old_file *x = a, *y = b;

	if (x->is_new != y->is_new)
		return x->is_new ? 1 : -1;
	if (is_after(&x->written, &y->written))
		return 1;
	return is_after(&y->written, &x->written) ? -1 : strcmp(x->name, y->name);
}

/* Returns what the file system has made of it. */
static struct timespec set_time(const struct retention_cfg *cfg, const char *name, struct timespec written)
{
	struct stat st;

	utimensat(cfg->dir, name, (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, written }, AT_SYMLINK_NOFOLLOW);
	return fstatat(cfg->dir, name, &st, AT_SYMLINK_NOFOLLOW) ? written : st.st_mtim;
}

/*
 * The time is kept with the file: whoever starts next goes by it. Some file systems have whole seconds only (ext4 with
 * small inodes), or even ones (vfat).
 */
static void make_newest(const struct retention_cfg *cfg, struct old_file *newest, const struct timespec *last)
{
	const struct timespec next = { last->tv_sec, last->tv_nsec + 1 }, even = { (last->tv_sec | 1) + 1, 0 };

	newest->written = last->tv_nsec == NS_MAX ? *last : set_time(cfg, newest->name, next);
	if (!is_after(&newest->written, last))
		newest->written = set_time(cfg, newest->name, even);
}

/* Those that were just made go last, as do their times from then on. */
static void sort(struct scan *s)
{
	size_t i;

	if (s->cnt)
		qsort(s->files, s->cnt, sizeof(*s->files), compare_age);
	for (i = 1; i < s->cnt; i++)
		if (s->files[i].is_new && !is_after(&s->files[i].written, &s->files[i - 1].written))
			make_newest(s->cfg, &s->files[i], &s->files[i - 1].written);
}

static bool is_too_much(const struct retention_total *t, const struct retention_limits *limits, uint64_t more_bytes)
{
	return (limits->files && t->files > limits->files) || (limits->bytes && t->bytes + more_bytes > limits->bytes);
}

static bool is_used(const struct retention_cfg *cfg, const struct old_file *f)
{
	return cfg->is_used && cfg->is_used(cfg->used_ctx, f->name);
}

static void delete(const struct retention_cfg *cfg, const struct old_file *f, struct retention_total *total)
{
	const int err = unlinkat(cfg->dir, f->name, 0) ? -errno : 0;

	if (err != -ENOENT)
		cfg->deleted(cfg->ctx, f->name, f->bytes, err);
	if (err && err != -ENOENT)
		return;
	total->files--;
	total->bytes -= f->bytes;
}

static void free_files(struct scan *s)
{
	size_t i;

	for (i = 0; i < s->cnt; i++)
		free(s->files[i].name);
	free(s->files);
}

int retention_apply(const struct retention_cfg *cfg, uint64_t more_bytes, struct retention_total *total)
{
	struct scan s = { .cfg = cfg };
	const size_t stay = more_bytes ? 0 : 1;
	size_t i;
	int err;

	*total = (struct retention_total){ 0 };
	if (!cfg->limits.files && !cfg->limits.bytes)
		return 0;
	err = retention_list(cfg->dir, add_file, &s);
	sort(&s);
	for (i = 0; i < s.cnt; i++)
		total->bytes += s.files[i].bytes;
	total->files = s.cnt;
	for (i = 0; !err && i + stay < s.cnt && is_too_much(total, &cfg->limits, more_bytes); i++)
		if (!is_used(cfg, &s.files[i]))
			delete(cfg, &s.files[i], total);
	free_files(&s);
	return err;
}
