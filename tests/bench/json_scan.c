// SPDX-License-Identifier: GPL-2.0
/*
 * The least that can be done with JSON: finds the strings and brackets of a file, and prints how many
 * objects there are at a depth of two, as events are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES	(256U << 10)

struct scan {
	int in_string, escaped;
	unsigned long long depth, objects;
};

/* A string that goes on at @p: after its quote, @end if that is not there. */
static const char *pass_string(struct scan *s, const char *p, const char *end)
{
	const char *quote, *before;

	if (s->escaped)
		p++;
	s->escaped = 0;
	for (; p < end; p = quote + 1) {
		quote = memchr(p, '"', (size_t)(end - p));
		if (!quote)
			quote = end;
		for (before = quote; before > p && before[-1] == '\\';)
			before--;
		s->escaped = (quote - before) & 1;
		if (quote == end)
			return end;
		if (!s->escaped) {
			s->in_string = 0;
			return quote + 1;
		}
		s->escaped = 0;
	}
	return end;
}

static void scan_piece(struct scan *s, const char *p, const char *end)
{
	while (p < end) {
		if (s->in_string) {
			p = pass_string(s, p, end);
			continue;
		}
		switch (*p++) {
		case '"':
			s->in_string = 1;
			break;
		case '{':
			s->objects += s->depth == 2;
			/* fall through */
		case '[':
			s->depth++;
			break;
		case '}':
		case ']':
			s->depth--;
			break;
		}
	}
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	char *piece = malloc(PIECE_BYTES);
	struct scan s = { 0 };
	size_t len;

	if (!file || !piece) {
		fprintf(stderr, "usage: json_scan FILE\n");
		return 1;
	}
	while ((len = fread(piece, 1, PIECE_BYTES, file)))
		scan_piece(&s, piece, piece + len);
	printf("%llu\n", s.objects);
	free(piece);
	return fclose(file) ? 1 : 0;
}
