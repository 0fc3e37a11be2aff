/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash of text that is any bytes, for tables in memory.
 */
#ifndef BASE_TEXT_HASH_H
#define BASE_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

uint32_t text_hash(const char *data, size_t len);
/* 64 bits of it, and of what it is the name of something in. */
uint64_t text_hash_of(uint64_t seed, const char *data, size_t len);

#endif
