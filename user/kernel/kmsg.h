/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of the kernel's log as /dev/kmsg has them, one to a read(2)
 * (Documentation/ABI/testing/dev-kmsg).
 */
#ifndef KERNEL_KMSG_H
#define KERNEL_KMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KMSG_BYTES_MAX	8192	/* of a record, which the kernel limits to 2 KiB of text, escaped */
#define KMSG_PAIRS_MAX	8

struct kmsg {
	uint64_t seq;
	uint64_t ts_us;		/* when it was printed, by a clock of the kernel's own */
	uint8_t level;		/* 0 to 7 */
	uint8_t facility;	/* 0: the kernel's own */
	const char *text;	/* as it was printed, @len bytes of any value */
	size_t len;
	struct {
		const char *key, *value;
	} pairs[KMSG_PAIRS_MAX];	/* the dictionary: SUBSYSTEM, DEVICE */
	unsigned int pairs_cnt;
};

/*
 * Takes @record, @len bytes and space for a NUL after them, apart in place: what @out points to
 * lies in it. False: it is no such record.
 */
bool kmsg_parse(char *record, size_t len, struct kmsg *out);
/* "err", "user"; a facility without a name is its number, NULL. */
const char *kmsg_level_name(unsigned int level);
const char *kmsg_facility_name(unsigned int facility);

/*
 * Makes UTF-8 of any bytes, which can be converted back: what is not UTF-8, and control
 * characters but newline and tab, become \xNN, and so does the backslash of a \x that is in
 * @text already. At most 4 * @len bytes into @dst; returns their number.
 */
size_t kmsg_escape(char *dst, const char *text, size_t len);

#endif
