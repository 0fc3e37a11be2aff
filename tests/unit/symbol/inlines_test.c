// SPDX-License-Identifier: GPL-2.0
/*
 * Inlined functions and lines of programs that are compiled here, at each instruction of a function,
 * against addr2line; with debug files beside the program, and from a server.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/debuginfod.h"
#include "symbol/inlines.h"

#define FRAMES_MAX	8

static const char source[] =
	"#include <cstdio>\n"
	"namespace shop {\n"
	"static inline __attribute__((always_inline)) int square(volatile int *n)\n"
	"{\n"
	"	*n += 1;\n"
	"	return *n * *n;\n"
	"}\n"
	"template<class T> static inline __attribute__((always_inline)) T twice(volatile T *n)\n"
	"{\n"
	"	return square(n)\n"
	"		+ square(n);\n"
	"}\n"
	"__attribute__((noinline)) int pay(volatile int *n)\n"
	"{\n"
	"	int sum = twice(n);\n"
	"	if (sum > 100)\n"
	"		sum += square(n);\n"
	"	return sum;\n"
	"}\n"
	"}\n"
	"int main(int n, char **)\n"
	"{\n"
	"	volatile int v = n;\n"
	"	return shop::pay(&v);\n"
	"}\n";

struct fixture {
	char dir[32];
	char build_id[128];
	uint64_t start, bytes;		/* of shop::pay() */
};

static bool try_shell(const struct fixture *x, const char *command)
{
	char line[4096];

	snprintf(line, sizeof(line), "cd %s && { %s; } >log 2>&1", x->dir, command);
	return !system(line);
}

static void shell(const struct fixture *x, const char *command)
{
	if (!try_shell(x, command))
		fail_msg("%s", command);
}

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	char path[64];
	FILE *f;

	strcpy(x->dir, "/tmp/kfxt-inlines-XXXXXX");
	if (!mkdtemp(x->dir))
		return -1;
	snprintf(path, sizeof(path), "%s/a.cc", x->dir);
	f = fopen(path, "w");
	fputs(source, f);
	fclose(f);
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", x->dir);
	if (system(command))
		return -1;
	free(x);
	return 0;
}

/* What @command prints first, by @fmt. */
static void ask(const struct fixture *x, const char *command, const char *fmt, void *out)
{
	char line[4096];
	FILE *p;

	snprintf(line, sizeof(line), "cd %s && LC_ALL=C %s", x->dir, command);
	p = popen(line, "r");
	assert_true(p && fscanf(p, fmt, out) == 1);
	pclose(p);
}

/* Makes "full" and "bare", which has no DWARF. */
static void compile(struct fixture *x, const char *compiler, const char *flags)
{
	char command[256];

	snprintf(command, sizeof(command), "%s %s -Wl,--build-id -O2 -o full a.cc && strip -o bare full", compiler, flags);
	shell(x, command);
	ask(x, "readelf -n full | sed -n 's/.*Build ID: //p'", "%127s", x->build_id);
	ask(x, "nm -S full | sed -n 's/ .*_ZN4shop3payEPVi//p'", "%lx", &x->start);
	ask(x, "nm -S full | sed -n 's/^[^ ]* \\([^ ]*\\) .*_ZN4shop3payEPVi/\\1/p'", "%lx", &x->bytes);
	assert_true(x->bytes > 10);
}

static int find(const struct fixture *x, struct inlines *i, const char *name, const char *build_id, uint64_t pc,
		struct inline_frame *out)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", x->dir, name);
	return inlines_find(i, path, build_id, pc, out, FRAMES_MAX);
}

/* The function that has the line of the source. */
static const char *name_of_line(unsigned int line)
{
	return line <= 7 ? "shop::square" : line <= 12 ? "shop::twice<int>" : "shop::pay";
}

/* addr2line prints a name and a place for each; its names are those of symbols. */
static void compare(FILE *judge, const struct inline_frame *frames, int cnt)
{
	char line[PATH_MAX], *end;
	const char *file;
	int i;

	for (i = 0; i < cnt; i++) {
		assert_non_null(fgets(line, sizeof(line), judge));
		assert_non_null(fgets(line, sizeof(line), judge));
		end = strrchr(line, ':');
		assert_non_null(end);
		*end = 0;
		file = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
		assert_string_equal(strrchr(frames[i].file, '/') + 1, file);
		assert_int_equal(frames[i].line, (unsigned int)atoi(end + 1));
		assert_string_equal(frames[i].name, name_of_line(frames[i].line));
	}
	assert_null(fgets(line, sizeof(line), judge));
}

/* Returns how many instructions are of an inlined function. */
static int check_all(const struct fixture *x, struct inlines *i, const char *name)
{
	struct inline_frame frames[FRAMES_MAX];
	char command[256];
	int inlined = 0, cnt;
	uint64_t pc;
	FILE *judge;

	for (pc = x->start; pc < x->start + x->bytes; pc++) {
		snprintf(command, sizeof(command), "cd %s && addr2line -i -f -C -e full 0x%lx", x->dir, pc);
		judge = popen(command, "r");
		assert_non_null(judge);
		cnt = find(x, i, name, x->build_id, pc, frames);
		assert_true(cnt >= 1);
		compare(judge, frames, cnt);
		pclose(judge);
		assert_string_equal(frames[cnt - 1].name, "shop::pay");
		inlined += cnt > 1;
	}
	return inlined;
}

static void check_compiler(struct fixture *x, const char *compiler, const char *flags)
{
	struct inline_frame frames[FRAMES_MAX];
	char command[64];
	struct inlines *i;

	snprintf(command, sizeof(command), "command -v %s && command -v addr2line", compiler);
	if (!try_shell(x, command))
		skip();
	compile(x, compiler, flags);
	assert_int_equal(inlines_open(&i, false), 0);
	assert_true(check_all(x, i, "full") > 5);
	assert_true(find(x, i, "full", "", x->start, frames) > 0);
	assert_int_equal(find(x, i, "full", "0123456789", x->start, frames), 0);
	assert_int_equal(find(x, i, "full", x->build_id, 0, frames), 0);
	assert_int_equal(find(x, i, "full", x->build_id, UINT64_MAX, frames), 0);
	assert_int_equal(find(x, i, "bare", x->build_id, x->start, frames), 0);
	assert_int_equal(find(x, i, "nowhere", x->build_id, x->start, frames), 0);
	inlines_close(i);
	inlines_close(NULL);
}

static void test_gcc(void **state)
{
	check_compiler(*state, "g++", "-g -gdwarf-5");
}

static void test_gcc_dwarf4(void **state)
{
	check_compiler(*state, "g++", "-g -gdwarf-4 -no-pie");
}

/* Which has no .debug_aranges, and numbers its files from 0. */
static void test_clang(void **state)
{
	check_compiler(*state, "clang++", "-g");
}

static void test_debuglink(void **state)
{
	struct fixture *x = *state;
	struct inline_frame frames[FRAMES_MAX];
	struct inlines *i;

	if (!try_shell(x, "command -v g++"))
		skip();
	compile(x, "g++", "-g");
	shell(x, "objcopy --only-keep-debug full x.debug; cp bare linked; objcopy --add-gnu-debuglink=x.debug linked; "
		 "mkdir .debug; mv x.debug .debug");
	assert_int_equal(inlines_open(&i, false), 0);
	assert_true(check_all(x, i, "linked") > 5);
	inlines_close(i);
	/* That of another program. */
	shell(x, "sed 's/square/cubic/' a.cc >b.cc; g++ -g -O2 -Wl,--build-id -o other b.cc; "
		 "objcopy --only-keep-debug other .debug/x.debug");
	assert_int_equal(inlines_open(&i, false), 0);
	assert_int_equal(find(x, i, "linked", x->build_id, x->start, frames), 0);
	inlines_close(i);
}

/* Sixteen bytes at part @n of @cnt of a copy of "full" become others, the same ones each time. */
static void make_damaged(const struct fixture *x, int n, int cnt)
{
	uint8_t bytes[16];
	char path[64];
	size_t i;
	FILE *f;

	shell(x, "cp full damaged");
	snprintf(path, sizeof(path), "%s/damaged", x->dir);
	f = fopen(path, "r+");
	assert_true(f && !fseek(f, 0, SEEK_END));
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(131 * n + 37 * i * i + (n % 3 ? 0x80 : 0));
	assert_int_equal(fseek(f, ftell(f) * n / cnt, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, sizeof(bytes), f), sizeof(bytes));
	fclose(f);
}

static void test_damaged(void **state)
{
	struct fixture *x = *state;
	struct inline_frame frames[FRAMES_MAX];
	struct inlines *i;
	int n, known = 0;

	if (!try_shell(x, "command -v g++"))
		skip();
	compile(x, "g++", "-g");
	for (n = 0; n < 100; n++) {
		make_damaged(x, n, 100);
		assert_int_equal(inlines_open(&i, false), 0);
		known += find(x, i, "damaged", "", x->start + x->bytes / 2, frames) > 0;
		inlines_close(i);
	}
	assert_true(known);
}

/* ---- from a server -------------------------------------------------------------------- */

/* A server of "x->dir/www" at a free port, which is in $DEBUGINFOD_URLS then. */
static pid_t start_server(const struct fixture *x)
{
	static const char script[] =
		"import functools, http.server, sys\n"
		"handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory='www')\n"
		"server = http.server.HTTPServer(('127.0.0.1', 0), handler)\n"
		"open('port.new', 'w').write(str(server.server_port))\n"
		"__import__('os').rename('port.new', 'port')\n"
		"server.serve_forever()\n";
	char path[64], url[64];
	unsigned int port = 0;
	pid_t pid = fork();
	FILE *f = NULL;
	int n;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!chdir(x->dir) && freopen("server.log", "w", stderr))
			execlp("python3", "python3", "-c", script, NULL);
		_exit(1);
	}
	snprintf(path, sizeof(path), "%s/port", x->dir);
	for (n = 0; n < 300 && !f; n++) {
		usleep(100000);
		f = fopen(path, "r");
	}
	assert_true(f && fscanf(f, "%u", &port) == 1);
	fclose(f);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
	setenv("DEBUGINFOD_URLS", url, 1);
	snprintf(path, sizeof(path), "%s/cache", x->dir);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	return pid;
}

static void test_server(void **state)
{
	struct fixture *x = *state;
	char command[512], path[PATH_MAX];
	struct inline_frame frames[FRAMES_MAX];
	struct inlines *i;
	pid_t server;

	unsetenv("DEBUGINFOD_URLS");
	if (debuginfod_fetch("0123", path) == -ENOSYS || !try_shell(x, "command -v g++ && command -v python3"))
		skip();
	compile(x, "g++", "-g");
	snprintf(command, sizeof(command), "mkdir -p www/buildid/%s; objcopy --only-keep-debug full www/buildid/%s/debuginfo",
		 x->build_id, x->build_id);
	shell(x, command);
	server = start_server(x);
	assert_int_equal(inlines_open(&i, false), 0);
	assert_int_equal(find(x, i, "bare", x->build_id, x->start, frames), 0);
	inlines_close(i);
	assert_false(try_shell(x, "ls cache"));
	assert_int_equal(inlines_open(&i, true), 0);
	assert_true(check_all(x, i, "bare") > 5);
	/* Also where the program itself is not here any more. */
	assert_true(find(x, i, "nowhere", x->build_id, x->start, frames) > 0);
	inlines_close(i);
	assert_int_equal(debuginfod_fetch(x->build_id, path), 0);
	assert_int_equal(strncmp(path, x->dir, strlen(x->dir)), 0);
	assert_int_equal(debuginfod_fetch("0123456789abcdef", path), -ENOENT);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

static void test_no_server(void **state)
{
	char path[PATH_MAX];

	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(debuginfod_fetch("", path), -EINVAL);
	assert_int_equal(debuginfod_fetch("012", path), -EINVAL);
	assert_int_equal(debuginfod_fetch("../../etc/passwd", path), -EINVAL);
	if (debuginfod_fetch("0123", path) == -ENOSYS)
		skip();
	assert_int_equal(debuginfod_fetch("0123", path), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_gcc, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gcc_dwarf4, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_clang, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_debuglink, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_server, set_up, tear_down),
		cmocka_unit_test(test_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
