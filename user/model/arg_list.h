/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nested values as the flat arguments of an event: a member of an object is "a.b", an element of
 * a list "a[0]", which viewers fold back.
 */
#ifndef MODEL_ARG_LIST_H
#define MODEL_ARG_LIST_H

#include "fxt/fxt.h"

#define ARG_LIST_MAX	256U	/* values that are kept */
#define ARG_PATH_MAX	512U	/* bytes of a name */

struct arg_list;

/* 0 or -ENOMEM */
int arg_list_open(struct arg_list **out);
/* Empties the list and its path: for the next event. */
void arg_list_clear(struct arg_list *l);
/*
 * What is put next is in a member, or an element, of what is open; arg_list_leave() ends that.
 * Any depth, and any order of calls: arg_list_leave() without a begin does nothing. @key is copied.
 */
void arg_list_member(struct arg_list *l, const char *key, size_t len);
void arg_list_element(struct arg_list *l, unsigned int index);
void arg_list_leave(struct arg_list *l);
/* A value there, whose own name does not count. What it points to is borrowed until arg_list_clear(). */
void arg_list_put(struct arg_list *l, struct fxt_arg value);
/*
 * The same, filled in by the caller before any other call: its name is set, and all else is not. NULL: it is
 * left out.
 */
struct fxt_arg *arg_list_add(struct arg_list *l);
/* The same in the member @key, or in an element, of what is open, which ends with it. @key is copied. */
struct fxt_arg *arg_list_add_in_member(struct arg_list *l, const char *key, size_t len);
struct fxt_arg *arg_list_add_element(struct arg_list *l, unsigned int index);
/* The same for a member @key where nothing is open, as if it was alone in it. @key is borrowed. */
struct fxt_arg *arg_list_add_member(struct arg_list *l, const char *key, size_t len);
/* Forgets what is in the member @key of what is open: how many values. */
unsigned int arg_list_forget(struct arg_list *l, const char *key, size_t len);
/*
 * All values, those of depth 1 first, else in order; NULL with *@cnt 0 if there are none. They live
 * until the next call. What is beyond ARG_LIST_MAX, or has a longer name than ARG_PATH_MAX, is
 * left out.
 */
const struct fxt_arg *arg_list_get(struct arg_list *l, unsigned int *cnt);
/* How many were left out, of all events. */
uint64_t arg_list_dropped(const struct arg_list *l);
/* NULL is fine. */
void arg_list_close(struct arg_list *l);

#endif
