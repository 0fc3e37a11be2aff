// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for the packets of a recorder's socket: any bytes as a request, with a descriptor or without, and as a
 * part of an answer. What is accepted is what the header says, and can be used without another look.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

/* All that may be in a name, one character after the other. */
static void check_name(const char *name)
{
	const size_t len = strnlen(name, CONTROL_NAME_BYTES);
	size_t at, n;

	check(len < CONTROL_NAME_BYTES);
	for (at = 0; at < len; at += n) {
		n = log_utf8_len(name + at, len - at);
		check(n && (unsigned char)name[at] >= ' ' && name[at] != 0x7f);
	}
	for (; at < CONTROL_NAME_BYTES; at++)
		check(!name[at]);
}

static void try_request(const uint8_t *data, size_t size, bool has_fd)
{
	struct control_ask *ask = malloc(size);
	const char *why = NULL;
	int err;

	check(ask != NULL);
	memcpy(ask, data, size);
	err = control_ask_check(ask, size, has_fd, &why);
	check(err == 0 || err == -EBADMSG || err == -EPROTO);
	check(!err == !why);
	if (err == -EPROTO)
		check(ask->magic == CONTROL_MAGIC && ask->version != CONTROL_VERSION);
	if (!err) {
		check(size == sizeof(*ask) && ask->version == CONTROL_VERSION && ask->json <= 1);
		check(ask->kind == CONTROL_SNAPSHOT ? !ask->json : ask->kind == CONTROL_STATUS && !has_fd && !ask->last_ns);
		check_name(ask->name);
	}
	free(ask);
}

static void try_part(const uint8_t *data, size_t size)
{
	struct control_part *part = malloc(size);
	int err;

	check(part != NULL);
	memcpy(part, data, size);
	err = control_part_check(part, size);
	check(err == 0 || err == -EBADMSG || err == -EPROTO);
	if (!err)
		check(size >= CONTROL_PART_HEAD && size - CONTROL_PART_HEAD <= CONTROL_PART_BYTES &&
		      part->err <= 0 && part->err >= -4095 && (!part->err || part->kind == CONTROL_END));
	free(part);
}

/* The first byte says what the others are. Allocated sizes are those of the packets: a look beyond is found. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] % 3 == 2)
		try_part(data + 1, size - 1);
	else
		try_request(data + 1, size - 1, data[0] % 3 == 1);
	return 0;
}
