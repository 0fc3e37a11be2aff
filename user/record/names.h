/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of threads and processes: from /proc once, and from then on from the
 * kernel objects the programs send. All become kernel object records.
 */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct fxt_writer;
struct names;
struct packets;
struct probes;

/*
 * Does /proc show the ids that the kernel itself uses? Not inside of a PID
 * namespace, where names_scan() then reads nothing rather than wrong names.
 */
bool names_ids_match(void);
/* Borrows all three; @packets may be NULL. 0 or -errno. */
int names_open(struct names **out, struct fxt_writer *w, struct probes *p, struct packets *packets);
/*
 * Reads on in /proc for a few milliseconds; the first call starts over. Must
 * come to its end before names_drain(), so that newer names come later in the
 * file. 1: there is more; 0: all read; -errno: of the sink or of /proc.
 */
int names_scan(struct names *n);
/* Writes what the programs have sent. 0 or -errno. */
int names_drain(struct names *n);
/* Readable when names_drain() should run or a ring needs the drain. */
int names_fd(const struct names *n);
/* NULL is fine. */
void names_close(struct names *n);

#endif
