// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of block devices: asynchronous slices, since they overlap.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "bpf/abi/block.h"
#include "bpf/abi/raw.h"
#include "capture/features.h"
#include "capture/source.h"
#include "fxt/fxt.h"
#include "table.h"

struct disk {
	uint32_t device;
	char name[36];		/* the kernel's DISK_NAME_LEN is 32 */
};

struct disks {
	struct disk *disks;	/* whose names are known */
	size_t cnt, cap;
};

/* include/linux/blk_types.h; the same in every kernel since 4.10. */
#define REQ_SYNC	(1U << 11)
#define REQ_META	(1U << 12)
#define REQ_FUA		(1U << 17)
#define REQ_PREFLUSH	(1U << 18)
#define REQ_RAHEAD	(1U << 19)

/* By enum req_op: what people call it, and the letters of blktrace. */
static const struct op {
	const char *name, *letters;
} ops[] = {
	[0] = { "read", "R" },
	[1] = { "write", "W" },
	[2] = { "flush", "F" },
	[3] = { "discard", "D" },
	[5] = { "secure erase", "DE" },
	[7] = { "zone append", "ZA" },
	[9] = { "write zeroes", "N" },
	[11] = { "zone open", "N" },
	[13] = { "zone close", "N" },
	[15] = { "zone finish", "N" },
	[17] = { "zone reset", "N" },
	[19] = { "zone reset all", "N" },
	[34] = { "driver in", "N" },
	[35] = { "driver out", "N" },
};

static struct op op_of(const uint64_t *rec)
{
	const unsigned int op = FXT_GET(rec[BLOCK_WHAT], BLOCK_F_OP);

	return op < sizeof(ops) / sizeof(*ops) && ops[op].name ? ops[op] : (struct op){ "operation", "N" };
}

/* As the kernel's tracepoints print it: "WS", "FWFS". */
static void print_rwbs(const uint64_t *rec, char *buf, size_t size)
{
	const uint32_t flags = FXT_GET(rec[BLOCK_WHAT], BLOCK_F_FLAGS);

	snprintf(buf, size, "%s%s%s%s%s%s", flags & REQ_PREFLUSH ? "F" : "", op_of(rec).letters,
		 flags & REQ_FUA ? "F" : "", flags & REQ_RAHEAD ? "A" : "", flags & REQ_SYNC ? "S" : "",
		 flags & REQ_META ? "M" : "");
}

/* block/blk-core.c; those that are the same in all kernels. The rest, mostly of zones, are EIO. */
static int errno_of(unsigned int status)
{
	static const int errnos[] = {
		0, EOPNOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK, EREMOTEIO, EBADE, ENODATA, EILSEQ, ENOMEM, EIO,
		EREMCHG, EAGAIN, EBUSY,
	};

	return -(status < sizeof(errnos) / sizeof(*errnos) ? errnos[status] : EIO);
}

/* "vda", or "254:0" if it is gone. */
static void find_name(const char *root, uint32_t device, char *buf, size_t size)
{
	char path[256], link[512];
	const char *base;
	ssize_t len;

	snprintf(buf, size, "%u:%u", device >> 20, device & 0xfffff);
	snprintf(path, sizeof(path), "%s/sys/dev/block/%s", root, buf);
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return;
	link[len] = 0;
	base = strrchr(link, '/');
	snprintf(buf, size, "%.32s", base ? base + 1 : link);
}

/* NULL: no memory. */
static const char *name_of(struct disks *disks, const char *root, uint32_t device)
{
	struct disk *d;
	size_t i;

	if (!device)
		return "";
	for (i = 0; i < disks->cnt; i++)
		if (disks->disks[i].device == device)
			return disks->disks[i].name;
	if (array_reserve(disks->disks, disks->cnt, disks->cap, 1))
		return NULL;
	d = &disks->disks[disks->cnt++];
	d->device = device;
	find_name(root, device, d->name, sizeof(d->name));
	return d->name;
}

static unsigned int put_args(const uint64_t *rec, const char *disk, const char *rwbs, struct fxt_arg *args)
{
	const unsigned int status = FXT_GET(rec[OPEN_PLACE], OPEN_F_STATUS);
	unsigned int n = 0;

	if (*disk)
		args[n++] = fxt_arg_str("device", fxt_str(disk));
	if (rec[BLOCK_SECTOR] != UINT64_MAX)	/* of a command that is the driver's own */
		args[n++] = fxt_arg_u64("sector", rec[BLOCK_SECTOR]);
	args[n++] = fxt_arg_u32("bytes", FXT_GET(rec[BLOCK_WHAT], BLOCK_F_BYTES));
	args[n++] = fxt_arg_str("rwbs", fxt_str(rwbs));
	if (status) {
		args[n++] = fxt_arg_i32("error", errno_of(status));
		args[n++] = fxt_arg_u32("status", status);
	}
	if (rec[OPEN_PLACE] & OPEN_REQUEUED)
		args[n++] = fxt_arg_bool("requeued", true);
	if (rec[OPEN_PLACE] & OPEN_UNFINISHED)
		args[n++] = fxt_arg_bool("unfinished", true);
	if (rec[OPEN_PLACE] & OPEN_CONTINUES)
		args[n++] = fxt_arg_bool("continues", true);
	return n;
}

static int decode(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	const char *disk = name_of(s, c->root, rec[BLOCK_DEVICE]);
	struct fxt_event event = {
		.type = FXT_ASYNC_BEGIN, .ts = rec[RAW_TS], .id = ++c->async_ids,
		.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
		.category = fxt_str("block"),
	};
	const unsigned int open = rec[OPEN_PLACE] & OPEN_CONTINUES ? 2 : 0;	/* arguments that say that it has not ended, the last ones */
	char name[64], rwbs[16];
	struct fxt_arg args[9];
	unsigned int nargs;
	int err;

	if (!disk)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s%s%s", disk, *disk ? " " : "", op_of(rec).name);
	event.name = fxt_str(name);
	print_rwbs(rec, rwbs, sizeof(rwbs));
	nargs = put_args(rec, disk, rwbs, args);
	err = fxt_write_event(c->w, &event, args, nargs);
	if (err)
		return err;
	*written = 1;
	event.type = FXT_ASYNC_END;
	event.ts = rec[OPEN_END_TS];
	/* Whoever leaves such a request out knows its end. */
	err = fxt_write_event(c->w, &event, args + nargs - open, open);
	*written += !err;
	return err;
}

static int open_disks(void **s, const struct source_ctx *c, char *why, size_t size)
{
	(void)c, (void)why, (void)size;
	*s = calloc(1, sizeof(struct disks));
	return *s ? 0 : -ENOMEM;
}

static int poll_requests(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	return final ? source_write_open(&source_block, s, c, "open_requests", now_ns, false, &c->events) : 0;
}

static int write_requests(void *s, struct source_ctx *c, uint64_t cut_ns, uint64_t *written)
{
	return source_write_open(&source_block, s, c, "open_requests", cut_ns, true, written);
}

static void close_disks(void *s)
{
	struct disks *disks = s;

	free(disks->disks);
	free(disks);
}

const struct source_ops source_block = {
	.name = "block",
	.about = "block I/O requests, from issue to the driver to completion",
	.shows = "asynchronous slices \"DEVICE OPERATION\" of the threads that issue them",
	.tracepoints = { { "block_rq_issue", 1 }, { "block_rq_complete", 3 }, { "block_rq_requeue", 1 } },
	.features = (const struct feature[]){
		FEATURE_TRACEPOINT("block_rq_issue", 1, "-e block"),
		{ 0 } },
	.programs = { "on_block_rq_issue", "on_block_rq_complete", "on_block_rq_requeue" },
	.maps = { "open_requests" },
	.class = LEDGER_EVENTS, .raw_words_min = BLOCK_WORDS,
	.shed_class = SHED_PRESETS, .shed_runs = 2,
	.open = open_disks, .decode = decode, .poll = poll_requests, .write_open = write_requests,
	.close = close_disks,
};
