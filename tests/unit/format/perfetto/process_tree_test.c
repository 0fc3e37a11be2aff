// SPDX-License-Identifier: GPL-2.0
/*
 * Processes of a trace as packets: as many as there are, none of which is in two BLOB records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/perfetto/decode.h"
#include "format/perfetto/packets.h"
#include "fxt/fxt.h"
#include "fxt/fxt_mem.h"

#define PROCESSES	1000
#define PROCESS_TREE	2	/* of TracePacket */
#define TREE_PROCESS	1
#define DESCRIPTOR	43
#define DESCRIPTOR_LABEL	8
#define LABEL		"container 0123456789ab"

struct found {
	unsigned int processes, labels;
};

/* Those of a packet. */
static void find(struct pf_cursor packet, struct found *out)
{
	struct pf_field found, process;
	struct pf_cursor tree;

	if (pf_find(packet, DESCRIPTOR, PF_BYTES, &found)) {
		assert_true(pf_find(pf_inner(&found), DESCRIPTOR_LABEL, PF_BYTES, &process));
		assert_int_equal(process.len, strlen(LABEL));
		out->labels++;
		return;
	}
	assert_true(pf_find(packet, PROCESS_TREE, PF_BYTES, &found));
	tree = pf_inner(&found);
	while (pf_next(&tree, &process) > 0)
		out->processes += pf_is(&process, TREE_PROCESS, PF_BYTES);
}

/* In a BLOB that must be whole packets. */
static void find_all(const struct fxt_record *rec, struct found *out)
{
	struct pf_cursor packets = pf_message(rec->blob.data, rec->blob.len);
	struct pf_field packet;
	int more;

	while ((more = pf_next(&packets, &packet)) > 0) {
		assert_true(pf_is(&packet, 1, PF_BYTES));
		find(pf_inner(&packet), out);
	}
	assert_int_equal(more, 0);
}

/* Command lines of @len bytes. */
static void check(size_t len, const char *label)
{
	struct fxt_mem mem = { 0 };
	struct fxt_mem_source source;
	struct fxt_writer *w;
	struct fxt_reader *r;
	struct fxt_record rec;
	struct packets *p;
	struct found found = { 0 };
	unsigned int i;
	char text[4096];

	memset(text, 'x', sizeof(text));
	for (i = 10; i < len; i += 10)
		text[i] = 0;
	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, &mem), 0);
	assert_int_equal(fxt_write_magic(w), 0);
	assert_int_equal(packets_open(&p, w), 0);
	for (i = 0; i < PROCESSES; i++)
		assert_int_equal(packets_add_process(p, &(struct packets_process){ i + 1, 1, text, len, label }), 0);
	assert_int_equal(packets_flush(p), 0);
	packets_close(p);
	assert_int_equal(fxt_writer_close(w), 0);
	source = (struct fxt_mem_source){ .data = mem.data, .len = mem.len };
	assert_int_equal(fxt_reader_open(&r, fxt_mem_read, &source), 0);
	while (fxt_reader_next(r, &rec) > 0)
		if (rec.kind == FXT_KIND_BLOB)
			find_all(&rec, &found);
	assert_int_equal(found.processes, PROCESSES);
	assert_int_equal(found.labels, label ? PROCESSES : 0);
	fxt_reader_close(r);
	fxt_mem_free(&mem);
}

static void test_short_command_lines(void **state)
{
	(void)state;
	check(0, NULL);
	check(5, NULL);
}

static void test_long_command_lines(void **state)
{
	(void)state;
	check(130, NULL);
	check(200, NULL);
	check(4096, NULL);
}

static void test_labels(void **state)
{
	(void)state;
	check(0, LABEL);
	check(130, LABEL);
	check(4096, LABEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_command_lines),
		cmocka_unit_test(test_long_command_lines),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
