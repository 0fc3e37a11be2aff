/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings of the kernel's that its tracepoints tell the address of: tracefs' printk_formats.
 */
#ifndef RECORD_LITERALS_H
#define RECORD_LITERALS_H

#include <stdint.h>

struct literals;

/* 0 or -errno, *@out then being NULL. */
int literals_open(struct literals **out);
/* The string at @addr, which lives as long as @l; NULL: none that is known. */
const char *literals_find(const struct literals *l, uint64_t addr);
/* NULL is fine. */
void literals_close(struct literals *l);

#endif
