// SPDX-License-Identifier: GPL-2.0
#include "dwfl_judge.h"

#include <elfutils/libdwfl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

struct dwfl_judge {
	Dwfl *dwfl;
	char *debug_path;
	Dwfl_Callbacks callbacks;
};

struct frames {
	uint64_t *pcs;
	unsigned int cnt, max;
};

struct dwfl_judge *dwfl_judge_open(pid_t pid)
{
	struct dwfl_judge *j = calloc(1, sizeof(*j));

	assert_non_null(j);
	j->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &j->debug_path,
	};
	j->dwfl = dwfl_begin(&j->callbacks);
	assert_non_null(j->dwfl);
	assert_int_equal(dwfl_linux_proc_report(j->dwfl, pid), 0);
	assert_int_equal(dwfl_report_end(j->dwfl, NULL, NULL), 0);
	assert_int_equal(dwfl_linux_proc_attach(j->dwfl, pid, true), 0);
	return j;
}

static int add_frame(Dwfl_Frame *frame, void *ctx)
{
	struct frames *f = ctx;
	Dwarf_Addr pc;

	if (f->cnt == f->max || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	f->pcs[f->cnt++] = pc;
	return DWARF_CB_OK;
}

unsigned int dwfl_judge_unwind(struct dwfl_judge *j, pid_t tid, uint64_t *pcs, unsigned int max)
{
	struct frames f = { .pcs = pcs, .max = max };

	dwfl_getthread_frames(j->dwfl, tid, add_frame, &f);
	return f.cnt;
}

void dwfl_judge_close(struct dwfl_judge *j)
{
	dwfl_end(j->dwfl);
	free(j);
}
