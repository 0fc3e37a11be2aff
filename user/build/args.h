/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: arguments as text, and as FXT arguments with the
 * type their text shows. What is made points into the event's text.
 */
#ifndef BUILD_ARGS_H
#define BUILD_ARGS_H

#include "../ftrace/event.h"
#include "../fxt/fxt.h"

#define ARGS_TYPED	12U		/* leaves room for a text before them and two stacks */
#define TEXT_BYTES_MAX	24000U		/* with names and stacks it fits in a record */

uint32_t text_hash(const char *data, size_t len);
bool text_is(struct ftrace_text text, const char *s);
/* The whole text is a number, in decimal or behind 0x; also "0x78 (120)" and "12 [ns]". */
bool text_int(struct ftrace_text text, int64_t *v);
/* The first value of that key, to the next one. */
bool text_find(struct ftrace_text text, const char *key, struct ftrace_text *value);
/* The same, a number that is not at the end of a line which may have been cut there. */
bool text_find_int(const struct ftrace_event *ev, const char *key, int64_t *v);
/*
 * A name between two keys: it may hold blanks and even keys, so it is the last
 * places that count. @key and @next with the blank before them, as they stand.
 */
bool text_between(struct ftrace_text text, const char *key, const char *next,
		  struct ftrace_text *value);
/* A number behind the last place of @key, which is as it stands. */
bool text_last_int(const struct ftrace_event *ev, const char *key, int64_t *v);

struct fxt_arg arg_typed(struct ftrace_text key, struct ftrace_text value);
/* What a call returned: a long, which the kernel prints in hexadecimal. */
struct fxt_arg arg_return(struct ftrace_text value);
/*
 * The arguments of an event, at most ARGS_TYPED + 1 of them. A text that may be
 * cut in a number, or that is too long, is left as it is.
 */
unsigned int args_of(const struct ftrace_event *ev, struct fxt_arg *args);
/* "dfd: 0xffffff9c, filename: 0x35bb288 "/bin/tgen", flags: O_WRONLY|O_CREAT" */
unsigned int args_of_syscall(const struct ftrace_event *ev, struct ftrace_text text,
			     struct fxt_arg *args);

#endif
