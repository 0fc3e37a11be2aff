// SPDX-License-Identifier: GPL-2.0
/*
 * What people have at hand instead of ftrace text: known by its first bytes, so that a
 * message can say what it is and which command makes text of it.
 */
#include "unwrap_p.h"

#include <string.h>

#define ENTRIES(table)		(sizeof(table) / sizeof((table)[0]))
#define PERFETTO_BYTES		64U	/* so many are looked at */

struct row {
	struct unwrap_foreign is;
	unsigned int at;
	const char *magic;
	size_t len;
};

#define ROW(name_, hint_, at_, magic_) \
	{ .is = { .name = (name_), .hint = (hint_) }, .at = (at_), .magic = (magic_), .len = sizeof(magic_) - 1 }

/* No text begins like any of them. Of those that begin alike the longest is first. */
static const struct row rows[] = {
	ROW("a perf.data file", "perf script -i FILE | kfxt convert -", 0, "PERFILE2"),
	ROW("a perf.data file", "perf script -i FILE | kfxt convert -", 0, "2ELIFREP"),
	ROW("a trace.dat file of trace-cmd", "trace-cmd report -i FILE | kfxt convert -",
	    0, "\x17\x08\x44tracing"),
	ROW("a Fuchsia trace already", "kfxt report FILE, kfxt dump FILE, or -o FILE.json for viewers of JSON",
	    0, "\x10\0\4FxT\x16\0"),
	ROW("compressed with xz", "xz -dc FILE | kfxt convert -", 0, "\xfd" "7zXZ\0"),
	ROW("compressed with lzma", "xz -dc FILE | kfxt convert -", 0, "]\0\0"),
	ROW("compressed with bzip2", "bzip2 -dc FILE | kfxt convert -", 4, "1AY&SY"),
	ROW("compressed with lz4", "lz4 -dc FILE | kfxt convert -", 0, "\x04\x22\x4d\x18"),
	ROW("compressed with lz4", "lz4 -dc FILE | kfxt convert -", 0, "\x02\x21\x4c\x18"),
	ROW("a zip archive", "unzip -p FILE NAME | kfxt convert -", 0, "PK\3\4"),
	ROW("a 7z archive", "7z x -so FILE NAME | kfxt convert -", 0, "7z\xbc\xaf\x27\x1c"),
	ROW("UTF-32 text", "iconv -f UTF-32 -t UTF-8 FILE | kfxt convert -", 0, "\xff\xfe\0\0"),
	ROW("UTF-32 text", "iconv -f UTF-32 -t UTF-8 FILE | kfxt convert -", 0, "\0\0\xfe\xff"),
	ROW("UTF-16 text", "iconv -f UTF-16 -t UTF-8 FILE | kfxt convert -", 0, "\xff\xfe"),
	ROW("UTF-16 text", "iconv -f UTF-16 -t UTF-8 FILE | kfxt convert -", 0, "\xfe\xff"),
	ROW("UTF-16 text", "iconv -f UTF-16LE -t UTF-8 FILE | kfxt convert -", 0, "#\0 \0"),
	ROW("UTF-16 text", "iconv -f UTF-16LE -t UTF-8 FILE | kfxt convert -", 0, " \0 \0"),
	ROW("UTF-16 text", "iconv -f UTF-16BE -t UTF-8 FILE | kfxt convert -", 0, "\0#\0 "),
	ROW("UTF-16 text", "iconv -f UTF-16BE -t UTF-8 FILE | kfxt convert -", 0, "\0 \0 "),
	ROW("UTF-16 text", "iconv -f UTF-16LE -t UTF-8 FILE | kfxt convert -", 0, "[\0"),
	ROW("UTF-16 text", "iconv -f UTF-16LE -t UTF-8 FILE | kfxt convert -", 0, "{\0"),
	ROW("UTF-16 text", "iconv -f UTF-16BE -t UTF-8 FILE | kfxt convert -", 0, "\0["),
	ROW("UTF-16 text", "iconv -f UTF-16BE -t UTF-8 FILE | kfxt convert -", 0, "\0{"),
	ROW("an SQLite database", "convert the trace it was made from", 0, "SQLite format 3\0"),
	ROW("a program or library", "kfxt record -- FILE traces it", 0, "\x7f" "ELF"),
};

static const struct unwrap_foreign perfetto = {
	.name = "a Perfetto trace", .is_guess = true,
	.hint = "open it in ui.perfetto.dev, or convert the text it was made from",
};

/*
 * A line end, which is the tag of a packet too, and soon a byte that text has not, as lengths
 * and tags are. A thread's name may have one: that is a guess.
 */
static enum unwrap_match match_perfetto(const unsigned char *data, size_t len)
{
	size_t i = 1;

	if (!len || data[0] != '\n')
		return UNWRAP_NO;
	while (i < len && i < PERFETTO_BYTES && (data[i] >= ' ' || unwrap_is_blank(data[i])))
		i++;
	return i == PERFETTO_BYTES ? UNWRAP_NO : i < len ? UNWRAP_YES : UNWRAP_SO_FAR;
}

static enum unwrap_match match_row(const struct row *r, const unsigned char *data, size_t len)
{
	size_t have = len < r->at ? 0 : len - r->at;

	if (have > r->len)
		have = r->len;
	if (have && memcmp(data + r->at, r->magic, have) != 0)
		return UNWRAP_NO;
	return have < r->len ? UNWRAP_SO_FAR : UNWRAP_YES;
}

bool unwrap_look_for_foreign(const unsigned char *data, size_t len, bool all, const struct unwrap_foreign **found)
{
	enum unwrap_match match;
	const struct row *r;

	for (r = rows; r < rows + ENTRIES(rows); r++) {
		match = match_row(r, data, len);
		if (match == UNWRAP_SO_FAR && !all)
			return false;
		if (match == UNWRAP_YES) {
			*found = &r->is;
			return true;
		}
	}
	match = match_perfetto(data, len);
	if (match == UNWRAP_YES)
		*found = &perfetto;
	return all || match != UNWRAP_SO_FAR;
}
