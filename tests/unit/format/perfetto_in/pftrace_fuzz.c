// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer over the conversion of Perfetto traces. What must hold for any input: it ends without an
 * error of its own, each packet is in one count, each event that is handed on is accounted for, and what
 * was written is a trace without contradictions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/ftrace/convert_pipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(int holds, const struct convert_pipe *p, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: err %d, %llu handed on, %llu built, %llu accounted, %s\n", what, p->err,
		(unsigned long long)p->input.records, (unsigned long long)p->built.records,
		(unsigned long long)convert_pipe_accounted(p), p->first_problem);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct convert_pipe p;
	const char *form;

	convert_pipe_run_as(&p, formats_reader("perfetto", &form), data, len, len % 7 ? SIZE_MAX : 61);
	must(!p.err, &p, "no error");
	must(p.built.records == p.input.records, &p, "events handed on are events built");
	must(convert_pipe_accounted(&p) == p.built.records, &p, "events built are accounted for");
	must(!p.problems, &p, "verify is content");
	convert_pipe_free(&p);
	return 0;
}
