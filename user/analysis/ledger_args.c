// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the counts in a ledger, those of today and those before schema 2.
 */
#include "ledger_args.h"

#include <stdio.h>
#include <string.h>

#include "fxt/fxt.h"

#define NAME_BYTES	64

static const struct {
	const char *what, *before;
} renamed[] = {
	{ "drained", "taken" },
	{ "ratelimited", "shed" },
	{ "depth_exceeded", "deep" },
	{ "write_failed", "unwritten" },
	{ "unreported", "unseen" },
	{ "prog_skipped", "skipped" },
	{ "procstat_excess", "untold" },
};

static const struct fxt_arg *find(const struct fxt_record *rec, const char *what, const char *kind)
{
	char name[NAME_BYTES];

	if (snprintf(name, sizeof(name), "%s%s%s", what, *what && *kind ? "_" : "", kind) >= NAME_BYTES)
		return NULL;
	return fxt_record_arg(rec, name);
}

const struct fxt_arg *ledger_arg(const struct fxt_record *rec, const char *what, const char *kind)
{
	const struct fxt_arg *arg = find(rec, what, kind);
	unsigned int i;

	for (i = 0; !arg && i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (!strcmp(what, renamed[i].what))
			arg = find(rec, renamed[i].before, kind);
	return arg;
}

uint64_t ledger_number(const struct fxt_record *rec, const char *what, const char *kind)
{
	const struct fxt_arg *arg = ledger_arg(rec, what, kind);

	if (arg && arg->type == FXT_ARG_UINT64)
		return arg->u64;
	return arg && arg->type == FXT_ARG_UINT32 ? arg->u32 : 0;
}
