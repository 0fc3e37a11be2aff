// SPDX-License-Identifier: GPL-2.0
/*
 * FXT as an input: its records as they are, without what is damaged, or there twice because files are joined.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "formats_p.h"
#include "fxt/fxt.h"
#include "fxt_joint.h"

#define PIECE_BYTES	(64U << 10)
#define RECORD_BYTES	(FXT_RECORD_WORDS_MAX * 8U)	/* beyond, records come in pieces */

struct input {
	struct reader_cfg cfg;
	struct fxt_reader *reader;
	struct reader_counts counts;
	struct fxt_joint joint;
	uint64_t by_kind[FXT_KIND_CNT];
	size_t used;
	char piece[PIECE_BYTES + RECORD_BYTES];
};

static const char *const forms[] = { "fxt", NULL }, *const suffixes[] = { ".fxt", NULL };

static enum format_sniff input_sniff(const void *head, size_t len)
{
	static const unsigned char magic[] = { 0x10, 0x00, 0x04, 'F', 'x', 'T', 0x16, 0x00 };

	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic)) ? FORMAT_YES : FORMAT_NO;
}

static void input_close(void *reader)
{
	struct input *in = reader;

	if (!in)
		return;
	fxt_reader_close(in->reader);
	fxt_joint_free(&in->joint);
	free(in);
}

static int input_open(void **reader, const struct reader_cfg *cfg)
{
	struct input *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return -ENOMEM;
	in->cfg = *cfg;
	in->counts.wrapper = "FXT";
	err = fxt_reader_open(&in->reader, cfg->read, cfg->read_ctx);
	if (err) {
		input_close(in);
		return err;
	}
	*reader = in;
	return 0;
}

static int hand_over(struct input *in)
{
	int err = in->used ? in->cfg.record(in->cfg.record_ctx, in->piece, in->used) : 0;

	in->used = 0;
	return err;
}

static void count(struct input *in, const struct fxt_record *rec)
{
	in->counts.bytes += rec->len;
	in->by_kind[rec->kind]++;
	switch (rec->kind) {
	case FXT_KIND_MAGIC:
	case FXT_KIND_PROVIDER_INFO:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_PROVIDER_EVENT:
	case FXT_KIND_INITIALIZATION:
	case FXT_KIND_STRING:
	case FXT_KIND_THREAD:
		break;
	case FXT_KIND_DAMAGED:
		if (!in->counts.damaged++) {
			in->counts.problem = rec->damage.reason;
			in->counts.problem_offset = rec->offset;
		}
		break;
	default:
		in->counts.records++;
	}
}

/* The record as it is in the input; 0 or -errno. One that ends early is passed on as far as it goes. */
static int pass(struct input *in)
{
	int err = 0;
	long got;

	while (!err && (got = fxt_reader_raw(in->reader, in->piece + in->used, sizeof(in->piece) - in->used)) > 0) {
		in->used += (size_t)got;
		if (in->used >= PIECE_BYTES)
			err = hand_over(in);
	}
	return err || got == -ENODATA ? err : (int)got;
}

/* What is kept comes after the piece. */
static int hand_over_kept(struct input *in, bool ends)
{
	int err = hand_over(in);

	if (err)
		return err;
	return ends ? fxt_joint_end(&in->joint, in->cfg.record, in->cfg.record_ctx) :
		      fxt_joint_hand_over(&in->joint, in->cfg.record, in->cfg.record_ctx);
}

/* The next record, unless it is damaged. */
static int take(struct input *in, const struct fxt_record *rec)
{
	bool release;
	int how = fxt_joint_take(&in->joint, rec, &release), err = release ? hand_over_kept(in, false) : 0;

	if (err || how < 0)
		return err ?: how;
	if (how == FXT_JOINT_LEAVE_OUT)
		return 0;
	return how == FXT_JOINT_KEEP ? fxt_joint_keep(&in->joint, rec, in->reader) : pass(in);
}

/* Until a piece is full; where the input has no more, or fails, what there is goes first. */
static int input_read(void *reader)
{
	struct input *in = reader;
	struct fxt_record rec;
	int got, err;

	do {
		got = fxt_reader_next(in->reader, &rec);
		if (got <= 0) {
			err = hand_over_kept(in, true);
			return err ? err : got;
		}
		count(in, &rec);
		err = rec.kind == FXT_KIND_DAMAGED ? 0 : take(in, &rec);
	} while (!err && in->used);
	return err ? err : 1;
}

static void input_counts(const void *reader, struct reader_counts *counts)
{
	const struct input *in = reader;

	*counts = in->counts;
	counts->in_two_files = in->joint.left_out;
}

/* Each record of the input in one count, damaged stretches too. */
static void input_stats(const void *reader, struct json *j)
{
	const struct input *in = reader;
	int i;

	json_line(j, "  ");
	json_key(j, "records_by_kind");
	json_object(j);
	for (i = 0; i < FXT_KIND_CNT; i++)
		if (in->by_kind[i])
			json_key_u64(j, fxt_kind_name((enum fxt_kind)i), in->by_kind[i]);
	json_end(j);
	json_key_u64(j, "damaged", in->counts.damaged);
	json_key_u64(j, "in_two_files", in->joint.left_out);
}

const struct reader_ops fxt_format_reader = {
	.name = "fxt",
	.about = "a Fuchsia trace",
	.forms = forms,
	.suffixes = suffixes,
	.makes_records = true,
	.sniff = input_sniff,
	.open = input_open,
	.read = input_read,
	.counts = input_counts,
	.stats = input_stats,
	.close = input_close,
};
