/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rows of the table name. Private to user/format.
 */
#ifndef FORMAT_FORMATS_P_H
#define FORMAT_FORMATS_P_H

#include "format.h"

struct ftrace_import;

extern const struct reader_ops ftrace_reader;	/* ftrace_text.c */
extern const struct reader_ops chrome_json_reader;	/* chrome_json.c */
extern const struct reader_ops perfetto_reader;	/* perfetto_input.c */
extern const struct reader_ops fxt_format_reader;	/* fxt_input.c */
extern const struct writer_ops fxt_format_writer;	/* fxt_output.c */
extern const struct writer_ops chrome_format_writer;	/* chrome_output.c */
extern const struct writer_ops perfetto_format_writer;	/* perfetto_output.c */
extern const struct writer_ops folded_format_writer;	/* folded.c */
extern const struct writer_ops pprof_format_writer;	/* pprof.c */
extern const struct writer_ops speedscope_format_writer;	/* speedscope.c */

/*
 * chrome_json.c: an input of several parts, where text may say what time it is on the clock of the events. A reader
 * that is held is at its end with its part, and keeps the events; after the release it reads on, and hands them out
 * on the clock that @import has found.
 */
void chrome_json_hold(void *reader);
void chrome_json_release(void *reader, const struct ftrace_import *import);
/* Closes @before, the reader of another part, or NULL: the statistics of @reader have its counts from then on. */
void chrome_json_follow(void *reader, void *before);

#endif
