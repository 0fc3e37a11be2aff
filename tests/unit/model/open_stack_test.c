// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of begins: whatever is pushed and popped, in any order and depth, what is found is what a search of
 * all from the top down finds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/open_stack.h"

#define NODES		5000U
#define STACKS		3U
#define DEEP		200000U

/* The same as an array. */
struct plain {
	struct open_node *nodes[NODES];
	unsigned int cnt;
};

static uint64_t random_state;

static unsigned int make_random(unsigned int below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)((random_state >> 33) % below);
}

static struct open_node *plain_pop(struct plain *p, uint64_t name)
{
	unsigned int i = p->cnt;
	struct open_node *node;

	while (i && name && p->nodes[i - 1]->name != name)
		i--;
	if (!i)
		return NULL;
	node = p->nodes[i - 1];
	memmove(&p->nodes[i - 1], &p->nodes[i], (p->cnt - i) * sizeof(node));
	p->cnt--;
	return node;
}

/* Names are few or many; most steps are begins at first, then ends. */
static void check_random(unsigned int names)
{
	struct open_node *nodes = calloc(NODES, sizeof(*nodes)), *tops[STACKS] = { 0 }, *found;
	struct plain *plain = calloc(STACKS, sizeof(*plain));
	struct id_table index = { 0 };
	unsigned int used = 0, i, s, word;
	uint64_t name;

	for (i = 0; i < 4 * NODES; i++) {
		s = make_random(STACKS);
		word = make_random(names);
		name = word ? open_name(s, (const char *)&word, sizeof(word)) : 0;
		if (make_random(4 * NODES) > i && used < NODES) {
			nodes[used].name = name;
			assert_int_equal(open_push(&index, &tops[s], &nodes[used]), 0);
			plain[s].nodes[plain[s].cnt++] = &nodes[used++];
			continue;
		}
		assert_int_equal(open_pop(&index, &tops[s], name, 0, &found), 0);
		assert_ptr_equal(found, plain_pop(&plain[s], name));
	}
	for (s = 0; s < STACKS; s++) {
		while (tops[s]) {
			assert_int_equal(open_pop(&index, &tops[s], 0, 0, &found), 0);
			assert_ptr_equal(found, plain_pop(&plain[s], 0));
		}
		assert_int_equal(plain[s].cnt, 0);
	}
	assert_int_equal(index.cnt, 0);
	id_table_fini(&index);
	free(plain);
	free(nodes);
}

static void test_random(void **state)
{
	unsigned int names;

	(void)state;
	for (names = 1; names < 10000; names *= 3)
		check_random(names);
}

/* The oldest first, and ends of what is not open: a search one by one would take minutes. */
static void test_deep(void **state)
{
	struct open_node *nodes = calloc(DEEP, sizeof(*nodes)), *top = NULL, *found;
	struct id_table index = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < DEEP; i++) {
		nodes[i].name = i + 1;
		assert_int_equal(open_push(&index, &top, &nodes[i]), 0);
	}
	for (i = 0; i < DEEP; i++) {
		assert_int_equal(open_pop(&index, &top, DEEP + 1, 0, &found), 0);
		assert_null(found);
		assert_int_equal(open_pop(&index, &top, i + 1, 0, &found), 0);
		assert_ptr_equal(found, &nodes[i]);
	}
	assert_null(top);
	id_table_fini(&index);
	free(nodes);
}

/* One without a name has any: the last of both, near and far. */
static void test_any_name(void **state)
{
	struct open_node nodes[60] = { 0 }, *top = NULL, *found;
	static const struct { uint64_t name; unsigned int wanted; } ends[] = {
		{ 60, 59 }, { 1000, 57 }, { 58, 2 }, { 2, 1 }, { 50, 49 },
	};
	struct id_table index = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 60; i++) {
		nodes[i].name = i == 2 || i == 57 ? 7777 : i + 1;
		assert_int_equal(open_push(&index, &top, &nodes[i]), 0);
	}
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		assert_int_equal(open_pop(&index, &top, ends[i].name, 7777, &found), 0);
		assert_ptr_equal(found, &nodes[ends[i].wanted]);
	}
	id_table_fini(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_any_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
