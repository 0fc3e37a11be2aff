// SPDX-License-Identifier: GPL-2.0
/*
 * Stack samples, added up: trees, values, names, filters.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks.h"
#include "analysis/stacks_folded.h"
#include "stacks_made.h"

static struct stacks *open_named(void)
{
	struct stacks *s;

	assert_int_equal(stacks_open(&s, NULL), 0);
	put_stack_names(s);
	return s;
}

/* All lines of its folded stacks, for free(). */
static char *folded(const struct stacks *s, enum profile_source source)
{
	struct stacks_folded f = { 0 };
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(stacks_folded_add(&f, s, source, 0), 0);
	stacks_folded_write(&f, out, 1);
	fclose(out);
	stacks_folded_fini(&f);
	return text;
}

static void assert_folded(const struct stacks *s, enum profile_source source, const char *expected)
{
	char *text = folded(s, source);

	assert_string_equal(text, expected);
	free(text);
}

static void nodes_are_shared_and_added_up(void **state)
{
	struct stack_tree t = { 0 };
	uint32_t a, b, c, again;

	(void)state;
	assert_int_equal(stack_tree_child(&t, STACK_TREE_NONE, 1, &a), 0);
	assert_int_equal(stack_tree_child(&t, a, 1, &b), 0);
	assert_int_equal(stack_tree_child(&t, a, 2, &c), 0);
	assert_int_equal(stack_tree_child(&t, a, 1, &again), 0);
	assert_int_equal(again, b);
	assert_int_equal(t.nodes_cnt, 3);
	t.nodes[b].self = (struct stack_value){ 2, 20 };
	t.nodes[c].self = (struct stack_value){ 3, 30 };
	t.nodes[a].self = (struct stack_value){ 1, 10 };
	stack_tree_total(&t);
	assert_int_equal(t.nodes[a].total.samples, 6);
	assert_int_equal(t.nodes[a].total.weight_ns, 60);
	assert_int_equal(t.nodes[b].total.samples, 2);
	stack_tree_fini(&t);
}

static void equal_stacks_are_one(void **state)
{
	struct stacks *s = open_named();
	size_t nodes;

	(void)state;
	put_sample(s, PROFILE_CPU, 100, 11, 1000, "main;work");
	nodes = s->tree.nodes_cnt;
	put_sample(s, PROFILE_CPU, 200, 11, 1000, "main;work");
	put_sample(s, PROFILE_CPU, 50, 11, 1000, "main");
	assert_int_equal(s->tree.nodes_cnt, nodes);
	assert_int_equal(s->frames_cnt, 2);
	assert_int_equal(s->counts[PROFILE_CPU].all.samples, 3);
	assert_int_equal(s->counts[PROFILE_CPU].all.weight_ns, 3000);
	assert_int_equal(s->counts[PROFILE_CPU].from_ns, 50);
	assert_int_equal(s->counts[PROFILE_CPU].to_ns, 200);
	assert_folded(s, PROFILE_CPU, "app;worker;main 1\napp;worker;main;work 2\n");
	stacks_close(s);
}

static void sources_are_apart(void **state)
{
	struct stacks *s = open_named();

	(void)state;
	assert_int_equal(stacks_only_source(s), PROFILE_SOURCE_CNT);
	put_sample(s, PROFILE_OFF_CPU, 1, 13, 2500, "main;wait;schedule_[k]");
	assert_int_equal(stacks_only_source(s), PROFILE_OFF_CPU);
	put_sample(s, PROFILE_CPU, 1, 13, 0, "main;wait");
	assert_int_equal(stacks_only_source(s), PROFILE_SOURCE_CNT);
	assert_true(stacks_has_weights(s, PROFILE_OFF_CPU));
	assert_false(stacks_has_weights(s, PROFILE_CPU));
	assert_false(stacks_has_weights(s, PROFILE_WAKER));
	/* Microseconds, rounded. */
	assert_folded(s, PROFILE_OFF_CPU, "app;logger;main;wait;schedule_[k] 3\n");
	assert_folded(s, PROFILE_CPU, "app;logger;main;wait 1\n");
	assert_folded(s, PROFILE_WAKER, "");
	stacks_close(s);
}

static void folded_lines_can_be_split_again(void **state)
{
	struct stacks *s = open_named();

	(void)state;
	assert_int_equal(stacks_name(s, STACKS_PROCESS, 10, fxt_str("a;b\nc\x80")), 0);
	put_sample(s, PROFILE_CPU, 1, 11, 1, "f(int, char)");
	put_sample(s, PROFILE_CPU, 1, 12, 1, "f(int, char)");
	put_sample(s, PROFILE_CPU, 1, 14, 1, "g");
	put_sample(s, PROFILE_CPU, 1, 5, 1, "");
	/* Threads of one name are together. */
	assert_folded(s, PROFILE_CPU, "a:b?c?;worker;f(int, char) 2\na:b?c?;?;g 1\nkernel;kworker;[no stack] 1\n");
	stacks_close(s);
}

static void frames_differ_by_what_was_asked_for(void **state)
{
	struct profile_frame f = { .name = fxt_str("f"), .mapping = fxt_str("/bin/a"), .kind = PROFILE_NATIVE };
	const struct profile_sample sample = { .process = 10, .thread = 10, .frames = &f, .frames_cnt = 1 };
	struct stacks_cfg cfg = { .process = STACKS_PROCESS_ANY };
	struct stacks *s;

	(void)state;
	for (; ; cfg.every_address = true) {
		assert_int_equal(stacks_open(&s, &cfg), 0);
		for (f.rel_pc = 1; f.rel_pc < 5; f.rel_pc++)
			for (f.line = 7; f.line < 9; f.line++)
				assert_int_equal(stacks_add(s, &sample), 0);
		assert_int_equal(s->frames_cnt, cfg.every_address ? 8 : 1);
		f.mapping = fxt_str("/bin/b");
		assert_int_equal(stacks_add(s, &sample), 0);
		f.kind = PROFILE_KERNEL;
		assert_int_equal(stacks_add(s, &sample), 0);
		assert_int_equal(s->frames_cnt, cfg.every_address ? 10 : 3);
		stacks_close(s);
		if (cfg.every_address)
			break;
		f.mapping = fxt_str("/bin/a");
		f.kind = PROFILE_NATIVE;
	}
}

static void times_and_processes_are_selected(void **state)
{
	const struct stacks_cfg cfg = { .from_ns = 100, .to_ns = 200, .process = 0 };
	struct stacks *s;

	(void)state;
	assert_int_equal(stacks_open(&s, &cfg), 0);
	put_sample(s, PROFILE_CPU, 99, 5, 1, "a_[k]");
	put_sample(s, PROFILE_CPU, 100, 5, 1, "b_[k]");
	put_sample(s, PROFILE_CPU, 200, 5, 1, "b_[k]");
	put_sample(s, PROFILE_CPU, 201, 5, 1, "a_[k]");
	put_sample(s, PROFILE_CPU, 150, 11, 1, "c");
	assert_folded(s, PROFILE_CPU, "?;?;b_[k] 2\n");
	stacks_close(s);
}

static int note(void *ctx, const struct stacks_sample *sample)
{
	*(struct stacks_sample *)ctx = *sample;
	return sample->weight_ns == 13 ? -ENOSPC : 0;
}

static void samples_are_handed_on(void **state)
{
	struct stacks_sample last = { 0 };
	const struct stacks_cfg cfg = { .process = STACKS_PROCESS_ANY, .sample = note, .ctx = &last };
	const struct profile_sample refused = { .weight = 13, .source = PROFILE_WAKER };
	const struct profile_sample of_no_source = { .source = PROFILE_SOURCE_CNT };
	struct stacks *s;

	(void)state;
	assert_int_equal(stacks_open(&s, &cfg), 0);
	put_sample(s, PROFILE_OFF_CPU, 77, 11, 9, "a;b");
	assert_int_equal(last.source, PROFILE_OFF_CPU);
	assert_int_equal(last.ts, 77);
	assert_int_equal(last.weight_ns, 9);
	assert_int_equal(s->threads[last.thread].thread, 11);
	assert_int_equal(s->tree.nodes[last.node].self.samples, 1);
	assert_int_equal(stacks_add(s, &refused), -ENOSPC);
	assert_int_equal(stacks_add(s, &of_no_source), 0);
	assert_int_equal(last.source, PROFILE_WAKER);
	stacks_close(s);
}

static void deeper_stacks_than_there_can_be_end(void **state)
{
	static struct profile_frame frames[PROFILE_FRAMES_MAX + 5];
	const struct profile_sample sample = {
		.process = 1, .thread = 1, .frames = frames, .frames_cnt = PROFILE_FRAMES_MAX + 5,
	};
	struct stacks *s = open_named();
	char *text;

	(void)state;
	assert_int_equal(stacks_add(s, &sample), 0);
	assert_int_equal(s->tree.nodes_cnt, PROFILE_FRAMES_MAX + 1);
	text = folded(s, PROFILE_CPU);
	assert_int_equal(strlen(text), strlen("?;?") + PROFILE_FRAMES_MAX * strlen(";[unknown]") + strlen(" 1\n"));
	free(text);
	stacks_close(s);
}

static void two_traces_are_folded_together(void **state)
{
	struct stacks *a = open_named(), *b = open_named();
	struct stacks_folded f = { 0 };
	char *text;
	size_t len;
	FILE *out;

	(void)state;
	put_sample(a, PROFILE_CPU, 1, 11, 1, "main;work");
	put_sample(a, PROFILE_CPU, 1, 11, 1, "main");
	put_sample(b, PROFILE_CPU, 1, 12, 1, "main;other");
	put_sample(b, PROFILE_CPU, 1, 12, 1, "main;work");
	put_sample(b, PROFILE_CPU, 1, 12, 1, "main;work");
	assert_int_equal(stacks_folded_add(&f, a, PROFILE_CPU, 0), 0);
	assert_int_equal(stacks_folded_add(&f, b, PROFILE_CPU, 1), 0);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	stacks_folded_write(&f, out, 2);
	fclose(out);
	assert_string_equal(text, "app;worker;main 1 0\napp;worker;main;work 1 2\napp;worker;main;other 0 1\n");
	free(text);
	stacks_folded_fini(&f);
	stacks_close(a);
	stacks_close(b);
}

/* A record of process 10 with these arguments; then what is known of its cgroup, container and unit. */
static void assert_places(struct stacks *s, const struct fxt_arg *args, unsigned int cnt, const char *expected)
{
	const struct stacks_thread thread = { .process = 10, .thread = 11 };
	struct fxt_record *rec = calloc(1, sizeof(*rec));
	char text[128] = "";
	enum stacks_named what;

	assert_non_null(rec);
	rec->kind = FXT_KIND_KERNEL_OBJECT;
	rec->object = (struct fxt_object){ .id = 10, .kind = FXT_KOBJ_PROCESS };
	rec->nargs = cnt;
	memcpy(rec->args, args, cnt * sizeof(*args));
	assert_int_equal(stacks_read(s, rec), 0);
	for (what = STACKS_CGROUP; what <= STACKS_UNIT; what++) {
		struct fxt_str name = stacks_name_of(s, what, &thread);

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s;", (int)name.len, name.len ? name.data : "");
	}
	assert_string_equal(text, expected);
	free(rec);
}

static void places_of_processes_are_read(void **state)
{
	const struct fxt_arg in_container[] = {
		fxt_arg_str("cgroup", fxt_str("/a")), fxt_arg_str("container", fxt_str("01")), fxt_arg_str("unit", fxt_str("a.scope")),
	};
	const struct fxt_arg in_unit[] = { fxt_arg_str("cgroup", fxt_str("/b")), fxt_arg_str("unit", fxt_str("b.service")) };
	const struct fxt_arg elsewhere[] = { fxt_arg_str("cgroup", fxt_str("/c")), fxt_arg_u64("unit", 1) };
	const struct fxt_arg unknown[] = { fxt_arg_koid("parent", 1) };
	struct stacks *s;

	(void)state;
	assert_int_equal(stacks_open(&s, NULL), 0);
	assert_places(s, unknown, 1, ";;;");
	assert_places(s, in_container, 3, "/a;01;a.scope;");
	assert_places(s, unknown, 1, "/a;01;a.scope;");
	assert_places(s, in_unit, 2, "/b;;b.service;");
	assert_places(s, elsewhere, 2, "/c;;;");
	stacks_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_shared_and_added_up),
		cmocka_unit_test(equal_stacks_are_one),
		cmocka_unit_test(sources_are_apart),
		cmocka_unit_test(folded_lines_can_be_split_again),
		cmocka_unit_test(frames_differ_by_what_was_asked_for),
		cmocka_unit_test(times_and_processes_are_selected),
		cmocka_unit_test(samples_are_handed_on),
		cmocka_unit_test(deeper_stacks_than_there_can_be_end),
		cmocka_unit_test(two_traces_are_folded_together),
		cmocka_unit_test(places_of_processes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
