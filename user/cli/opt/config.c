// SPDX-License-Identifier: GPL-2.0
/*
 * Files of options: the long name of an option on each line, and its value up to the end of the line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/suggest.h"
#include "opt_p.h"

#define FILE_BYTES_MAX	(1U << 20)
#define LINE_BYTES_MAX	4096U		/* without the newline */

/* A file that is being read. */
struct config {
	const char *path;
	const struct opt_table *table;
	void *cfg;
	unsigned int line;			/* the first is 1 */
	unsigned int lines[OPT_ROWS_MAX];	/* by row: where it was last given; 0: not yet */
};

static int complain(const struct config *c, const char *word, const char *why)
{
	log_error("%s:%u: %s: %s", c->path, c->line, word, why);
	return -EINVAL;
}

/* As on the command line, "-o" and "keep=30s" are of the options "output" and "keep". */
static int complain_unknown(const struct config *c, const char *word)
{
	const char *begin = word + strspn(word, "-");
	const struct opt *row = begin[0] && !begin[1] ? opt_row_by_letter(c->table, begin[0]) : NULL;
	char name[SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(begin, "=:"), begin);
	opt_suggest(c->table, row ? row->name : name, "", text);
	log_error("%s:%u: %s: not known%s", c->path, c->line, word,
		  *text ? text : " (kfxt-record(1) has the options)");
	return -EINVAL;
}

static bool may_repeat(const struct opt *row)
{
	return row->kind == OPT_LIST;
}

/* Each option once, but for lists. */
static int check_repeated(struct config *c, const struct opt *row, const char *word)
{
	unsigned int i = 0;

	while (c->table->rows[i] != row)
		i++;
	if (c->lines[i] && !may_repeat(row)) {
		log_error("%s:%u: %s: given twice (first in line %u)", c->path, c->line, word, c->lines[i]);
		return -EINVAL;
	}
	c->lines[i] = c->line;
	return 0;
}

/* @value is "" if there is none. */
static int take_option(struct config *c, const char *word, const char *value)
{
	const struct opt *row = opt_row_by_name(c->table, word);
	const char *why = "";
	int err;

	if (!row)
		return complain_unknown(c, word);
	row = opt_resolve_alias(c->table, row);
	if (row->kind == OPT_CONFIG || row->kind == OPT_HELP)
		return complain(c, word, "not allowed in a file");
	if (*value && !row->metavar)
		return complain(c, word, "takes no value");
	if (!*value && row->metavar && row->kind != OPT_OPTIONAL)
		return complain(c, word, "a value is missing");
	err = check_repeated(c, row, word);
	if (err)
		return err;
	if (opt_set_field(row, c->cfg, *value ? value : NULL, &why)) {
		log_error("%s:%u: %s: %s: '%s'", c->path, c->line, word, why, value);
		return -EINVAL;
	}
	why = row->check && *value ? row->check(value) : NULL;
	if (why)
		log_error("%s:%u: %s: %s", c->path, c->line, word, why);
	return why ? -EINVAL : 0;
}

/* One line, NUL-terminated, which is cut at the end of the word and of the value. */
static int take_line(struct config *c, char *line)
{
	char *word = line, *value, *end = line + strlen(line);

	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	while (isspace((unsigned char)*word))
		word++;
	if (!*word || *word == '#')
		return 0;
	for (value = word; *value && !isspace((unsigned char)*value);)
		value++;
	for (; isspace((unsigned char)*value); value++)
		*value = 0;
	return take_option(c, word, value);
}

/* @text, @len bytes long. Its newlines become NULs. */
static int take_text(struct config *c, char *text, size_t len)
{
	char *line, *newline, *end = text + len;
	int err = 0;

	for (line = text; !err && line < end; line = newline + 1) {
		c->line++;
		newline = memchr(line, '\n', (size_t)(end - line));
		if (memchr(line, 0, (size_t)((newline ?: end) - line)))
			return complain(c, "a NUL byte", "the file is not text");
		if ((size_t)((newline ?: end) - line) > LINE_BYTES_MAX)
			return complain(c, "the line is too long", "at most 4096 bytes");
		if (!newline)
			return complain(c, "no newline at the end", "the file may be cut");
		*newline = 0;
		err = take_line(c, line);
	}
	return err;
}

int opt_config_read(struct opt_config *config, const char *path, const struct opt_table *t, void *cfg)
{
	struct config c = { .path = path, .table = t, .cfg = cfg };
	size_t len;
	char *text;
	int err = text_file_read(path, FILE_BYTES_MAX, &text, &len);

	if (err) {
		log_error("%s: --config: %s: %s", t->command, path, err == -EFBIG ? "larger than 1 MiB" : strerror(-err));
		return -EINVAL;
	}
	err = take_text(&c, text, len);
	if (err)
		free(text);
	else
		config->text = text;
	return err;
}

void opt_config_close(struct opt_config *config)
{
	free(config->text);
	config->text = NULL;
}
