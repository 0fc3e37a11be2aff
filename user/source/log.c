// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoint reports who printed what and when, piece by piece; /dev/kmsg has what the
 * pieces came to, with level and dictionary, but neither thread nor a time that is exact. Both
 * are in order, but for what several CPUs print at the same moment, so text and order join
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/redact.h"
#include "bpf/abi/log.h"
#include "bpf/abi/raw.h"
#include "capture/features.h"
#include "capture/source.h"
#include "fxt/fxt.h"
#include "kernel/kmsg.h"
#include "kfxt.skel.h"
#include "log.h"
#include "table.h"
#include "format/perfetto/packets.h"

#define WINDOW		64	/* pieces or records that may have come before the one that is looked for */
#define KMSG_WAITING	4096	/* records whose pieces have not come yet */
#define PIECES_WAITING	65536U	/* pieces whose record has not come yet */
#define LINE_BYTES	4096	/* of any value; twice what a kernel prints */

/* The clock of /dev/kmsg is read just before the tracepoint; the two clocks drift by less than 1/1024. */
#define DRIFT_SHIFT	10
#define CLOCK_STEP_NS	1000000000LL	/* suspended meanwhile */
#define NEAR_NS		50000		/* what one thread prints in one go */
#define EARLY_NS	1000000000000LL	/* rather than any piece from before the record */

/* As the kernel side saw it: a whole line or, by pr_cont(), a part of one. */
struct piece {
	uint64_t ts;
	struct fxt_thread thread;
	uint32_t len;
	bool interrupt;
	bool ends_line;		/* empty, after the last piece of a line: probably its pr_cont("\n") */
	bool done;		/* written */
	char *text;
};

struct waiting {
	uint64_t until_ns;	/* then its pieces will not come: lost, or of a CPU that is not recorded */
	char *record;		/* what .kmsg points into */
	struct kmsg kmsg;
};

struct logs {
	struct fxt_writer *w;
	struct packets *packets;
	struct redact *redact;
	int fd;				/* -1: no /dev/kmsg */
	struct piece *pieces;		/* by time, once sorted */
	size_t pieces_cnt, pieces_cap;
	size_t first;			/* all before it are done */
	uint64_t joined_ns;		/* the first piece of the last line joined that is not empty; 0: none yet */
	uint64_t offset_ns;		/* of the pieces' clock from that of /dev/kmsg, once joined_ns is set */
	struct waiting *waiting;	/* in order */
	size_t waiting_cnt;
	struct logs_counts counts;
};

int logs_open(struct logs **out, struct fxt_writer *w, struct packets *packets, struct redact *redact, const char *kmsg)
{
	struct logs *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->w = w;
	l->packets = packets;
	l->redact = redact;
	l->waiting = calloc(KMSG_WAITING, sizeof(*l->waiting));
	l->fd = open(kmsg, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (l->fd < 0)
		l->counts.kmsg_err = -errno;
	else
		lseek(l->fd, 0, SEEK_END);
	if (!l->waiting) {
		logs_close(l);
		return -ENOMEM;
	}
	*out = l;
	return 0;
}

int logs_take(struct logs *l, const uint64_t *rec)
{
	const size_t words = FXT_GET(rec[RAW_HEADER], FXT_F_SIZE);
	const uint32_t len = words < LOG_TEXT ? 0 : (uint32_t)rec[LOG_LEN];
	const bool whole = words >= LOG_TEXT && len <= (words - LOG_TEXT) * 8;
	char *text = whole && !array_reserve(l->pieces, l->pieces_cnt, l->pieces_cap, 1) ? malloc(len + 1) : NULL;

	if (!text)
		return whole ? -ENOMEM : -EINVAL;
	memcpy(text, rec + LOG_TEXT, len);
	l->pieces[l->pieces_cnt++] = (struct piece){
		.ts = rec[RAW_TS], .len = len, .text = text,
		.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
		.interrupt = rec[LOG_LEN] & LOG_INTERRUPT,
	};
	return 0;
}

/* ---- writing -------------------------------------------------------------------------- */

/* The dictionary of @kmsg into @args, how many. @room: for what is left of its values. */
static unsigned int put_pairs(const struct logs *l, const struct kmsg *kmsg, char room[LINE_BYTES], struct fxt_arg *args)
{
	size_t len, at = 0;
	unsigned int i;

	for (i = 0; i < kmsg->pairs_cnt; i++) {
		const char *value = kmsg->pairs[i].value;

		len = strlen(value);
		if (l->redact) {
			len = redact_text(l->redact, value, len, room + at, LINE_BYTES - at);
			value = room + at;
			at += len;
		}
		args[i] = fxt_arg_str(kmsg->pairs[i].key, fxt_str_inline(value, len));
	}
	return i;
}

/* @kmsg NULL: only the text is known. */
static int write_instant(struct logs *l, const struct piece *first, struct fxt_str text, const struct kmsg *kmsg)
{
	const struct fxt_event event = {
		.type = FXT_INSTANT, .ts = first->ts, .thread = first->thread,
		.category = fxt_str("log"), .name = fxt_str("printk"),
	};
	struct fxt_arg args[4 + KMSG_PAIRS_MAX];
	char room[LINE_BYTES];
	unsigned int n = 0;

	args[n++] = fxt_arg_str("text", text);
	if (kmsg) {
		const char *facility = kmsg_facility_name(kmsg->facility);

		args[n++] = fxt_arg_str("level", fxt_str(kmsg_level_name(kmsg->level)));
		args[n++] = facility ? fxt_arg_str("facility", fxt_str(facility)) :
				       fxt_arg_u32("facility", kmsg->facility);
	}
	if (first->interrupt)
		args[n++] = fxt_arg_bool("interrupt", true);
	if (kmsg)
		n += put_pairs(l, kmsg, room, args + n);
	return fxt_write_event(l->w, &event, args, n);
}

/* A line of @cnt pieces, their text being @bytes of @text. */
static int write_line(struct logs *l, const struct piece *first, unsigned int cnt, const char *text, size_t bytes,
		      const struct kmsg *kmsg)
{
	char escaped[4 * LINE_BYTES + 1], redacted[LINE_BYTES];
	struct fxt_str str;
	size_t len;
	int err;

	if (l->redact) {
		bytes = redact_text(l->redact, text, bytes, redacted, sizeof(redacted));
		text = redacted;
	}
	len = kmsg_escape(escaped, text, bytes < LINE_BYTES ? bytes : LINE_BYTES);
	escaped[len] = 0;
	str = fxt_str_inline(escaped, len);
	err = fxt_write_log(l->w, first->ts, first->thread, str);
	if (err) {
		l->counts.unwritten += cnt;
		return err;
	}
	l->counts.lines++;
	l->counts.bare += !kmsg;
	err = write_instant(l, first, str, kmsg);
	if (!err && l->packets)
		err = packets_write_log(l->packets, &(struct packets_log){
			.ts = first->ts, .process = first->thread.process, .thread = first->thread.thread,
			.level = kmsg ? kmsg->level : -1, .text = escaped,
			.tag = kmsg ? kmsg_facility_name(kmsg->facility) : NULL,
		});
	return err;
}

/* ---- joining -------------------------------------------------------------------------- */

static bool same_context(const struct piece *a, const struct piece *b)
{
	return a->thread.thread == b->thread.thread && a->interrupt == b->interrupt;
}

/* The @last'th piece completes a line: an empty one that follows it need not be a line. */
static void mark_end(struct logs *l, size_t last)
{
	size_t i = last + 1;

	while (i < l->pieces_cnt && !same_context(&l->pieces[i], &l->pieces[last]))
		i++;
	if (i < l->pieces_cnt && !l->pieces[i].len)
		l->pieces[i].ends_line = true;
}

/* The pieces from the @i'th on that make up @kmsg: marks them done, *@cnt is how many. */
static bool take_pieces(struct logs *l, size_t i, const struct kmsg *kmsg, unsigned int *cnt)
{
	const struct piece *first = &l->pieces[i];
	size_t places[WINDOW], pos = 0, n = 0, k;

	for (; i < l->pieces_cnt && n < WINDOW; i++) {
		const struct piece *p = &l->pieces[i];

		if (p->done || !same_context(p, first))
			continue;
		if (p->len > kmsg->len - pos || memcmp(p->text, kmsg->text + pos, p->len) != 0)
			break;
		places[n++] = i;
		pos += p->len;
		if (pos < kmsg->len)
			continue;
		for (k = 0; k < n; k++)
			l->pieces[places[k]].done = true;
		mark_end(l, i);
		*cnt = (unsigned int)n;
		return true;
	}
	return false;
}

/*
 * A line of @kmsg is the piece from @ts on. The offset of the clocks is the least there is: whatever
 * interrupts a thread before it reaches the tracepoint adds to it.
 */
static void learn_offset(struct logs *l, const struct kmsg *kmsg, uint64_t ts)
{
	const uint64_t offset = ts - kmsg->ts_us * 1000;
	const uint64_t drift = ts > l->joined_ns ? (ts - l->joined_ns) >> DRIFT_SHIFT : 0;
	const int64_t rise = (int64_t)(offset - l->offset_ns);

	if (!l->joined_ns || rise < (int64_t)drift || rise > CLOCK_STEP_NS)
		l->offset_ns = offset;
	else
		l->offset_ns += drift;
	l->joined_ns = ts;
}

/* How little @p looks like the empty line of @kmsg: the time between them, and more if it ends a line. */
static uint64_t distance(const struct logs *l, const struct piece *p, const struct kmsg *kmsg)
{
	const uint64_t after = l->joined_ns ? p->ts - kmsg->ts_us * 1000 - l->offset_ns : 0;
	const bool early = (int64_t)after < 0;

	return (early ? -after + (-after > NEAR_NS ? EARLY_NS : 0) : after) + (p->ends_line ? NEAR_NS : 0);
}

/* The piece that the empty line of @kmsg is; NULL: there is none. */
static struct piece *find_empty(const struct logs *l, const struct kmsg *kmsg)
{
	uint64_t far, best_far = UINT64_MAX;
	struct piece *best = NULL;
	unsigned int looked = 0;
	size_t i;

	for (i = l->first; i < l->pieces_cnt && looked < WINDOW; i++) {
		struct piece *p = &l->pieces[i];

		looked += !p->done && !p->ends_line;
		if (p->done || p->len)
			continue;
		far = distance(l, p, kmsg);
		if (far < best_far) {
			best = p;
			best_far = far;
		}
	}
	return best;
}

static int join_empty(struct logs *l, const struct kmsg *kmsg)
{
	struct piece *p = find_empty(l, kmsg);

	if (!p)
		return 0;
	p->done = true;
	return write_line(l, p, 1, "", 0, kmsg) ?: 1;
}

/* Writes the line of @kmsg, if its pieces are there. 0: they are not; 1; or -errno. */
static int join(struct logs *l, const struct kmsg *kmsg)
{
	unsigned int looked = 0, cnt;
	size_t i;

	while (l->first < l->pieces_cnt && l->pieces[l->first].done)
		l->first++;
	if (!kmsg->len)
		return join_empty(l, kmsg);
	for (i = l->first; i < l->pieces_cnt && looked < WINDOW; i++) {
		if (l->pieces[i].done || l->pieces[i].ends_line)
			continue;
		looked++;
		/* An empty piece begins every line, but is only an empty one. */
		if (l->pieces[i].len && take_pieces(l, i, kmsg, &cnt)) {
			learn_offset(l, kmsg, l->pieces[i].ts);
			return write_line(l, &l->pieces[i], cnt, kmsg->text, kmsg->len, kmsg) ?: 1;
		}
	}
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/* No more of it: it is not what it should be, as in some containers, and would be readable for ever. */
static void give_up_kmsg(struct logs *l, int err)
{
	close(l->fd);
	l->fd = -1;
	l->counts.kmsg_err = err;
}

/* Takes what /dev/kmsg has now; of what it has overwritten nothing is known. */
static int read_kmsg(struct logs *l, uint64_t until_ns)
{
	char buf[KMSG_BYTES_MAX + 1];
	ssize_t len;

	while (l->fd >= 0 && l->waiting_cnt < KMSG_WAITING) {
		struct waiting *next = &l->waiting[l->waiting_cnt];

		len = read(l->fd, buf, KMSG_BYTES_MAX);
		if (len < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (len < 0 && errno == EAGAIN)
			break;
		if (len <= 0) {
			give_up_kmsg(l, len ? -errno : -ENODATA);
			break;
		}
		next->record = malloc((size_t)len + 1);
		if (!next->record)
			return -ENOMEM;
		memcpy(next->record, buf, (size_t)len);
		next->until_ns = until_ns;
		if (kmsg_parse(next->record, (size_t)len, &next->kmsg))
			l->waiting_cnt++;
		else
			free(next->record);
	}
	return 0;
}

/* Joins what has come of both; records whose pieces are not there wait. */
static int join_all(struct logs *l, uint64_t now_ns)
{
	size_t i, kept = 0;
	int err = 0, joined;

	for (i = 0; i < l->waiting_cnt; i++) {
		joined = join(l, &l->waiting[i].kmsg);
		if (joined < 0)
			err = joined;
		if (joined || l->waiting[i].until_ns <= now_ns || i + KMSG_WAITING / 2 < l->waiting_cnt)
			free(l->waiting[i].record);
		else
			l->waiting[kept++] = l->waiting[i];
	}
	l->waiting_cnt = kept;
	return err;
}

int logs_read(struct logs *l, uint64_t now_ns)
{
	return read_kmsg(l, now_ns + LOGS_WAIT_NS);
}

int logs_write(struct logs *l, uint64_t now_ns)
{
	const bool last = now_ns == UINT64_MAX;
	uint64_t before_ns = last ? now_ns : now_ns > LOGS_WAIT_NS ? now_ns - LOGS_WAIT_NS : 0;
	size_t i, kept = 0;
	int err = 0, failed;
	bool full;

	if (l->pieces_cnt)
		qsort(l->pieces, l->pieces_cnt, sizeof(*l->pieces), compare_lines);
	l->first = 0;
	do {
		failed = last ? read_kmsg(l, now_ns) : 0;
		full = l->waiting_cnt == KMSG_WAITING;
		err = err ?: failed;
		failed = join_all(l, now_ns);
		err = err ?: failed;
	} while (last && full && !failed);
	if (l->fd < 0)
		before_ns = UINT64_MAX;
	else if (l->pieces_cnt > PIECES_WAITING && before_ns < l->pieces[l->pieces_cnt - PIECES_WAITING].ts)
		before_ns = l->pieces[l->pieces_cnt - PIECES_WAITING].ts;
	for (i = 0; i < l->pieces_cnt; i++) {
		struct piece *p = &l->pieces[i];

		if (!p->done && p->ts < before_ns) {
			/* pr_cont("\n") prints nothing; an empty line is one that /dev/kmsg has. */
			failed = p->len ? write_line(l, p, 1, p->text, p->len, NULL) : 0;
			err = err ?: failed;
			p->done = true;
		}
		if (p->done)
			free(p->text);
		else
			l->pieces[kept++] = *p;
	}
	l->pieces_cnt = kept;
	l->first = 0;
	return err;
}

int logs_fd(const struct logs *l)
{
	return l ? l->fd : -1;
}

void logs_counts(const struct logs *l, struct logs_counts *counts)
{
	*counts = l->counts;
}

void logs_close(struct logs *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->pieces_cnt; i++)
		free(l->pieces[i].text);
	for (i = 0; i < l->waiting_cnt; i++)
		free(l->waiting[i].record);
	if (l->fd >= 0)
		close(l->fd);
	free(l->pieces);
	free(l->waiting);
	free(l);
}

/* ---- as a source ---------------------------------------------------------------------- */

static int start_log(void **s, struct source_ctx *c)
{
	struct logs *l = NULL;
	char path[256];
	int err;

	snprintf(path, sizeof(path), "%s/dev/kmsg", c->root);
	err = logs_open(&l, c->w, c->packets, c->redact, path);
	*s = l;
	return err;
}

static int log_fd(const void *s)
{
	return logs_fd(s);
}

static int read_log(void *s, uint64_t now_ns)
{
	return logs_read(s, now_ns);
}

/* It is written once /dev/kmsg has the whole line: see logs_write(). */
static int decode_log(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	(void)c, (void)written;
	return logs_take(s, rec);
}

static int poll_log(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	(void)c;
	return logs_write(s, final ? UINT64_MAX : now_ns);
}

static void count_log(const void *s, const struct source_ctx *c, struct source_counts *counts)
{
	const struct logs *l = s;

	(void)c;
	counts->records += l->counts.lines;
	counts->unwritten += l->counts.unwritten;
}

static void close_log(void *s)
{
	logs_close(s);
}

static int prepare_log(void *s, struct source_ctx *c)
{
	(void)s;
	c->skel->rodata->cfg_logs_of_all = c->of_all;
	return 0;
}

const struct source_ops source_log = {
	.name = "log", .by_default = true,
	.about = "kernel log lines, with level and thread; on unless !log",
	.shows = "log records and instants on the threads that print",
	.tracepoints = { { "console", 2 } },
	.features = (const struct feature[]){
		FEATURE_TRACEPOINT("console", 2, "the kernel's log"),
		{ .name = "/dev/kmsg", .used_for = "levels of the kernel's log", .have = feature_have_file,
		  .remedy = "run as root, or with CAP_SYSLOG", .arg = "/dev/kmsg" },
		{ 0 } },
	.programs = { "on_console" },
	.few_records = true, .class = LEDGER_LOGS, .raw_words_min = RAW_WORDS,
	.prepare = prepare_log, .start = start_log, .fd = log_fd, .before_look = read_log, .decode = decode_log, .poll = poll_log,
	.count = count_log, .close = close_log,
};
