// SPDX-License-Identifier: GPL-2.0
/*
 * All expressions see the text as it is, so that none matches a mark of another.
 */
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clock.h"
#include "redact.h"

/* What expressions may take of the time, one in so many, and how much at once: for most there are texts that take long. */
#define SHARE		10
#define BURST_NS	100000000ULL
#define COPIES_MAX	1000U
#define NESTED_MAX	100U

struct redact {
	regex_t *expressions;
	size_t cnt, cap;
	struct time_share taken;
	char plain[REDACT_BYTES_MAX];	/* the text without NULs */
	bool hidden[REDACT_BYTES_MAX];	/* which bytes of it match */
};

int redact_open(struct redact **out)
{
	struct redact *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	*out = r;
	return 0;
}

void redact_close(struct redact *r)
{
	if (!r)
		return;
	while (r->cnt)
		regfree(&r->expressions[--r->cnt]);
	free(r->expressions);
	free(r);
}

/* ---- expressions ------------------------------------------------------------- */

/* The end of a bracket expression, its "]" or that of @p, which is after its "[". */
static const char *bracket_end(const char *p)
{
	char close[3] = "?]";

	p += *p == '^';
	p += *p == ']';
	while (*p && *p != ']') {
		if (*p++ != '[' || !*p || !strchr(".:=", *p))
			continue;
		close[0] = *p++;
		p = strstr(p, close);
		if (!p)
			return "";
		p += 2;
	}
	return p;
}

static bool has_back_reference(const char *p)
{
	for (; *p; p++) {
		if (*p == '[')
			p = bracket_end(p + 1);
		else if (*p == '\\' && *++p >= '1' && *p <= '9')
			return true;
		if (!*p)
			break;
	}
	return false;
}

/* How many there are of what is before "+" or "{3,5}" at *@p; 0: there is no such thing. *@p is set to its end. */
static size_t copies_of(const char **p)
{
	unsigned long least, most;
	char *end;

	if (**p == '+') {
		++*p;
		return 2;
	}
	if (**p != '{')
		return 0;
	least = strtoul(*p + 1, &end, 10);
	most = *end == ',' ? strtoul(end + 1, &end, 10) : least;
	if (*end != '}')
		return 0;
	*p = end + 1;
	most = most > least ? most : least;
	return most <= COPIES_MAX ? most + 1 : COPIES_MAX + 2;
}

static bool repeats_too_much(const char *p)
{
	/* Of each parenthesis that is open: parts so far, and those of the last thing. */
	size_t all[NESTED_MAX] = { 0 }, last[NESTED_MAX] = { 0 }, copies, more, sum = 0;
	unsigned int depth = 0;

	while (*p && sum <= COPIES_MAX) {
		copies = copies_of(&p);
		if (copies) {
			more = last[depth] * (copies - 1);
			sum += more;
			all[depth] += more;
			last[depth] += more;
		} else if (*p == '(') {
			if (++depth == NESTED_MAX)
				return true;
			all[depth] = last[depth] = 0;
			p++;
		} else if (*p == ')' && depth) {
			depth--;
			last[depth] = all[depth + 1] + 1;
			all[depth] += last[depth];
			p++;
		} else if (*p == '*' || *p == '?' || *p == '|' || *p == ')') {
			p++;
		} else {
			if (*p == '[')
				p = bracket_end(p + 1);
			else if (*p == '\\')
				p++;
			p += *p != 0;
			last[depth] = 1;
			all[depth]++;
		}
	}
	return sum > COPIES_MAX;
}

const char *redact_refuses(const char *regex)
{
	if (has_back_reference(regex))
		return "the regular expression has a back-reference, for which one text could take forever";
	return repeats_too_much(regex) ? "the repetitions of the regular expression would take too much memory" : NULL;
}

int redact_add(struct redact *r, const char *regex, char *why, size_t size)
{
	regex_t *new;
	int err;

	if (redact_refuses(regex)) {
		snprintf(why, size, "%s", redact_refuses(regex));
		return -EINVAL;
	}
	if (array_reserve(r->expressions, r->cnt, r->cap, 1))
		return -ENOMEM;
	new = &r->expressions[r->cnt];
	err = regcomp(new, regex, REG_EXTENDED);
	if (err) {
		regerror(err, new, why, size);
		return err == REG_ESPACE ? -ENOMEM : -EINVAL;
	}
	if (!regexec(new, "", 0, NULL, 0)) {
		snprintf(why, size, "it matches an empty text, too");
		regfree(new);
		return -EINVAL;
	}
	r->cnt++;
	return 0;
}

/* ---- texts ------------------------------------------------------------------- */

/* False: there was no memory. */
static bool find(struct redact *r, const regex_t *expression, size_t len)
{
	size_t at = 0;
	int err = 0;

	while (at < len) {
		regmatch_t match = { .rm_so = (regoff_t)at, .rm_eo = (regoff_t)len };

		err = regexec(expression, r->plain, 1, &match, REG_STARTEND);
		if (err)
			break;
		memset(r->hidden + match.rm_so, true, (size_t)(match.rm_eo - match.rm_so));
		at = (size_t)match.rm_eo + (match.rm_eo == match.rm_so);
	}
	return !err || err == REG_NOMATCH;
}

static void find_all(struct redact *r, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		r->plain[i] = text[i] ? text[i] : ' ';
		r->hidden[i] = false;
	}
	for (i = 0; i < r->cnt; i++)
		if (!find(r, &r->expressions[i], len))
			memset(r->hidden, true, len);
}

static size_t put_mark(char *out, size_t size)
{
	const size_t len = strlen(REDACT_MARK);

	if (size < len)
		return 0;
	memcpy(out, REDACT_MARK, len);
	return len;
}

size_t redact_text(struct redact *r, const char *text, size_t len, char *out, size_t size)
{
	size_t in = 0, n = 0, put = 1;
	uint64_t begin_ns;

	if (len > REDACT_BYTES_MAX || !time_share_is_left(&r->taken, SHARE, BURST_NS))
		return put_mark(out, size);
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	find_all(r, text, len);
	time_share_take(&r->taken, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
	while (in < len && n < size && put) {
		if (!r->hidden[in]) {
			out[n++] = text[in++];
			continue;
		}
		put = put_mark(out + n, size - n);
		n += put;
		while (in < len && r->hidden[in])
			in++;
	}
	return n;
}
