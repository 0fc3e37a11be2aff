/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The formats there are, one row each. Only commands include this.
 */
#ifndef FORMAT_FORMATS_H
#define FORMAT_FORMATS_H

#include "format.h"

#define FORMATS_SNIFF_BYTES	256	/* are enough to recognise any format */
#define FORMATS_HEAD_BYTES	(16U << 10)	/* as many are looked at of input that begins with blanks */

/* Of --input-format @word, but "auto"; *@form is set for reader_cfg. NULL: there is none. */
const struct reader_ops *formats_reader(const char *word, const char **form);
/* Whether that much of an input is enough, or as much as is looked at. */
bool formats_is_enough(const char *head, size_t len);
/*
 * Of input that begins with @head: the first that is certain, else the first with a suffix of
 * @path, which may be NULL, else the first that may be. NULL: none may.
 */
const struct reader_ops *formats_recognize(const char *path, const void *head, size_t len);
/* Of --output-format @word; NULL: there is none. */
const struct writer_ops *formats_writer_named(const char *word);
/* Of the file @path, by its suffix; FXT where that says nothing. */
const struct writer_ops *formats_writer(const char *path);

#endif
