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
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <seccomp.h>

#include "../child.h"
#include "session/privileges.h"
#include "capture/sources_p.h"
#include "source/table.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED	true	/* it needs some calls itself */
#else
#define SANITIZED	false
#endif

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

static bool confine_to(const struct privileges_cfg *cfg)
{
	struct confined out;

	CHECK(!privileges_confine(cfg, &out));
	CHECK(of_status("NoNewPrivs") == 1);
	if (out.filter_err)
		dprintf(STDERR_FILENO, "this machine filters no calls: %s\n", strerror(-out.filter_err));
	return !out.filter_err;
}

static bool confine(pid_t command)
{
	return confine_to(&(struct privileges_cfg){ .command = command });
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
	CHECK_REFUSED(rmdir("/tmp/kfxt-confine-test"));
	CHECK_REFUSED(unlinkat(AT_FDCWD, "/tmp/kfxt-confine-test", AT_REMOVEDIR));
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
	CHECK_REFUSED(vfork());
	CHECK_REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	CHECK_REFUSED(mprotect(mem, 4096, PROT_READ | PROT_EXEC));
	CHECK_REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	CHECK_REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static void test_refused(void **state)
{
	(void)state;
	run_child(refuse);
}

static const struct source_call of_source[] = {
	{ SCMP_SYS(unlinkat), 2, AT_REMOVEDIR, AT_REMOVEDIR },
	{ .call = SCMP_SYS(socket) },
	{ .call = SOURCE_LAST_CALL },
};

/* What a source that is selected says, and no more; what one says that is not selected changes nothing. */
static void allow_of_source(void)
{
	static const struct source_ops with_calls = { .calls = of_source }, without = { 0 };
	const struct source_ops *table[RAW_KIND_CNT];
	struct sources s = { .table = table, .has[RAW_PSI] = true };
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		table[i] = i == RAW_PSI || i == RAW_IRQ ? &with_calls : &without;
	CHECK(sources_call(&s, 1) == &of_source[1] && !sources_call(&s, 2));
	if (!confine_to(&(struct privileges_cfg){ .sources = &s }))
		return;
	CHECK(unlinkat(AT_FDCWD, "/tmp/kfxt-confine-test", AT_REMOVEDIR) == -1 && errno == ENOENT);
	CHECK(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	CHECK_REFUSED(unlinkat(AT_FDCWD, "/tmp/kfxt-confine-test", 0));
	CHECK_REFUSED(connect(-1, NULL, 0));
}

/* Of unlinkat(), none of which it takes: one for each source. */
#define FLAGS(kind)	(0x10000 + (int)(kind))

/* All of them at once: what any source says passes the filter. */
static void allow_of_all(void)
{
	struct source_call own[RAW_KIND_CNT][2];
	struct source_ops ops[RAW_KIND_CNT] = { 0 };
	const struct source_ops *table[RAW_KIND_CNT];
	struct sources s = { .table = table };
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++) {
		own[i][0] = (struct source_call){ SCMP_SYS(unlinkat), 2, UINT32_MAX, FLAGS(i) };
		own[i][1] = (struct source_call){ .call = SOURCE_LAST_CALL };
		ops[i].calls = own[i];
		table[i] = &ops[i];
		s.has[i] = true;
	}
	if (!confine_to(&(struct privileges_cfg){ .sources = &s }))
		return;
	for (i = 0; i < RAW_KIND_CNT; i++)
		CHECK(unlinkat(AT_FDCWD, "/tmp/kfxt-confine-test", FLAGS(i)) == -1 && errno == EINVAL);
	CHECK_REFUSED(unlinkat(AT_FDCWD, "/tmp/kfxt-confine-test", FLAGS(RAW_KIND_CNT)));
}

static void test_of_source(void **state)
{
	(void)state;
	run_child(allow_of_source);
	run_child(allow_of_all);
}

/* What the filter takes of the sources there are, each selected alone: its own, all of it. */
static void test_of_table(void **state)
{
	struct sources s = { .table = source_table };
	const struct source_call *call;
	unsigned int i, k, cnt = 0;

	(void)state;
	for (i = 0; i < RAW_KIND_CNT; i++) {
		s.has[i] = true;
		call = source_table[i]->calls;
		for (k = 0; call && call[k].call != SOURCE_LAST_CALL; k++, cnt++)
			assert_ptr_equal(sources_call(&s, k), &call[k]);
		assert_null(sources_call(&s, k));
		s.has[i] = false;
	}
	assert_true(cnt > 0);
	for (i = 0; i < RAW_KIND_CNT; i++)
		s.has[i] = true;
	assert_non_null(sources_call(&s, cnt - 1));
	assert_null(sources_call(&s, cnt));
}

static int listen_here(void)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX };	/* the kernel chooses a name */
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	CHECK(fd > 0 && !bind(fd, (const struct sockaddr *)&address, sizeof(sa_family_t)) && !listen(fd, 4));
	return fd;
}

/* Accepts on the one socket, receives and looks at who it is, and nothing else that sockets can do. */
static void serve_clients(void)
{
	int listener = listen_here(), other = listen_here(), client = socket(AF_UNIX, SOCK_SEQPACKET, 0), fd;
	struct sockaddr_un address;
	struct msghdr msg = { 0 };
	struct ucred cred;
	socklen_t len = sizeof(address), cred_len = sizeof(cred);

	CHECK(!getsockname(listener, (struct sockaddr *)&address, &len));
	CHECK(!connect(client, (struct sockaddr *)&address, len));
	if (!confine_to(&(struct privileges_cfg){ .control_fd = listener }))
		return;
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	CHECK(fd >= 0);
	CHECK(!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) && cred.pid == getpid());
	CHECK(recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) == -1 && errno == EAGAIN);
	CHECK(write(fd, "", 1) == 1);
	CHECK_REFUSED(accept4(other, NULL, NULL, SOCK_CLOEXEC));
	CHECK_REFUSED(recvmsg(fd, &msg, 0));
	CHECK_REFUSED(sendmsg(fd, &msg, 0));
	CHECK_REFUSED(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &cred, &cred_len));
	CHECK_REFUSED(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &cred, cred_len));
	CHECK_REFUSED(listen(other, 4));
	CHECK_REFUSED(socket(AF_UNIX, SOCK_SEQPACKET, 0));
}

/* Without a control socket there is nothing to accept. */
static void serve_none(void)
{
	int listener = listen_here();

	if (confine(0))
		CHECK_REFUSED(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

static void test_control(void **state)
{
	(void)state;
	run_child(serve_clients);
	run_child(serve_none);
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
		setpgid(0, 0);
		close(go[1]);
		_exit(read(go[0], &c, 1) ? 1 : 0);
	}
	confine(command);
	CHECK(open("/proc/self/stat", O_RDONLY | O_CLOEXEC) >= 0);
	CHECK(!pthread_create(&thread, NULL, work, NULL) && !pthread_join(thread, NULL));
	CHECK(!kill(command, 0));
	CHECK(kill(-command, 0) != -1 || errno != ENOSYS);
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
	CHECK(!privileges_drop_all());
	CHECK(!of_status("CapPrm") && !of_status("CapEff") && !of_status("CapInh"));
}

/* A thread that was made before may run for the first time after. */
static void lose_late(void)
{
	confine(getpid());
	lose_all();
}

static void test_capabilities(void **state)
{
	(void)state;
	run_child(lose);
	run_child(lose_all);
	run_child(lose_late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_of_source), cmocka_unit_test(test_of_table),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_capabilities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
