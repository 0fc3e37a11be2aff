/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rows of the table name. Private to user/format.
 */
#ifndef FORMAT_FORMATS_P_H
#define FORMAT_FORMATS_P_H

#include "format.h"

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
 * Opens the reader of another part of an input that has several; @*reader is that of the part before, whose
 * counts are in its statistics and which is closed, or NULL. 0 or -errno.
 */
int chrome_json_follow(void **reader, const struct reader_cfg *cfg);	/* chrome_json.c */

#endif
