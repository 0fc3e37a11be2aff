/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of processes as names, by what was mapped there and the symbols of those files.
 */
#ifndef ELF_MAPS_H
#define ELF_MAPS_H

#include <stdint.h>

struct user_symbols;

/* Addresses without a symbol, by reason. A file that can be read and has none there is no reason. */
struct user_symbols_counts {
	uint64_t unmapped;	/* no mapping is known there */
	uint64_t no_file;	/* code that is in no file */
	uint64_t unreadable;	/* the file cannot be read: "file+0xoffset" */
	uint64_t maps_lost;	/* mappings that were not reported: too many at once */
	int events_err;		/* -errno: why none are reported; 0: they are */
};

/* 0 or -ENOMEM. */
int user_symbols_open(struct user_symbols **out);
/* From now on mappings are followed. 0 or -errno. */
int user_symbols_begin(struct user_symbols *s);
/* Takes the mappings that were made until now. 0 or -errno. */
int user_symbols_read(struct user_symbols *s);
/* NULL is fine. */
void user_symbols_close(struct user_symbols *s);
/*
 * Which function of the process of @koid, as of @ts, made the call that returns to @addr, or
 * "file+0xoffset" of @addr where there is no symbol; NULL if no file is known there. Lives until the
 * next call. The call is the instruction before @addr, which may be the last of its function.
 */
const char *user_symbols_find_caller(struct user_symbols *s, uint64_t koid, uint64_t ts, uint64_t addr);
void user_symbols_counts(const struct user_symbols *s, struct user_symbols_counts *counts);

#endif
