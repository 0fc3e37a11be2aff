// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for the unwinder: ELF files, registers and stacks of any content. It ends, within bounds, and
 * with the rules that it kept says the same as without.
 *
 * The input: a byte whose lowest bit says arm64, one of how many words the stack has and one of how many the
 * chain of frame pointers, ip in the file (4 bytes), bp from sp (2 bytes), these words, the ELF file.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../elf/maps_made.h"
#include "cfi_made.h"
#include "elf/mapped_file.h"
#include "elf/process_maps.h"
#include "unwind/unwind_p.h"

#define SP		0x7ffd00000000ULL
#define HEAD_BYTES	9
#define FILE_BYTES_MAX	16384
#define ADDRESSES	16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

struct run {
	struct mapped_files *files;
	struct process_maps *maps;
	struct unwinder *u;
	struct unwind_input in;
};

static void unwind(struct run *r, struct unwind_frame *frames, unsigned int *cnt, enum unwind_verdict *verdict)
{
	unsigned int i;

	*cnt = unwinder_unwind(r->u, &r->in, frames, verdict);
	check(*cnt <= UNWIND_FRAMES_MAX && *verdict < UNWIND_VERDICT_CNT);
	check((*verdict == UNWIND_NO_USER) == !*cnt);
	for (i = 0; i < *cnt; i++)
		check(i || (frames[i].pc == r->in.regs.ip && !frames[i].is_call));
}

static int is_same(const struct unwind_frame *a, const struct unwind_frame *b)
{
	return a->pc == b->pc && a->offset == b->offset && a->file == b->file && a->is_call == b->is_call;
}

static void unwind_twice(struct run *r)
{
	struct unwind_frame first[UNWIND_FRAMES_MAX], second[UNWIND_FRAMES_MAX];
	enum unwind_verdict verdict, again;
	unsigned int cnt, cnt_again, i;

	unwind(r, first, &cnt, &verdict);
	unwind(r, second, &cnt_again, &again);
	check(cnt == cnt_again && verdict == again);
	for (i = 0; i < cnt; i++)
		check(is_same(&first[i], &second[i]));
}

/* Rules all over the file, from each of which one frame is left. */
static void unwind_everywhere(struct run *r, size_t bytes)
{
	const size_t step = bytes / ADDRESSES + 1;
	size_t at;

	for (at = 0; at < bytes; at += step) {
		r->in.regs.ip = CFI_MADE_START + at;
		unwind_twice(r);
	}
}

static void run(struct run *r, const struct unwind_machine *machine, const void *file, size_t bytes)
{
	const int fd = cfi_made_open(file, bytes);
	char line[160];
	int events_err;

	cfi_made_maps(fd, bytes, line);
	maps_made_begin(0);
	maps_made_proc(line);
	check(!mapped_files_open(&r->files) && !process_maps_open(&r->maps, r->files, &events_err) && !process_maps_begin(r->maps) &&
	      !unwinder_open_for(&r->u, machine, r->files, r->maps));
	unwind_twice(r);
	unwind_everywhere(r, bytes);
	unwinder_close(r->u);
	process_maps_close(r->maps);
	mapped_files_close(r->files);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = { .in = { .process = (uint64_t)getpid(), .ts = 1, .regs.sp = SP } };
	size_t words, fp, bytes;
	uint64_t *stack;
	uint32_t ip;
	uint16_t bp;

	if (size < HEAD_BYTES)
		return 0;
	words = data[1] + data[2];
	if (words > (size - HEAD_BYTES) / 8)
		return 0;
	fp = data[2] < UNWIND_FRAMES_MAX ? data[2] : UNWIND_FRAMES_MAX;
	memcpy(&ip, data + 3, sizeof(ip));
	memcpy(&bp, data + 7, sizeof(bp));
	stack = malloc(words * 8 + !words);
	check(stack != NULL);
	memcpy(stack, data + HEAD_BYTES, words * 8);
	r.in.regs.ip = r.in.regs.lr = CFI_MADE_START + ip;
	r.in.regs.bp = SP + bp;
	r.in.stack = stack;
	r.in.stack_bytes = data[1] * 8;
	r.in.fp = stack + data[1];
	r.in.fp_cnt = fp;
	bytes = size - HEAD_BYTES - words * 8;
	run(&r, data[0] & 1 ? &unwind_arm64 : &unwind_x86_64, data + HEAD_BYTES + words * 8,
	    bytes < FILE_BYTES_MAX ? bytes : FILE_BYTES_MAX);
	free(stack);
	return 0;
}
