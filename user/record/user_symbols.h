/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of running processes as names: mappings from /proc, symbols from the
 * files mapped there.
 */
#ifndef RECORD_USER_SYMBOLS_H
#define RECORD_USER_SYMBOLS_H

#include <stdint.h>

struct user_symbols;

/* 0 or -ENOMEM. */
int user_symbols_open(struct user_symbols **out);
/* NULL is fine. */
void user_symbols_close(struct user_symbols *s);
/*
 * What @addr is in the process of @koid: a function, or "file+0xoffset" where there is no
 * symbol; NULL if the process is gone or nothing is mapped there. Lives until the next call.
 */
const char *user_symbols_find(struct user_symbols *s, uint64_t koid, uint64_t addr);

#endif
