// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes that a stage puts, gathered.
 */
#include "stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int put_part(void *ctx, const void *data, size_t len)
{
	struct stage *st = ctx;

	if (array_reserve(st->bytes, st->len, st->cap, len))
		return -ENOMEM;
	memcpy(st->bytes + st->len, data, len);
	st->len += len;
	return 0;
}

int stage_open(struct stage *st, const struct stage_ops *ops)
{
	int err;

	*st = (struct stage){ .ops = ops };
	err = ops->open(&st->s, put_part, st);
	if (err)
		st->ops = NULL;
	return err;
}

int stage_take(struct stage *st, const void *records, size_t len)
{
	st->len = 0;
	return st->ops->record(st->s, records, len);
}

int stage_end(struct stage *st)
{
	st->len = 0;
	return st->ops->end(st->s);
}

void stage_close(struct stage *st)
{
	if (st->ops)
		st->ops->close(st->s);
	free(st->bytes);
	*st = (struct stage){ 0 };
}
