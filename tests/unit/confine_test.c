// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what a recording gives up: each in a child, since there is no way back.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../user/record/confine.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED	true	/* it needs some calls itself */
#else
#define SANITIZED	false
#endif

/* Ends the child. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			dprintf(STDERR_FILENO, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
			_exit(1); \
		} \
	} while (0)
/* @call fails as though the kernel did not have it. */
#define CHECK_REFUSED(call)	CHECK((errno = 0, (long)(call) == -1) && errno == ENOSYS)

static void run_child(void (*child)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A number of /proc/self/status, hexadecimal as those of capabilities are. */
static uint64_t of_status(const char *name)
{
	unsigned long long value = 0;
	FILE *f = fopen("/proc/self/status", "re");
	bool found = false;
	char line[256];

	CHECK(f);
	while (!found && fgets(line, sizeof(line), f))
		found = !strncmp(line, name, strlen(name)) && sscanf(line + strlen(name), ": %llx", &value) == 1;
	fclose(f);
	CHECK(found);
	return value;
}

static bool confine(pid_t command)
{
	const struct confine_cfg cfg = { .command = command };
	struct confined out;

	CHECK(!confine_self(&cfg, &out));
	CHECK(of_status("NoNewPrivs") == 1);
	if (out.filter_err)
		dprintf(STDERR_FILENO, "this machine filters no calls: %s\n", strerror(-out.filter_err));
	return !out.filter_err;
}

static void refuse(void)
{
	char *const argv[] = { (char []){ "true" }, NULL };
	void *mem;

	mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!confine(0))
		return;
	CHECK(mem != MAP_FAILED);
	CHECK_REFUSED(execve("/bin/true", argv, NULL));
	CHECK_REFUSED(open("/dev/null", O_WRONLY));
	CHECK_REFUSED(open("/dev/null", O_RDWR));
	CHECK_REFUSED(open("/dev/null", O_RDONLY | O_TRUNC));
	CHECK_REFUSED(open("/tmp/kfxt-confine-test", O_RDONLY | O_CREAT, 0600));
	CHECK_REFUSED(unlink("/tmp/kfxt-confine-test"));
	CHECK_REFUSED(rename("/tmp/kfxt-confine-test", "/tmp/kfxt-confine-test2"));
	CHECK_REFUSED(chmod("/tmp/kfxt-confine-test", 0777));
	CHECK_REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	CHECK_REFUSED(mount("none", "/tmp", "tmpfs", 0, NULL));
	CHECK_REFUSED(kill(getppid(), 0));
	CHECK_REFUSED(setuid(getuid()));
	CHECK_REFUSED(syscall(SYS_bpf, 5 /* BPF_PROG_LOAD */, NULL, 0));
	CHECK_REFUSED(syscall(SYS_init_module, NULL, 0, ""));
	CHECK_REFUSED(syscall(SYS_clone3, NULL, 0));
	if (SANITIZED)
		return;
	CHECK_REFUSED(fork());
	CHECK_REFUSED(mprotect(mem, 4096, PROT_READ | PROT_EXEC));
	CHECK_REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	CHECK_REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static void test_refused(void **state)
{
	(void)state;
	run_child(refuse);
}

static void *work(void *arg)
{
	char *mem = malloc(1 << 20);

	memset(mem, 1, 1 << 20);
	free(mem);
	return arg;
}

static void allow(void)
{
	int status, go[2];
	pthread_t thread;
	char c;
	pid_t command;

	CHECK(!pipe(go));
	command = fork();
	if (!command) {
		close(go[1]);
		_exit(read(go[0], &c, 1) ? 1 : 0);
	}
	confine(command);
	CHECK(open("/proc/self/stat", O_RDONLY | O_CLOEXEC) >= 0);
	CHECK(!pthread_create(&thread, NULL, work, NULL) && !pthread_join(thread, NULL));
	CHECK(!kill(command, 0));
	CHECK(!kill(command, SIGKILL));
	CHECK(waitpid(command, &status, 0) == command && WIFSIGNALED(status));
}

static void test_allowed(void **state)
{
	(void)state;
	run_child(allow);
}

static void lose(void)
{
	const uint64_t may_keep = 1ULL << CAP_KILL | 1ULL << CAP_SYS_PTRACE;
	const uint64_t had = of_status("CapPrm"), bound = of_status("CapBnd"), may_bound = 1ULL << CAP_SETPCAP;

	confine(getpid());
	CHECK(of_status("CapPrm") == (had & of_status("CapPrm") & may_keep));
	CHECK((of_status("CapPrm") & 1ULL << CAP_KILL) == (had & 1ULL << CAP_KILL));
	CHECK(of_status("CapEff") == of_status("CapPrm"));
	CHECK(!of_status("CapInh") && !of_status("CapAmb"));
	CHECK(of_status("CapBnd") == (had & may_bound ? of_status("CapPrm") : bound));
}

static void lose_all(void)
{
	CHECK(!confine_drop_all());
	CHECK(!of_status("CapPrm") && !of_status("CapEff") && !of_status("CapInh"));
}

static void test_capabilities(void **state)
{
	(void)state;
	run_child(lose);
	run_child(lose_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_capabilities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
