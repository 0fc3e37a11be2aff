// SPDX-License-Identifier: GPL-2.0
/*
 * Matching names: fnmatch(3), with a short cut for what nearly all globs are made of.
 */
#include <fnmatch.h>
#include <string.h>

#include "glob.h"

bool glob_has_wildcard(const char *glob)
{
	for (; *glob; glob++) {
		if (*glob == '\\' && glob[1])
			glob++;
		else if (strchr("*?[", *glob))
			return true;
	}
	return false;
}

size_t glob_least_bytes(const char *glob)
{
	size_t least = 0;

	for (; *glob; glob++) {
		least += *glob != '*';
		if (*glob == '\\' && glob[1])
			glob++;
		else if (*glob == '[' && strchr(glob, ']'))
			glob = strrchr(glob, ']');
	}
	return least;
}

/*
 * Globs without brackets and backslashes: after a '*' that did not fit, it takes one more.
 * What follows the last one can only be at the end.
 */
static bool match_stars(const char *glob, const char *name)
{
	const char *star = NULL, *retry = NULL;
	size_t rest, left;

	while (*name) {
		if (*glob == '*') {
			star = strchr(++glob, '*') ? glob : NULL;
			retry = name;
			rest = strlen(glob);
			left = strlen(name);
			if (!star && rest > left)
				return false;
			if (!star)
				name += left - rest;
		} else if (*glob == *name || *glob == '?') {
			glob++;
			name++;
		} else if (star) {
			glob = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

/* Most globs can be refused by the first letter. */
static bool begins_otherwise(const char *glob, const char *name)
{
	return *glob != *name && *glob != '*' && *glob != '?' && *glob != '[' && *glob != '\\';
}

bool glob_match(const char *glob, const char *name)
{
	if (begins_otherwise(glob, name))
		return false;
	if (strpbrk(glob, "[\\"))
		return !fnmatch(glob, name, 0);
	return match_stars(glob, name);
}
