// SPDX-License-Identifier: GPL-2.0
/*
 * Sorting with a temporary file: runs of a fixed size, merged by a heap.
 */
#include "sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define READ_BYTES_MIN	4096U
#define READ_BYTES_MAX	(1U << 20)	/* of a run at a time: more saves nothing */
#define WRITE_BYTES	(64U << 10)
#define LEN_MAX		(1U << 31)
#define INSERT_MAX	8U	/* items in order are at least made so many, by insertion */

/* An item in the file, of @len bytes; or where in memory its length, of 8 bytes, and its data are. */
struct head {
	uint64_t ts, rank;
	uint32_t group;
	union {
		uint32_t len, at;
	};
};

/* Begins an item in the file: what is different from the item before, or else @is_whole and a struct head follows. */
struct short_head {
	uint32_t ts_delta;
	uint16_t len;
	uint8_t rank, is_whole;
};

#define LEN_BYTES	sizeof(uint64_t)	/* so that data in memory is aligned as its length is */

/* A run in the file, being read. */
struct run {
	uint64_t at, end;	/* what was not read yet, in the file */
	char *buf;
	size_t pos, len, cap;
	struct head head;	/* of the current item, whose data is at buf + pos */
};

struct event_sort {
	size_t run_bytes;
	char *data;
	size_t len, cap;
	struct head *slots, *spare;	/* where items are; some of them, while they are sorted */
	size_t slots_cnt, slots_cap, spare_cap;
	uint32_t *stretches;	/* of slots, that are in order */
	size_t stretches_cap;
	int fd;			/* of the temporary file, -1: none */
	uint64_t file_len;
	struct run *runs;
	unsigned int runs_cnt, runs_cap;
	bool reading, merging;
	size_t next;		/* of slots, if all is in memory */
	unsigned int *heap, heap_cnt;
	size_t last_len;	/* of the item that was handed out from the top of the heap */
	bool has_last;
};

int event_sort_open(struct event_sort **out, size_t run_bytes)
{
	struct event_sort *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->run_bytes = run_bytes < UINT32_MAX ? run_bytes : UINT32_MAX;
	s->fd = -1;
	*out = s;
	return 0;
}

unsigned int event_sort_runs(const struct event_sort *s)
{
	return s->runs_cnt;
}

/* ---- order ------------------------------------------------------------------------ */

static inline bool is_after(const struct head *a, const struct head *b)
{
	if (a->group != b->group)
		return a->group > b->group;
	/* One comparison: which one is later cannot be foreseen. */
	return ((unsigned __int128)a->ts << 64 | a->rank) > ((unsigned __int128)b->ts << 64 | b->rank);
}

static void insertion_sort(struct head *slots, size_t cnt)
{
	size_t i, j;

	for (i = 1; i < cnt; i++) {
		struct head slot = slots[i];

		for (j = i; j && is_after(&slots[j - 1], &slot); j--)
			slots[j] = slots[j - 1];
		slots[j] = slot;
	}
}

/* How many of @cnt slots that are in order are not after @than. */
static size_t count_before(const struct head *slots, size_t cnt, const struct head *than)
{
	size_t from = 0, to = cnt, at;

	while (from < to) {
		at = from + (to - from) / 2;
		if (is_after(&slots[at], than))
			to = at;
		else
			from = at + 1;
	}
	return from;
}

/*
 * The first @half of @cnt slots and the others are in order each: makes all of them be. Stretches of a trace mostly
 * follow one another, so only what is after the beginning of the others is moved.
 */
static int merge_halves(struct event_sort *s, struct head *slots, size_t half, size_t cnt)
{
	struct head *to = slots + count_before(slots, half, &slots[half]);
	const struct head *b = slots + half, *b_end = slots + cnt, *a, *a_end;
	const size_t moved = (size_t)(slots + half - to);

	if (!moved)
		return 0;
	if (array_reserve(s->spare, 0, s->spare_cap, moved))
		return -ENOMEM;
	memcpy(s->spare, to, moved * sizeof(*to));
	a = s->spare;
	a_end = a + moved;
	while (a < a_end && b < b_end)
		*to++ = is_after(a, b) ? *b++ : *a++;
	/* Those of @b that are left are where they belong. */
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*to));
	return 0;
}

/* How many slots from the first on are in order already. */
static size_t sorted_cnt(const struct head *slots, size_t cnt)
{
	size_t i = 1;

	while (i < cnt && !is_after(&slots[i - 1], &slots[i]))
		i++;
	return i;
}

/* Where stretches that are in order begin, and the end; short ones are made longer. How many there are, or -ENOMEM. */
static long find_stretches(struct event_sort *s)
{
	size_t at = 0, cnt = 0, left, len;

	for (; at < s->slots_cnt; at += len) {
		if (array_reserve(s->stretches, cnt, s->stretches_cap, 2))
			return -ENOMEM;
		s->stretches[cnt++] = (uint32_t)at;
		left = s->slots_cnt - at;
		len = sorted_cnt(s->slots + at, left);
		if (len < INSERT_MAX) {
			len = left < INSERT_MAX ? left : INSERT_MAX;
			insertion_sort(s->slots + at, len);
		}
	}
	s->stretches[cnt] = (uint32_t)at;
	return (long)cnt;
}

/* Most inputs are in order, or are made of parts that are, which are merged by twos. Stable. */
static int sort_slots(struct event_sort *s)
{
	uint32_t *at;
	long cnt, i;
	int err = 0;

	if (sorted_cnt(s->slots, s->slots_cnt) >= s->slots_cnt)
		return 0;
	cnt = find_stretches(s);
	for (at = s->stretches; cnt > 1 && !err; cnt = (cnt + 1) / 2) {
		for (i = 0; i < cnt && !err; i += 2) {
			const uint32_t begin = at[i];

			if (i + 1 < cnt)
				err = merge_halves(s, s->slots + begin, at[i + 1] - begin, at[i + 2] - begin);
			at[i / 2] = begin;
		}
		at[(cnt + 1) / 2] = (uint32_t)s->slots_cnt;
	}
	return cnt < 0 ? (int)cnt : err;
}

/* ---- runs ------------------------------------------------------------------------- */

/* A file without a name, where TMPDIR says or in /tmp. */
static int open_temp(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	dir = dir && *dir && strlen(dir) < sizeof(path) - sizeof("/kfxt.XXXXXX") ? dir : "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
		return fd < 0 ? -errno : fd;
	strcpy(stpcpy(path, dir), "/kfxt.XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

/*
 * What is written to the file goes through a buffer that is written when it is full: in pieces of one size at
 * multiples of it, which costs the kernel least.
 */
struct file_buf {
	int fd;
	uint64_t at;		/* in the file */
	size_t used;
	char bytes[WRITE_BYTES];
};

static int flush(struct file_buf *buf)
{
	const char *data = buf->bytes;
	ssize_t n;

	while (buf->used) {
		n = pwrite(buf->fd, data, buf->used, (off_t)buf->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		buf->at += (size_t)n;
		buf->used -= (size_t)n;
	}
	return 0;
}

/* As put_bytes(), in pieces. */
static int put_pieces(struct file_buf *buf, const char *data, size_t len)
{
	size_t piece;
	int err = 0;

	while (len && !err) {
		piece = len < WRITE_BYTES - buf->used ? len : WRITE_BYTES - buf->used;
		memcpy(buf->bytes + buf->used, data, piece);
		buf->used += piece;
		data += piece;
		len -= piece;
		if (buf->used == WRITE_BYTES)
			err = flush(buf);
	}
	return err;
}

static inline int put_bytes(struct file_buf *buf, const void *data, size_t len)
{
	if (len >= WRITE_BYTES - buf->used)
		return put_pieces(buf, data, len);
	memcpy(buf->bytes + buf->used, data, len);
	buf->used += len;
	return 0;
}

/* The data of an item in memory. */
static const char *data_of(const struct event_sort *s, const struct head *slot, size_t *len)
{
	const char *item = s->data + slot->at;
	uint64_t bytes;

	memcpy(&bytes, item, sizeof(bytes));
	*len = (size_t)bytes;
	return item + LEN_BYTES;
}

/* Nearly all are soon after the item before in the run, are short and have a small rank. */
static inline struct short_head shorten(const struct head *before, const struct head *head)
{
	const uint64_t delta = head->ts - before->ts;

	return (struct short_head){
		.ts_delta = (uint32_t)delta, .len = (uint16_t)head->len, .rank = (uint8_t)head->rank,
		.is_whole = head->group != before->group || delta > UINT32_MAX || head->len > UINT16_MAX ||
			    head->rank > UINT8_MAX,
	};
}

static int put_item(struct file_buf *buf, const struct head *before, const struct head *head, const char *data)
{
	const struct short_head begin = shorten(before, head);
	int err = put_bytes(buf, &begin, sizeof(begin));

	if (!err && begin.is_whole)
		err = put_bytes(buf, head, sizeof(*head));
	return err ? err : put_bytes(buf, data, head->len);
}

/* Writes the items of @slots one after the other, from s->file_len on; *@end: up to where. */
static int write_slots(struct event_sort *s, uint64_t *end)
{
	struct head before = { 0 }, head;
	struct file_buf buf;
	int err = 0;
	size_t i, len;

	buf.fd = s->fd;
	buf.at = s->file_len;
	buf.used = 0;
	for (i = 0; i < s->slots_cnt && !err; i++) {
		const char *data = data_of(s, &s->slots[i], &len);

		head = s->slots[i];
		head.len = (uint32_t)len;
		err = put_item(&buf, &before, &head, data);
		before = head;
	}
	err = err ? err : flush(&buf);
	*end = buf.at;
	return err;
}

/* What is in memory becomes a run in the file. */
static int spill(struct event_sort *s)
{
	uint64_t end;
	int err;

	if (s->fd < 0)
		s->fd = open_temp();
	if (s->fd < 0)
		return s->fd;
	err = array_reserve(s->runs, s->runs_cnt, s->runs_cap, 1);
	err = err ? err : sort_slots(s);
	err = err ? err : write_slots(s, &end);
	if (err)
		return err;
	s->runs[s->runs_cnt++] = (struct run){ .at = s->file_len, .end = end };
	s->file_len = (end + WRITE_BYTES - 1) & ~(uint64_t)(WRITE_BYTES - 1);
	s->len = 0;
	s->slots_cnt = 0;
	return 0;
}

/* Of slots there may be twice as many while they are sorted. */
static inline bool is_full(const struct event_sort *s, size_t size)
{
	return s->slots_cnt && s->len + size + (s->slots_cnt + 1) * 2 * sizeof(*s->slots) > s->run_bytes;
}

/* For an item of @size bytes with its length. */
static __attribute__((noinline)) int make_space(struct event_sort *s, size_t size)
{
	int err = is_full(s, size) ? spill(s) : 0;

	err = err ? err : array_reserve(s->data, s->len, s->cap, size);
	return err ? err : array_reserve(s->slots, s->slots_cnt, s->slots_cap, 1);
}

int event_sort_add_empty(struct event_sort *s, struct event_sort_key key, size_t len, void **data)
{
	const size_t size = LEN_BYTES + len;
	const uint64_t bytes = len;
	int err = 0;

	if (len > LEN_MAX || s->reading)
		return s->reading ? -EINVAL : -EMSGSIZE;
	if (s->len + size > s->cap || s->slots_cnt == s->slots_cap || is_full(s, size))
		err = make_space(s, size);
	if (err)
		return err;
	memcpy(s->data + s->len, &bytes, sizeof(bytes));
	*data = s->data + s->len + LEN_BYTES;
	s->slots[s->slots_cnt++] = (struct head){
		.ts = key.ts, .rank = key.rank, .group = key.group, .at = (uint32_t)s->len,
	};
	s->len += size;
	return 0;
}

int event_sort_add(struct event_sort *s, struct event_sort_key key, const void *data, size_t len)
{
	void *to;
	int err = event_sort_add_empty(s, key, len, &to);

	if (!err && len)
		memcpy(to, data, len);
	return err;
}

/* ---- merging ---------------------------------------------------------------------- */

/* Reads until @need bytes are at buf + pos; -EIO where the file is shorter than it was. */
static int fill_run(struct event_sort *s, struct run *r, size_t need)
{
	size_t want;
	ssize_t n;
	int err;

	r->len -= r->pos;
	memmove(r->buf, r->buf + r->pos, r->len);
	r->pos = 0;
	err = array_reserve(r->buf, 0, r->cap, need);
	if (err)
		return err;
	while (r->len < need) {
		want = r->cap - r->len;
		if (want > r->end - r->at)
			want = (size_t)(r->end - r->at);
		n = pread(s->fd, r->buf + r->len, want, (off_t)r->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r->at += (size_t)n;
		r->len += (size_t)n;
	}
	return 0;
}

static inline int take_bytes(struct event_sort *s, struct run *r, void *to, size_t len)
{
	int err = r->len - r->pos < len ? fill_run(s, r, len) : 0;

	if (err)
		return err;
	memcpy(to, r->buf + r->pos, len);
	r->pos += len;
	return 0;
}

/* Reads the next item of a run: 1, 0 at its end, or -errno. */
static int advance(struct event_sort *s, struct run *r)
{
	struct short_head begin;
	int err;

	if (r->pos == r->len && r->at == r->end)
		return 0;
	err = take_bytes(s, r, &begin, sizeof(begin));
	if (err)
		return err;
	if (begin.is_whole) {
		err = take_bytes(s, r, &r->head, sizeof(r->head));
	} else {
		r->head.ts += begin.ts_delta;
		r->head.rank = begin.rank;
		r->head.len = begin.len;
	}
	if (!err && r->len - r->pos < r->head.len)
		err = fill_run(s, r, r->head.len);
	return err ? err : 1;
}

/* Equal items are in the order of their runs. */
static bool is_before(const struct event_sort *s, unsigned int a, unsigned int b)
{
	const struct head *x = &s->runs[a].head, *y = &s->runs[b].head;

	return a < b ? !is_after(x, y) : is_after(y, x);
}

static void sift_down(struct event_sort *s, unsigned int i)
{
	unsigned int child, moved = s->heap[i];

	for (; (child = 2 * i + 1) < s->heap_cnt; i = child) {
		if (child + 1 < s->heap_cnt && is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], moved))
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = moved;
}

static int begin_merge(struct event_sort *s)
{
	unsigned int i;
	size_t each;
	int got;

	got = spill(s);
	if (got)
		return got;
	free(s->data);
	free(s->slots);
	free(s->spare);
	free(s->stretches);
	s->data = NULL;
	s->slots = s->spare = NULL;
	s->stretches = NULL;
	s->merging = true;
	s->heap = calloc(s->runs_cnt, sizeof(*s->heap));
	if (!s->heap)
		return -ENOMEM;
	each = s->run_bytes / s->runs_cnt;
	each = each < READ_BYTES_MIN ? READ_BYTES_MIN : each < READ_BYTES_MAX ? each : READ_BYTES_MAX;
	for (i = 0; i < s->runs_cnt; i++) {
		struct run *r = &s->runs[i];

		r->buf = malloc(each);
		r->cap = each;
		got = r->buf ? advance(s, r) : -ENOMEM;
		if (got < 0)
			return got;
		s->heap[s->heap_cnt] = i;
		s->heap_cnt += got > 0;
	}
	for (i = s->heap_cnt; i-- > 0;)
		sift_down(s, i);
	return 0;
}

static int begin_reading(struct event_sort *s)
{
	s->reading = true;
	if (s->runs_cnt)
		return begin_merge(s);
	return sort_slots(s);
}

static void give(struct event_sort_item *item, const struct head *head, const char *data, size_t len)
{
	*item = (struct event_sort_item){
		.key = { .ts = head->ts, .rank = head->rank, .group = head->group }, .data = data, .len = len,
	};
}

static int next_of_memory(struct event_sort *s, struct event_sort_item *item)
{
	const struct head *slot;
	const char *data;
	size_t len;

	if (s->next == s->slots_cnt)
		return 0;
	slot = &s->slots[s->next++];
	data = data_of(s, slot, &len);
	give(item, slot, data, len);
	return 1;
}

/* The item that was handed out is not needed any more: its run goes on. */
static int drop_last(struct event_sort *s)
{
	struct run *r = &s->runs[s->heap[0]];
	int got;

	s->has_last = false;
	r->pos += s->last_len;
	got = advance(s, r);
	if (got < 0)
		return got;
	if (!got) {
		free(r->buf);
		r->buf = NULL;
		s->heap[0] = s->heap[--s->heap_cnt];
	}
	if (s->heap_cnt)
		sift_down(s, 0);
	return 0;
}

int event_sort_next(struct event_sort *s, struct event_sort_item *item)
{
	const struct run *r;
	int err = 0;

	if (!s->reading)
		err = begin_reading(s);
	if (!err && !s->merging)
		return next_of_memory(s, item);
	if (!err && s->has_last)
		err = drop_last(s);
	if (err || !s->heap_cnt)
		return err;
	r = &s->runs[s->heap[0]];
	give(item, &r->head, r->buf + r->pos, r->head.len);
	s->has_last = true;
	s->last_len = r->head.len;
	return 1;
}

void event_sort_close(struct event_sort *s)
{
	unsigned int i;

	if (!s)
		return;
	for (i = 0; i < s->runs_cnt; i++)
		free(s->runs[i].buf);
	free(s->runs);
	free(s->heap);
	free(s->data);
	free(s->slots);
	free(s->spare);
	free(s->stretches);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
