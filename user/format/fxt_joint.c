// SPDX-License-Identifier: GPL-2.0
#include "fxt_joint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PIECE_BYTES	(64U << 10)

static bool is_true(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_BOOL && arg->b;
}

static bool has_mark(const struct fxt_record *rec, const char *mark)
{
	const struct fxt_arg *arg = rec->kind == FXT_KIND_SWITCH ? fxt_record_arg(rec, "mark") : NULL;

	return arg && arg->type == FXT_ARG_STRING && arg->str.len == strlen(mark) && !memcmp(arg->str.data, mark, arg->str.len);
}

static int add_stop(struct fxt_joint *j, const struct fxt_record *rec)
{
	int err = array_reserve(j->stops, j->stops_cnt, j->stops_cap, 1);

	if (!err)
		j->stops[j->stops_cnt++] = (struct fxt_joint_stop){ rec->ts, rec->context_switch.cpu };
	return err;
}

/* A file begins. Whether there is nothing to decide: no CPU ended before, or none of those has begun since. */
static bool begin_file(struct fxt_joint *j)
{
	if (j->file_ended)
		j->stops_cnt = 0;
	j->follows = false;
	j->file_ended = j->stops_cnt;
	return !j->file_ended;
}

/* Whether a CPU's beginning decides: not if it was not in the file before. */
static bool decide(struct fxt_joint *j, const struct fxt_record *rec)
{
	size_t i;

	for (i = 0; i < j->stops_cnt && j->stops[i].cpu != rec->context_switch.cpu; i++)
		;
	if (i == j->stops_cnt)
		return false;
	j->follows = j->stops[i].ts == rec->ts;
	j->file_ended = false;
	j->stops_cnt = 0;
	return true;
}

int fxt_joint_take(struct fxt_joint *j, const struct fxt_record *rec, bool *release)
{
	int err = 0;

	*release = j->len > FXT_JOINT_BYTES_MAX;
	if (*release)
		j->parts_cnt = 0;
	if (rec->kind == FXT_KIND_MAGIC) {
		*release |= begin_file(j);
	} else if (j->file_ended && has_mark(rec, "start")) {
		*release |= decide(j, rec);
	} else if (has_mark(rec, "stop")) {
		err = add_stop(j, rec);
	} else if (rec->kind == FXT_KIND_WAKEUP && j->follows && is_true(rec, "carried")) {
		j->left_out++;
		return FXT_JOINT_LEAVE_OUT;
	}
	if (*release && !j->follows)
		j->parts_cnt = 0;
	if (*release)
		j->keeps = false;
	else if (!j->keeps && !j->file_ended)
		j->keeps = rec->kind == FXT_KIND_EVENT && is_true(rec, "continues");
	return err ?: j->keeps ? FXT_JOINT_KEEP : FXT_JOINT_PASS;
}

int fxt_joint_keep(struct fxt_joint *j, const struct fxt_record *rec, struct fxt_reader *reader)
{
	const size_t at = j->len;
	long got;
	int err;

	do {
		err = array_reserve(j->kept, j->len, j->cap, PIECE_BYTES);
		if (err)
			return err;
		got = fxt_reader_raw(reader, j->kept + j->len, PIECE_BYTES);
		j->len += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	if (got < 0 && got != -ENODATA)
		return (int)got;
	if (j->file_ended || rec->kind != FXT_KIND_EVENT || !is_true(rec, "continues"))
		return 0;
	err = array_reserve(j->parts, j->parts_cnt, j->parts_cap, 1);
	if (!err)
		j->parts[j->parts_cnt++] = (struct fxt_joint_part){ at, j->len - at };
	return err;
}

int fxt_joint_hand_over(struct fxt_joint *j, int (*record)(void *ctx, const void *data, size_t len), void *ctx)
{
	size_t at = 0, end, i;
	int err = 0;

	for (i = 0; !err && i <= j->parts_cnt; i++) {
		end = i < j->parts_cnt ? j->parts[i].at : j->len;
		if (end > at)
			err = record(ctx, j->kept + at, end - at);
		if (i < j->parts_cnt)
			at = end + j->parts[i].len;
	}
	j->left_out += j->parts_cnt;
	j->len = 0;
	j->parts_cnt = 0;
	return err;
}

int fxt_joint_end(struct fxt_joint *j, int (*record)(void *ctx, const void *data, size_t len), void *ctx)
{
	j->parts_cnt = 0;
	j->keeps = false;
	return fxt_joint_hand_over(j, record, ctx);
}

void fxt_joint_free(struct fxt_joint *j)
{
	free(j->kept);
	free(j->parts);
	free(j->stops);
	memset(j, 0, sizeof(*j));
}
