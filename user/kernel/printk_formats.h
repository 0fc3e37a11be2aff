/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings of the kernel's whose addresses its tracepoints record: tracefs' printk_formats.
 */
#ifndef KERNEL_PRINTK_FORMATS_H
#define KERNEL_PRINTK_FORMATS_H

#include <stdint.h>

struct printk_formats;

/* 0 or -errno, *@out then being NULL. */
int printk_formats_open(struct printk_formats **out);
/* The string at @addr, which lives as long as @l; NULL: none that is known. */
const char *printk_formats_find(const struct printk_formats *l, uint64_t addr);
/* NULL is fine. */
void printk_formats_close(struct printk_formats *l);

#endif
