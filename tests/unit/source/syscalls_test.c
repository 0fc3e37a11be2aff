// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of system calls: numbers, what tracefs says of arguments, the choice, and what
 * becomes of deferred records.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/abi/raw.h"
#include "bpf/abi/syscall.h"
#include "capture/source.h"
#include "kernel/syscalls.h"
#include "source/syscall.h"
#include "source/table.h"
#include "kernel/tracefs.h"
#include "fxt/fxt_mem.h"

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(false, SYS_openat), "openat");
	assert_string_equal(syscall_name(false, SYS_getppid), "getppid");
	assert_string_equal(syscall_name(false, 451), "cachestat");
	assert_string_equal(syscall_name(true, 462), "mseal");
#ifdef __x86_64__
	assert_true(syscall_is_probe(false, 335) && syscall_is_probe(false, 336));
	assert_false(syscall_is_probe(true, 335) || syscall_is_probe(true, 336) || syscall_is_probe(false, 334));
#else
	assert_false(syscall_is_probe(false, 335) || syscall_is_probe(false, 336));
#endif
	assert_null(syscall_name(false, SYSCALL_NUMBERS - 1));
	assert_null(syscall_name(false, SYSCALL_NUMBERS));
	assert_null(syscall_name(false, (unsigned int)-1));
#ifdef __x86_64__
	assert_string_equal(syscall_name(true, 20), "getpid");
	assert_string_equal(syscall_name(false, 20), "writev");
#endif
}

#define FIELD(decl, offset)	"\tfield:" decl ";\toffset:" #offset ";\tsize:8;\tsigned:0;\n"

/* What tracefs would have of a call; @fields are lines of its own arguments. */
static struct syscall_proto proto_of(const char *fields, int wanted)
{
	struct syscall_proto proto = { 0 };
	char text[2048];
	int len = snprintf(text, sizeof(text), "name: sys_enter_uname\nID: 1\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
			   "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n%s\nprint fmt: \"a: 0x%%08lx\"\n",
			   fields);

	assert_int_equal(syscall_proto_parse(&proto, text, (size_t)len), wanted);
	return proto;
}

static void test_protos(void **state)
{
	static const enum fxt_arg_type types[] = {
		FXT_ARG_INT32, FXT_ARG_STRING, FXT_ARG_UINT32, FXT_ARG_POINTER, FXT_ARG_UINT64, FXT_ARG_INT64,
	};
	struct syscall_proto p;
	unsigned int i;

	(void)state;
	p = proto_of(FIELD("int dfd", 16) FIELD("const char * filename", 24) FIELD("umode_t mode", 32)
		     FIELD("const char * buf", 40) FIELD("size_t count", 48) FIELD("loff_t pos", 56)
		     FIELD("int seventh", 64), 0);
	assert_true(p.known);
	assert_int_equal(p.args_cnt, SYSCALL_ARGS_MAX);
	for (i = 0; i < SYSCALL_ARGS_MAX; i++)
		assert_int_equal(p.args[i].type, types[i]);
	assert_string_equal(p.args[1].name, "filename");
	p = proto_of(FIELD("unsigned long addr", 16) FIELD("unsigned long fd", 24) FIELD("const clockid_t clock", 32)
		     FIELD("char * shmaddr", 40)
		     "\tfield:__data_loc char[] __name_val;\toffset:48;\tsize:4;\tsigned:0;\n", 0);
	assert_int_equal(p.args_cnt, 4);
	assert_int_equal(p.args[0].type, FXT_ARG_POINTER);
	assert_int_equal(p.args[1].type, FXT_ARG_INT32);
	assert_int_equal(p.args[2].type, FXT_ARG_INT32);
	assert_int_equal(p.args[3].type, FXT_ARG_POINTER);
	p = proto_of("", 0);
	assert_true(p.known);
	assert_int_equal(p.args_cnt, 0);
	p = proto_of("\tfield:broken\n", -EINVAL);
	assert_false(p.known);
}

/* The kernel has another name for uname(2); of a call that there is not nothing is known. */
static void test_protos_of_this_kernel(void **state)
{
	struct syscall_proto p = { 0 };
	char path[256];

	(void)state;
	syscall_proto_read(&p, "nosuchcall");
	assert_false(p.known);
	if (!tracefs_find(path, sizeof(path), "events/syscalls/sys_enter_newuname") || access(path, R_OK | X_OK))
		skip();
	syscall_proto_read(&p, "uname");
	assert_true(p.known);
	assert_int_equal(p.args_cnt, 1);
	assert_int_equal(p.args[0].type, FXT_ARG_POINTER);
}

static void test_choice(void **state)
{
	struct syscalls *s = NULL;
	char why[256];

	(void)state;
	assert_true(syscalls_are_meant("syscalls"));
	assert_true(syscalls_are_meant("syscalls:openat,read"));
	assert_false(syscalls_are_meant("syscalls:sys_enter_openat"));
	assert_false(syscalls_are_meant("syscalls:sys_exit_*"));
	assert_false(syscalls_are_meant("syscallsx"));
	assert_false(syscalls_are_meant("syscall"));
	assert_int_equal(syscalls_choose(&s, "syscalls", true, why, sizeof(why)), 0);
	assert_false(syscalls_any(s));
	assert_int_equal(syscalls_choose(&s, "syscalls:", true, why, sizeof(why)), -EINVAL);
	assert_int_equal(syscalls_choose(&s, "syscalls:read,opennat", true, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "opennat: no such system call (did you mean openat"));
	syscalls_close(s);
	assert_false(syscalls_any(NULL));
}

/* What several triggers need is all of it, in whatever order; what the user takes out after that is taken out of all. */
static void test_needs(void **state)
{
	static const char *const words[][2] = {
		{ "syscalls:!read", "syscalls:!write" }, { "syscalls:futex", "syscalls:!futex,!epoll_pwait" },
		{ "syscalls:!futex,!epoll_pwait", "syscalls:futex" },
	};
	struct syscalls *s;
	char why[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		s = NULL;
		if (syscalls_need(&s, words[i][0], why, sizeof(why)) == -ENOTSUP)
			skip();		/* who may not read tracefs cannot know */
		assert_non_null(s);
		assert_int_equal(syscalls_need(&s, words[i][1], why, sizeof(why)), 0);
		assert_int_equal(syscalls_need(&s, "syscalls:nosuchcall", why, sizeof(why)), -EINVAL);
		assert_true(syscalls_have(s, "syscalls:read") && syscalls_have(s, "syscalls:write"));
		assert_true(syscalls_have(s, "syscalls:futex"));
		assert_int_equal(syscalls_have(s, "syscalls:epoll_pwait"), !i);
		assert_int_equal(syscalls_choose(&s, "syscalls:futex", true, why, sizeof(why)), 0);
		assert_false(syscalls_have(s, "syscalls:futex"));
		syscalls_close(s);
	}
	s = NULL;
	assert_int_equal(syscalls_need(&s, "syscalls:nosuchcall", why, sizeof(why)), -EINVAL);
	assert_null(s);
}

/* The event that a deferred record becomes, as "name arg=value...". */
static const char *written(uint64_t *rec, unsigned int words)
{
	struct syscalls *s = NULL;
	static char text[1024];
	struct fxt_mem mem = { 0 };
	struct fxt_mem_source source;
	struct source_ctx ctx = { 0 };
	struct fxt_writer *w;
	struct fxt_reader *r;
	struct fxt_record record;
	unsigned int cnt = 0, i;
	size_t len = 0;

	assert_int_equal(syscalls_choose(&s, "syscalls", true, text, sizeof(text)), 0);
	rec[RAW_HEADER] = RAW_RECORD(RAW_SYSCALL, words);
	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, &mem), 0);
	assert_int_equal(fxt_write_magic(w), 0);
	assert_int_equal(fxt_write_provider_info(w, 1, fxt_str("test")), 0);
	text[0] = 0;
	ctx.w = w;
	if (source_decode(&source_syscall, s, &ctx, rec, &cnt))
		assert_int_equal(cnt, 0);
	assert_int_equal(fxt_writer_close(w), 0);
	source = (struct fxt_mem_source){ .data = mem.data, .len = mem.len };
	assert_int_equal(fxt_reader_open(&r, fxt_mem_read, &source), 0);
	while (fxt_reader_next(r, &record) > 0) {
		if (record.kind != FXT_KIND_EVENT)
			continue;
		len += snprintf(text + len, sizeof(text) - len, "%.*s", (int)record.event.name.len,
				record.event.name.data);
		for (i = 0; i < record.nargs; i++) {
			const struct fxt_arg *a = &record.args[i];

			len += snprintf(text + len, sizeof(text) - len, " %.*s=", (int)a->name.len, a->name.data);
			if (a->type == FXT_ARG_STRING)
				len += snprintf(text + len, sizeof(text) - len, "%.*s", (int)a->str.len, a->str.data);
			else
				len += snprintf(text + len, sizeof(text) - len, "%d:%lld", a->type, (long long)a->i64);
		}
	}
	fxt_reader_close(r);
	fxt_mem_free(&mem);
	syscalls_close(s);
	return text;
}

static void test_records(void **state)
{
	uint64_t rec[SYSCALL_TEXT] = { [RAW_TS] = 5, [SYSCALL_END_TS] = 9, [SYSCALL_CALL] = SYSCALL_NUMBERS + 1,
				       [SYSCALL_RETURN] = -ENOENT, [SYSCALL_ARGS] = 7 };
	char wanted[256];

	(void)state;
	snprintf(wanted, sizeof(wanted), "syscall_1025 arg1=%d:7 arg2=%d:0 arg3=%d:0 arg4=%d:0 arg5=%d:0 arg6=%d:0 "
		 "return=%d:-2 error=ENOENT", FXT_ARG_POINTER, FXT_ARG_POINTER, FXT_ARG_POINTER, FXT_ARG_POINTER,
		 FXT_ARG_POINTER, FXT_ARG_POINTER, FXT_ARG_INT64);
	assert_string_equal(written(rec, SYSCALL_TEXT), wanted);
	rec[SYSCALL_RETURN] = -512;
	assert_non_null(strstr(written(rec, SYSCALL_TEXT), "error=ERESTARTSYS"));
	rec[SYSCALL_RETURN] = -4096;
	assert_null(strstr(written(rec, SYSCALL_TEXT), "error="));
	rec[SYSCALL_CALL] = (uint32_t)-1 | SYSCALL_COMPAT | SYSCALL_UNFINISHED;
	assert_non_null(strstr(written(rec, SYSCALL_TEXT), "unfinished="));
	assert_null(strstr(written(rec, SYSCALL_TEXT), "return="));
	assert_null(strstr(written(rec, SYSCALL_TEXT), "continues="));
	rec[SYSCALL_CALL] |= SYSCALL_CONTINUES;
	assert_non_null(strstr(written(rec, SYSCALL_TEXT), "unfinished="));
	assert_non_null(strstr(written(rec, SYSCALL_TEXT), "continues="));
	rec[SYSCALL_CALL] &= ~SYSCALL_CONTINUES;
	assert_int_equal(strncmp(written(rec, SYSCALL_TEXT), "compat_-1 ", 10), 0);
	assert_string_equal(written(rec, SYSCALL_TEXT - 1), "");
	rec[SYSCALL_CALL] = SYS_mmap;
	rec[SYSCALL_RETURN] = 0x7000;
	snprintf(wanted, sizeof(wanted), " return=%d:%d", FXT_ARG_POINTER, 0x7000);
	assert_non_null(strstr(written(rec, SYSCALL_TEXT), wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_protos),
		cmocka_unit_test(test_protos_of_this_kernel), cmocka_unit_test(test_choice), cmocka_unit_test(test_needs),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
