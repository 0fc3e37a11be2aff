// SPDX-License-Identifier: GPL-2.0
/* See pieces.h. */
#include "pieces.h"

#include <errno.h>
#include <string.h>

long pieces_read(void *ctx, void *buf, size_t len)
{
	struct pieces *p = ctx;

	if (!p->len)
		return p->ended ? 0 : -EAGAIN;
	len = len < p->len ? len : p->len;
	memcpy(buf, p->data, len);
	p->data += len;
	p->len -= len;
	return (long)len;
}
