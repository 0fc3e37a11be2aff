// SPDX-License-Identifier: GPL-2.0
/*
 * The table of formats, and which row is meant.
 */
#include "formats.h"

#include <stddef.h>
#include <string.h>

#include "formats_p.h"

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))

/* The first that is written is the default. */
static const struct format {
	const struct reader_ops *reader;	/* NULL: it is not read */
	const struct writer_ops *writer;	/* NULL: it is not written */
} formats[] = {
	{ .reader = &ftrace_reader },
	{ .reader = &fxt_format_reader, .writer = &fxt_format_writer },
	{ .writer = &folded_format_writer },
	{ .writer = &pprof_format_writer },
	{ .writer = &speedscope_format_writer },	/* before .json */
	{ .reader = &chrome_json_reader, .writer = &chrome_format_writer },
	{ .reader = &perfetto_reader, .writer = &perfetto_format_writer },
};

static const char *form_of(const struct reader_ops *reader, const char *word)
{
	const char *const *form = reader->forms;

	while (*form && strcmp(*form, word) != 0)
		form++;
	return *form;
}

const struct reader_ops *formats_reader(const char *word, const char **form)
{
	size_t i;

	*form = NULL;
	for (i = 0; i < ENTRIES(formats) && !*form; i++)
		if (formats[i].reader)
			*form = form_of(formats[i].reader, word);
	return *form ? formats[i - 1].reader : NULL;
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path), end = strlen(suffix);

	return len > end && !strcmp(path + len - end, suffix);
}

static bool has_any_suffix(const char *path, const char *const *suffixes)
{
	while (*suffixes && !has_suffix(path, *suffixes))
		suffixes++;
	return *suffixes;
}

bool formats_is_enough(const char *head, size_t len)
{
	size_t blanks = 0;

	while (blanks < len && head[blanks] && strchr(" \t\r\n", head[blanks]))
		blanks++;
	return len - blanks >= FORMATS_SNIFF_BYTES || len >= FORMATS_HEAD_BYTES;
}

static unsigned int score(const struct reader_ops *reader, const char *path, const void *head, size_t len)
{
	switch (reader->sniff(head, len)) {
	case FORMAT_YES:
		return 3;
	case FORMAT_MAYBE:
		return path && has_any_suffix(path, reader->suffixes) ? 2 : 1;
	default:
		return 0;
	}
}

const struct reader_ops *formats_recognize(const char *path, const void *head, size_t len)
{
	const struct reader_ops *best = NULL;
	unsigned int best_score = 0, s;
	size_t i;

	for (i = 0; i < ENTRIES(formats); i++) {
		s = formats[i].reader ? score(formats[i].reader, path, head, len) : 0;
		if (s > best_score) {
			best = formats[i].reader;
			best_score = s;
		}
	}
	return best;
}

const struct writer_ops *formats_writer_named(const char *word)
{
	size_t i;

	for (i = 0; i < ENTRIES(formats); i++)
		if (formats[i].writer && !strcmp(formats[i].writer->name, word))
			return formats[i].writer;
	return NULL;
}

const struct writer_ops *formats_writer(const char *path)
{
	const struct writer_ops *first = NULL;
	size_t i;

	for (i = 0; i < ENTRIES(formats); i++) {
		if (!formats[i].writer)
			continue;
		if (has_any_suffix(path, formats[i].writer->suffixes))
			return formats[i].writer;
		if (!first)
			first = formats[i].writer;
	}
	return first;
}
