// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of stacks: groups, order, shares, what is cut.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analysis/stacks_view.h"
#include "stacks_made.h"

#define TEXT_BYTES	1000

static int setup(void **state)
{
	struct stacks *s;

	assert_int_equal(stacks_open(&s, NULL), 0);
	put_stack_names(s);
	put_sample(s, PROFILE_CPU, 1, 11, 10, "main;a;lock");
	put_sample(s, PROFILE_CPU, 2, 12, 20, "main;b;lock");
	put_sample(s, PROFILE_CPU, 3, 12, 30, "main;b;b;lock");
	put_sample(s, PROFILE_CPU, 4, 13, 40, "[cut];b");
	put_sample(s, PROFILE_CPU, 5, 5, 50, "kthread_[k];poll_[k]");
	put_sample(s, PROFILE_CPU, 6, 13, 60, "poll_[k]");
	put_sample(s, PROFILE_OFF_CPU, 7, 13, 70, "main");
	put_sample(s, PROFILE_WAKER, 8, 13, 80, "woken by app 11;[cut];b");
	put_sample(s, PROFILE_WAKER, 9, 13, 90, "woken by app 11;poll_[k]");
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	stacks_close(*state);
	return 0;
}

static struct fxt_str label(const struct stacks_view *v, const struct stack_node *n)
{
	if (!stacks_view_is_group(v, n))
		return stacks_text(v->stacks, v->stacks->frames[n->label].name);
	return stacks_name_of(v->stacks, stacks_view_named(v->cfg.by), &v->stacks->threads[n->label]);
}

/* "main 60 (b 50 (...))" */
static void print(const struct stacks_view *v, uint32_t parent, FILE *out)
{
	size_t i, cnt;
	const uint32_t *children = stacks_view_children(v, parent, &cnt);
	const struct stack_node *n;

	for (i = 0; i < cnt; i++) {
		n = &v->tree.nodes[children[i]];
		fprintf(out, "%s%.*s %d", i ? ", " : "", (int)label(v, n).len, label(v, n).data, (int)n->total.weight_ns);
		if (v->first[children[i]] == v->first[children[i] + 1])
			continue;
		fputs(" (", out);
		print(v, children[i], out);
		fputs(")", out);
	}
}

static void assert_view(const struct stacks *s, struct stacks_view_cfg cfg, const char *expected)
{
	char text[TEXT_BYTES] = "";
	struct stacks_view v;
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(stacks_view_init(&v, s, &cfg), 0);
	print(&v, STACK_TREE_NONE, out);
	fclose(out);
	stacks_view_fini(&v);
	assert_string_equal(text, expected);
}

static void the_heaviest_is_first(void **state)
{
	assert_view(*state, (struct stacks_view_cfg){ 0 },
		    "main 60 (b 50 (b 30 (lock 30), lock 20), a 10 (lock 10)), poll 60, kthread 50 (poll 50), [cut] 40 (b 40)");
	assert_view(*state, (struct stacks_view_cfg){ .source = PROFILE_OFF_CPU }, "main 70");
	assert_view(*state, (struct stacks_view_cfg){ .source = PROFILE_OTHER }, "");
}

static void inverted_callers_are_below(void **state)
{
	assert_view(*state, (struct stacks_view_cfg){ .inverted = true },
		    "poll 110 (kthread 50), lock 60 (b 50 (b 30 (main 30), main 20), a 10 (main 10)), b 40 ([cut] 40)");
}

static void groups_are_roots(void **state)
{
	assert_view(*state, (struct stacks_view_cfg){ .by = STACKS_BY_PROCESS, .inverted = true },
		    "app 160 (lock 60 (b 50 (b 30 (main 30), main 20), a 10 (main 10)), poll 60, b 40 ([cut] 40)), "
		    "kernel 50 (poll 50 (kthread 50))");
	/* The last one it was in; that of the kernel's threads is not known. */
	assert_view(*state, (struct stacks_view_cfg){ .by = STACKS_BY_CGROUP, .inverted = true },
		    "/app.slice 160 (lock 60 (b 50 (b 30 (main 30), main 20), a 10 (main 10)), poll 60, b 40 ([cut] 40)), "
		    " 50 (poll 50 (kthread 50))");
	assert_view(*state, (struct stacks_view_cfg){ .by = STACKS_BY_CONTAINER, .inverted = true },
		    "0123 160 (lock 60 (b 50 (b 30 (main 30), main 20), a 10 (main 10)), poll 60, b 40 ([cut] 40)), "
		    " 50 (poll 50 (kthread 50))");
	assert_view(*state, (struct stacks_view_cfg){ .by = STACKS_BY_UNIT, .inverted = true },
		    "app.service 160 (lock 60 (b 50 (b 30 (main 30), main 20), a 10 (main 10)), poll 60, b 40 ([cut] 40)), "
		    " 50 (poll 50 (kthread 50))");
	assert_view(*state, (struct stacks_view_cfg){ .by = STACKS_BY_COMM },
		    "logger 100 (poll 60, [cut] 40 (b 40)), "
		    "worker 60 (main 60 (b 50 (b 30 (lock 30), lock 20), a 10 (lock 10))), kworker 50 (kthread 50 (poll 50))");
	assert_view(*state, (struct stacks_view_cfg){ .by = STACKS_BY_THREAD },
		    "logger 100 (poll 60, [cut] 40 (b 40)), worker 50 (main 50 (b 50 (b 30 (lock 30), lock 20))), "
		    "kworker 50 (kthread 50 (poll 50)), worker 10 (main 10 (a 10 (lock 10)))");
}

static void names_select(void **state)
{
	assert_view(*state, (struct stacks_view_cfg){ .comm = "k*" }, "kthread 50 (poll 50)");
	assert_view(*state, (struct stacks_view_cfg){ .comm = "work" }, "");
}

static void what_is_missing_is_counted(void **state)
{
	struct stacks_view v;

	assert_int_equal(stacks_view_init(&v, *state, &(struct stacks_view_cfg){ 0 }), 0);
	assert_int_equal(v.all.samples, 6);
	assert_int_equal(v.all.weight_ns, 210);
	assert_int_equal(v.cut.samples, 1);
	assert_int_equal(v.cut.weight_ns, 40);
	/* A kernel thread has no user part that could be missing. */
	assert_int_equal(v.no_user.samples, 1);
	assert_int_equal(v.no_user.weight_ns, 60);
	assert_true(stacks_view_share(&v, v.cut) > 19.04 && stacks_view_share(&v, v.cut) < 19.05);
	stacks_view_fini(&v);
	/* The line that says who woke it is not a frame of it. */
	assert_int_equal(stacks_view_init(&v, *state, &(struct stacks_view_cfg){ .source = PROFILE_WAKER }), 0);
	assert_int_equal(v.cut.weight_ns, 80);
	assert_int_equal(v.no_user.weight_ns, 90);
	stacks_view_fini(&v);
}

static void shares_are_of_samples_without_weights(void **state)
{
	struct stacks_view v;

	put_sample(*state, PROFILE_CPU, 1, 13, 0, "main");
	assert_int_equal(stacks_view_init(&v, *state, &(struct stacks_view_cfg){ 0 }), 0);
	assert_false(v.weights);
	assert_int_equal(v.tree.nodes[v.by_rank[0]].total.samples, 4);
	assert_true(stacks_view_share(&v, v.tree.nodes[v.by_rank[0]].total) > 57.1);
	stacks_view_fini(&v);
}

static void a_parent_ranks_before_its_children(void **state)
{
	struct stacks_view v;
	size_t i;

	assert_int_equal(stacks_view_init(&v, *state, &(struct stacks_view_cfg){ .by = STACKS_BY_THREAD }), 0);
	assert_true(v.tree.nodes_cnt > 10);
	for (i = 0; i < v.tree.nodes_cnt; i++) {
		assert_int_equal(v.by_rank[v.rank[i]], i);
		if (v.tree.nodes[i].parent != STACK_TREE_NONE)
			assert_true(v.rank[v.tree.nodes[i].parent] < v.rank[i]);
	}
	stacks_view_fini(&v);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_heaviest_is_first),
		TEST(inverted_callers_are_below),
		TEST(groups_are_roots),
		TEST(names_select),
		TEST(what_is_missing_is_counted),
		TEST(shares_are_of_samples_without_weights),
		TEST(a_parent_ranks_before_its_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
