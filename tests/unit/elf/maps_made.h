/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of the kernel for process_maps.h: perf's records and /proc/PID/maps as a test makes them.
 * Programs that use it are linked with the --wrap options of the Makefile (MAPS_WRAP).
 */
#ifndef ELF_MAPS_MADE_H
#define ELF_MAPS_MADE_H

#include <stddef.h>
#include <stdint.h>

/* Whether there are records; before process_maps_open(). */
void maps_made_begin(int has_records);
/* What the next process_maps_read() is given, @words 64-bit words, borrowed; it ends at one that has no size. */
void maps_made_records(const uint64_t *records, size_t words);
/* What /proc/PID/maps is for each process, borrowed; NULL: there is no such process. */
void maps_made_proc(const char *text);

#endif
