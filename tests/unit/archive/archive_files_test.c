// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of files until they are complete, of those that a recorder left, and of which ones are deleted.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/retention.h"
#include "archive/unfinished.h"
#include "io/compress.h"
#include "archive_made.h"

#define WHEN	1795442707	/* 2026-11-23 14:05:07 UTC */
#define ROUNDS	200

static const struct name_facts facts = { WHEN, "runq>5ms" };

static struct name_pattern *open_pattern(const char *text)
{
	struct name_pattern *p = NULL;
	char why[256];

	assert_int_equal(name_pattern_open(&p, text, why, sizeof(why)), 0);
	return p;
}

static int open_dir(void)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(dir >= 0);
	return dir;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	return st.st_mode & 07777;
}

static off_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st.st_size;
}

/* ---- until they are complete ---------------------------------------------------------- */

static void test_publish(void **state)
{
	struct name_pattern *p = open_pattern("p-%S-%t.fxt");
	struct unfinished u;
	int dir = open_dir();

	(void)state;
	assert_int_equal(unfinished_open(&u, dir, p, &facts, false), 0);
	assert_int_equal(archive_count(), 1);
	assert_int_equal(mode_of("p-07-runq-5ms.fxt.tmp"), 0600);
	assert_true(fcntl(u.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(u.fd, "abc", 3), 3);
	assert_int_equal(unfinished_bytes(&u), 3);
	assert_int_equal(unfinished_rename(&u, dir), 0);
	assert_int_equal(size_of("p-07-runq-5ms.fxt"), 3);
	unfinished_close(&u);
	assert_int_equal(archive_count(), 1);
	/* The next ones get numbers. */
	assert_int_equal(unfinished_open(&u, dir, p, &facts, true), 0);
	assert_string_equal(u.name, "p-07-runq-5ms-1.fxt");
	assert_int_equal(unfinished_rename(&u, dir), 0);
	unfinished_close(&u);
	assert_int_equal(mode_of("p-07-runq-5ms-1.fxt"), 0400);
	assert_int_equal(unfinished_open(&u, dir, p, &facts, false), 0);
	assert_string_equal(u.name, "p-07-runq-5ms-2.fxt");
	assert_int_equal(unfinished_discard(&u, dir), 0);
	unfinished_close(&u);
	assert_int_equal(archive_count(), 2);
	close(dir);
	name_pattern_close(p);
}

/* A lock says that somebody works on a published file, not that somebody has it open. */
static void test_held(void **state)
{
	struct name_pattern *p = open_pattern("p-%S-%t.fxt");
	struct unfinished u;
	int dir = open_dir(), held;

	(void)state;
	assert_int_equal(unfinished_open(&u, dir, p, &facts, false), 0);
	assert_true(unfinished_is_held(dir, "p-07-runq-5ms.fxt.tmp"));
	assert_int_equal(unfinished_rename(&u, dir), 0);
	assert_false(unfinished_is_held(dir, u.name));
	held = unfinished_hold(&u, dir);
	assert_true(held >= 0);
	assert_int_equal(fcntl(held, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(held, F_GETFD) & FD_CLOEXEC);
	assert_true(unfinished_is_held(dir, u.name));
	close(held);
	assert_false(unfinished_is_held(dir, u.name));
	unfinished_close(&u);
	assert_false(unfinished_is_held(dir, "p-07-runq-5ms-1.fxt"));
	close(dir);
	name_pattern_close(p);
}

/* A name that is taken meanwhile is not replaced, be it that of a link to nowhere. */
static void test_name_taken(void **state)
{
	struct name_pattern *p = open_pattern("p-%S.fxt");
	struct unfinished u;
	int dir = open_dir();

	(void)state;
	assert_int_equal(unfinished_open(&u, dir, p, &facts, false), 0);
	archive_put("p-07.fxt", 5, WHEN, 0600);
	assert_int_equal(symlink("nowhere", "p-07-1.fxt"), 0);
	assert_int_equal(unfinished_rename(&u, dir), 0);
	assert_string_equal(u.name, "p-07-2.fxt");
	unfinished_close(&u);
	assert_int_equal(size_of("p-07.fxt"), 5);
	assert_false(archive_has("nowhere"));
	/* Nor is the temporary one followed. */
	assert_int_equal(symlink("nowhere", "p-07-3.fxt.tmp"), 0);
	assert_int_equal(unfinished_open(&u, dir, p, &facts, false), 0);
	assert_string_equal(u.name, "p-07-4.fxt");
	assert_false(archive_has("nowhere"));
	unfinished_close(&u);
	close(dir);
	name_pattern_close(p);
}

static void test_replaced(void **state)
{
	struct name_pattern *p = open_pattern("p-%S.fxt");
	struct unfinished u;
	int dir = open_dir();

	(void)state;
	assert_int_equal(unfinished_open(&u, dir, p, &facts, false), 0);
	assert_int_equal(unlink("p-07.fxt.tmp"), 0);
	assert_int_equal(unfinished_rename(&u, dir), -ESTALE);
	archive_put("p-07.fxt.tmp", 5, WHEN, 0600);
	assert_int_equal(unfinished_rename(&u, dir), -ESTALE);
	assert_int_equal(unfinished_discard(&u, dir), 0);
	assert_int_equal(size_of("p-07.fxt.tmp"), 5);
	unfinished_close(&u);
	close(dir);
	name_pattern_close(p);
}

/* ---- what a recorder left ------------------------------------------------------------ */

/* Two whole records: magic, and one of @words; then @more bytes. */
static void put_trace(const char *name, uint64_t words, size_t more, mode_t mode)
{
	const uint64_t magic = 0x0016547846040010, header = words << 4 | 1;
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &magic, 8), 8);
	assert_int_equal(write(fd, &header, 8), 8);
	assert_int_equal(ftruncate(fd, 8 + words * 8), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 8 + words * 8);
	while (more--)
		assert_int_equal(write(fd, "\x21", 1), 1);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void recover(struct name_pattern *p, const char *temp, bool expected)
{
	struct unfinished u;
	int dir = open_dir();
	bool kept;

	assert_int_equal(unfinished_find(&u, dir, p, temp), 0);
	assert_int_equal(unfinished_recover(&u, dir, &kept), 0);
	assert_int_equal(kept, expected);
	unfinished_close(&u);
	close(dir);
}

/* When it was written is not changed by cutting it. */
static void test_recover_time(void **state)
{
	const struct timespec times[2] = { { WHEN, 0 }, { WHEN, 700 } };
	struct name_pattern *p = open_pattern("p-%S.fxt");
	struct stat st;

	(void)state;
	put_trace("p-07.fxt.tmp", 20, 5, 0400);
	assert_int_equal(utimensat(AT_FDCWD, "p-07.fxt.tmp", times, 0), 0);
	recover(p, "p-07.fxt.tmp", true);
	assert_int_equal(stat("p-07.fxt", &st), 0);
	assert_int_equal(st.st_size, 168);
	assert_int_equal(st.st_mtim.tv_sec, WHEN);
	assert_int_equal(st.st_mtim.tv_nsec, 700);
	name_pattern_close(p);
}

static void test_recover(void **state)
{
	struct name_pattern *p = open_pattern("p-%S.fxt");
	size_t cut;

	(void)state;
	/* A record that is not whole is cut off, wherever it ends; what a person asked for remains so. */
	for (cut = 0; cut < 16; cut++) {
		put_trace("p-07.fxt.tmp", 20, cut, cut % 2 ? 0400 : 0600);
		recover(p, "p-07.fxt.tmp", true);
		assert_int_equal(size_of("p-07.fxt"), 168);
		assert_int_equal(mode_of("p-07.fxt"), cut % 2 ? 0400 : 0600);
		assert_int_equal(unlink("p-07.fxt"), 0);
	}
	/* No record at all. */
	put_trace("p-07.fxt.tmp", 0, 0, 0600);
	recover(p, "p-07.fxt.tmp", false);
	archive_put("p-07.fxt.tmp", 0, WHEN, 0600);
	recover(p, "p-07.fxt.tmp", false);
	assert_int_equal(archive_count(), 0);
	/* Its name is taken; anything else than FXT stays as it is. */
	archive_put("p-07.fxt", 5, WHEN, 0600);
	archive_put("p-07.fxt.tmp", 12345, WHEN, 0600);
	recover(p, "p-07.fxt.tmp", true);
	assert_int_equal(size_of("p-07-1.fxt"), 12345);
	archive_put("p-07-1.fxt.tmp", 77, WHEN, 0600);
	recover(p, "p-07-1.fxt.tmp", true);
	assert_int_equal(size_of("p-07-2.fxt"), 77);
	assert_int_equal(size_of("p-07.fxt"), 5);
	name_pattern_close(p);
}

/* A stream without its end is given one after its last piece. */
static void test_recover_compressed(void **state)
{
	static const struct compress_cfg cfgs[] = { { COMPRESS_GZIP, 3 }, { COMPRESS_ZSTD, 3 } };
	const unsigned char raw[64] = "\x10\x00\x04\x46\x78\x54\x16";
	struct name_pattern *p = open_pattern("p-%S.fxt.z");
	unsigned char end[COMPRESS_END_BYTES_MAX], got[256];
	struct compressor *c;
	struct iovec piece;
	size_t i, len, ends;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(cfgs) / sizeof(cfgs[0]); i++) {
		fd = open("p-07.fxt.z.tmp", O_RDWR | O_CREAT | O_EXCL, 0600);
		assert_int_equal(compressor_open(&c, &cfgs[i], sizeof(raw)), 0);
		assert_int_equal(compressor_add(c, raw, sizeof(raw), &piece), 0);
		len = piece.iov_len;
		assert_int_equal(write(fd, piece.iov_base, len), len);
		ends = compressor_end(c, end);
		/* The next one has begun. */
		assert_int_equal(compressor_add(c, raw, sizeof(raw), &piece), 0);
		assert_int_equal(write(fd, piece.iov_base, 3), 3);
		compressor_close(c);
		recover(p, "p-07.fxt.z.tmp", true);
		assert_int_equal(size_of("p-07.fxt.z"), len + ends);
		assert_int_equal(pread(fd, got, sizeof(got), 0), len + ends);
		assert_memory_equal(got + len, end, ends);
		assert_int_equal(unlink("p-07.fxt.z"), 0);
		close(fd);
	}
	name_pattern_close(p);
}

/* A record is longer than what is read at a time. */
static void test_recover_long(void **state)
{
	const uint64_t magic = 0x0016547846040010, header = (uint64_t)(3 << 20 >> 3) << 4 | 15;
	struct name_pattern *p = open_pattern("p-%S.fxt");
	int fd = open("p-07.fxt.tmp", O_WRONLY | O_CREAT | O_EXCL, 0600), i;

	(void)state;
	assert_int_equal(write(fd, &magic, 8), 8);
	for (i = 0; i < 4; i++)
		assert_int_equal(pwrite(fd, &header, 8, 8 + i * (3 << 20)), 8);
	assert_int_equal(ftruncate(fd, 8 + 4 * (3 << 20) - 1), 0);
	close(fd);
	recover(p, "p-07.fxt.tmp", true);
	assert_int_equal(size_of("p-07.fxt"), 8 + 3 * (3 << 20));
	name_pattern_close(p);
}

static void test_not_left(void **state)
{
	struct name_pattern *p = open_pattern("p-%S.fxt");
	struct unfinished u, other;
	int dir = open_dir();

	(void)state;
	assert_int_equal(unfinished_open(&u, dir, p, &facts, false), 0);
	assert_int_equal(unfinished_find(&other, dir, p, "p-07.fxt.tmp"), -EWOULDBLOCK);
	assert_int_equal(other.fd, -1);
	unfinished_close(&u);
	assert_int_equal(unfinished_find(&other, dir, p, "p-07.fxt.tmp"), 0);
	/* Nor by two at a time. */
	assert_int_equal(unfinished_find(&u, dir, p, "p-07.fxt.tmp"), -EWOULDBLOCK);
	unfinished_close(&other);
	archive_put("p-07.fxt", 5, WHEN, 0600);
	archive_put("q-07.fxt.tmp", 5, WHEN, 0600);
	archive_put(".tmp", 5, WHEN, 0600);
	assert_int_equal(mkdir("p-08.fxt.tmp", 0700), 0);
	assert_int_equal(symlink("p-07.fxt", "p-09.fxt.tmp"), 0);
	assert_int_equal(mkfifo("p-10.fxt.tmp", 0600), 0);
	assert_int_equal(unfinished_find(&u, dir, p, "p-07.fxt"), -ENOENT);
	assert_int_equal(unfinished_find(&u, dir, p, "q-07.fxt.tmp"), -ENOENT);
	assert_int_equal(unfinished_find(&u, dir, p, ".tmp"), -ENOENT);
	assert_int_equal(unfinished_find(&u, dir, p, "p-08.fxt.tmp"), -ENOENT);
	assert_int_equal(unfinished_find(&u, dir, p, "p-09.fxt.tmp"), -ELOOP);
	assert_int_equal(unfinished_find(&u, dir, p, "p-10.fxt.tmp"), -ENOENT);
	assert_int_equal(unfinished_find(&u, dir, p, "p-11.fxt.tmp"), -ENOENT);
	close(dir);
	name_pattern_close(p);
}

/* Makes and publishes files, some under the same name as another process does. */
static void make_files(const struct name_pattern *p, int dir, uint64_t mine)
{
	struct unfinished u;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (unfinished_open(&u, dir, p, &facts, false) || write(u.fd, &mine, sizeof(mine)) != sizeof(mine) ||
		    write(u.fd, &mine, sizeof(mine)) != sizeof(mine) || unfinished_rename(&u, dir))
			_exit(1);
		unfinished_close(&u);
	}
	_exit(0);
}

/* While another one gives names to what it takes for left over: files are neither lost nor touched. */
static void test_at_once(void **state)
{
	struct name_pattern *p = open_pattern("p-%S.fxt");
	int dir = open_dir(), status, i, ended = 0;
	char name[NAME_MAX + 1];
	struct unfinished u;
	bool kept;

	(void)state;
	for (i = 0; i < 2; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			make_files(p, dir, i);
	}
	while (ended < 2) {
		for (i = 0; i < 2 * ROUNDS; i++) {
			snprintf(name, sizeof(name), i ? "p-07-%d.fxt.tmp" : "p-07.fxt.tmp", i);
			if (!unfinished_find(&u, dir, p, name)) {
				assert_int_equal(unfinished_recover(&u, dir, &kept), 0);
				assert_false(kept);
				unfinished_close(&u);
			}
		}
		while (waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			ended++;
		}
	}
	assert_int_equal(archive_count(), 2 * ROUNDS);
	close(dir);
	name_pattern_close(p);
}

/* ---- which are deleted ------------------------------------------------------------------ */

struct seen {
	unsigned int deleted, failed;
	uint64_t bytes;
	char last[NAME_MAX + 1];
};

static void see(void *ctx, const char *name, uint64_t bytes, int err)
{
	struct seen *seen = ctx;

	if (err)
		seen->failed++;
	else
		seen->deleted++;
	seen->bytes += err ? 0 : bytes;
	strcpy(seen->last, name);
}

static const char *const *newest;	/* that were just made */
static size_t newest_cnt;

static void apply(uint64_t files, uint64_t bytes, uint64_t more_bytes, struct seen *seen, struct retention_total *total)
{
	struct name_pattern *p = open_pattern("p-%Y%m%d-%t.fxt");
	const struct retention_cfg cfg = {
		.dir = open_dir(), .names = p, .limits = { files, bytes }, .newest = newest, .newest_cnt = newest_cnt,
		.deleted = see, .ctx = seen,
	};

	*seen = (struct seen){ 0 };
	assert_int_equal(retention_apply(&cfg, more_bytes, total), 0);
	close(cfg.dir);
	name_pattern_close(p);
}

/* Six files of 100 bytes, oldest first: c a b d e f. */
static void put_files(void)
{
	archive_put("p-20260101-f.fxt", 100, WHEN + 6, 0600);
	archive_put("p-20260101-a.fxt", 100, WHEN + 2, 0600);
	archive_put("p-20260101-c.fxt", 100, WHEN + 1, 0600);
	archive_put("p-20260101-d.fxt", 100, WHEN + 3, 0640);
	archive_put("p-20260101-b.fxt", 100, WHEN + 2, 0600);
	archive_put("p-20260101-e.fxt", 100, WHEN + 5, 0600);
}

static void test_oldest(void **state)
{
	struct retention_total total;
	struct seen seen;

	(void)state;
	put_files();
	apply(0, 0, 0, &seen, &total);
	assert_int_equal(total.files, 0);
	apply(6, 600, 0, &seen, &total);
	assert_int_equal(seen.deleted, 0);
	assert_int_equal(total.files, 6);
	assert_int_equal(total.bytes, 600);
	apply(5, 0, 0, &seen, &total);
	assert_int_equal(seen.deleted, 1);
	assert_string_equal(seen.last, "p-20260101-c.fxt");
	assert_int_equal(total.files, 5);
	apply(0, 499, 0, &seen, &total);
	assert_string_equal(seen.last, "p-20260101-a.fxt");
	apply(5, 400, 1, &seen, &total);
	assert_string_equal(seen.last, "p-20260101-b.fxt");
	assert_int_equal(seen.bytes, 100);
	assert_int_equal(total.bytes, 300);
	/* The newest stays, unless what is being written needs its place. */
	apply(1, 50, 0, &seen, &total);
	assert_int_equal(seen.deleted, 2);
	assert_true(archive_has("p-20260101-f.fxt"));
	apply(1, 150, 51, &seen, &total);
	assert_int_equal(seen.deleted, 1);
	assert_int_equal(archive_count(), 0);
}

/* The clock is before all times that there are: what was made last goes last, also by those who do not know. */
static void test_clock_set_back(void **state)
{
	struct retention_total total;
	struct seen seen;

	(void)state;
	put_files();
	archive_put("p-20250101-y.fxt", 100, WHEN - 2000, 0600);
	newest = (const char *[]){ "p-20250101-y.fxt" };
	newest_cnt = 1;
	apply(6, 0, 0, &seen, &total);
	assert_string_equal(seen.last, "p-20260101-c.fxt");
	archive_put("p-20250101-x.fxt", 100, WHEN - 1000, 0600);
	newest = (const char *[]){ "p-20250101-x.fxt" };
	apply(6, 0, 0, &seen, &total);
	assert_string_equal(seen.last, "p-20260101-a.fxt");
	newest_cnt = 0;
	apply(2, 0, 0, &seen, &total);
	assert_int_equal(seen.deleted, 4);
	assert_true(archive_has("p-20250101-y.fxt"));
	apply(1, 0, 0, &seen, &total);
	assert_true(archive_has("p-20250101-x.fxt"));
}

static long granularity;	/* of times, as the file system has them: seconds; 0: ns */

/* In place of libc's. */
int utimensat(int dir, const char *name, const struct timespec times[2], int flags)
{
	struct timespec kept[2] = { times[0], times[1] };

	if (granularity) {
		kept[1].tv_nsec = 0;
		kept[1].tv_sec -= kept[1].tv_sec % granularity;
	}
	return (int)syscall(SYS_utimensat, dir, name, kept, flags);
}

/* The order is kept where times are whole or even seconds, or at the end of a second. */
static void test_coarse_set_back(void **state)
{
	const struct timespec ends[2] = { { WHEN, 0 }, { WHEN + 6, 999999999 } };
	struct retention_total total;
	struct seen seen;

	(void)state;
	for (granularity = 0; granularity <= 2; granularity++) {
		put_files();
		if (!granularity)
			assert_int_equal(utimensat(AT_FDCWD, "p-20260101-f.fxt", ends, 0), 0);
		archive_put("p-20250101-a.fxt", 100, WHEN - 2000, 0600);
		newest = (const char *[]){ "p-20250101-a.fxt" };
		newest_cnt = 1;
		apply(7, 0, 0, &seen, &total);
		assert_int_equal(seen.deleted, 0);
		newest_cnt = 0;
		apply(1, 0, 0, &seen, &total);
		assert_true(archive_has("p-20250101-a.fxt"));
		assert_int_equal(archive_count(), 1);
		assert_int_equal(unlink("p-20250101-a.fxt"), 0);
	}
	granularity = 0;
}

/* Of several that were just made, the one that was written to last goes last. */
static void test_several_set_back(void **state)
{
	static const char *const made[] = { "p-20250101-y.fxt", "p-20250101-x.fxt", "p-20250101-z.fxt" };
	struct retention_total total;
	struct seen seen;

	(void)state;
	put_files();
	archive_put(made[0], 100, WHEN - 1000, 0600);
	archive_put(made[1], 100, WHEN - 3000, 0600);
	archive_put(made[2], 100, WHEN - 2000, 0600);
	newest = made;
	newest_cnt = 3;
	apply(4, 0, 0, &seen, &total);
	newest_cnt = 0;
	assert_int_equal(seen.deleted, 5);
	assert_true(archive_has("p-20260101-f.fxt"));
	apply(3, 0, 0, &seen, &total);
	assert_string_equal(seen.last, "p-20260101-f.fxt");
	apply(2, 0, 0, &seen, &total);
	assert_string_equal(seen.last, made[1]);
	apply(1, 0, 0, &seen, &total);
	assert_string_equal(seen.last, made[2]);
	assert_true(archive_has(made[0]));
}

/* What is not ours to delete does not count either. */
static void test_others(void **state)
{
	static const char *const names[] = {
		"p-20260101-g.fxt", "p-20260101-h.fxt", "p-20260101-i.fxt.tmp", "q-20260101-j.fxt", "p-2026010-k.fxt",
		"p-20260101-l.fxt.old", "p-20260101-m.fxt", "p-20260101-n.fxt", "p-20260101-o.fxt",
	};
	struct retention_total total;
	struct seen seen;
	size_t i;

	(void)state;
	archive_put(names[0], 100, 1, 0400);		/* asked for */
	archive_put(names[1], 100, 1, 0444);		/* protected */
	for (i = 2; i < 6; i++)
		archive_put(names[i], 100, 1, 0600);
	assert_int_equal(symlink(names[0], names[6]), 0);
	assert_int_equal(mkdir(names[7], 0700), 0);
	archive_put(names[8], 100, 1, 0600);
	if (!geteuid())
		assert_int_equal(chown(names[8], 4711, 4711), 0);
	put_files();
	apply(1, 0, 0, &seen, &total);
	assert_int_equal(seen.deleted, geteuid() ? 6 : 5);
	assert_int_equal(total.files, 1);
	for (i = 0; i < sizeof(names) / sizeof(*names) - 1; i++)
		assert_true(archive_has(names[i]));
	assert_true(archive_has("p-20260101-f.fxt"));
}

/* One that cannot be deleted is no reason to delete fewer; nor are they tried for ever. */
static void test_undeletable(void **state)
{
	const bool root = !geteuid();
	struct retention_total total;
	struct seen seen;

	(void)state;
	if (root)		/* which may delete anything */
		assert_int_equal(chown(".", 4711, 4711) || seteuid(4711), 0);
	put_files();
	assert_int_equal(chmod(".", 0500), 0);
	apply(1, 0, 0, &seen, &total);
	assert_int_equal(chmod(".", 0700), 0);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(seen.failed, 5);
	assert_int_equal(total.files, 6);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, archive_make_dir, archive_remove_dir)
	const struct CMUnitTest tests[] = {
		TEST(test_publish), TEST(test_held), TEST(test_name_taken), TEST(test_replaced),
		TEST(test_recover), TEST(test_recover_time), TEST(test_recover_compressed), TEST(test_recover_long),
		TEST(test_not_left), TEST(test_at_once), TEST(test_oldest), TEST(test_clock_set_back),
		TEST(test_several_set_back), TEST(test_coarse_set_back), TEST(test_others), TEST(test_undeletable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
