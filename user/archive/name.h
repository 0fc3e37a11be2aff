/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the files of a recording that does not end: a pattern such as
 * "/var/lib/kfxt/%H-%Y%m%dT%H%M%SZ-%t.fxt.zst", names made from it, and which names are of it.
 *
 *	%Y %m %d %M %S	year, month, day, minute, second: UTC, of 4 or 2 digits
 *	%H		the hour if it follows %d or %dT or is before %M (one character may be between), else the host
 *	%h		the host in any case
 *	%t		what the file is for: a trigger, or a word such as "rotate"; once only
 *	%%		%
 *
 * A second file of one name gets a number: "NAME-1.fxt.zst". A pattern without any of these gets a time:
 * "trace.fxt" is "trace-%Y%m%dT%H%M%SZ.fxt".
 */
#ifndef ARCHIVE_NAME_H
#define ARCHIVE_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define NAME_PART_MAX	64		/* bytes of the host and of %t */
#define NAME_TEMP	".tmp"		/* what is not complete has this at the end of its name */

struct name_pattern;

struct name_facts {
	time_t when;			/* CLOCK_REALTIME, seconds */
	const char *purpose;		/* for %t: any text, see name_clean(); NULL: "trace" */
};

/*
 * @text is a path; only the name of the file may have conversions. 0, -ENOMEM or -EINVAL; then @why says
 * what is wrong, after which the pattern is named: "%q: not known (...)".
 */
int name_pattern_open(struct name_pattern **out, const char *text, char *why, size_t size);
/* The directory as in the text, "." if there is none. */
const char *name_pattern_dir(const struct name_pattern *p);
/* Whether names have year, month and day: any others may be those of files that were not made from it. */
bool name_pattern_has_date(const struct name_pattern *p);
/* The name without directory, without number. 0; -EINVAL: there is no such date, or it would end with NAME_TEMP. */
int name_make(const struct name_pattern *p, const struct name_facts *facts, char name[NAME_MAX + 1]);
/* @base, made without a number, with @number. 0 or -ENAMETOOLONG. */
int name_add_number(const struct name_pattern *p, const char *base, unsigned int number, char name[NAME_MAX + 1]);
/* @name, which matches, without its number if it has one. */
void name_strip_number(const struct name_pattern *p, const char *name, char base[NAME_MAX + 1]);
/* Could @name have been made, with any facts and any number or none? */
bool name_matches(const struct name_pattern *p, const char *name);
/*
 * Letters, digits and "_.+=" of @text; anything between two of them is one "-". At most NAME_PART_MAX bytes,
 * not empty, and it begins with none of "-.", nor ends with NAME_TEMP. Returns @part.
 */
const char *name_clean(const char *text, char part[NAME_PART_MAX + 1]);
void name_pattern_close(struct name_pattern *p);

#endif
