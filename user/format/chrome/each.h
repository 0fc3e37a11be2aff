/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Members of an object and elements of an array, one after the other. Tolerant as args.h is:
 * commas do not count, and what is no JSON ends the list.
 */
#ifndef FORMAT_CHROME_EACH_H
#define FORMAT_CHROME_EACH_H

#include "event.h"

/* One value; its texts are in the list it is from. */
struct chrome_value {
	enum chrome_type type;
	bool escaped;			/* a string with backslashes in it */
	const char *data, *name;	/* without quotes; name: of a member, as it is written */
	size_t len, name_len;
};

struct chrome_each {
	const char *p, *end;
	bool is_object;
};

/*
 * Of the list at @data, @len bytes with its brackets; what does not begin with one has nothing in
 * it. After the text that the list is in there must be a quote, and CHROME_PAD_BYTES from there.
 */
void chrome_each_begin(struct chrome_each *each, const char *data, size_t len);
/* False: there are no more. */
bool chrome_each_next(struct chrome_each *each, struct chrome_value *value);
/* Its elements with @between them into @out, in full: the length. *@cut is set if there is no space for all. */
size_t chrome_list_join(const struct chrome_value *list, char between, char *out, size_t size, bool *cut);
/* Whether a member has that name, at most 32 bytes. */
bool chrome_is_named(const struct chrome_value *member, const char *name);
/* The last member of that name, at most 32 bytes, of an object; false: there is none, then of type CHROME_NONE. */
bool chrome_member_find(const struct chrome_value *object, const char *name, struct chrome_value *value);
/* A member of an event, as one of those. */
struct chrome_value chrome_value_of(const struct chrome_event *e, const struct chrome_field *f);

#endif
