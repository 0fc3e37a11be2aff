// SPDX-License-Identifier: GPL-2.0
#include "message.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

_Static_assert(sizeof(struct control_ask) == 24 + CONTROL_NAME_BYTES, "no bytes between fields");
_Static_assert(CONTROL_PART_HEAD == 12, "no bytes between fields");

#define CONTROL_COMMON	8U	/* magic, version, kind */

const char *control_name_check(const char *name)
{
	size_t len;

	if (strlen(name) >= CONTROL_NAME_BYTES)
		return "longer than 63 bytes";
	for (; *name; name += len) {
		len = log_utf8_len(name, strlen(name));
		if (!len)
			return "not UTF-8";
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return "has a control character";
	}
	return NULL;
}

static bool is_zero(const char *data, size_t len)
{
	while (len && !*data) {
		data++;
		len--;
	}
	return !len;
}

/* Terminated, and nothing is after that. */
static bool has_name(const struct control_ask *ask)
{
	const size_t len = strnlen(ask->name, sizeof(ask->name));

	return len < sizeof(ask->name) && is_zero(ask->name + len, sizeof(ask->name) - len) &&
	       !control_name_check(ask->name);
}

static const char *find_fault(const struct control_ask *ask, bool has_fd)
{
	const bool snapshot = ask->kind == CONTROL_SNAPSHOT;

	if (!snapshot && ask->kind != CONTROL_STATUS)
		return "an unknown kind of request";
	if (ask->reserved || ask->json > 1 || (snapshot && ask->json))
		return "a request with unknown flags";
	if (!snapshot && (has_fd || ask->last_ns || *ask->name))
		return "a request for the status with what belongs to a snapshot";
	return has_name(ask) ? NULL : "a request whose name is none";
}

int control_ask_check(const struct control_ask *ask, size_t len, bool has_fd, const char **why)
{
	*why = "no request";
	if (len < CONTROL_COMMON || ask->magic != CONTROL_MAGIC)
		return -EBADMSG;
	*why = "a request of another version of kfxt";
	if (ask->version != CONTROL_VERSION)
		return -EPROTO;
	*why = "a request of another length";
	if (len != sizeof(*ask))
		return -EBADMSG;
	*why = find_fault(ask, has_fd);
	return *why ? -EBADMSG : 0;
}

int control_part_check(const struct control_part *part, size_t len)
{
	if (len < CONTROL_COMMON || part->magic != CONTROL_MAGIC)
		return -EBADMSG;
	if (part->version != CONTROL_VERSION)
		return -EPROTO;
	if (len < CONTROL_PART_HEAD || len > sizeof(*part) || part->kind < CONTROL_BEGUN || part->kind > CONTROL_NOTE)
		return -EBADMSG;
	/* Codes of errors are small: what is made of one is negative and has a text. */
	return part->err > 0 || part->err < -4095 || (part->err && part->kind != CONTROL_END) ? -EBADMSG : 0;
}
