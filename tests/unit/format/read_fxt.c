// SPDX-License-Identifier: GPL-2.0
#include "read_fxt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

int read_fxt(struct reader_cfg *cfg, struct reader_counts *counts)
{
	const struct reader_ops *ops = formats_reader("fxt", &cfg->form);
	void *reader;
	int more;

	assert_int_equal(ops->open(&reader, cfg), 0);
	while ((more = ops->read(reader)) > 0)
		;
	if (counts)
		ops->counts(reader, counts);
	ops->close(reader);
	return more;
}
