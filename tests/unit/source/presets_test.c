// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the presets: what deferred records, sysfs and /proc/pressure become.
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
#include <unistd.h>

#include "bpf/abi/block.h"
#include "bpf/abi/irq.h"
#include "bpf/abi/power.h"
#include "bpf/abi/raw.h"
#include "bpf/abi/workqueue.h"
#include "capture/tracks.h"
#include "capture/sources_p.h"
#include "source/table.h"
#include "cli/cli_made.h"

struct fixture {
	char dir[32];
	struct made m;
	size_t seen;		/* where what has not been looked at begins */
	struct sources e;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char why[256];

	assert_non_null(f);
	strcpy(f->dir, "/tmp/kfxt-presets-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	made_begin(&f->m);
	assert_int_equal(fxt_writer_flush(f->m.w), 0);
	f->seen = f->m.len;
	f->e.table = source_table;
	f->e.has[RAW_IRQ] = f->e.has[RAW_WORK] = f->e.has[RAW_POWER] = f->e.has[RAW_BLOCK] = true;
	assert_int_equal(sources_open_selected(&f->e, f->dir, why, sizeof(why)), 0);
	f->e.ctx.w = f->m.w;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	sources_close_selected(&f->e);
	made_close(&f->m);
	made_free(&f->m);
	rmdir(f->dir);
	free(f);
	return 0;
}

static void put_arg(FILE *out, const struct fxt_arg *a)
{
	fprintf(out, " %.*s=", (int)a->name.len, a->name.data);
	switch (a->type) {
	case FXT_ARG_INT32:
		fprintf(out, "%d", a->i32);
		break;
	case FXT_ARG_UINT32:
		fprintf(out, "%u", a->u32);
		break;
	case FXT_ARG_DOUBLE:
		fprintf(out, "%.2f", a->f64);
		break;
	case FXT_ARG_STRING:
		fprintf(out, "%.*s", (int)a->str.len, a->str.data);
		break;
	case FXT_ARG_BOOL:
		fprintf(out, "%s", a->b ? "true" : "false");
		break;
	default:
		fprintf(out, "%llu", (unsigned long long)a->u64);
	}
}

static void put_record(FILE *out, const struct fxt_record *rec)
{
	unsigned int i;

	if (rec->kind == FXT_KIND_KERNEL_OBJECT)
		fprintf(out, "%llu is %.*s", (unsigned long long)rec->object.id, (int)rec->object.name.len,
			rec->object.name.data);
	else
		fprintf(out, "%s %llu %llu/%llu %.*s:%.*s %llu", fxt_event_type_name(rec->event.type),
			(unsigned long long)rec->event.ts, (unsigned long long)rec->event.thread.process,
			(unsigned long long)rec->event.thread.thread, (int)rec->event.category.len,
			rec->event.category.data, (int)rec->event.name.len, rec->event.name.data,
			(unsigned long long)rec->event.id);
	for (i = 0; i < rec->nargs; i++)
		put_arg(out, &rec->args[i]);
	fputc('\n', out);
}

/* The names and events that came since the last time, a line each. */
static void assert_written(struct fixture *f, const char *wanted)
{
	struct fxt_record rec;
	struct fxt_reader *r;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(fxt_writer_flush(f->m.w), 0);
	f->m.at = 0;
	assert_int_equal(fxt_reader_open(&r, made_read, &f->m), 0);
	while (fxt_reader_next(r, &rec) > 0)
		if (rec.offset >= f->seen && (rec.kind == FXT_KIND_KERNEL_OBJECT || rec.kind == FXT_KIND_EVENT))
			put_record(out, &rec);
	fxt_reader_close(r);
	fclose(out);
	f->seen = f->m.len;
	assert_string_equal(text, wanted);
	free(text);
}

/* ---- irq ------------------------------------------------------------------------------ */

static int irq(struct fixture *f, enum irq_kind kind, uint32_t number, uint32_t cpu, const char *name)
{
	uint64_t rec[IRQ_NAME + IRQ_NAME_BYTES / 8] = {
		[RAW_HEADER] = RAW_RECORD(RAW_IRQ, name ? IRQ_NAME + IRQ_NAME_BYTES / 8 : IRQ_NAME),
		[RAW_TS] = 100, [RAW_PROCESS] = 10, [RAW_THREAD] = 11, [IRQ_END_TS] = 150,
	};
	unsigned int written;
	int err;

	rec[IRQ_WHAT] = FXT_PUT(kind, IRQ_F_KIND) | FXT_PUT(cpu, IRQ_F_CPU) | FXT_PUT(number, IRQ_F_NUMBER) |
			FXT_PUT(name && *name, IRQ_F_HANDLED);
	if (name)
		memcpy(rec + IRQ_NAME, name, strnlen(name, IRQ_NAME_BYTES));
	err = sources_decode(&f->e, rec, &written);
	assert_int_equal(written, !err);
	return err;
}

static void test_irqs(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(irq(f, IRQ_HANDLER, 24, 3, "ata1"), 0);
	assert_written(f, "4200000001 is interrupts\n4200030003 is irq CPU 3 process=4200000001\n"
			  "duration_complete 100 4200000001/4200030003 irq:ata1 150 interrupted=11 irq=24 ret=handled\n");
	assert_int_equal(irq(f, IRQ_VECTOR_local_timer, 236, 3, NULL), 0);
	assert_written(f, "duration_complete 100 4200000001/4200030003 irq_vectors:local_timer 150 interrupted=11 vector=236\n");
	/* what no program writes: a kind that there is not, a handler without its name */
	assert_int_equal(irq(f, IRQ_KIND_CNT, 1, 3, NULL), -EINVAL);
	assert_int_equal(irq(f, 255, 1, 3, NULL), -EINVAL);
	assert_int_equal(irq(f, IRQ_HANDLER, 1, 3, NULL), -EINVAL);
	assert_written(f, "");
	assert_int_equal(irq(f, IRQ_SOFTIRQ, 9, 3, NULL), 0);
	assert_written(f, "4200040003 is softirq CPU 3 process=4200000001\n"
			  "duration_complete 100 4200000001/4200040003 irq:RCU 150 interrupted=11 vec=9\n");
	/* without a name, with one that is cut in the middle of a character, with one of no known number */
	assert_int_equal(irq(f, IRQ_HANDLER, 0, 3, ""), 0);
	assert_written(f, "duration_complete 100 4200000001/4200030003 irq: 150 interrupted=11 irq=0 ret=unhandled\n");
	assert_int_equal(irq(f, IRQ_HANDLER, 1, 3, "0123456789012345678901234567890\xc3\xa4"), 0);
	assert_written(f, "duration_complete 100 4200000001/4200030003 irq:0123456789012345678901234567890\xef\xbf\xbd 150"
			  " interrupted=11 irq=1 ret=handled\n");
	assert_int_equal(irq(f, IRQ_SOFTIRQ, 10, 3, NULL), 0);
	assert_written(f, "duration_complete 100 4200000001/4200040003 irq:softirq 150 interrupted=11 vec=10\n");
	assert_int_equal(irq(f, IRQ_SOFTIRQ, 1, PSEUDO_STEP, NULL), -EINVAL);
	assert_written(f, "");
}

/* ---- workqueue ------------------------------------------------------------------------ */

static void test_works(void **state)
{
	struct fixture *f = *state;
	uint64_t rec[WORK_WORDS] = {
		[RAW_HEADER] = RAW_RECORD(RAW_WORK, WORK_WORDS),
		[RAW_TS] = 100, [RAW_PROCESS] = 0, [RAW_THREAD] = 20, [OPEN_END_TS] = 150, [OPEN_PLACE] = 2,
		[WORK_ITEM] = 4096, [WORK_FUNCTION] = 8192, [WORK_QUEUED_TS] = 30,
	};
	unsigned int written;

	assert_int_equal(sources_decode(&f->e, rec, &written), 0);
	assert_int_equal(written, 1);
	assert_written(f, "duration_complete 100 0/20 workqueue:0x2000 150 work=4096 queued_ns=70\n");
	rec[WORK_QUEUED_TS] = 0;
	rec[OPEN_PLACE] |= OPEN_SOFTIRQ | OPEN_UNFINISHED;
	assert_int_equal(sources_decode(&f->e, rec, &written), 0);
	assert_written(f, "4200000001 is interrupts\n4200040002 is softirq CPU 2 process=4200000001\n"
			  "duration_complete 100 4200000001/4200040002 workqueue:0x2000 150 work=4096 unfinished=true\n");
	rec[OPEN_PLACE] |= OPEN_CONTINUES;
	assert_int_equal(sources_decode(&f->e, rec, &written), 0);
	assert_written(f, "duration_complete 100 4200000001/4200040002 workqueue:0x2000 150 work=4096 unfinished=true continues=true\n");
}

/* ---- power ---------------------------------------------------------------------------- */

static void test_power(void **state)
{
	struct fixture *f = *state;
	uint64_t rec[POWER_WORDS] = { [RAW_HEADER] = RAW_RECORD(RAW_POWER, POWER_WORDS), [RAW_TS] = 100 };
	unsigned int written;

	rec[POWER_WHAT] = FXT_PUT(POWER_IDLE, POWER_F_KIND) | FXT_PUT(3, POWER_F_CPU) | FXT_PUT(-1, POWER_F_VALUE);
	assert_int_equal(sources_decode(&f->e, rec, &written), 0);
	assert_int_equal(written, 1);
	assert_written(f, "4200000003 is counters\n4200000003 is counters process=4200000003\n"
			  "counter 100 4200000003/4200000003 power:cpu_idle 3 state=-1\n");
	rec[POWER_WHAT] = FXT_PUT(POWER_FREQUENCY, POWER_F_KIND) | FXT_PUT(300, POWER_F_CPU) |
			  FXT_PUT(2400000, POWER_F_VALUE);
	assert_int_equal(sources_decode(&f->e, rec, &written), 0);
	assert_written(f, "counter 100 4200000003/4200000003 power:cpu_frequency 300 state=2400000\n");
	rec[POWER_WHAT] = FXT_PUT(POWER_KIND_CNT, POWER_F_KIND);
	assert_int_equal(sources_decode(&f->e, rec, &written), -EINVAL);
	assert_int_equal(written, 0);
}

/* Records of no kind, and records too short for their kind: nothing after their end is read. */
static void test_raw(void **state)
{
	struct fixture *f = *state;
	unsigned int kind, words, written;
	uint64_t *rec;

	for (kind = 0; kind < 256; kind++) {
		for (words = 1; words <= RAW_WORDS; words++) {
			rec = calloc(words, sizeof(*rec));	/* for a sanitizer to know its end */
			assert_non_null(rec);
			rec[RAW_HEADER] = RAW_RECORD(kind, words);
			assert_int_equal(sources_decode(&f->e, rec, &written), -EINVAL);
			assert_int_equal(written, 0);
			free(rec);
		}
	}
	assert_written(f, "");
}

/* A file of @text in the fixture's directory; with NULL it is removed, and those above it. */
static void put_file(struct fixture *f, const char *name, const char *text)
{
	char path[128], *end;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	for (end = path + strlen(f->dir) + 1; text && (end = strchr(end, '/')); *end++ = '/') {
		*end = 0;
		mkdir(path, 0700);
	}
	file = text ? fopen(path, "w") : NULL;
	if (file) {
		fputs(text, file);
		fclose(file);
		return;
	}
	assert_null(text);
	for (remove(path); (end = strrchr(path, '/')) > path + strlen(f->dir); remove(path))
		*end = 0;
}

#define CPUS	"sys/devices/system/cpu"

/* They are written once, at the start. */
static void test_frequencies(void **state)
{
	struct fixture *f = *state;

	put_file(f, CPUS "/cpu12/cpufreq/scaling_cur_freq", "1800000\n");
	put_file(f, CPUS "/cpu3/cpufreq/scaling_cur_freq", "<unknown>\n");
	put_file(f, CPUS "/cpufreq/cpufreq/scaling_cur_freq", "1\n");
	assert_int_equal(sources_poll(&f->e, 70, false), 0);
	assert_written(f, "4200000003 is counters\n4200000003 is counters process=4200000003\n"
			  "counter 70 4200000003/4200000003 power:cpu_frequency 12 state=1800000\n");
	assert_int_equal(f->e.ctx.events, 1);
	assert_int_equal(sources_poll(&f->e, 80, false), 0);
	assert_written(f, "");
	put_file(f, CPUS "/cpu12/cpufreq/scaling_cur_freq", NULL);
	put_file(f, CPUS "/cpu3/cpufreq/scaling_cur_freq", NULL);
	put_file(f, CPUS "/cpufreq/cpufreq/scaling_cur_freq", NULL);
}

static void test_no_frequencies(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sources_poll(&f->e, 70, false), 0);
	assert_written(f, "");
	assert_int_equal(f->e.ctx.events, 0);
}

/* ---- block ---------------------------------------------------------------------------- */

#define NO_DISK	(4095u << 20 | 77)	/* no driver has that number */

static void block(struct fixture *f, uint32_t device, uint64_t sector, uint32_t what, uint64_t place)
{
	const uint64_t rec[BLOCK_WORDS] = {
		[RAW_HEADER] = RAW_RECORD(RAW_BLOCK, BLOCK_WORDS),
		[RAW_TS] = 100, [RAW_PROCESS] = 10, [RAW_THREAD] = 11, [OPEN_END_TS] = 150, [OPEN_PLACE] = place,
		[BLOCK_DEVICE] = device, [BLOCK_SECTOR] = sector,
		[BLOCK_WHAT] = FXT_PUT(what, BLOCK_F_FLAGS) | FXT_PUT(4096, BLOCK_F_BYTES),
	};
	unsigned int written;

	assert_int_equal(sources_decode(&f->e, rec, &written), 0);
	assert_int_equal(written, 2);
}

#define OTHER_DISK	(4095u << 20 | 78)

/* Where sysfs says that OTHER_DISK is; NULL: it is gone. */
static void link_disk(struct fixture *f, const char *target)
{
	char path[128];

	put_file(f, "sys/dev/block/file", "");	/* for its directories */
	snprintf(path, sizeof(path), "%s/sys/dev/block/4095:78", f->dir);
	assert_int_equal(target ? symlink(target, path) : unlink(path), 0);
	if (!target)
		put_file(f, "sys/dev/block/file", NULL);
}

static void test_blocks(void **state)
{
	struct fixture *f = *state;

	block(f, NO_DISK, 8, 1 | 1 << 11, 5);
	assert_written(f, "async_begin 100 10/11 block:4095:77 write 1 device=4095:77 sector=8 bytes=4096 rwbs=WS\n"
			  "async_end 150 10/11 block:4095:77 write 1\n");
	block(f, NO_DISK, UINT64_MAX, 2 | 1 << 18, 0);
	assert_written(f, "async_begin 100 10/11 block:4095:77 flush 2 device=4095:77 bytes=4096 rwbs=FF\n"
			  "async_end 150 10/11 block:4095:77 flush 2\n");
	/* all flags; errors that all kernels number alike, and one that they do not */
	block(f, NO_DISK, 0, 0 | 1 << 11 | 1 << 12 | 1 << 17 | 1 << 18 | 1 << 19, FXT_PUT(10, OPEN_F_STATUS));
	assert_written(f, "async_begin 100 10/11 block:4095:77 read 3 device=4095:77 sector=0 bytes=4096 rwbs=FRFASM"
			  " error=-5 status=10\nasync_end 150 10/11 block:4095:77 read 3\n");
	block(f, 0, 0, 35, FXT_PUT(3, OPEN_F_STATUS) | OPEN_REQUEUED);
	assert_written(f, "async_begin 100 10/11 block:driver out 4 sector=0 bytes=4096 rwbs=N error=-28 status=3"
			  " requeued=true\nasync_end 150 10/11 block:driver out 4\n");
	block(f, 0, 0, 255, FXT_PUT(17, OPEN_F_STATUS) | OPEN_UNFINISHED);
	assert_written(f, "async_begin 100 10/11 block:operation 5 sector=0 bytes=4096 rwbs=N error=-5 status=17"
			  " unfinished=true\nasync_end 150 10/11 block:operation 5\n");
	block(f, 0, 0, 255, FXT_PUT(17, OPEN_F_STATUS) | OPEN_UNFINISHED | OPEN_CONTINUES);
	assert_written(f, "async_begin 100 10/11 block:operation 6 sector=0 bytes=4096 rwbs=N error=-5 status=17"
			  " unfinished=true continues=true\nasync_end 150 10/11 block:operation 6 unfinished=true continues=true\n");
	/* a disk's name is looked up once: it may be gone by the next request */
	link_disk(f, "../../devices/virtual/block/vdz");
	block(f, OTHER_DISK, 8, 1, 5);
	assert_written(f, "async_begin 100 10/11 block:vdz write 7 device=vdz sector=8 bytes=4096 rwbs=W\n"
			  "async_end 150 10/11 block:vdz write 7\n");
	link_disk(f, NULL);
	block(f, OTHER_DISK, 8, 1, 5);
	assert_written(f, "async_begin 100 10/11 block:vdz write 8 device=vdz sector=8 bytes=4096 rwbs=W\n"
			  "async_end 150 10/11 block:vdz write 8\n");
}

/* ---- psi ------------------------------------------------------------------------------ */

static void put_pressure(struct fixture *f, const char *cpu, const char *memory, const char *io)
{
	put_file(f, "proc/pressure/cpu", cpu);
	put_file(f, "proc/pressure/memory", memory);
	put_file(f, "proc/pressure/io", io);
}

#define SOME(total)	"some avg10=0.00 avg60=1.00 avg300=0.00 total=" total "\n"
#define FULL(total)	"full avg10=0.00 avg60=1.00 avg300=0.00 total=" total "\n"

static void test_psi(void **state)
{
	const struct source_ops *psi = &source_psi;
	struct fixture *f = *state;
	char why[256];
	void *s;

	put_pressure(f, SOME("5") FULL("0"), SOME("7") FULL("3"), SOME("0") FULL("0"));
	assert_int_equal(psi->open(&s, &f->e.ctx, why, sizeof(why)), 0);
	assert_int_equal(psi->poll(s, &f->e.ctx, 1000000000, false), 0);
	assert_int_equal(f->e.ctx.events, 0);
	assert_written(f, "4200000003 is counters\n4200000003 is counters process=4200000003\n");
	put_pressure(f, SOME("50005") FULL("0"), SOME("7") FULL("503"), SOME("100000") FULL("100000"));
	/* too soon, but at the end sooner will do */
	assert_int_equal(psi->poll(s, &f->e.ctx, 1099999999, false), 0);
	assert_int_equal(psi->poll(s, &f->e.ctx, 1000999999, true), 0);
	assert_written(f, "");
	assert_int_equal(psi->poll(s, &f->e.ctx, 1100000000, false), 0);
	assert_int_equal(f->e.ctx.events, 3);
	assert_written(f, "counter 1000000000 4200000003/4200000003 psi:pressure cpu 0 some=50.00\n"
			  "counter 1000000000 4200000003/4200000003 psi:pressure memory 0 some=0.00 full=0.50\n"
			  "counter 1000000000 4200000003/4200000003 psi:pressure io 0 some=100.00 full=100.00\n");
	assert_int_equal(psi->poll(s, &f->e.ctx, 1101000000, true), 0);
	assert_int_equal(f->e.ctx.events, 6);
	psi->close(s);
	put_pressure(f, SOME("5"), "", SOME("0") FULL("0"));
	assert_int_equal(psi->open(&s, &f->e.ctx, why, sizeof(why)), -ENOTSUP);
	assert_has(why, "/memory: Input/output error");
	put_pressure(f, NULL, NULL, NULL);
	assert_int_equal(psi->open(&s, &f->e.ctx, why, sizeof(why)), -ENOTSUP);
	assert_has(why, "/cpu: No such file or directory (psi=1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_irqs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_works, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_raw, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_power, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_frequencies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_frequencies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_psi, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("presets", tests, NULL, NULL);
}
