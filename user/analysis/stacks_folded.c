// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks by the text of their lines: threads of one name in processes of one name are together.
 */
#include "stacks_folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"

#define NAME_BYTES	1024	/* longer names are cut */
#define LABELS_MAX	(PROFILE_FRAMES_MAX + 2)

/* What ends a frame or a line becomes something else, and so does what is not UTF-8. */
static size_t clean(char *to, size_t size, struct fxt_str name)
{
	size_t at, len, out = 0;

	for (at = 0; at < name.len; at += len ? len : 1) {
		len = log_utf8_len(name.data + at, name.len - at);
		if (out + (len ? len : 1) > size)
			break;
		if (len > 1)
			memcpy(to + out, name.data + at, len);
		else if (len && name.data[at] == ';')
			to[out] = ':';
		else
			to[out] = len && (unsigned char)name.data[at] >= ' ' && name.data[at] != 0x7f ? name.data[at] : '?';
		out += len ? len : 1;
	}
	return out;
}

/* -ENOMEM: no memory, or no space for more names. */
static int put_label(struct stacks_folded *f, struct fxt_str name, const char *otherwise, const char *mark, uint32_t *label)
{
	char text[NAME_BYTES + 8];
	size_t len = clean(text, NAME_BYTES, name.len ? name : fxt_str(otherwise));

	memcpy(text + len, mark, strlen(mark));
	*label = pf_pool_add(&f->text, text, len + strlen(mark));
	return *label == PF_POOL_FULL ? -ENOMEM : 0;
}

static int put_frame(struct stacks_folded *f, const struct stacks *s, const struct stacks_frame *frame, uint32_t *label)
{
	const char *mark = frame->kind == PROFILE_KERNEL ? "_[k]" : frame->kind == PROFILE_JIT ? "_[j]" : "";

	return put_label(f, stacks_text(s, frame->name), "[unknown]", mark, label);
}

/* Labels from the innermost frame out to the process: how many, or -ENOMEM. */
static int get_labels(struct stacks_folded *f, const struct stacks *s, const struct stack_node *n,
		      const struct stacks_thread *thread, uint32_t labels[LABELS_MAX])
{
	int cnt = 0, err = 0;

	for (; !err && n->parent != STACK_TREE_NONE; n = &s->tree.nodes[n->parent])
		err = put_frame(f, s, &s->frames[n->label], &labels[cnt++]);
	err = err ? err : put_label(f, stacks_name_of(s, STACKS_THREAD, thread), "?", "", &labels[cnt++]);
	err = err ? err : put_label(f, stacks_name_of(s, STACKS_PROCESS, thread), "?", "", &labels[cnt++]);
	return err ? err : cnt;
}

static int add_value(struct stacks_folded *f, uint32_t node, unsigned int side, uint64_t value)
{
	int err;

	while (f->values_cnt <= node) {
		err = array_reserve(f->values, f->values_cnt, f->values_cap, 1);
		if (err)
			return err;
		f->values[f->values_cnt++] = (struct stacks_folded_value){ { 0 } };
	}
	f->values[node].of[side] += value;
	return 0;
}

int stacks_folded_add(struct stacks_folded *f, const struct stacks *s, enum profile_source source, unsigned int side)
{
	const struct stacks_thread *thread;
	uint32_t labels[LABELS_MAX], node;
	enum profile_source found;
	const struct stack_node *n;
	int cnt, err = 0;

	f->is_time[side] = source != PROFILE_CPU && stacks_has_weights(s, source);
	for (n = s->tree.nodes; !err && n < s->tree.nodes + s->tree.nodes_cnt; n++) {
		thread = n->self.samples ? stacks_thread_of(s, n, &found) : NULL;
		if (!thread || found != source || !stacks_thread_matches(s, thread, f->comm))
			continue;
		cnt = get_labels(f, s, n, thread, labels);
		if (cnt < 0)
			return cnt;
		for (node = STACK_TREE_NONE; !err && cnt; )
			err = stack_tree_child(&f->tree, node, labels[--cnt], &node);
		err = err ? err : add_value(f, node, side, stack_value_of(n->self, f->is_time[side]));
	}
	return err == -ENOSPC ? -ENOMEM : err;
}

static void write_labels(const struct stacks_folded *f, FILE *out, const struct stack_node *n)
{
	const struct stack_node *path[LABELS_MAX];
	struct fxt_str label;
	size_t cnt = 0;

	for (; n->parent != STACK_TREE_NONE; n = &f->tree.nodes[n->parent])
		path[cnt++] = n;
	path[cnt++] = n;
	while (cnt--) {
		label = pf_pool_str(&f->text, path[cnt]->label);
		fwrite(label.data, 1, label.len, out);
		putc(cnt ? ';' : ' ', out);
	}
}

static uint64_t shown_value(const struct stacks_folded *f, size_t i, unsigned int side)
{
	const uint64_t value = f->values[i].of[side];

	return f->is_time[side] ? value / 1000 + (value % 1000 >= 500) : value;
}

void stacks_folded_write(const struct stacks_folded *f, FILE *out, unsigned int sides)
{
	unsigned int side;
	size_t i;

	for (i = 0; i < f->values_cnt; i++) {
		if (!f->values[i].of[0] && !f->values[i].of[1])
			continue;
		write_labels(f, out, &f->tree.nodes[i]);
		for (side = 0; side < sides; side++)
			fprintf(out, "%s%" PRIu64, side ? " " : "", shown_value(f, i, side));
		putc('\n', out);
	}
}

void stacks_folded_fini(struct stacks_folded *f)
{
	pf_pool_fini(&f->text);
	stack_tree_fini(&f->tree);
	free(f->values);
	*f = (struct stacks_folded){ 0 };
}
