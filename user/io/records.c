// SPDX-License-Identifier: GPL-2.0
/*
 * "Record header", "Large record header": where one record ends and the next begins.
 */
#include "records.h"

#include <stdint.h>
#include <string.h>

#include "fxt/format.h"

size_t records_whole_bytes(const void *data, size_t len)
{
	const char *p = data;
	size_t off = 0, size;
	uint64_t header;

	while (off + sizeof(header) <= len) {
		memcpy(&header, p + off, sizeof(header));
		size = FXT_RECORD_WORDS(header);
		if (!size || off + size * 8 > len)
			break;
		off += size * 8;
	}
	return off;
}
