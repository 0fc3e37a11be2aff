// SPDX-License-Identifier: GPL-2.0
/*
 * The loader's cache of libraries, /etc/ld.so.cache, in glibc's format "1.1"
 * (sysdeps/generic/dl-cache.h there).
 */
#include <errno.h>
#include <string.h>

#include "elf_p.h"

#define NEW_MAGIC	"glibc-ld.so.cache1.1"
#define OLD_MAGIC	"ld.so-1.7.0"

struct new_header {
	char magic[20];
	uint32_t entry_cnt, string_bytes;
	uint8_t flags, padding[3];
	uint32_t extension_offset, unused[3];
};

struct new_entry {
	int32_t flags;
	uint32_t key, value;		/* offsets of strings from the header */
	uint32_t os_version;
	uint64_t hwcap;
};

/* Before 2.32 the new header usually came after a whole cache in the old format. */
struct old_header {
	char magic[12];
	uint32_t entry_cnt;
};

#define OLD_ENTRY_BYTES	12

static size_t old_bytes(const char *data, size_t bytes)
{
	struct old_header h;
	uint64_t end;

	if (bytes < sizeof(h) || memcmp(data, OLD_MAGIC, strlen(OLD_MAGIC)))
		return 0;
	memcpy(&h, data, sizeof(h));
	end = sizeof(h) + (uint64_t)h.entry_cnt * OLD_ENTRY_BYTES;
	end = (end + 7) & ~UINT64_C(7);
	return end < bytes ? end : bytes;
}

int elf_cache_init(struct elf_cache *c, const void *data, size_t bytes)
{
	const size_t old = old_bytes(data, bytes);
	struct new_header h;

	c->data = (const char *)data + old;
	c->bytes = bytes - old;
	if (c->bytes < sizeof(h))
		return -EINVAL;
	memcpy(&h, c->data, sizeof(h));
	if (memcmp(h.magic, NEW_MAGIC, sizeof(h.magic)) ||
	    h.entry_cnt > (c->bytes - sizeof(h)) / sizeof(struct new_entry))
		return -EINVAL;
	c->entry_cnt = h.entry_cnt;
	return 0;
}

static const char *string_at(const struct elf_cache *c, uint32_t at)
{
	return at < c->bytes && memchr(c->data + at, 0, c->bytes - at) ? c->data + at : NULL;
}

bool elf_cache_entry(const struct elf_cache *c, uint32_t i, const char **name, const char **path)
{
	struct new_entry e;

	memcpy(&e, c->data + sizeof(struct new_header) + (size_t)i * sizeof(e), sizeof(e));
	*name = string_at(c, e.key);
	*path = string_at(c, e.value);
	return *name && *path && !e.hwcap;
}
