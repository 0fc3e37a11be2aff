/* SPDX-License-Identifier: BSD-2-Clause */
/* A writer and a reader of what it wrote; see fxt_pair.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fxt_pair.h"

int fxt_pair_setup(void **state)
{
	struct fxt_pair *f = calloc(1, sizeof(*f));

	*state = f;
	f->seed = 88172645463325252ULL;
	return fxt_writer_open(&f->w, fxt_mem_write, &f->mem);
}

int fxt_pair_teardown(void **state)
{
	struct fxt_pair *f = *state;

	fxt_reader_close(f->r);
	fxt_writer_close(f->w);
	fxt_mem_free(&f->mem);
	free(f);
	return 0;
}

void fxt_pair_read(struct fxt_pair *f)
{
	fxt_writer_flush(f->w);
	fxt_reader_close(f->r);
	f->source = (struct fxt_mem_source){ .data = f->mem.data, .len = f->mem.len };
	assert_int_equal(fxt_reader_open(&f->r, fxt_mem_read, &f->source), 0);
}

struct fxt_record *fxt_pair_expect(struct fxt_pair *f, enum fxt_kind kind)
{
	do {
		assert_int_equal(fxt_reader_next(f->r, &f->rec), 1);
	} while ((f->rec.kind == FXT_KIND_STRING || f->rec.kind == FXT_KIND_THREAD) &&
		 f->rec.kind != kind);
	assert_string_equal(fxt_kind_name(f->rec.kind), fxt_kind_name(kind));
	assert_int_equal(f->rec.unresolved, 0);
	return &f->rec;
}

void fxt_pair_end(struct fxt_pair *f)
{
	assert_int_equal(fxt_reader_next(f->r, &f->rec), 0);
	assert_int_equal(fxt_reader_next(f->r, &f->rec), 0);
}

void fxt_same_text(struct fxt_str got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.data, want, got.len);
}

void fxt_same_thread(struct fxt_thread got, struct fxt_thread want)
{
	assert_true(got.process == want.process && got.thread == want.thread);
	assert_int_equal(got.inlined, want.inlined);
}
