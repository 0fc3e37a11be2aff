// SPDX-License-Identifier: GPL-2.0
/*
 * SysStats: counters of the machine, with the names that /proc has for them.
 */
#include "reader_p.h"

#define KIB	1024
#define PF_CPUFREQ_MAX	256U	/* CPUs with a frequency; further ones are left out */
#define PF_ORDERS_MAX	64U	/* no kernel has more */

enum {
	MEMINFO = 1, VMSTAT = 2, CPU_STAT = 3, FORKS = 4, IRQS = 5, IRQ = 6, SOFTIRQS = 7, SOFTIRQ = 8, DEVFREQ = 10, CPUFREQ = 11,
	BUDDY = 12, DISK = 13, PSI = 14, THERMAL = 15, CPUIDLE = 16, GPUFREQ = 17, SLAB = 18
};

static const char *const meminfo_names[] = {
	NULL, "MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapCached", "Active", "Inactive",
	"Active(anon)", "Inactive(anon)", "Active(file)", "Inactive(file)", "Unevictable", "Mlocked", "SwapTotal",
	"SwapFree", "Dirty", "Writeback", "AnonPages", "Mapped", "Shmem", "Slab", "SReclaimable", "SUnreclaim",
	"KernelStack", "PageTables", "CommitLimit", "Committed_AS", "VmallocTotal", "VmallocUsed", "VmallocChunk",
	"CmaTotal", "CmaFree", "Gpu", "Zram", "Misc", "IonHeap", "IonHeapPool",
};

static const char *const vmstat_names[] = {
	[1] = "nr_free_pages", "nr_alloc_batch", "nr_inactive_anon", "nr_active_anon", "nr_inactive_file",
	"nr_active_file", "nr_unevictable", "nr_mlock", "nr_anon_pages", "nr_mapped", "nr_file_pages",
	"nr_dirty", "nr_writeback", "nr_slab_reclaimable", "nr_slab_unreclaimable", "nr_page_table_pages",
	"nr_kernel_stack", "nr_overhead", "nr_unstable", "nr_bounce", "nr_vmscan_write",
	"nr_vmscan_immediate_reclaim", "nr_writeback_temp", "nr_isolated_anon", "nr_isolated_file",
	"nr_shmem", "nr_dirtied", "nr_written", "nr_pages_scanned", "workingset_refault",
	"workingset_activate", "workingset_nodereclaim", "nr_anon_transparent_hugepages", "nr_free_cma",
	"nr_swapcache", "nr_dirty_threshold", "nr_dirty_background_threshold", "pgpgin", "pgpgout",
	"pgpgoutclean", "pswpin", "pswpout", "pgalloc_dma", "pgalloc_normal", "pgalloc_movable", "pgfree",
	"pgactivate", "pgdeactivate", "pgfault", "pgmajfault", "pgrefill_dma", "pgrefill_normal",
	"pgrefill_movable", "pgsteal_kswapd_dma", "pgsteal_kswapd_normal", "pgsteal_kswapd_movable",
	"pgsteal_direct_dma", "pgsteal_direct_normal", "pgsteal_direct_movable", "pgscan_kswapd_dma",
	"pgscan_kswapd_normal", "pgscan_kswapd_movable", "pgscan_direct_dma", "pgscan_direct_normal",
	"pgscan_direct_movable", "pgscan_direct_throttle", "pginodesteal", "slabs_scanned",
	"kswapd_inodesteal", "kswapd_low_wmark_hit_quickly", "kswapd_high_wmark_hit_quickly", "pageoutrun",
	"allocstall", "pgrotated", "drop_pagecache", "drop_slab", "pgmigrate_success", "pgmigrate_fail",
	"compact_migrate_scanned", "compact_free_scanned", "compact_isolated", "compact_stall",
	"compact_fail", "compact_success", "compact_daemon_wake", "unevictable_pgs_culled",
	"unevictable_pgs_scanned", "unevictable_pgs_rescued", "unevictable_pgs_mlocked",
	"unevictable_pgs_munlocked", "unevictable_pgs_cleared", "unevictable_pgs_stranded", "nr_zspages",
	"nr_ion_heap", "nr_gpu_heap", "allocstall_dma", "allocstall_movable", "allocstall_normal",
	"compact_daemon_free_scanned", "compact_daemon_migrate_scanned", "nr_fastrpc",
	"nr_indirectly_reclaimable", "nr_ion_heap_pool", "nr_kernel_misc_reclaimable",
	"nr_shadow_call_stack_bytes", "nr_shmem_hugepages", "nr_shmem_pmdmapped", "nr_unreclaimable_pages",
	"nr_zone_active_anon", "nr_zone_active_file", "nr_zone_inactive_anon", "nr_zone_inactive_file",
	"nr_zone_unevictable", "nr_zone_write_pending", "oom_kill", "pglazyfree", "pglazyfreed",
	"pgrefill", "pgscan_direct", "pgscan_kswapd", "pgskip_dma", "pgskip_movable", "pgskip_normal",
	"pgsteal_direct", "pgsteal_kswapd", "swap_ra", "swap_ra_hit", "workingset_restore",
	"allocstall_device", "allocstall_dma32", "balloon_deflate", "balloon_inflate", "balloon_migrate",
	"cma_alloc_fail", "cma_alloc_success", "nr_file_hugepages", "nr_file_pmdmapped",
	"nr_foll_pin_acquired", "nr_foll_pin_released", "nr_sec_page_table_pages", "nr_shadow_call_stack",
	"nr_swapcached", "nr_throttled_written", "pgalloc_device", "pgalloc_dma32", "pgdemote_direct",
	"pgdemote_kswapd", "pgreuse", "pgscan_anon", "pgscan_file", "pgskip_device", "pgskip_dma32",
	"pgsteal_anon", "pgsteal_file", "thp_collapse_alloc", "thp_collapse_alloc_failed",
	"thp_deferred_split_page", "thp_fault_alloc", "thp_fault_fallback", "thp_fault_fallback_charge",
	"thp_file_alloc", "thp_file_fallback", "thp_file_fallback_charge", "thp_file_mapped",
	"thp_migration_fail", "thp_migration_split", "thp_migration_success", "thp_scan_exceed_none_pte",
	"thp_scan_exceed_share_pte", "thp_scan_exceed_swap_pte", "thp_split_page", "thp_split_page_failed",
	"thp_split_pmd", "thp_swpout", "thp_swpout_fallback", "thp_zero_page_alloc",
	"thp_zero_page_alloc_failed", "vma_lock_abort", "vma_lock_miss", "vma_lock_retry",
	"vma_lock_success", "workingset_activate_anon", "workingset_activate_file", "workingset_nodes",
	"workingset_refault_anon", "workingset_refault_file", "workingset_restore_anon",
	"workingset_restore_file",
};

/* By the number of the field. */
static const char *const cpu_names[] = {
	NULL, NULL, "user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns",
};
static const char *const disk_names[] = {
	NULL, NULL, "read_sectors", "read_ms", "write_sectors", "write_ms", "discard_sectors", "discard_ms", "flushes",
	"flush_ms",
};
static const char *const slab_names[10] = { NULL, NULL, "pages_per_slab", "slabs" };
static const char *const psi_names[] = {
	NULL, "cpu.some_ns", "cpu.full_ns", "io.some_ns", "io.full_ns", "memory.some_ns", "memory.full_ns",
};

/* Counters by numbers that have names; those beyond them have their numbers. */
struct numbered {
	const char *prefix;
	const char *const *names;
	size_t cnt;
	uint64_t unit;		/* of values */
};

#define NUMBERED(prefix, names, unit)	{ prefix, names, sizeof(names) / sizeof((names)[0]), unit }

static const struct numbered meminfo = NUMBERED("meminfo.", meminfo_names, KIB);
static const struct numbered vmstat = NUMBERED("vmstat.", vmstat_names, 1);
static const struct numbered psi = NUMBERED("psi.", psi_names, 1);

static int put_count(struct pf_reader *r, uint64_t value)
{
	return pf_put_counter(r, PF_PIECE_COUNTER, value);
}

/* {1 key, 2 value} */
static int put_pair(struct pf_reader *r, const struct numbered *kind, struct pf_cursor m)
{
	struct pf_field key, value;

	if (!pf_find(m, 1, PF_VARINT, &key) || !pf_find(m, 2, PF_VARINT, &value))
		return 0;
	pf_text_clear(r);
	pf_text_print(r, "%s", kind->prefix);
	if (key.value < kind->cnt && kind->names[key.value])
		pf_text_print(r, "%s", kind->names[key.value]);
	else
		pf_text_print(r, "%llu", (unsigned long long)key.value);
	return put_count(r, value.value * kind->unit);
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
		err = put_count(r, f.value);
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
	return put_count(r, value.value);
}

/* {1 name, 2 temperature, 3 type}: the type is the better name. */
static int put_thermal(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field name, value;

	if (!pf_find(m, 2, PF_VARINT, &value) || (!pf_find(m, 3, PF_BYTES, &name) && !pf_find(m, 1, PF_BYTES, &name)))
		return 0;
	pf_text_clear(r);
	pf_text_print(r, "thermal.");
	pf_text_add(r, name.data, name.len < 64 ? name.len : 64);
	return put_count(r, value.value);
}

/* {1 number, 2 how many} */
static int put_interrupt(struct pf_reader *r, const char *prefix, struct pf_cursor m)
{
	struct pf_field number, value;

	if (!pf_find(m, 2, PF_VARINT, &value))
		return 0;
	pf_find(m, 1, PF_VARINT, &number);
	pf_text_clear(r);
	pf_text_print(r, "%s.%llu", prefix, (unsigned long long)number.value);
	return put_count(r, value.value);
}

/* {1 node, 2 zone, 3 free blocks of each order} */
static int put_buddy(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field node, zone, f;
	uint64_t values[PF_ORDERS_MAX];
	struct pf_cursor all = m;
	size_t cnt = 0, i;
	int err = 0;

	pf_find(m, 1, PF_BYTES, &node);
	pf_find(m, 2, PF_BYTES, &zone);
	while (pf_next(&all, &f) > 0)
		if (f.number == 3)
			cnt = pf_numbers(&f, PF_VARINT, values, cnt, PF_ORDERS_MAX);
	for (i = 0; i < cnt && !err; i++) {
		pf_text_clear(r);
		pf_text_print(r, "buddy.");
		pf_text_add(r, node.data, node.len < 64 ? node.len : 64);
		pf_text_print(r, ".");
		pf_text_add(r, zone.data, zone.len < 64 ? zone.len : 64);
		pf_text_print(r, ".order%zu", i);
		err = put_count(r, values[i]);
	}
	return err;
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
		err = put_count(r, value.value);
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
		err = put_count(r, values[i]);
	}
	return err;
}

static int put_total(struct pf_reader *r, const char *name, uint64_t value)
{
	pf_text_clear(r);
	pf_text_print(r, "%s", name);
	return put_count(r, value);
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
		return put_pair(r, &meminfo, pf_inner(f));
	case VMSTAT:
		return put_pair(r, &vmstat, pf_inner(f));
	case PSI:
		return put_pair(r, &psi, pf_inner(f));
	case CPU_STAT:
		return pf_find(pf_inner(f), 1, PF_VARINT, &of) ? put_group(r, pf_inner(f), cpu_names, "cpu", &of) : 0;
	case DISK:
		return pf_find(pf_inner(f), 1, PF_BYTES, &of) ? put_group(r, pf_inner(f), disk_names, "disk.", &of) : 0;
	case SLAB:
		return pf_find(pf_inner(f), 1, PF_BYTES, &of) ? put_group(r, pf_inner(f), slab_names, "slab.", &of) : 0;
	case IRQ:
	case SOFTIRQ:
		return put_interrupt(r, f->number == IRQ ? "irq" : "softirq", pf_inner(f));
	case BUDDY:
		return put_buddy(r, pf_inner(f));
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
