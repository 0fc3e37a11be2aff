/* SPDX-License-Identifier: BSD-2-Clause */
/* Sinks and sources in memory; see fxt_mem.h. */
#include "fxt_mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int fxt_mem_write(void *ctx, const void *data, size_t len)
{
	struct fxt_mem *m = ctx;
	unsigned char *grown;

	if (m->fail)
		return m->fail;
	if (m->len + len > m->cap) {
		grown = realloc(m->data, 2 * (m->len + len));
		if (!grown)
			return -ENOMEM;
		m->data = grown;
		m->cap = 2 * (m->len + len);
	}
	memcpy(m->data + m->len, data, len);
	m->len += len;
	return 0;
}

void fxt_mem_free(struct fxt_mem *m)
{
	free(m->data);
	memset(m, 0, sizeof(*m));
}

long fxt_mem_read(void *ctx, void *buf, size_t len)
{
	struct fxt_mem_source *s = ctx;

	if (s->err && s->calls++ % 2 == 0)
		return s->err;
	if (len > s->len - s->pos)
		len = s->len - s->pos;
	if (s->chunk && len > s->chunk)
		len = s->chunk;
	if (len)
		memcpy(buf, s->data + s->pos, len);
	s->pos += len;
	return len;
}
