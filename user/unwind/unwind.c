// SPDX-License-Identifier: GPL-2.0
/*
 * Frame by frame: the mapping of an address, the rule of that place in the file, the caller's registers.
 * The rules are kept; making one is a hundred times as long as using it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/ids.h"
#include "elf/mapped_file.h"
#include "unwind_p.h"

#define STACK_BYTES_MAX	(64ULL << 20)	/* what is further away from sp is not on this stack */

struct walk {
	struct unwinder *u;
	const struct unwind_input *in;
	struct unwind_frame *frames;
	unsigned int cnt;
	struct unwind_regs regs;	/* of the frame that was added last */
	bool is_call;			/* whether regs.ip is a return address */
	bool is_guess;			/* whether it was found by a frame pointer */
	uint64_t aux;			/* the machine's, of the frame that was added last */
	bool has_sp, has_lr, has_aux;	/* whether these are known */
	bool is_fp_frame;		/* whether the frame pointer points to where it and the return address are */
	uint64_t handler_end;		/* where the signal handler of the last frames returns to */
	unsigned int handlers;		/* how many were left */
	struct mapping recent[RECENT_MAPPINGS];
	unsigned int recent_cnt;
};

enum step {
	STEP_CALLER,	/* walk.regs are those of the caller */
	STEP_OUTERMOST,
	STEP_CUT,
	STEP_NO_RULE,
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* The word at @address of the thread's stack, if it was copied. */
static bool read_word(const struct walk *w, uint64_t address, uint64_t *word)
{
	const uint64_t at = address - w->in->regs.sp;

	if (w->in->stack_bytes < sizeof(*word) || at > w->in->stack_bytes - sizeof(*word))
		return false;
	memcpy(word, (const char *)w->in->stack + at, sizeof(*word));
	return true;
}

/* ---- mappings -------------------------------------------------------------------------------- */

static const struct mapping *find_mapping(struct walk *w, uint64_t address)
{
	const struct mapping *m;
	unsigned int i;

	for (i = 0; i < w->recent_cnt && i < RECENT_MAPPINGS; i++)
		if (address - w->recent[i].start < w->recent[i].end - w->recent[i].start)
			return &w->recent[i];
	m = process_maps_find(w->u->maps, w->in->process, w->in->ts, address);
	if (!m)
		return NULL;
	i = w->recent_cnt++ % RECENT_MAPPINGS;
	w->recent[i] = *m;
	return &w->recent[i];
}

/* Its mapping; NULL: @pc is not mapped, the frame says so. */
static const struct mapping *add_frame(struct walk *w, uint64_t pc, bool is_call)
{
	struct unwind_frame *frame = &w->frames[w->cnt++];
	const struct mapping *m = find_mapping(w, pc - is_call);

	*frame = (struct unwind_frame){ .pc = pc, .file = MAPPED_FILE_NONE, .is_call = is_call };
	if (m) {
		frame->file = m->file;
		frame->offset = m->file == MAPPED_FILE_NONE ? 0 : pc - m->start + m->offset;
	}
	return m;
}

/* ---- by rule --------------------------------------------------------------------------------- */

/* The rule of @frame, in @m; RULE_NONE: there is none. */
static inline __attribute__((always_inline)) void
find_rule(struct walk *w, const struct unwind_frame *frame, const struct mapping *m, struct unwind_rule *rule)
{
	const uint64_t offset = frame->offset - frame->is_call, key = rule_key(frame->file, offset);
	struct cfi_file *f;
	uint64_t address;

	if (rule_table_get(&w->u->rules, key, rule))
		return;
	*rule = (struct unwind_rule){ .cfa = RULE_NONE };
	f = key ? code_files_get(&w->u->code, m, w->in->process % ID_GENERATION_STEP) : NULL;
	if (!f)
		return;
	if (code_file_address(&f->file, offset, &address))
		cfi_find_rule(&w->u->reader, f, address, rule);
	rule_table_add(&w->u->rules, key, rule);
}

static bool is_by_sp(const struct unwind_rule *rule)
{
	return rule->cfa == RULE_SP || rule->cfa == RULE_AT_SP;
}

/* After a step by frame pointer, sp may not be known; aux is not before a function has saved it. */
static bool is_usable(const struct walk *w, const struct unwind_rule *rule)
{
	if (rule->cfa == RULE_AUX)
		return w->has_aux;
	return rule->cfa != RULE_NONE && (w->has_sp || !is_by_sp(rule));
}

static uint64_t cfa_base(const struct walk *w, const struct unwind_rule *rule)
{
	if (rule->cfa == RULE_AUX)
		return w->aux;
	return is_by_sp(rule) ? w->regs.sp : w->regs.bp;
}

static enum step compute_cfa(const struct walk *w, const struct unwind_rule *rule, uint64_t *cfa)
{
	*cfa = cfa_base(w, rule) + (uint64_t)(int64_t)rule->cfa_offset;
	if ((rule->cfa == RULE_AT_SP || rule->cfa == RULE_AT_FP) && !read_word(w, *cfa, cfa))
		return STEP_CUT;
	/* The interrupted function may have been on another stack; a leaf may have nothing on its own. */
	if (!rule->is_signal && w->has_sp && (*cfa < w->regs.sp || (*cfa == w->regs.sp && w->is_call)))
		return STEP_NO_RULE;
	return STEP_CALLER;
}

/* A register of the caller: *@value is what it is here and becomes what it is there. */
static bool find_saved(const struct walk *w, uint8_t how, int64_t words, uint64_t cfa, uint64_t *value)
{
	const uint64_t at = (uint64_t)words * 8;

	switch (how) {
	case SAVED_AT_CFA:
		return read_word(w, cfa + at, value);
	case SAVED_AT_SP:
		return read_word(w, w->regs.sp + at, value);
	case SAVED_AT_FP:
		return read_word(w, w->regs.bp + at, value);
	case SAVED_SAME:
		return true;
	default:
		*value = 0;	/* not known: no address of a stack */
		return true;
	}
}

/* As frame pointers are meant: {frame pointer, return address} of the caller are where it points to. */
static bool is_fp_frame(const struct walk *w, const struct unwind_rule *rule, uint64_t cfa)
{
	return rule->fp == SAVED_AT_CFA && rule->ra == SAVED_AT_CFA && rule->ra_offset == rule->fp_offset + 1 &&
	       cfa + (uint64_t)rule->fp_offset * 8 == w->regs.bp;
}

/* Compilers do not say that an epilogue has taken a register from the stack: what was stored is below sp then. */
static bool is_restored(const struct walk *w, uint8_t how, int64_t words, uint64_t cfa)
{
	return how == SAVED_AT_CFA && w->has_sp && cfa + (uint64_t)words * 8 < w->regs.sp;
}

static void restore_aux(struct walk *w, const struct unwind_rule *rule, uint64_t cfa)
{
	if (rule->aux == SAVED_SAME || is_restored(w, rule->aux, rule->aux_offset, cfa))
		return;
	w->has_aux = rule->aux == SAVED_AT_CFA && find_saved(w, rule->aux, rule->aux_offset, cfa, &w->aux);
}

/* Makes *@caller the frame to go on with. */
static enum step enter_caller(struct walk *w, const struct unwind_regs *caller, bool is_call, bool is_guess)
{
	w->regs = *caller;
	w->regs.ip &= w->u->machine->address_mask;
	w->is_call = is_call;
	w->is_guess = is_guess;
	return w->regs.ip ? STEP_CALLER : STEP_OUTERMOST;
}

static enum step step_by_rule(struct walk *w, const struct unwind_rule *rule)
{
	const struct unwind_machine *m = w->u->machine;
	struct unwind_regs caller = w->regs;
	enum step step;

	step = compute_cfa(w, rule, &caller.sp);
	if (step != STEP_CALLER)
		return step;
	if (rule->ra == SAVED_SAME && !w->has_lr)
		return STEP_NO_RULE;
	w->is_fp_frame = is_fp_frame(w, rule, caller.sp);
	caller.ip = w->regs.lr;
	if (!find_saved(w, rule->ra, rule->ra_offset, caller.sp, &caller.ip) ||
	    (!is_restored(w, rule->fp, rule->fp_offset, caller.sp) &&
	     !find_saved(w, rule->fp, rule->fp_offset, caller.sp, &caller.bp)))
		return STEP_CUT;
	restore_aux(w, rule, caller.sp);
	w->has_lr = m->has_link_register && rule->is_signal &&
		    read_word(w, w->regs.sp + m->signal_lr_offset, &caller.lr);
	w->has_sp = true;
	if (rule->is_signal) {
		w->handler_end = w->regs.ip;
		w->handlers++;
	}
	return enter_caller(w, &caller, !rule->is_signal, false);
}

/* ---- by frame pointer ------------------------------------------------------------------------ */

/* Whether there can be a frame at @fp. What is elsewhere is of another stack, or no frame pointer. */
static bool is_on_stack(const struct walk *w, uint64_t fp)
{
	return fp % 8 == 0 && fp - w->regs.sp <= STACK_BYTES_MAX;
}

/* {frame pointer, return address} of the caller are at the frame pointer. */
static enum step step_by_fp(struct walk *w)
{
	const uint64_t at = w->regs.bp;
	struct unwind_regs caller = w->regs;

	if (!at && w->is_guess)
		return STEP_OUTERMOST;	/* as the ABIs have it */
	if (!is_on_stack(w, at))
		return STEP_NO_RULE;
	if (!read_word(w, at, &caller.bp) || !read_word(w, at + 8, &caller.ip))
		return STEP_CUT;
	caller.sp = at + 16;
	w->has_sp = w->u->machine->fp_gives_cfa;
	w->has_lr = w->has_aux = false;
	return enter_caller(w, &caller, true, true);
}

/* ---- by the kernel's frame pointers ---------------------------------------------------------- */

/* Where that chain leaves as many signal handlers as the frames do; @fp_cnt: it does not. */
static unsigned int after_handlers(const struct walk *w)
{
	unsigned int i = 0, handlers = 0;

	while (handlers < w->handlers && i < w->in->fp_cnt)
		handlers += (w->in->fp[i++] & w->u->machine->address_mask) == w->handler_end;
	return i;
}

/* How many of the last frames are those before and at @fp[@at]. */
static unsigned int common(const struct walk *w, unsigned int at)
{
	const uint64_t mask = w->u->machine->address_mask;
	unsigned int n = 0;

	while (n < w->cnt && n <= at && (w->in->fp[at - n] & mask) == w->frames[w->cnt - 1 - n].pc)
		n++;
	return n;
}

/* The last frame in that chain; of several, as in a recursion, the one with the most frames in common. */
static unsigned int find_in_fp(const struct walk *w)
{
	unsigned int i, n, best = w->in->fp_cnt, longest = 0;

	for (i = after_handlers(w); i < w->in->fp_cnt; i++) {
		n = common(w, i);
		if (n > longest) {
			longest = n;
			best = i;
		}
	}
	return best;
}

/* Where in that chain the caller of the last frame is; @fp_cnt: it is not there. */
static unsigned int caller_in_fp(const struct walk *w)
{
	unsigned int last;

	if (!is_on_stack(w, w->regs.bp))
		return w->in->fp_cnt;
	last = find_in_fp(w);
	if (last < w->in->fp_cnt)
		return last + 1;
	/* Functions without a frame of their own are in no chain; that of their caller begins it. */
	return w->is_fp_frame && w->regs.bp == w->in->regs.bp ? 1 : w->in->fp_cnt;
}

/*
 * Whether what comes after the last frame in that chain is its caller. Past a function that has the register for
 * something else the chain leads to the caller of one further out, if not astray; past the end of a signal handler, to
 * that of the function that was interrupted. Code without rules is all there is to know it by.
 */
static __attribute__((noinline)) bool has_fp(struct walk *w)
{
	const struct unwind_frame *last = &w->frames[w->cnt - 1];
	const struct mapping *m = find_mapping(w, last->pc - last->is_call);
	struct unwind_rule rule = { 0 };

	if (m)
		find_rule(w, last, m, &rule);
	if (rule.is_signal || rule.cfa == RULE_NONE)
		return !rule.is_signal;
	/* Where the caller is in a link register, code that saves both has them where the register points to, by the ABI. */
	return w->u->machine->has_link_register ? rule.fp == SAVED_AT_CFA : rule.cfa == RULE_FP;
}

/* Appends what comes after the last frame there; whether it is all, as far as can be known. */
static bool continue_by_fp(struct walk *w)
{
	const uint64_t mask = w->u->machine->address_mask;
	const unsigned int had = w->cnt;
	unsigned int i;

	for (i = caller_in_fp(w); i < w->in->fp_cnt; i++) {
		if (w->cnt == UNWIND_FRAMES_MAX || !has_fp(w))
			return false;
		if (!add_frame(w, w->in->fp[i] & mask, true)) {
			w->cnt--;	/* the register was no frame pointer there */
			return false;
		}
	}
	return w->cnt > had && w->in->fp_cnt < UNWIND_FRAMES_MAX;
}

/* The kernel's own return addresses are in no file, and one call may be probed more than once. */
static void find_probed_return(struct walk *w)
{
	const uint64_t at = w->regs.sp - (w->u->machine->has_link_register ? 0 : 8), mask = w->u->machine->address_mask;
	const struct unwind_return *r = w->in->returns, *end = r + w->in->returns_cnt;

	while (r < end && (r->at != at || (r->ip & mask) == w->regs.ip))
		r++;
	if (r < end)
		w->regs.ip = r->ip & mask;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The caller of the last frame, which is in @m. */
static enum step step(struct walk *w, const struct mapping *m)
{
	struct unwind_rule rule;

	find_rule(w, &w->frames[w->cnt - 1], m, &rule);
	w->is_fp_frame = false;
	if (rule.ra == SAVED_UNDEFINED)
		return STEP_OUTERMOST;
	if (is_usable(w, &rule))
		return step_by_rule(w, &rule);
	return rule.is_signal ? STEP_NO_RULE : step_by_fp(w);
}

/* Until something else than a caller is found. */
static enum unwind_verdict walk(struct walk *w)
{
	const struct mapping *m;
	enum step s = STEP_CALLER;

	while (s == STEP_CALLER) {
		if (w->cnt == UNWIND_FRAMES_MAX)
			return UNWIND_CUT;
		if (w->is_call && w->has_sp && w->in->returns_cnt)
			find_probed_return(w);
		m = add_frame(w, w->regs.ip, w->is_call);
		if (!m && w->is_guess) {
			w->cnt--;
			return UNWIND_NO_RULE;
		}
		if (!m)
			return UNWIND_UNMAPPED;
		s = step(w, m);
	}
	if (s == STEP_OUTERMOST)
		return UNWIND_WHOLE;
	return s == STEP_CUT ? UNWIND_CUT : UNWIND_NO_RULE;
}

static void forget_files(struct unwinder *u)
{
	const uint64_t generation = mapped_files_generation(u->code.files);

	if (generation == u->generation)
		return;
	code_files_fini(&u->code);
	rule_table_fini(&u->rules);
	u->generation = generation;
}

unsigned int unwinder_unwind(struct unwinder *u, const struct unwind_input *in,
			     struct unwind_frame frames[UNWIND_FRAMES_MAX], enum unwind_verdict *verdict)
{
	struct walk w = { .u = u, .in = in, .frames = frames, .has_sp = true };

	if (!in->regs.ip) {
		*verdict = UNWIND_NO_USER;
		return 0;
	}
	forget_files(u);
	w.regs = in->regs;
	w.has_lr = u->machine->has_link_register;
	*verdict = walk(&w);
	if ((*verdict == UNWIND_CUT || *verdict == UNWIND_NO_RULE) && w.cnt < UNWIND_FRAMES_MAX && continue_by_fp(&w))
		*verdict = UNWIND_WHOLE;
	return w.cnt;
}

/* ---- opening --------------------------------------------------------------------------------- */

int unwinder_open_for(struct unwinder **out, const struct unwind_machine *machine, struct mapped_files *files,
		      struct process_maps *maps)
{
	struct unwinder *u;

	if (!machine)
		return -ENOTSUP;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->machine = u->reader.machine = machine;
	u->maps = maps;
	u->code = (struct code_files){ .files = files, .reader = &u->reader };
	*out = u;
	return 0;
}

int unwinder_open(struct unwinder **out, struct mapped_files *files, struct process_maps *maps)
{
	return unwinder_open_for(out, unwind_machine_here, files, maps);
}

void unwinder_close(struct unwinder *u)
{
	if (!u)
		return;
	code_files_fini(&u->code);
	rule_table_fini(&u->rules);
	free(u);
}
