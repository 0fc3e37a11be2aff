// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer over the whole conversion. What must hold for any input: it ends
 * without an error of its own, every record is accounted for, and what was
 * written is a trace without contradictions. FXT is not built but passed on:
 * of that are fxt_fuzz and repair_fuzz.
 */
#include <stdio.h>
#include <stdlib.h>

#include "convert_pipe.h"
#include "format/formats_p.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(int holds, const struct convert_pipe *p, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: err %d, %llu records, %llu built, %llu accounted, %s\n", what, p->err,
		(unsigned long long)p->input.records, (unsigned long long)p->built.records,
		(unsigned long long)convert_pipe_accounted(p), p->first_problem);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct convert_pipe p;

	if (formats_recognize(NULL, (const char *)data, len) == &fxt_format_reader)
		return -1;
	convert_pipe_run(&p, data, len, len % 7 ? SIZE_MAX : 61);
	must(!p.err, &p, "no error");
	must(p.built.records == p.input.records, &p, "records in are records built");
	must(convert_pipe_accounted(&p) == p.built.records, &p, "records built are accounted for");
	must(!p.problems, &p, "verify is content");
	convert_pipe_free(&p);
	return 0;
}
