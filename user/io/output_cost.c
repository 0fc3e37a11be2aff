// SPDX-License-Identifier: GPL-2.0
/*
 * A sink like that of a recording, as fresh pages, space that is allocated and caches that others have used meanwhile cost
 * more than to write the same block over and over.
 */
#include "output_cost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "sink.h"

#define COPY_BYTES	(1U << 20)	/* as one block of the thread that compresses */
#define COPY_ROUNDS	16
#define COPY_COLD	8		/* more of them, which do not count */
#define WRITE_BYTES	(512U << 10)	/* of a round, at most */
#define FILE_BYTES	(64ULL << 20)
#define RESERVE		(64U << 10)

struct output_cost {
	struct sink *sink;	/* NULL: it cannot be written to, or is large */
	char *block;		/* of COPY_BYTES */
	double copy_ns;		/* a byte */
	uint64_t bytes, ns;	/* of writing */
};

static double measure_copying(char *to, const char *from)
{
	uint64_t since = 0;
	unsigned int i;

	for (i = 0; i < COPY_COLD + COPY_ROUNDS; i++) {
		if (i == COPY_COLD)
			since = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		memcpy(to, from, COPY_BYTES);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - since) / COPY_ROUNDS / COPY_BYTES;
}

/* @fd is the sink's, or closed. */
static int open_sink(struct output_cost *o, int fd)
{
	const struct sink_cfg cfg = { .path = "", .is_open = true, .fd = fd, .any_bytes = true, .reserve = RESERVE };
	const char *hint;

	return fd < 0 ? -errno : sink_open(&o->sink, &cfg, &hint);
}

int output_cost_open(struct output_cost **out, const char *dir)
{
	struct output_cost *o = calloc(1, sizeof(*o));
	char *to = malloc(COPY_BYTES);
	int err = -ENOMEM;

	if (o)
		o->block = malloc(COPY_BYTES);
	if (to && o && o->block) {
		memset(o->block, 1, COPY_BYTES);
		memset(to, 1, COPY_BYTES);
		o->copy_ns = measure_copying(to, o->block);
		err = dir ? open_sink(o, open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)) : -ENOENT;
		err = err ? open_sink(o, memfd_create("kfxt", MFD_CLOEXEC)) : 0;
	}
	free(to);
	if (err) {
		output_cost_close(o);
		return err;
	}
	*out = o;
	return 0;
}

static void end_writing(struct output_cost *o)
{
	sink_close(o->sink);
	o->sink = NULL;
}

void output_cost_write(struct output_cost *o, uint64_t bytes)
{
	const uint64_t since = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!o->sink || !bytes)
		return;
	if (bytes > WRITE_BYTES)
		bytes = WRITE_BYTES;
	if (sink_bytes(o->sink) + bytes > FILE_BYTES || sink_write(o->sink, o->block, bytes)) {
		end_writing(o);
		return;
	}
	o->bytes += bytes;
	o->ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - since;
}

double output_cost_copy_ns(const struct output_cost *o)
{
	return o->copy_ns;
}

double output_cost_write_ns(const struct output_cost *o)
{
	return o->bytes ? (double)o->ns / (double)o->bytes : 0;
}

void output_cost_close(struct output_cost *o)
{
	if (!o)
		return;
	end_writing(o);
	free(o->block);
	free(o);
}
