// SPDX-License-Identifier: GPL-2.0
#include "traced.h"

#include <elf.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the process ---------------------------------------------------------------------------- */

static void run_program(const char *root, const char *path, const char *arg)
{
	/* In a user namespace of its own it needs no right. */
	if (root && chroot(root) && (unshare(CLONE_NEWUSER) || chroot(root)))
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execl(path, path, arg, NULL);
	_exit(127);
}

static struct traced *running;	/* after a test that failed, too */

struct traced *traced_start(const char *root, const char *path, const char *arg)
{
	struct traced *t = calloc(1, sizeof(*t));
	int status;

	assert_non_null(t);
	if (running)
		traced_end(running);
	running = t;
	t->pid = t->tid = fork();
	assert_true(t->pid >= 0);
	if (!t->pid)
		run_program(root, path, arg);
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	if (!WIFSTOPPED(status))
		fail_msg("%s cannot be run", path);
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, t->pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL), 0);
	return t;
}

/* What a thread that stopped with @status is to go on with: a signal, 0 for none; -1: it is to stay. */
static int signal_for(int status)
{
	const int signal = WSTOPSIG(status);

	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8))
		return 0;
	return signal == SIGSTOP || signal == SIGTRAP ? -1 : signal;
}

/* A thread that has just been made stops, too. */
static bool is_new(pid_t tid, pid_t *known)
{
	const bool new = *known != tid;

	*known = tid;
	return new;
}

void traced_run(struct traced *t)
{
	pid_t tid = t->tid, known = t->tid;
	int status, signal = 0;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal), 0);
		tid = waitpid(-1, &status, __WALL);
		assert_true(tid > 0);
		if (!WIFSTOPPED(status))
			fail_msg("the program ended with status %#x", status);
		signal = signal_for(status);
		if (signal == -1 && is_new(tid, &known))
			signal = 0;
		if (signal == -1)
			break;
	}
	t->tid = tid;
}

bool traced_step(struct traced *t)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, t->tid, NULL, NULL), 0);
	assert_int_equal(waitpid(t->tid, &status, __WALL), t->tid);
	/* The next instruction is then the handler's first. */
	if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, t->tid, NULL, (void *)(long)SIGUSR1), 0);
		assert_int_equal(waitpid(t->tid, &status, __WALL), t->tid);
	}
	return WIFSTOPPED(status);
}

void traced_end(struct traced *t)
{
	int status;

	kill(t->pid, SIGKILL);
	while (waitpid(-1, &status, __WALL) > 0)
		;
	running = NULL;
	free(t);
}

/* ---- what is in it -------------------------------------------------------------------------- */

static void read_registers(const struct traced *t, struct unwind_regs *regs)
{
	struct user_regs_struct user;
	struct iovec iov = { &user, sizeof(user) };

	assert_int_equal(ptrace(PTRACE_GETREGSET, t->tid, (void *)NT_PRSTATUS, &iov), 0);
#if defined(__x86_64__)
	*regs = (struct unwind_regs){ .ip = user.rip, .sp = user.rsp, .bp = user.rbp };
#elif defined(__aarch64__)
	*regs = (struct unwind_regs){ .ip = user.pc, .sp = user.sp, .bp = user.regs[29], .lr = user.regs[30] };
#else
#error "not a machine that can be unwound"
#endif
}

static size_t read_memory(const struct traced *t, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)address, bytes };
	const ssize_t n = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

/* As many as there are, page by page: one read beyond the end would fail as a whole. */
static size_t copy_stack(struct traced *t, uint64_t sp, size_t bytes_max)
{
	size_t n, done = 0, bytes;

	while (done < bytes_max) {
		bytes = 4096 - (sp + done) % 4096;
		if (bytes > bytes_max - done)
			bytes = bytes_max - done;
		n = read_memory(t, sp + done, t->stack + done, bytes);
		done += n;
		if (n < bytes)
			break;
	}
	return done;
}

/* As the kernel does it. */
static unsigned int walk_fp(struct traced *t, const struct unwind_regs *regs)
{
	uint64_t at = regs->bp, frame[2];
	unsigned int cnt = 0;

	t->fp[cnt++] = regs->ip;
	while (cnt < UNWIND_FRAMES_MAX && at && at % 8 == 0 && read_memory(t, at, frame, sizeof(frame)) == sizeof(frame)) {
		t->fp[cnt++] = frame[1];
		if (frame[0] <= at)
			break;
		at = frame[0];
	}
	return cnt;
}

void traced_look(struct traced *t, size_t stack_bytes)
{
	t->in = (struct unwind_input){ .process = t->pid, .ts = 1, .stack = t->stack, .fp = t->fp };
	read_registers(t, &t->in.regs);
	if (stack_bytes > TRACED_STACK_BYTES)
		stack_bytes = TRACED_STACK_BYTES;
	t->in.stack_bytes = copy_stack(t, t->in.regs.sp, stack_bytes);
	t->in.fp_cnt = walk_fp(t, &t->in.regs);
}
