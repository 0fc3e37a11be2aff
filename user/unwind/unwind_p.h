/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a walk over the frames and its parts share.
 */
#ifndef UNWIND_UNWIND_P_H
#define UNWIND_UNWIND_P_H

#include "code_files.h"
#include "elf/process_maps.h"
#include "machine.h"
#include "unwind.h"

#define RECENT_MAPPINGS	8

struct unwinder {
	const struct unwind_machine *machine;
	struct process_maps *maps;
	struct rule_table rules;
	struct code_files code;
	struct cfi_reader reader;
	uint64_t generation;	/* of mapped_files, whose indexes @rules and @code go by */
};

/* As unwinder_open(), for stacks of @machine. */
int unwinder_open_for(struct unwinder **out, const struct unwind_machine *machine, struct mapped_files *files,
		      struct process_maps *maps);

#endif
