// SPDX-License-Identifier: GPL-2.0
/* A repair in memory; see repair_walk.h. */
#include "repair_walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fxt/fxt_mem.h"

static int repair_memory(const void *data, size_t len, struct repair_result *result, char **out, size_t *out_len)
{
	struct fxt_mem_source source = { .data = data, .len = len };
	FILE *file = fdopen(memfd_create("repair", MFD_CLOEXEC), "w");
	bool cut = false;
	int err;

	if (!file)
		return -errno;
	err = repair_copy(fxt_mem_read, &source, &cut, file, result);
	fflush(file);
	*out_len = ftello(file);
	*out = malloc(*out_len + 1);
	if (!*out || pread(fileno(file), *out, *out_len, 0) != (ssize_t)*out_len)
		err = -EIO;
	fclose(file);
	return err;
}

/* 0 or -ENOMEM. */
static int verify_memory(struct repair_walk *w)
{
	struct fxt_mem_source source = { .data = (unsigned char *)w->data, .len = w->len };
	struct verify *v = malloc(sizeof(*v));
	struct fxt_reader *reader = NULL;
	struct fxt_record rec;
	int err = v ? verify_init(v) : -ENOMEM, i;

	if (err)
		goto out;
	err = fxt_reader_open(&reader, fxt_mem_read, &source);
	while (!err && fxt_reader_next(reader, &rec) > 0)
		err = verify_format_record(v, &rec, fxt_reader_ticks_per_second(reader));
	err = err ?: verify_finish(v, reader);
	for (i = 0; !err && i < VERIFY_PROBLEM_CNT; i++) {
		w->found[i] = v->findings[i].count;
		if (w->found[i] && !w->first[0])
			snprintf(w->first, sizeof(w->first), "%s at %llu: %s", verify_problem_name(i),
				 (unsigned long long)v->findings[i].offsets[0], v->findings[i].first);
	}
	fxt_reader_close(reader);
	verify_fini(v);
out:
	free(v);
	return err;
}

static const char *repair_again(const struct repair_walk *w)
{
	struct repair_result result;
	const char *broken = NULL;
	char *again;
	size_t len;

	if (repair_memory(w->data, w->len, &result, &again, &len))
		broken = "the copy cannot be repaired again";
	else if (!repair_was_whole(&result))
		broken = "the copy is not whole";
	else if (len != w->len || memcmp(again, w->data, len) != 0)
		broken = "a copy of the copy is not the same";
	free(again);
	return broken;
}

void repair_walk_run(struct repair_walk *w, const void *data, size_t len)
{
	const struct repair_result *res = &w->result;

	*w = (struct repair_walk){ 0 };
	w->err = repair_memory(data, len, &w->result, &w->data, &w->len);
	if (w->err == -ENODATA || w->err == -EPROTO)
		return;
	if (w->err)
		w->broken = "an error from nowhere";
	else if (res->kept_bytes + res->dropped_bytes != len)
		w->broken = "bytes not accounted for";
	else if (repair_was_whole(res) && (w->len != len || memcmp(w->data, data, len) != 0))
		w->broken = "nothing was to be repaired, and the copy differs";
	else if (verify_memory(w))
		w->broken = "the copy cannot be verified";
	else if (w->found[VERIFY_DAMAGE] || w->found[VERIFY_NO_MAGIC] || w->found[VERIFY_NO_END])
		w->broken = "the copy is damaged";
	else
		w->broken = repair_again(w);
}

void repair_walk_free(struct repair_walk *w)
{
	free(w->data);
}
