// SPDX-License-Identifier: GPL-2.0
/*
 * Which handler an event's name leads to. Each name is judged once: by the table
 * of known events, else by its ending, which may say that it opens or closes
 * something; the verdict is kept.
 */
#include "import_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_CAP	8192U	/* a power of two */
#define KINDS_MAX	4096U	/* names that are kept */
#define NAME_MAX_BYTES	256U

/* ---- categories ------------------------------------------------------------ */

static const struct {
	const char *prefix, *category;
} categories[] = {
	{ "sched_", "sched" }, { "irq_", "irq" }, { "softirq_", "irq" }, { "tasklet_", "irq" },
	{ "ipi_", "ipi" }, { "timer_", "timer" }, { "hrtimer_", "timer" }, { "itimer_", "timer" },
	{ "tick_", "timer" }, { "workqueue_", "workqueue" }, { "task_", "task" },
	{ "signal_", "signal" }, { "sys_", "raw_syscalls" }, { "block_", "block" },
	{ "net_", "net" }, { "netif_", "net" }, { "napi_", "napi" }, { "skb_", "skb" },
	{ "tcp_", "tcp" }, { "udp_", "udp" }, { "sock_", "sock" }, { "inet_", "sock" },
	{ "ext4_", "ext4" }, { "f2fs_", "f2fs" }, { "xfs_", "xfs" }, { "btrfs_", "btrfs" },
	{ "jbd2_", "jbd2" }, { "writeback_", "writeback" }, { "mm_vmscan_", "vmscan" },
	{ "mm_compaction_", "compaction" }, { "mm_filemap_", "filemap" }, { "mm_", "kmem" },
	{ "kmalloc", "kmem" }, { "kfree", "kmem" }, { "kmem_", "kmem" }, { "rss_stat", "kmem" },
	{ "mmap_lock_", "mmap_lock" }, { "page_fault_", "exceptions" }, { "oom_", "oom" },
	{ "cpu_", "power" }, { "clock_", "power" }, { "power_", "power" }, { "pm_", "power" },
	{ "suspend_", "power" }, { "wakeup_source_", "power" }, { "dev_pm_", "power" },
	{ "regulator_", "regulator" }, { "thermal_", "thermal" }, { "cdev_", "thermal" },
	{ "console", "printk" }, { "rcu_", "rcu" }, { "kvm_", "kvm" }, { "binder_", "binder" },
	{ "cgroup_", "cgroup" }, { "module_", "module" }, { "drm_", "drm" },
	{ "dma_fence_", "dma_fence" }, { "i915_", "i915" }, { "i2c_", "i2c" }, { "spi_", "spi" },
	{ "gpio_", "gpio" }, { "usb_", "usb" }, { "xhci_", "xhci-hcd" }, { "nvme_", "nvme" },
	{ "scsi_", "scsi" }, { "ufshcd_", "ufs" }, { "mmc_", "mmc" }, { "io_uring_", "io_uring" },
	{ "lock_", "lock" }, { "contention_", "lock" }, { "preempt_", "preemptirq" },
	{ "cpuhp_", "cpuhp" }, { "migrate_", "migrate" }, { "percpu_", "percpu" },
	{ "osnoise", "osnoise" }, { "timerlat", "osnoise" }, { "tracing_mark_write", "ftrace" },
	{ "print", "ftrace" }, { "fence_", "fence" }, { "sync_", "sync" }, { "gpu_", "power" },
};

static const char *category_of(struct model_text name)
{
	size_t i, len;

	for (i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		len = strlen(categories[i].prefix);
		if (name.len >= len && !memcmp(name.data, categories[i].prefix, len))
			return categories[i].category;
	}
	return "ftrace";
}

/* ---- pairs ----------------------------------------------------------------- */

static const struct {
	const char *ending;
	bool begins;
} endings[] = {
	{ "_entry", true }, { "_enter", true }, { "_begin", true }, { "_start", true },
	{ "_exit", false }, { "_end", false }, { "_done", false }, { "_finish", false },
};

/* What they start is not over when they return, and no other event says when it is. */
static const char *const no_pairs[] = {
	"timer_start", "hrtimer_start", "writeback_start", "writeback_write_inode_start",
	"writeback_single_inode_start", "scsi_dispatch_cmd_start", "scsi_dispatch_cmd_done",
};

static bool is_no_pair(struct model_text name)
{
	size_t i;

	for (i = 0; i < sizeof(no_pairs) / sizeof(*no_pairs); i++)
		if (text_is(name, no_pairs[i]))
			return true;
	return false;
}

/* Cuts the ending off @name; NULL if it has none. */
static record_fn *pair_fn(struct model_text *name)
{
	size_t i, len;

	if (is_no_pair(*name))
		return NULL;
	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		len = strlen(endings[i].ending);
		if (name->len > len &&
		    !memcmp(name->data + name->len - len, endings[i].ending, len)) {
			name->len -= len;
			return endings[i].begins ? on_pair_begin : on_pair_end;
		}
	}
	return NULL;
}

/* "sys_enter_openat", "sys_exit_openat" */
static bool is_syscall(struct model_text name)
{
	return (name.len > 10 && !memcmp(name.data, "sys_enter_", 10)) ||
	       (name.len > 9 && !memcmp(name.data, "sys_exit_", 9));
}

/* ---- the table ------------------------------------------------------------- */

static const struct handler *find_handler(const struct handler *rows, struct model_text name)
{
	for (; rows->name; rows++)
		if (text_is(name, rows->name))
			return rows;
	return NULL;
}

/* Of a handler that must know which pair it is of. */
static uint32_t pair_key(struct model_text name)
{
	pair_fn(&name);
	return text_hash(name.data, name.len) | 1;
}

static void judge(const struct ftrace_event *ev, struct kind *k)
{
	struct model_text base = ev->name;

	k->handler = find_handler(event_handlers, ev->name);
	if (!k->handler)
		k->handler = find_handler(counter_handlers, ev->name);
	k->key = pair_key(ev->name);
	if (k->handler) {
		k->fn = k->handler->fn;
		return;
	}
	k->fn = is_syscall(ev->name) ? on_named_syscall : pair_fn(&base);
	if (!k->fn)
		k->fn = on_instant;
}

static bool copy_str(struct fxt_str *s, const char *data, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return false;
	memcpy(copy, data, len);
	*s = fxt_str_n(copy, len);
	return true;
}

/* A name beyond those that are kept: judged again each time, its slices in category "ftrace". */
static const struct kind *spare(struct ftrace_import *im, const struct ftrace_event *ev)
{
	struct kind *k = &im->spare_kind;

	*k = (struct kind){
		.name = fxt_str_inline(ev->name.data, ev->name.len < NAME_MAX_BYTES ?
				       ev->name.len : NAME_MAX_BYTES),
		.category = fxt_str("ftrace"),
	};
	judge(ev, k);
	return k;
}

static void kind_free(struct kind *k)
{
	if (k) {
		free((void *)k->name.data);
		free((void *)k->category.data);
	}
	free(k);
}

/* With names of its own; NULL: no memory. */
static struct kind *new_kind(const struct ftrace_event *ev)
{
	struct fxt_str category = fxt_str_n(ev->system.data, ev->system.len);
	struct kind *k = calloc(1, sizeof(*k));

	if (!k || !copy_str(&k->name, ev->name.data, ev->name.len)) {
		free(k);
		return NULL;
	}
	judge(ev, k);
	if (!category.len)
		category = fxt_str(k->handler && k->handler->category ? k->handler->category :
				   category_of(ev->name));
	if (!copy_str(&k->category, category.data, category.len)) {
		kind_free(k);
		return NULL;
	}
	return k;
}

static bool is_named(const struct kind *k, struct model_text name)
{
	return k->name.len == name.len && text_same(k->name.data, name.data, name.len);
}

static const struct kind *find_kind(struct ftrace_import *im, const struct ftrace_event *ev)
{
	uint32_t hash = text_hash(ev->name.data, ev->name.len), i = hash & (KINDS_CAP - 1);
	struct kind *k;

	for (; (k = im->kinds[i]); i = (i + 1) & (KINDS_CAP - 1))
		if (k->hash == hash && is_named(k, ev->name))
			return k;
	k = im->kinds_cnt < KINDS_MAX && ev->name.len <= NAME_MAX_BYTES && ev->system.len <= NAME_MAX_BYTES ?
	    new_kind(ev) : NULL;
	if (!k)
		return spare(im, ev);
	k->hash = hash;
	im->kinds[i] = k;
	im->kinds_cnt++;
	return k;
}

/* Another one for each of the names that come most, sched_switch, sched_waking, sched_wakeup, sched_wakeup_new. */
static unsigned int recent_place(struct model_text name)
{
	return name.len ? ((unsigned char)name.data[name.len - 1] ^ name.len) % RECENT_KINDS : 0;
}

/* Of the system only the first one counts: names are the same in each line. Those of scheduling in packets are few. */
const struct kind *kind_of(struct ftrace_import *im, const struct ftrace_event *ev)
{
	const struct kind **recent;

	if (!ev->sched)
		return find_kind(im, ev);
	recent = &im->recent_kinds[recent_place(ev->name)];
	if (!*recent || !is_named(*recent, ev->name))
		*recent = find_kind(im, ev);
	return *recent != &im->spare_kind ? *recent : find_kind(im, ev);
}

int kinds_init(struct ftrace_import *im)
{
	im->kinds = calloc(KINDS_CAP, sizeof(*im->kinds));
	return im->kinds ? 0 : -ENOMEM;
}

void kinds_fini(struct ftrace_import *im)
{
	size_t i;

	for (i = 0; im->kinds && i < KINDS_CAP; i++)
		kind_free(im->kinds[i]);
	free(im->kinds);
}
