/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings of the kernel's whose addresses its tracepoints record: tracefs' printk_formats.
 */
#ifndef KERNEL_PRINTK_FORMATS_H
#define KERNEL_PRINTK_FORMATS_H

#include <stdint.h>

struct literals;

/* 0 or -errno, *@out then being NULL. */
int literals_open(struct literals **out);
/* The string at @addr, which lives as long as @l; NULL: none that is known. */
const char *literals_find(const struct literals *l, uint64_t addr);
/* NULL is fine. */
void literals_close(struct literals *l);

#endif
