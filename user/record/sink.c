// SPDX-License-Identifier: GPL-2.0
/*
 * The trace's file or pipe. Owns the only write(2) of a recording: the caller's thread
 * makes it, or, if the trace is compressed, that of the queue.
 *
 * A compressed file is ended behind every block, and the next block goes over that end.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fxt/format.h"
#include "sink.h"
#include "sink_queue.h"

#define OPEN_TRIES	10
#define ROOM_BYTES	(8U << 20)	/* asked for at a time */
#define FIT_BYTES	4096U		/* less is not asked for */

struct sink {
	int fd;
	bool is_file;			/* one that can be cut and written over */
	off_t start;			/* of the trace in it */
	uint64_t limit;			/* RLIMIT_FSIZE */
	uint64_t room;			/* the file has blocks up to here; used by whoever writes */
	size_t reserve;			/* of these, as many are for last words */
	bool full, speaks_last;
	sink_lost_fn lost;
	void *lost_ctx;
	int err;
	bool finished;
	uint64_t bytes, raw_bytes;	/* shared with the queue's thread, which alone counts if there is one */
	struct sink_queue *queue;	/* NULL: written as it is */
	struct compressor *compressor;	/* of that thread */
	struct compress_cfg compress;
	unsigned char end[COMPRESS_END_BYTES_MAX];	/* what ends the trace after @bytes */
	size_t end_bytes;
};

int sink_keep_old(const char *path, const char **hint)
{
	struct stat st;
	char *old;
	int err = 0;

	if (lstat(path, &st))
		return 0;	/* open(2) will tell if it matters */
	if (S_ISLNK(st.st_mode)) {
		*hint = "symbolic links are not followed; for stdout use -o -";
		return -ELOOP;
	}
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : 1;
	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	if (rename(path, old)) {
		err = -errno;
		*hint = "the trace that is there cannot be renamed to end with .old";
	}
	free(old);
	return err;
}

/* In a directory like /tmp anybody may have put it there, to read what we write. */
static bool is_planted(const char *path, const struct stat *st)
{
	char *copy = strdup(path);
	struct stat dir;
	bool shared = !copy || stat(dirname(copy), &dir) || dir.st_mode & S_IWOTH;

	free(copy);
	return shared && st->st_uid != geteuid() && st->st_uid != 0;
}

/* What was looked at may not be what is opened, so it is looked at again. */
static int check_special(int fd, const char *path, const char **hint)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (isatty(fd)) {
		*hint = "a trace is no text";
		return -ENOTTY;
	}
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)) {
		*hint = "a trace goes to a file, a pipe or a character device";
		return -EINVAL;
	}
	if (is_planted(path, &st)) {
		*hint = "it belongs to somebody else, in a directory that all may write to";
		return -EACCES;
	}
	return fcntl(fd, F_SETFL, 0) ? -errno : 0;
}

/* Not blocking, since signals do not interrupt us: a FIFO that nobody reads would never be left. */
static int open_special(const char *path, const char **hint)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0) {
		if (errno == ENXIO)
			*hint = "if it is a FIFO: start what reads it first";
		return -errno;
	}
	err = check_special(fd, path, hint);
	if (err)
		close(fd);
	return err ?: fd;
}

/*
 * A regular file is always a new one of ours: what somebody else puts in its place between
 * renaming and opening is renamed too.
 */
static int open_file(const char *path, const char **hint)
{
	int tries, err = -EEXIST, fd;

	for (tries = 0; tries < OPEN_TRIES && err == -EEXIST; tries++) {
		err = sink_keep_old(path, hint);
		if (err)
			return err < 0 ? err : open_special(path, hint);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
		if (fd >= 0)
			return fd;
		err = -errno;
	}
	return err;
}

static int open_stdout(const char **hint)
{
	int fd;

	if (isatty(STDOUT_FILENO)) {
		*hint = "pipe it into something, or name a file with -o";
		return -ENOTTY;
	}
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

static uint64_t get(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static void add(uint64_t *count, uint64_t n)
{
	__atomic_store_n(count, *count + n, __ATOMIC_RELAXED);
}

static void look_at_file(struct sink *s)
{
	struct rlimit limit;
	struct stat st;

	s->start = lseek(s->fd, 0, SEEK_CUR);
	s->is_file = !fstat(s->fd, &st) && S_ISREG(st.st_mode) && s->start >= 0 &&
		     !(fcntl(s->fd, F_GETFL) & O_APPEND);
	s->limit = getrlimit(RLIMIT_FSIZE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
	s->room = s->start;
}

static int write_block(void *ctx, const void *data, size_t len);

int sink_open(struct sink **out, const struct sink_cfg *cfg, const char **hint)
{
	struct sink *s;
	int fd, err = 0;

	*hint = NULL;
	fd = strcmp(cfg->path, "-") ? open_file(cfg->path, hint) : open_stdout(hint);
	if (fd < 0)
		return fd;
	s = calloc(1, sizeof(*s));
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->fd = fd;
	s->lost = cfg->lost;
	s->lost_ctx = cfg->lost_ctx;
	look_at_file(s);
	s->reserve = s->is_file ? cfg->reserve : 0;
	s->compress = cfg->compress;
	if (cfg->compress.method != COMPRESS_NONE) {
		err = compressor_open(&s->compressor, &cfg->compress, SINK_BLOCK_BYTES);
		err = err ?: sink_queue_open(&s->queue, write_block, s);
	}
	if (err) {
		sink_close(s);
		return err;
	}
	*out = s;
	return 0;
}

size_t sink_whole_records(const void *data, size_t len)
{
	const char *p = data;
	size_t off = 0, size;
	uint64_t header;

	while (off + sizeof(header) <= len) {
		memcpy(&header, p + off, sizeof(header));
		size = FXT_GET(header, FXT_F_TYPE) == FXT_LARGE ? FXT_GET(header, FXT_F_LARGE_SIZE)
								: FXT_GET(header, FXT_F_SIZE);
		if (!size || off + size * 8 > len)
			break;
		off += size * 8;
	}
	return off;
}

/* ---- writing ------------------------------------------------------------------ */

/* Before @len bytes are written: behind them there is still the room for last words. */
static int make_room(struct sink *s, size_t len)
{
	const uint64_t wanted = s->start + s->bytes + len + s->reserve;
	int err = 0;

	if (!s->reserve || (wanted <= s->room && wanted <= s->limit))
		return 0;
	if (wanted > s->limit)
		err = EFBIG;
	else if (!fallocate(s->fd, FALLOC_FL_KEEP_SIZE, s->room, wanted + ROOM_BYTES - s->room))
		s->room = wanted + ROOM_BYTES;
	else if (!fallocate(s->fd, FALLOC_FL_KEEP_SIZE, s->room, wanted - s->room))
		s->room = wanted;
	else if (errno == ENOSPC || errno == EDQUOT)
		err = errno;
	else
		s->reserve = 0;		/* this file system cannot */
	s->full = err;
	return -err;
}

/* Shortens what there is no room for all of, @len bytes, to whole records that there is room for. */
static void fit(struct sink *s, struct iovec *iov, int cnt, size_t len)
{
	size_t room = 0, step;
	int i;

	for (step = len / 2; step >= FIT_BYTES; step /= 2)
		if (!make_room(s, room + step))
			room += step;
	s->full = true;
	for (i = 0; i < cnt; i++) {
		len = iov[i].iov_len;
		if (len > room)
			iov[i].iov_len = sink_whole_records(iov[i].iov_base, room);
		room -= len < room ? len : room;
	}
}

/* What was asked for and not used is not the trace's. */
static void give_room_back(struct sink *s)
{
	const uint64_t end = s->start + s->bytes;
	struct stat st;

	if (s->is_file && s->room > end && !fstat(s->fd, &st) && (uint64_t)st.st_size <= end && ftruncate(s->fd, st.st_size))
		s->room = end;		/* then the file keeps it, which harms nothing */
}

/* The file ends behind what counts as written. */
static void cut_back(struct sink *s)
{
	if (s->is_file && !ftruncate(s->fd, s->start + s->bytes))
		lseek(s->fd, s->start + s->bytes, SEEK_SET);
}

static int wait_writable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	return poll(&pfd, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

/* Skips @n bytes of what is left. */
static void advance(struct iovec **iov, int *cnt, size_t n)
{
	while (*cnt && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		(*iov)++;
		(*cnt)--;
	}
	if (*cnt) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + n;
		(*iov)->iov_len -= n;
	}
}

static int write_all(struct sink *s, struct iovec *iov, int cnt, size_t *done)
{
	ssize_t n;
	int err;

	while (cnt) {
		n = writev(s->fd, iov, cnt < IOV_MAX ? cnt : IOV_MAX);
		if (n < 0 && errno == EAGAIN) {
			err = wait_writable(s->fd);
			if (err)
				return err;
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		} else if (n >= 0) {	/* 0: what is left is empty */
			*done += n;
			advance(&iov, &cnt, n);
		}
	}
	return 0;
}

/* Of a write that failed after @done bytes of @iov: what counts is whole records, the others are lost. */
static void write_failed(struct sink *s, const struct iovec *iov, int cnt, size_t done)
{
	size_t here;
	int i;

	for (i = 0; i < cnt; i++) {
		here = done < iov[i].iov_len ? sink_whole_records(iov[i].iov_base, done) : iov[i].iov_len;
		done -= done < iov[i].iov_len ? done : iov[i].iov_len;
		add(&s->bytes, here);
		if (s->lost && here < iov[i].iov_len)
			s->lost(s->lost_ctx, (const char *)iov[i].iov_base + here, iov[i].iov_len - here);
	}
}

static int write_plain(struct sink *s, const struct iovec *iov, int cnt)
{
	struct iovec left[cnt];
	size_t done = 0, len = 0;
	int i, err, failed;

	for (i = 0; i < cnt; i++)
		len += iov[i].iov_len;
	memcpy(left, iov, sizeof(left));
	err = make_room(s, len);
	if (err)
		fit(s, left, cnt, len);
	failed = write_all(s, left, cnt, &done);
	s->full = err && !failed;
	s->err = failed ?: err;
	if (s->err)
		write_failed(s, iov, cnt, done);
	else
		add(&s->bytes, done);
	if (failed)
		cut_back(s);
	return s->err;
}

/* ---- compressed ----------------------------------------------------------------- */

/* Over what there is of a block that failed, puts the end that was there before: that takes no room. */
static void restore_end(struct sink *s)
{
	struct iovec end = { s->end, s->end_bytes };

	s->end_bytes = 0;
	if (!s->is_file || lseek(s->fd, s->start + s->bytes, SEEK_SET) < 0)
		return;
	write_all(s, &end, 1, &s->end_bytes);
	if (ftruncate(s->fd, s->start + s->bytes + s->end_bytes))
		s->end_bytes = 0;
}

/* In the queue's thread, but for last words. */
static int write_block(void *ctx, const void *data, size_t len)
{
	struct sink *s = ctx;
	unsigned char end[COMPRESS_END_BYTES_MAX];
	struct iovec block, iov[2];
	size_t done = 0;
	int err = compressor_add(s->compressor, data, len, &block);

	err = err ?: make_room(s, block.iov_len + sizeof(end));
	if (s->full)
		return err;		/* the end that was there before still is */
	iov[0] = block;
	iov[1] = (struct iovec){ end, compressor_end(s->compressor, end) };
	err = err ?: write_all(s, iov, s->is_file ? 2 : 1, &done);
	if (!err && s->is_file && lseek(s->fd, s->start + s->bytes + block.iov_len, SEEK_SET) < 0)
		err = -errno;
	if (err) {
		restore_end(s);
		return err;
	}
	add(&s->bytes, block.iov_len);
	add(&s->raw_bytes, len);
	s->end_bytes = compressor_end(s->compressor, s->end);
	return 0;
}

/* The first error there is: nothing more is written, what still waited is lost. */
static int give_up(struct sink *s, int err)
{
	s->err = err;
	sink_queue_finish(s->queue);
	if (s->is_file)
		s->bytes += s->end_bytes;
	if (s->lost)
		sink_queue_left(s->queue, s->lost, s->lost_ctx);
	return err;
}

static int queue(struct sink *s, const struct iovec *iov, int cnt)
{
	size_t added = 0;
	int err = 0, i;

	for (i = 0; i < cnt && !err; i++)
		err = sink_queue_add(s->queue, iov[i].iov_base, iov[i].iov_len, &added);
	if (!err)
		return 0;
	give_up(s, err);
	for (i--; i < cnt; i++, added = 0)
		if (s->lost && added < iov[i].iov_len)
			s->lost(s->lost_ctx, (const char *)iov[i].iov_base + added, iov[i].iov_len - added);
	return err;
}

/* Its thread has ended. */
static int write_blocks(struct sink *s, const struct iovec *iov, int cnt)
{
	int i;

	for (i = 0; i < cnt && !s->err; i++)
		s->err = write_block(s, iov[i].iov_base, iov[i].iov_len);
	return s->err;
}

/* ---- both --------------------------------------------------------------------- */

int sink_writev(struct sink *s, struct iovec *iov, int cnt)
{
	int i;

	if (!s->err && s->queue)
		return s->speaks_last ? write_blocks(s, iov, cnt) : queue(s, iov, cnt);
	if (!s->err)
		return write_plain(s, iov, cnt);
	for (i = 0; i < cnt && s->lost; i++)
		s->lost(s->lost_ctx, iov[i].iov_base, iov[i].iov_len);
	return s->err;
}

int sink_write(void *ctx, const void *data, size_t len)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };

	return sink_writev(ctx, &iov, 1);
}

int sink_flush(struct sink *s)
{
	int err = s->err || !s->queue || s->speaks_last ? 0 : sink_queue_flush(s->queue);

	return err ? give_up(s, err) : s->err;
}

int sink_last_words(struct sink *s)
{
	if (!s->full)
		return s->err ?: -EINVAL;
	s->err = s->reserve = s->full = s->finished = 0;
	s->lost = NULL;
	s->speaks_last = true;
	if (!s->queue)
		return 0;
	/* The compressor knows of a block that is not in the trace: behind the end that stands there, another stream begins. */
	compressor_close(s->compressor);
	s->compressor = NULL;
	s->end_bytes = 0;
	if (lseek(s->fd, s->start + s->bytes, SEEK_SET) < 0)
		s->err = -errno;
	s->err = s->err ?: compressor_open(&s->compressor, &s->compress, SINK_BLOCK_BYTES);
	return s->err;
}

int sink_finish(struct sink *s)
{
	struct iovec end = { .iov_base = s->end };
	size_t done = 0;
	int err;

	if (s->err || !s->queue || s->finished)
		return s->err;
	s->finished = true;
	err = s->speaks_last ? 0 : sink_queue_finish(s->queue);
	if (err)
		return give_up(s, err);
	end.iov_len = s->end_bytes;	/* as of the last block */
	if (!s->is_file)
		s->err = write_all(s, &end, 1, &done);
	s->bytes += s->end_bytes;
	return s->err;
}

uint64_t sink_bytes(const struct sink *s)
{
	return get(&s->bytes);
}

uint64_t sink_raw_bytes(const struct sink *s)
{
	return get(s->queue ? &s->raw_bytes : &s->bytes);
}

int sink_close(struct sink *s)
{
	int err;

	if (!s)
		return 0;
	err = sink_finish(s);
	give_room_back(s);
	sink_queue_close(s->queue);
	compressor_close(s->compressor);
	if (close(s->fd) && !err)
		err = -errno;
	free(s);
	return err;
}
