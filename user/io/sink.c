// SPDX-License-Identifier: GPL-2.0
/*
 * The trace's file or pipe. Owns the only write(2) of a recording: the caller's thread
 * makes it, or, if the trace is compressed, that of the queue.
 *
 * A compressed file is ended after every block, and the next block overwrites that end.
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

#include "base/log.h"
#include "records.h"
#include "sink.h"
#include "sink_queue.h"
#include "temp_file.h"

#define OPEN_TRIES	10
#define AHEAD_BYTES(len) ((len) < (64U << 10) ? 512U << 10 : 8U << 20)	/* asked for at a time: tmpfs takes as long as to write it */
#define PIECE_BYTES	(16U << 20)	/* what a stage makes of a block, at most */
#define FIT_BYTES	4096U		/* less is not asked for */

struct sink {
	int fd;
	char *path, *temp;		/* the name it is to have, and the one it has until then; NULL: none */
	bool remove_on_signal;
	bool is_file;			/* one that can be cut and written over */
	bool is_own;			/* not another program's stdout, who may write to it after us */
	off_t start;			/* of the trace in it */
	uint64_t limit;			/* RLIMIT_FSIZE */
	uint64_t allocated;		/* the file has blocks up to here; used by the thread that writes */
	size_t reserve;			/* bytes of these for the trailer */
	bool full, in_trailer;
	bool any_bytes;
	records_lost_fn lost;
	void *lost_ctx;
	int err;
	bool finished;
	struct output_time output_time;	/* in write(2), where there is no queue */
	uint64_t bytes, raw_bytes;	/* shared with the queue's thread, which alone counts if there is one */
	struct sink_queue *queue;	/* NULL: written as it is */
	struct compressor *compressor;	/* of that thread */
	struct compress_cfg compress;
	struct stage stage;		/* of that thread, too; .ops NULL: none */
	unsigned char end[COMPRESS_END_BYTES_MAX];	/* what ends the trace after @bytes */
	size_t end_bytes;
};

/* What is at @path: 0: nothing or a regular file; 1: something special; or -errno. */
static int look_at_path(const char *path, const char **hint)
{
	struct stat st;

	if (lstat(path, &st))
		return 0;	/* open(2) fails if it matters */
	if (S_ISLNK(st.st_mode)) {
		*hint = "symbolic links are not followed; for stdout use -o -";
		return -ELOOP;
	}
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : 1;
	return 0;
}

/* Renames a regular file to PATH.old. */
static int keep_old(const char *path, const char **hint)
{
	char *old;
	int err = look_at_path(path, hint);

	if (err > 0) {
		*hint = "it is no regular file any more";
		return -EINVAL;
	}
	if (err)
		return err;
	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	if (rename(path, old) && errno != ENOENT) {
		err = -errno;
		*hint = "the trace that is there cannot be renamed to end with .old";
	}
	free(old);
	return err;
}

int sink_replace(const char *temp, const char *path, const char **hint)
{
	int tries, err = -EEXIST;

	for (tries = 0; tries < OPEN_TRIES && err == -EEXIST; tries++) {
		err = keep_old(path, hint);
		if (err)
			return err;
		/* What came meanwhile, such as another recorder's trace, is kept too. */
		err = renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) ? -errno : 0;
		if (err == -EINVAL || err == -ENOSYS)
			err = rename(temp, path) ? -errno : 0;	/* this file system cannot */
	}
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

/* Not blocking, since signals do not interrupt us: open(2) of a FIFO without a reader would never return. */
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

static int make_temp(struct sink *s)
{
	int fd;

	if (s->remove_on_signal)
		return temp_file_make(s->temp);
	fd = mkostemp(s->temp, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A regular file is always a new one of ours, which takes the place of the one at its path later. */
static int open_file(struct sink *s, const char **hint)
{
	int err = look_at_path(s->path, hint), fd;

	if (err)
		return err < 0 ? err : open_special(s->path, hint);
	if (asprintf(&s->temp, "%s.XXXXXX", s->path) < 0) {
		s->temp = NULL;
		return -ENOMEM;
	}
	fd = make_temp(s);
	if (fd < 0) {
		free(s->temp);
		s->temp = NULL;
	}
	return fd;
}

/* The file has its name or is removed. */
static void forget_temp(struct sink *s)
{
	if (s->temp && s->remove_on_signal)
		temp_file_end();
	free(s->temp);
	s->temp = NULL;
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

static void add_bytes(uint64_t *count, uint64_t n)
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
	s->allocated = s->start;
}

static int write_block(void *ctx, const void *data, size_t len);
static int open_compressor(struct sink *s);
static int allocate(struct sink *s, size_t len);

/* @s->fd is open. */
static int begin(struct sink *s, const struct sink_cfg *cfg)
{
	int err;

	s->any_bytes = cfg->any_bytes;
	s->lost = cfg->lost;
	s->lost_ctx = cfg->lost_ctx;
	look_at_file(s);
	s->reserve = s->is_file ? cfg->reserve : 0;
	s->compress = cfg->compress;
	/* On a full disk this fails at once, and what is there stays. */
	err = allocate(s, FIT_BYTES);
	if (err || (cfg->compress.method == COMPRESS_NONE && !cfg->stage))
		return err;
	err = cfg->stage ? stage_open(&s->stage, cfg->stage) : 0;
	err = err ?: open_compressor(s);
	return err ?: sink_queue_open(&s->queue, &(struct sink_queue_cfg){ .write = write_block, .ctx = s,
						 .thread = cfg->thread, .any_bytes = cfg->any_bytes });
}

int sink_open(struct sink **out, const struct sink_cfg *cfg, const char **hint)
{
	struct sink *s = calloc(1, sizeof(*s));
	int err = 0;

	*hint = NULL;
	if (!s)
		return -ENOMEM;
	s->path = strdup(cfg->path);
	s->remove_on_signal = cfg->remove_on_signal;
	s->is_own = cfg->is_open || strcmp(cfg->path, "-") != 0;
	s->fd = cfg->is_open ? cfg->fd : !s->path ? -ENOMEM : strcmp(cfg->path, "-") ? open_file(s, hint) : open_stdout(hint);
	err = s->fd < 0 ? s->fd : begin(s, cfg);
	if (err) {
		sink_close(s);
		return err;
	}
	*out = s;
	return 0;
}

int sink_publish(struct sink *s, const char **hint)
{
	int err = s->temp ? sink_replace(s->temp, s->path, hint) : 0;

	if (!err)
		forget_temp(s);
	return err;
}

/* Where the output may end: how many of @len bytes. */
static size_t whole(const struct sink *s, const void *data, size_t len)
{
	return s->any_bytes ? len : records_whole_bytes(data, len);
}

/* ---- writing ------------------------------------------------------------------ */

/* Until byte @end of the file. tmpfs before Linux 6.13 gives up when a signal arrives. */
static int allocate_until(struct sink *s, uint64_t end)
{
	int err;

	do
		err = fallocate(s->fd, FALLOC_FL_KEEP_SIZE, s->allocated, end - s->allocated);
	while (err && errno == EINTR);
	if (!err)
		s->allocated = end;
	return err;
}

/* Before @len bytes are written: after them there is still space for the trailer. */
static int allocate(struct sink *s, size_t len)
{
	const uint64_t needed = s->start + s->bytes + len + s->reserve;
	int err = 0;

	if (!s->reserve || (needed <= s->allocated && needed <= s->limit))
		return 0;
	if (needed > s->limit)
		err = EFBIG;
	else if (!allocate_until(s, needed + AHEAD_BYTES(len)) || !allocate_until(s, needed))
		return 0;
	else if (errno == ENOSPC || errno == EDQUOT)
		err = errno;
	else
		s->reserve = 0;		/* this file system cannot */
	s->full = err;
	return -err;
}

/* Shortens @iov, @len bytes in all, to the whole records that there is space for. */
static void fit(struct sink *s, struct iovec *iov, int cnt, size_t len)
{
	size_t space = 0, step;
	int i;

	for (step = len / 2; step >= FIT_BYTES; step /= 2)
		if (!allocate(s, space + step))
			space += step;
	s->full = true;
	for (i = 0; i < cnt; i++) {
		len = iov[i].iov_len;
		if (len > space)
			iov[i].iov_len = whole(s, iov[i].iov_base, space);
		space -= len < space ? len : space;
	}
}

/* What was asked for and not used is not the trace's. */
static bool has_unused(const struct sink *s)
{
	const uint64_t end = s->start + s->bytes;
	struct stat st;

	return s->is_file && s->allocated > end && !fstat(s->fd, &st) && (uint64_t)st.st_size <= end;
}

void sink_trim(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && ftruncate(fd, st.st_size))
		log_debug("what was allocated beyond the end stays so: %s", strerror(errno));
	close(fd);
}

/* The file ends after what counts as written. */
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
		here = done < iov[i].iov_len ? whole(s, iov[i].iov_base, done) : iov[i].iov_len;
		done -= done < iov[i].iov_len ? done : iov[i].iov_len;
		add_bytes(&s->bytes, here);
		if (s->lost && here < iov[i].iov_len)
			s->lost(s->lost_ctx, (const char *)iov[i].iov_base + here, iov[i].iov_len - here);
	}
}

static int write_plain(struct sink *s, const struct iovec *iov, int cnt)
{
	struct iovec left[cnt];
	struct output_call call;
	size_t done = 0, len = 0;
	int i, err, failed;

	for (i = 0; i < cnt; i++)
		len += iov[i].iov_len;
	memcpy(left, iov, sizeof(left));
	output_call_begin(&call);
	err = allocate(s, len);
	if (err)
		fit(s, left, cnt, len);
	failed = write_all(s, left, cnt, &done);
	output_call_end(&call, &s->output_time);
	s->full = err && !failed;
	s->err = failed ?: err;
	if (s->err)
		write_failed(s, iov, cnt, done);
	else
		add_bytes(&s->bytes, done);
	if (failed)
		cut_back(s);
	return s->err;
}

/* ---- by the thread --------------------------------------------------------------- */

static int open_compressor(struct sink *s)
{
	if (s->compress.method == COMPRESS_NONE)
		return 0;
	return compressor_open(&s->compressor, &s->compress, s->stage.ops ? PIECE_BYTES : SINK_BLOCK_BYTES);
}

static size_t put_end(const struct sink *s, unsigned char *end)
{
	return s->compressor ? compressor_end(s->compressor, end) : 0;
}

/* Over what there is of a block that failed, puts the end that was there before: that takes no more space. */
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

/* Bytes at whose end the output may end; all of them, or none. */
static int write_piece(struct sink *s, const void *data, size_t len)
{
	unsigned char end[COMPRESS_END_BYTES_MAX];
	struct iovec block = { (void *)data, len }, iov[2];
	size_t done = 0;
	int err = s->compressor ? compressor_add(s->compressor, data, len, &block) : 0;

	err = err ?: allocate(s, block.iov_len + sizeof(end));
	if (s->full)
		return err;		/* the end that was there before still is */
	iov[0] = block;
	iov[1] = (struct iovec){ end, put_end(s, end) };
	err = err ?: write_all(s, iov, s->is_file ? 2 : 1, &done);
	if (!err && s->is_file && lseek(s->fd, s->start + s->bytes + block.iov_len, SEEK_SET) < 0)
		err = -errno;
	if (err) {
		restore_end(s);
		return err;
	}
	add_bytes(&s->bytes, block.iov_len);
	s->end_bytes = put_end(s, s->end);
	return 0;
}

/* What the stage made. More than a piece is more than a block of records and all that waited can become. */
static int write_staged(struct sink *s)
{
	int err = s->stage.len > PIECE_BYTES ? -EMSGSIZE : s->stage.len ? write_piece(s, s->stage.bytes, s->stage.len) : 0;

	if (!err)
		s->stage.ops->written(s->stage.s);
	return err;
}

/* In the queue's thread, except for the trailer. */
static int write_block(void *ctx, const void *data, size_t len)
{
	struct sink *s = ctx;
	int err;

	if (s->stage.ops) {
		err = stage_take(&s->stage, data, len);
		err = err ?: write_staged(s);
	} else {
		err = write_piece(s, data, len);
	}
	if (!err)
		add_bytes(&s->raw_bytes, len);
	return err;
}

/* The first error there is: nothing more is written, what still waited is lost. */
static int give_up(struct sink *s, int err)
{
	s->err = err;
	sink_queue_finish(s->queue);
	if (s->is_file)
		s->bytes += s->end_bytes;
	if (s->stage.ops)
		s->stage.ops->lost(s->stage.s, s->lost, s->lost_ctx);
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
		return s->in_trailer ? write_blocks(s, iov, cnt) : queue(s, iov, cnt);
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
	int err = s->err || !s->queue || s->in_trailer ? 0 : sink_queue_flush(s->queue);

	return err ? give_up(s, err) : s->err;
}

int sink_trailer(struct sink *s)
{
	if (!s->full)
		return s->err ?: -EINVAL;
	s->err = s->reserve = s->full = s->finished = 0;
	s->lost = NULL;
	s->in_trailer = true;
	if (!s->queue)
		return 0;
	/* The compressor knows of a block that is not in the trace: after the end that is there, another stream begins. */
	compressor_close(s->compressor);
	s->compressor = NULL;
	s->end_bytes = 0;
	if (lseek(s->fd, s->start + s->bytes, SEEK_SET) < 0)
		s->err = -errno;
	s->err = s->err ?: open_compressor(s);
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
	err = s->in_trailer ? 0 : sink_queue_finish(s->queue);
	if (!err && s->stage.ops) {
		err = stage_end(&s->stage);
		err = err ?: write_staged(s);
	}
	if (err)
		return give_up(s, err);
	end.iov_len = s->end_bytes;	/* as of the last block */
	if (!s->is_file)
		s->err = write_all(s, &end, 1, &done);
	s->bytes += s->end_bytes;
	return s->err;
}

int sink_file(const struct sink *s)
{
	return s && s->is_file && s->is_own ? s->fd : -1;
}

uint64_t sink_bytes(const struct sink *s)
{
	return get(&s->bytes);
}

struct output_time sink_output_time(const struct sink *s)
{
	return s->queue ? sink_queue_waited(s->queue) : s->output_time;
}

uint64_t sink_raw_bytes(const struct sink *s)
{
	return get(s->queue ? &s->raw_bytes : &s->bytes);
}

int sink_close_untrimmed(struct sink *s, int *fd)
{
	int err;

	*fd = -1;
	if (!s)
		return 0;
	err = sink_finish(s);
	if (s->fd >= 0 && has_unused(s)) {
		*fd = sink_file(s);
		if (*fd < 0)
			sink_trim(s->fd);
		s->fd = -1;
	}
	sink_queue_close(s->queue);
	stage_close(&s->stage);
	compressor_close(s->compressor);
	if (s->temp)
		unlink(s->temp);
	if (s->fd >= 0 && close(s->fd) && !err)
		err = -errno;
	forget_temp(s);
	free(s->path);
	free(s);
	return err;
}

int sink_close(struct sink *s)
{
	int fd, err = sink_close_untrimmed(s, &fd);

	if (fd >= 0)
		sink_trim(fd);
	return err;
}
