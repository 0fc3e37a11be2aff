/* SPDX-License-Identifier: GPL-2.0 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse_samples.h"

static const char *corpus_dir(void)
{
	const char *dir = getenv("CORPUS");

	return dir ? dir : "tests/corpus/ftrace";
}

struct sample read_sample(const char *name)
{
	struct sample s = { 0 };
	char path[512];
	long len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", corpus_dir(), name);
	f = fopen(path, "re");
	if (!f)
		return s;
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	len = ftell(f);
	assert_true(len >= 0);
	rewind(f);
	s.data = malloc(len + 1);
	assert_non_null(s.data);
	s.len = fread(s.data, 1, len, f);
	assert_int_equal(s.len, len);
	fclose(f);
	return s;
}

void each_sample(void (*check)(const char *name, struct sample s))
{
	DIR *dir = opendir(corpus_dir());
	unsigned int cnt = 0;
	struct dirent *d;

	if (!dir)
		skip();
	while ((d = readdir(dir))) {
		size_t len = strlen(d->d_name);
		struct sample s;

		if (len < 4 || strcmp(d->d_name + len - 4, ".txt"))
			continue;
		s = read_sample(d->d_name);
		assert_non_null(s.data);
		check(d->d_name, s);
		free(s.data);
		cnt++;
	}
	closedir(dir);
	assert_true(cnt > 0);
}

void same_walk(const char *name, struct parse_walk a, struct parse_walk b, const char *what)
{
	if (a.broken || b.broken)
		fail_msg("%s: %s", name, a.broken ? a.broken : b.broken);
	if (a.digest != b.digest)
		fail_msg("%s: %s", name, what);
}

struct parse_walk walk_whole(struct sample s)
{
	return parse_walk(s.data, s.len, (struct parse_walk_options){ 0 });
}

struct parse_walk walk_pieces(struct sample s, size_t chunk)
{
	return parse_walk(s.data, s.len, (struct parse_walk_options){ .chunk = chunk });
}

struct parse_walk walk_general(struct sample s)
{
	return parse_walk(s.data, s.len, (struct parse_walk_options){ .general = true });
}
