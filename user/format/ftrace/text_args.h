/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the import of ftrace text: arguments as text, and as FXT arguments with the
 * type their text shows. What is made points into the event's text.
 */
#ifndef FORMAT_FTRACE_TEXT_ARGS_H
#define FORMAT_FTRACE_TEXT_ARGS_H

#include "event.h"
#include "fxt/fxt.h"

#define ARGS_TYPED	12U		/* leaves space for a text before them and two stacks */

/* The whole text is a number, in decimal or after 0x; also "0x78 (120)" and "12 [ns]". */
bool text_int(struct model_text text, int64_t *v);
/* The first value of that key, to the next one. */
bool text_find(struct model_text text, const char *key, struct model_text *value);
/* The same, a number that is not at the end of a line which may have been cut there. */
bool text_find_int(const struct ftrace_event *ev, const char *key, int64_t *v);
/*
 * A name between two keys: it may hold blanks and even keys, so it is the last
 * places that count. @key and @next with the blank before them, as they are written.
 */
bool text_between(struct model_text text, const char *key, const char *next,
		  struct model_text *value);
/* A number after the last place of @key, which is as it is written. */
bool text_last_int(const struct ftrace_event *ev, const char *key, int64_t *v);

struct fxt_arg arg_typed(struct model_text key, struct model_text value);
/* What a call returned: a long, which the kernel prints in hexadecimal. */
struct fxt_arg arg_return(struct model_text value);
/*
 * The arguments of an event, at most ARGS_TYPED + 1 of them. A text that may be
 * cut in a number, or that is too long, is left as it is.
 */
unsigned int args_of(const struct ftrace_event *ev, struct fxt_arg *args);
/* "dfd: 0xffffff9c, filename: 0x35bb288 "/bin/tgen", flags: O_WRONLY|O_CREAT" */
unsigned int args_of_syscall(const struct ftrace_event *ev, struct model_text text,
			     struct fxt_arg *args);

#endif
