// SPDX-License-Identifier: GPL-2.0
/*
 * Calls functions and says how often.
 *
 *	calls WHAT=TIMES...
 *
 *	getppid=N	the system call
 *	read=N		read() of a byte of /dev/zero
 *	malloc=N	malloc() and free()
 *	padded=N	padded(), whose first instruction is a no-op of five bytes on x86-64, where
 *			kernels from 6.18 on may replace the trap of a uprobe by a call, which
 *			makes a system call. "# padded begins with BYTE" says what is there
 *			after all calls, in hexadecimal: cc a trap, e8 a call
 *	wait		first a line from standard input, once "ready" has been printed
 *	made=N		inner() from code that was made at run time; x86-64 and arm64
 *	last=N		depart() from last_call(), whose last instruction is that call
 *	chain=N		outer(), which calls middle(), which calls inner()
 *	recurse=NxD	descend(), D deep
 *	threads=T	each of which does all of this (1, which is then the only thread)
 *
 * In this order for each thread, whatever theirs in the command. Prints
 * "TID FUNCTION COUNT" lines and, if there was malloc=, "all malloc COUNT" and
 * "all free COUNT": those of this file in all threads. The C library makes its own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX	64

/* A call that is made as it is written: not inlined, cloned, merged or left out. */
#ifdef __clang__
#define CALLED __attribute__((noinline, optnone, used))
#else
#define CALLED __attribute__((noipa, used))
#endif
/* The value is used and may be any: nothing before or after it can be derived. */
#define OPAQUE(x) __asm__ __volatile__("" : "+r"(x) : : "memory")

struct thread {
	pthread_t thread;
	int tid;
};

static struct {
	long getppid, read, malloc, padded, made, last, chain, recurse, depth, threads, wait;
} plan = { .threads = 1 };

static int zero_fd;

long inner(long x);
long middle(long x);
long outer(long x);
long descend(long depth);

/* What follows a call keeps it from becoming a jump. */
CALLED long inner(long x)
{
	OPAQUE(x);
	return x + 1;
}

CALLED long middle(long x)
{
	x = inner(x);
	OPAQUE(x);
	return x + 1;
}

CALLED long outer(long x)
{
	x = middle(x);
	OPAQUE(x);
	return x + 1;
}

CALLED long descend(long depth)
{
	long x = depth > 1 ? descend(depth - 1) : 0;

	OPAQUE(x);
	return x + 1;
}

#ifdef __x86_64__
void padded(void);
__asm__(".pushsection .text; .globl padded; .type padded, @function; padded: .byte 0x0f, 0x1f, 0x44, 0, 0; "
	"ret; .size padded, . - padded; .popsection");
#else
CALLED static void padded(void)
{
}
#endif

/* Does not return, as exit() does not, but leaves the thread to go on. */
static __thread jmp_buf departed;
void depart(void);
void last_call(void);

CALLED void depart(void)
{
	longjmp(departed, 1);
}

/* What it returns to is the first instruction of the next function, which is never called. */
__asm__(".pushsection .text; .globl last_call; .type last_call, @function; last_call: "
#if defined(__x86_64__)
	"sub $8, %rsp; call depart; "
#elif defined(__aarch64__)
	"stp x29, x30, [sp, -16]!; bl depart; "
#endif
	".size last_call, . - last_call; .type behind_it, @function; behind_it: nop; ret; "
	".size behind_it, . - behind_it; .popsection");

static void call_last(void)
{
	if (!setjmp(departed))
		last_call();
}

/* A page with a function that calls inner(): what is called is in a register. */
static long (*make_code(void))(long (*)(long), long)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {	/* push rbp; mov rax, rdi; mov rdi, rsi; call rax; pop rbp; ret */
		0x55, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3,
	};
#elif defined(__aarch64__)
	static const unsigned int code[] = {	/* stp x29, x30, [sp, -16]!; mov x2, x0; mov x0, x1; blr x2; ldp; ret */
		0xa9bf7bfd, 0xaa0003e2, 0xaa0103e0, 0xd63f0040, 0xa8c17bfd, 0xd65f03c0,
	};
#else
	static const unsigned char code[1];
#endif
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, page + sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		exit(1);
	return (long (*)(long (*)(long), long))page;
}

static void *play(void *arg)
{
	struct thread *t = arg;
	char byte;
	long (*made)(long (*)(long), long) = plan.made ? make_code() : NULL;
	void *p;
	long i;

	t->tid = gettid();
	for (i = 0; i < plan.getppid; i++)
		syscall(SYS_getppid);
	for (i = 0; i < plan.read; i++)
		if (read(zero_fd, &byte, 1) != 1)
			exit(1);
	for (i = 0; i < plan.malloc; i++) {
		p = malloc(16 + i % 100);
		OPAQUE(p);
		free(p);
	}
	for (i = 0; i < plan.padded; i++)
		padded();
	for (i = 0; i < plan.made; i++)
		made(inner, i);
	for (i = 0; i < plan.last; i++)
		call_last();
	for (i = 0; i < plan.chain; i++)
		outer(i);
	for (i = 0; i < plan.recurse; i++)
		descend(plan.depth);
	return NULL;
}

static void tell(const struct thread *t)
{
	if (plan.getppid)
		printf("%d getppid %ld\n", t->tid, plan.getppid);
	if (plan.read)
		printf("%d read %ld\n", t->tid, plan.read);
	if (plan.malloc)
		printf("%d malloc %ld\n%d free %ld\n", t->tid, plan.malloc, t->tid, plan.malloc);
	if (plan.padded)
		printf("%d padded %ld\n", t->tid, plan.padded);
	if (plan.made)
		printf("%d made %ld\n", t->tid, plan.made);
	if (plan.last)
		printf("%d depart %ld\n", t->tid, plan.last);
	if (plan.chain)
		printf("%d outer %ld\n%d middle %ld\n%d inner %ld\n", t->tid, plan.chain, t->tid,
		       plan.chain, t->tid, plan.chain);
	if (plan.recurse)
		printf("%d descend %ld\n", t->tid, plan.recurse * plan.depth);
}

static int parse(const char *arg)
{
	return (!strcmp(arg, "wait") && (plan.wait = 1)) ||
	       sscanf(arg, "getppid=%ld", &plan.getppid) == 1 ||
	       sscanf(arg, "read=%ld", &plan.read) == 1 ||
	       sscanf(arg, "malloc=%ld", &plan.malloc) == 1 ||
	       sscanf(arg, "padded=%ld", &plan.padded) == 1 ||
	       sscanf(arg, "made=%ld", &plan.made) == 1 ||
	       sscanf(arg, "last=%ld", &plan.last) == 1 ||
	       sscanf(arg, "chain=%ld", &plan.chain) == 1 ||
	       sscanf(arg, "recurse=%ldx%ld", &plan.recurse, &plan.depth) == 2 ||
	       (sscanf(arg, "threads=%ld", &plan.threads) == 1 && plan.threads > 0 &&
		plan.threads <= THREADS_MAX);
}

int main(int argc, char **argv)
{
	static struct thread threads[THREADS_MAX];
	static char out[1 << 16];	/* or stdio would call malloc() */
	long i;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	for (i = 1; i < argc; i++)
		if (!parse(argv[i]))
			break;
	if (argc < 2 || i < argc) {
		fprintf(stderr, "usage: calls wait getppid=N read=N malloc=N padded=N made=N last=N chain=N recurse=NxD threads=T\n");
		return 2;
	}
	if (plan.wait) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	zero_fd = open("/dev/zero", O_RDONLY);
	if (plan.threads == 1)
		play(&threads[0]);
	for (i = 0; plan.threads > 1 && i < plan.threads; i++)
		if (pthread_create(&threads[i].thread, NULL, play, &threads[i]))
			return 1;
	for (i = 0; plan.threads > 1 && i < plan.threads; i++)
		pthread_join(threads[i].thread, NULL);
	for (i = 0; i < plan.threads; i++)
		tell(&threads[i]);
	if (plan.padded)
		printf("# padded begins with %02x\n", *(const volatile unsigned char *)padded);
	if (plan.malloc)
		printf("all malloc %ld\nall free %ld\n", plan.threads * plan.malloc,
		       plan.threads * plan.malloc);
	return 0;
}
