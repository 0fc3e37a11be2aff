// SPDX-License-Identifier: GPL-2.0
/*
 * SysStats: counters of the machine, with the names that /proc has for them.
 */
#include "reader_p.h"

#define KIB	1024
#define PF_CPUFREQ_MAX	256U	/* CPUs with a frequency; further ones are left out */

enum {
	MEMINFO = 1, VMSTAT = 2, CPU_STAT = 3, FORKS = 4, IRQS = 5, SOFTIRQS = 7, DEVFREQ = 10, CPUFREQ = 11, DISK = 13,
	PSI = 14, THERMAL = 15, CPUIDLE = 16, GPUFREQ = 17
};

static const char *const meminfo_names[] = {
	NULL, "MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapCached", "Active", "Inactive",
	"Active(anon)", "Inactive(anon)", "Active(file)", "Inactive(file)", "Unevictable", "Mlocked", "SwapTotal",
	"SwapFree", "Dirty", "Writeback", "AnonPages", "Mapped", "Shmem", "Slab", "SReclaimable", "SUnreclaim",
	"KernelStack", "PageTables", "CommitLimit", "Committed_AS", "VmallocTotal", "VmallocUsed", "VmallocChunk",
	"CmaTotal", "CmaFree",
};

/* By the number of the field. */
static const char *const cpu_names[] = {
	NULL, NULL, "user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns",
};
static const char *const disk_names[] = {
	NULL, NULL, "read_sectors", "read_ms", "write_sectors", "write_ms", "discard_sectors", "discard_ms", "flushes",
	"flush_ms",
};
static const char *const psi_names[] = {
	NULL, "cpu.some_ns", "cpu.full_ns", "io.some_ns", "io.full_ns", "memory.some_ns", "memory.full_ns",
};

#define NAME_OF(names, i)	((i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : NULL)

static int put(struct pf_reader *r, uint64_t value)
{
	return pf_put_counter(r, PF_PIECE_COUNTER, value);
}

/* {1 key, 2 value} */
static int put_pair(struct pf_reader *r, uint32_t number, struct pf_cursor m)
{
	struct pf_field key, value;
	const char *name;

	if (!pf_find(m, 1, PF_VARINT, &key) || !pf_find(m, 2, PF_VARINT, &value))
		return 0;
	name = number == MEMINFO ? NAME_OF(meminfo_names, key.value) : number == PSI ? NAME_OF(psi_names, key.value) : NULL;
	pf_text_clear(r);
	pf_text_print(r, "%s", number == MEMINFO ? "meminfo." : number == PSI ? "psi." : "vmstat.");
	if (name)
		pf_text_print(r, "%s", name);
	else
		pf_text_print(r, "%llu", (unsigned long long)key.value);
	return put(r, number == MEMINFO ? value.value * KIB : value.value);
}

/* Numbers by the number of their fields, after what they are of. */
static int put_group(struct pf_reader *r, struct pf_cursor m, const char *const names[10], const char *prefix,
		     const struct pf_field *of)
{
	struct pf_field f;
	int got = 0, err = 0;

	while (!err && (got = pf_next(&m, &f)) > 0) {
		if (f.wire != PF_VARINT || f.number >= 10 || !names[f.number])
			continue;
		pf_text_clear(r);
		pf_text_print(r, "%s", prefix);
		if (of->wire == PF_BYTES)
			pf_text_add(r, of->data, of->len < 64 ? of->len : 64);
		else
			pf_text_print(r, "%llu", (unsigned long long)of->value);
		pf_text_print(r, ".%s", names[f.number]);
		err = put(r, f.value);
	}
	return err ? err : got;
}

static int put_devfreq(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field key, value;

	if (!pf_find(m, 1, PF_BYTES, &key) || !pf_find(m, 2, PF_VARINT, &value))
		return 0;
	pf_text_clear(r);
	pf_text_print(r, "devfreq.");
	pf_text_add(r, key.data, key.len < 64 ? key.len : 64);
	return put(r, value.value);
}

/* {1 name, 2 temperature, 3 type}: the type is the name that tells more. */
static int put_thermal(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field name, value;

	if (!pf_find(m, 2, PF_VARINT, &value) || (!pf_find(m, 3, PF_BYTES, &name) && !pf_find(m, 1, PF_BYTES, &name)))
		return 0;
	pf_text_clear(r);
	pf_text_print(r, "thermal.");
	pf_text_add(r, name.data, name.len < 64 ? name.len : 64);
	return put(r, value.value);
}

/* {1 CPU, 2 {1 state, 2 microseconds}*} */
static int put_cpuidle(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field cpu, f, name, value;
	int err = 0;

	if (!pf_find(m, 1, PF_VARINT, &cpu))
		return 0;
	while (!err && pf_next(&m, &f) > 0) {
		if (!pf_is(&f, 2, PF_BYTES) || !pf_find(pf_inner(&f), 1, PF_BYTES, &name) ||
		    !pf_find(pf_inner(&f), 2, PF_VARINT, &value))
			continue;
		pf_text_clear(r);
		pf_text_print(r, "cpu%llu.idle.", (unsigned long long)cpu.value);
		pf_text_add(r, name.data, name.len < 64 ? name.len : 64);
		pf_text_print(r, "_us");
		err = put(r, value.value);
	}
	return err;
}

/* One value for each CPU, in the order of their numbers. */
static int put_cpufreq(struct pf_reader *r, struct pf_cursor m)
{
	uint64_t values[PF_CPUFREQ_MAX];
	size_t cnt = 0, i;
	struct pf_field f;
	int err = 0;

	while (pf_next(&m, &f) > 0)
		if (f.number == CPUFREQ)
			cnt = pf_numbers(&f, PF_VARINT, values, cnt, PF_CPUFREQ_MAX);
	for (i = 0; i < cnt && !err; i++) {
		pf_text_clear(r);
		pf_text_print(r, "cpu%zu.frequency_khz", i);
		err = put(r, values[i]);
	}
	return err;
}

static int put_total(struct pf_reader *r, const char *name, uint64_t value)
{
	pf_text_clear(r);
	pf_text_print(r, "%s", name);
	return put(r, value);
}

static int put_number(struct pf_reader *r, const struct pf_field *f)
{
	switch (f->number) {
	case FORKS:
		return put_total(r, "forks", f->value);
	case IRQS:
		return put_total(r, "interrupts", f->value);
	case SOFTIRQS:
		return put_total(r, "softirqs", f->value);
	case GPUFREQ:
		return put_total(r, "gpu.frequency_mhz", f->value);
	default:
		return 0;
	}
}

static int put_message(struct pf_reader *r, const struct pf_field *f)
{
	struct pf_field of;

	switch (f->number) {
	case MEMINFO:
	case VMSTAT:
	case PSI:
		return put_pair(r, f->number, pf_inner(f));
	case CPU_STAT:
		return pf_find(pf_inner(f), 1, PF_VARINT, &of) ? put_group(r, pf_inner(f), cpu_names, "cpu", &of) : 0;
	case DISK:
		return pf_find(pf_inner(f), 1, PF_BYTES, &of) ? put_group(r, pf_inner(f), disk_names, "disk.", &of) : 0;
	case DEVFREQ:
		return put_devfreq(r, pf_inner(f));
	case THERMAL:
		return put_thermal(r, pf_inner(f));
	case CPUIDLE:
		return put_cpuidle(r, pf_inner(f));
	default:
		return 0;
	}
}

int pf_sys_stats(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	const struct pf_record head = { .kind = PF_RECORD_COUNTER };
	int got = 0, err = pf_record_begin(r, &head, sizeof(head));
	struct pf_field f;

	err = err ? err : put_cpufreq(r, message);
	while (!err && (got = pf_next(&message, &f)) > 0) {
		if (f.wire == PF_VARINT)
			err = put_number(r, &f);
		else if (f.wire == PF_BYTES)
			err = put_message(r, &f);
	}
	if (err || got < 0)
		return err ? err : got;
	return pf_emit_packet(r, p, PF_RANK_OTHER);
}
