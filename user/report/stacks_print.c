// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of stacks. A frame that is the only one below its caller is on the next line, without a mark
 * and without indentation; "- " marks each of several.
 */
#include "stacks_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/columns.h"
#include "base/log.h"

#define INDENT	2	/* columns */

/* Where a line is in the tree. */
struct place {
	unsigned int indent;
	bool is_only;	/* child of its parent */
};

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

const char *stacks_kind_name(enum profile_frame_kind kind)
{
	static const char *const names[PROFILE_FRAME_KIND_CNT] = {
		[PROFILE_NATIVE] = "native", [PROFILE_KERNEL] = "kernel", [PROFILE_INTERPRETED] = "interpreted",
		[PROFILE_JIT] = "jit",
	};

	return (unsigned int)kind < PROFILE_FRAME_KIND_CNT ? names[kind] : NULL;
}

const char *stacks_name_text(struct fxt_str name, enum profile_frame_kind kind, char text[STACKS_NAME_BYTES])
{
	static const char *const marks[PROFILE_FRAME_KIND_CNT] = {
		[PROFILE_KERNEL] = "[k] ", [PROFILE_INTERPRETED] = "[i] ", [PROFILE_JIT] = "[j] ",
	};
	const char *mark = (unsigned int)kind < PROFILE_FRAME_KIND_CNT ? marks[kind] : NULL;
	size_t len = mark ? strlen(mark) : 0;

	memcpy(text, mark ? mark : "", len);
	log_text(text + len, STACKS_NAME_BYTES - len, name.len ? name.data : "[unknown]", name.len ? name.len : 9);
	return text;
}

const char *stacks_frame_text(const struct stacks *s, uint32_t frame, char text[STACKS_NAME_BYTES])
{
	const struct stacks_frame *f = &s->frames[frame];

	return stacks_name_text(stacks_text(s, f->name), f->kind, text);
}

static bool is_one(const struct stacks_view *v)
{
	return v->cfg.by == STACKS_BY_THREAD || v->cfg.by == STACKS_BY_PROCESS;
}

/* "worker (4711)", "worker" of threads of one name, the path of a cgroup, the name of what a process is in. */
static const char *group_text(const struct stacks_view *v, uint32_t thread, char text[STACKS_NAME_BYTES])
{
	const struct stacks_thread *t = &v->stacks->threads[thread];
	struct fxt_str name = stacks_name_of(v->stacks, stacks_view_named(v->cfg.by), t);
	size_t len;

	if (!name.len)
		name = fxt_str("?");
	log_text(text, STACKS_NAME_BYTES - 24, name.data, name.len);
	len = strlen(text);
	if (is_one(v))
		snprintf(text + len, STACKS_NAME_BYTES - len, " (%" PRIu64 ")",
			 v->cfg.by == STACKS_BY_PROCESS ? t->process : t->thread);
	return text;
}

static const char *label_text(const struct stacks_view *v, const struct stack_node *n, char text[STACKS_NAME_BYTES])
{
	return stacks_view_is_group(v, n) ? group_text(v, n->label, text) : stacks_frame_text(v->stacks, n->label, text);
}

/* ---- text -------------------------------------------------------------------- */

static const char *plural(uint64_t cnt)
{
	return cnt == 1 ? "" : "s";
}

static void print_head(const struct stacks_view *v)
{
	const struct stacks_counts *c = &v->stacks->counts[v->cfg.source];

	printf("%s: %" PRIu64 " sample%s", profile_source_name(v->cfg.source), v->all.samples, plural(v->all.samples));
	if (v->weights)
		printf(", %.3f ms", ms(v->all.weight_ns));
	printf(", %" PRIu64 " cut (%.1f %%), %" PRIu64 " without user part (%.1f %%)\n", v->cut.samples,
	       stacks_view_share(v, v->cut), v->no_user.samples, stacks_view_share(v, v->no_user));
	printf("from %.6f s to %.6f s; shares are of %s\n", (double)c->from_ns / 1e9, (double)c->to_ns / 1e9,
	       v->weights ? "time" : "samples");
	if (v->stacks->left_out)
		printf("%" PRIu64 " sample%s of all sources left out: too many distinct stacks\n", v->stacks->left_out,
		       plural(v->stacks->left_out));
}

/* Returns how many columns the numbers have. */
static size_t print_columns(const struct stacks_view *v)
{
	if (v->weights)
		return (size_t)printf("\n%7s %12s%13s %9s  ", "share", "total ms", v->cfg.inverted ? "" : " self ms",
				      "samples") - 1;
	return (size_t)printf("\n%7s %9s%10s  ", "share", "samples", v->cfg.inverted ? "" : " self") - 1;
}

static void print_numbers(const struct stacks_view *v, const struct stack_node *n)
{
	char self[32] = "";

	if (v->weights && !v->cfg.inverted)
		snprintf(self, sizeof(self), " %12.3f", ms(n->self.weight_ns));
	else if (!v->cfg.inverted)
		snprintf(self, sizeof(self), " %9" PRIu64, n->self.samples);
	printf("%6.2f%% ", stacks_view_share(v, n->total));
	if (v->weights)
		printf("%12.3f%13s %9" PRIu64 "  ", ms(n->total.weight_ns), self, n->total.samples);
	else
		printf("%9" PRIu64 "%10s  ", n->total.samples, self);
}

static void print_line(const struct stacks_view *v, const struct stack_node *n, struct place at, size_t columns)
{
	char text[STACKS_NAME_BYTES];
	unsigned int indent = at.indent;

	label_text(v, n, text);
	if (columns && indent > columns / 2)
		indent = (unsigned int)columns / 2;
	if (columns)
		columns_cut(text, columns - indent > INDENT ? columns - indent - INDENT : 1);
	print_numbers(v, n);
	printf("%*s%s%s\n", (int)indent, "", at.is_only ? "  " : "- ", text);
}

/* @indent: of @parent. As deep as the deepest stack. */
static void print_below(const struct stacks_view *v, uint32_t parent, unsigned int indent, uint64_t top, size_t columns)
{
	size_t i, cnt;
	const uint32_t *children = stacks_view_children(v, parent, &cnt);
	const bool is_root = parent == STACK_TREE_NONE;
	struct place at = { .is_only = cnt == 1 && !is_root && !stacks_view_is_group(v, &v->tree.nodes[parent]) };

	at.indent = indent + (is_root || at.is_only ? 0 : INDENT);
	for (i = 0; i < cnt && v->rank[children[i]] < top; i++) {
		print_line(v, &v->tree.nodes[children[i]], at, columns);
		print_below(v, children[i], at.indent, top, columns);
	}
}

static uint64_t shown_cnt(const struct stacks_view *v, const struct stacks_print *p)
{
	return p->top < v->tree.nodes_cnt ? p->top : v->tree.nodes_cnt;
}

void stacks_print_text(const struct stacks_view *v, const struct stacks_print *p)
{
	const uint64_t shown = shown_cnt(v, p);
	size_t numbers;

	print_head(v);
	if (!v->tree.nodes_cnt)
		return;
	numbers = print_columns(v);
	printf("%s\n", v->cfg.inverted ? "  function, below it its callers" : "  function, below it those it called");
	print_below(v, STACK_TREE_NONE, 0, shown, p->width > numbers ? p->width - numbers : p->width ? 1 : 0);
	if (shown < v->tree.nodes_cnt)
		printf("%zu more lines of at most %.2f%% each (-n, --json)\n", v->tree.nodes_cnt - (size_t)shown,
		       stacks_view_share(v, v->tree.nodes[v->by_rank[shown]].total));
}

/* ---- JSON -------------------------------------------------------------------- */

static void json_str(struct json *j, const char *key, struct fxt_str s)
{
	json_key(j, key);
	if (s.len)
		json_string(j, s.data, s.len);
	else
		json_null(j);
}

static void print_value_json(struct json *j, const struct stacks_view *v, const char *what, struct stack_value value)
{
	char key[40];

	snprintf(key, sizeof(key), "%s_samples", what);
	json_key_u64(j, key, value.samples);
	snprintf(key, sizeof(key), "%s_ns", what);
	json_key(j, key);
	if (v->weights)
		json_u64(j, value.weight_ns);
	else
		json_null(j);
	snprintf(key, sizeof(key), "%s_percent", what);
	json_key_fixed(j, key, stacks_view_share(v, value), 4);
}

static void print_group_json(struct json *j, const struct stacks_view *v, const struct stacks_thread *t)
{
	static const char *const keys[STACKS_NAMED_CNT] = { "thread", "process", "cgroup", "container", "unit" };
	const enum stacks_named named = stacks_view_named(v->cfg.by);

	if (named != STACKS_PROCESS)
		json_str(j, keys[named], stacks_name_of(v->stacks, named, t));
	if (v->cfg.by == STACKS_BY_THREAD)
		json_key_u64(j, "tid", t->thread);
	if (is_one(v)) {
		json_str(j, "process", stacks_name_of(v->stacks, STACKS_PROCESS, t));
		json_key_u64(j, "pid", t->process);
	}
}

static void print_frame_json(struct json *j, const struct stacks *s, const struct stacks_frame *f)
{
	json_str(j, "function", stacks_text(s, f->name));
	json_str(j, "mapping", stacks_text(s, f->mapping));
	json_key_text(j, "kind", stacks_kind_name(f->kind));
}

/* A node's id is its place in the array, so that readers need no depth. */
static void print_node_json(struct json *j, const struct stacks_view *v, const uint32_t *ids, uint32_t node)
{
	const struct stack_node *n = &v->tree.nodes[node];

	json_line(j, "");
	json_object(j);
	json_key(j, "parent");
	if (n->parent == STACK_TREE_NONE)
		json_null(j);
	else
		json_u64(j, ids[n->parent]);
	if (stacks_view_is_group(v, n))
		print_group_json(j, v, &v->stacks->threads[n->label]);
	else
		print_frame_json(j, v->stacks, &v->stacks->frames[n->label]);
	print_value_json(j, v, "total", n->total);
	if (!v->cfg.inverted)
		print_value_json(j, v, "self", n->self);
	json_end(j);
}

void stacks_print_json(struct json *j, const struct stacks_view *v, const struct stacks_print *p)
{
	static const char *const by[STACKS_BY_CNT] = {
		NULL, "thread", "process", "comm", "cgroup", "container", "unit",
	};
	const struct stacks_counts *c = &v->stacks->counts[v->cfg.source];
	const uint64_t shown = shown_cnt(v, p);
	uint64_t i;

	json_object(j);
	json_key_text(j, "source", profile_source_name(v->cfg.source));
	json_key_text(j, "by", by[v->cfg.by]);
	json_key_bool(j, "inverted", v->cfg.inverted);
	json_key_text(j, "shares_of", v->weights ? "time" : "samples");
	json_key_u64(j, "from_ns", c->from_ns);
	json_key_u64(j, "to_ns", c->to_ns);
	print_value_json(j, v, "all", v->all);
	print_value_json(j, v, "cut", v->cut);
	print_value_json(j, v, "no_user_part", v->no_user);
	json_key_u64(j, "left_out_samples", v->stacks->left_out);
	json_key_u64(j, "nodes_in_all", v->tree.nodes_cnt);
	json_key(j, "nodes");
	json_array(j);
	for (i = 0; i < shown; i++)
		print_node_json(j, v, v->rank, v->by_rank[i]);
	json_end(j);
	json_end(j);
}
