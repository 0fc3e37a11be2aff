// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel frames as they are, user frames unwound from the copy of the stack; both with names.
 */
#include <errno.h>
#include <stdlib.h>

#include "bpf/abi/ids.h"
#include "bpf/abi/stack.h"
#include "elf/mapped_file.h"
#include "elf/process_maps.h"
#include "frames.h"
#include "kernel_frames.h"
#include "fxt/format.h"
#include "symbol/symbol.h"

struct stack_frames {
	struct mapped_files *files;
	struct process_maps *maps;	/* NULL: no user stacks */
	struct unwinder *unwinder;	/* NULL: by frame pointers alone, as selected or on other machines */
	struct symbolizer *symbols;
	enum stack_user user;
	struct stack_frames_counts counts;
};

int stack_frames_open(struct stack_frames **out, enum stack_user user)
{
	struct stack_frames *f = calloc(1, sizeof(*f));
	int err = f ? mapped_files_open(&f->files) : -ENOMEM;

	if (!err && user != STACK_NO_USER)
		err = process_maps_open(&f->maps, f->files, &f->counts.events_err);
	if (err) {
		stack_frames_close(f);
		return err;
	}
	f->user = user;
	*out = f;
	return 0;
}

int stack_frames_begin(struct stack_frames *f)
{
	int err = symbolizer_open(&f->symbols, f->files, NULL);

	if (!err && f->maps)
		err = process_maps_begin(f->maps);
	if (err || f->user != STACK_BY_RULES)
		return err;
	err = unwinder_open(&f->unwinder, f->files, f->maps);
	return err == -ENOTSUP ? 0 : err;
}

int stack_frames_read(struct stack_frames *f)
{
	int err = f->maps ? process_maps_read(f->maps) : 0;

	symbolizer_refresh(f->symbols);
	return err;
}

static struct profile_frame frame_of(const struct symbol *symbol)
{
	static const enum profile_frame_kind kinds[] = {
		[SYMBOL_NATIVE] = PROFILE_NATIVE, [SYMBOL_KERNEL] = PROFILE_KERNEL,
		[SYMBOL_INTERPRETED] = PROFILE_INTERPRETED, [SYMBOL_JIT] = PROFILE_JIT,
	};

	return (struct profile_frame){
		.name = fxt_str(symbol->name), .mapping = fxt_str(symbol->mapping ?: ""),
		.build_id = fxt_str(symbol->build_id), .rel_pc = symbol->rel_pc,
		.kind = symbol->kind == SYMBOL_NONE ? PROFILE_NATIVE : kinds[symbol->kind],
	};
}

static unsigned int kernel_frames(struct stack_frames *f, const uint64_t *rec, struct profile_frame *frames)
{
	const unsigned int cnt = FXT_GET(rec[STACK_COUNTS], STACK_F_KERNEL);
	const bool in_tracepoint = FXT_GET(rec[STACK_WHAT], STACK_F_KIND) != STACK_CPU;
	struct symbol symbols[STACK_FRAMES_MAX];
	unsigned int i, n = kernel_frames_of(f->symbols, rec + STACK_WORDS, cnt, in_tracepoint, symbols);

	for (i = 0; i < n; i++)
		frames[i] = frame_of(&symbols[i]);
	return n;
}

static struct unwind_input input_of(const uint64_t *rec)
{
	const unsigned int kernel = FXT_GET(rec[STACK_COUNTS], STACK_F_KERNEL);
	const unsigned int fp = FXT_GET(rec[STACK_COUNTS], STACK_F_FP);
	const unsigned int returns = FXT_GET(rec[STACK_COUNTS], STACK_F_RETURNS);
	const bool off_cpu = FXT_GET(rec[STACK_WHAT], STACK_F_KIND) == STACK_OFF_CPU;

	return (struct unwind_input){
		.process = rec[RAW_PROCESS],
		/* The stack of a sleep is that of its end. */
		.ts = rec[RAW_TS] + (off_cpu ? rec[STACK_WEIGHT] : 0),
		.regs = { rec[STACK_IP], rec[STACK_SP], rec[STACK_BP], rec[STACK_LR] },
		.fp = rec + STACK_WORDS + kernel, .fp_cnt = fp,
		.returns = (const struct unwind_return *)(rec + STACK_WORDS + kernel + fp), .returns_cnt = returns,
		.stack = rec + STACK_WORDS + kernel + fp + 2 * returns,
		.stack_bytes = FXT_GET(rec[STACK_COUNTS], STACK_F_BYTES),
	};
}

/* By frame pointers alone. */
static unsigned int follow_fp(struct stack_frames *f, const struct unwind_input *in,
			      struct unwind_frame frames[UNWIND_FRAMES_MAX])
{
	const struct mapping *m;
	unsigned int i;

	for (i = 0; i < in->fp_cnt && i < UNWIND_FRAMES_MAX; i++) {
		m = process_maps_find(f->maps, in->process, in->ts, in->fp[i]);
		frames[i] = (struct unwind_frame){
			.pc = in->fp[i], .is_call = i > 0, .file = m ? m->file : MAPPED_FILE_NONE,
			.offset = m ? in->fp[i] - m->start + m->offset : 0,
		};
	}
	return i;
}

static unsigned int user_frames(struct stack_frames *f, const uint64_t *rec, struct profile_frame *frames)
{
	const struct unwind_input in = input_of(rec);
	struct unwind_frame unwound[UNWIND_FRAMES_MAX];
	enum unwind_verdict verdict = UNWIND_NO_USER;
	struct symbol symbol;
	unsigned int i, cnt;

	if (!f->maps || !in.regs.ip)
		return 0;
	/* Also where not a byte could be copied: there may be frame pointers, and what is missing is counted. */
	if (f->unwinder) {
		cnt = unwinder_unwind(f->unwinder, &in, unwound, &verdict);
		if (verdict == UNWIND_WHOLE || in.stack_bytes)
			f->counts.verdicts[verdict]++;
		else
			f->counts.unreadable++;
	} else {
		cnt = follow_fp(f, &in, unwound);
	}
	for (i = 0; i < cnt; i++) {
		symbolizer_user(f->symbols, in.process, in.process % ID_GENERATION_STEP, unwound[i].file, unwound[i].offset,
				unwound[i].pc, unwound[i].is_call, &symbol);
		frames[i] = frame_of(&symbol);
	}
	if (verdict == UNWIND_CUT || verdict == UNWIND_UNMAPPED || verdict == UNWIND_NO_RULE)
		frames[i++] = (struct profile_frame){ .name = fxt_str("[cut]"), .kind = PROFILE_NATIVE };
	return i;
}

unsigned int stack_frames_of(struct stack_frames *f, const uint64_t *rec, struct profile_frame frames[FRAMES_MAX])
{
	const unsigned int kernel = kernel_frames(f, rec, frames);

	return kernel + user_frames(f, rec, frames + kernel);
}

void stack_frames_counts(const struct stack_frames *f, struct stack_frames_counts *counts)
{
	*counts = f->counts;
	counts->maps_lost = f->maps ? process_maps_lost(f->maps) : 0;
	counts->maps_refused = mapped_files_refused(f->files);
}

void stack_frames_close(struct stack_frames *f)
{
	if (!f)
		return;
	unwinder_close(f->unwinder);
	symbolizer_close(f->symbols);
	process_maps_close(f->maps);
	mapped_files_close(f->files);
	free(f);
}
